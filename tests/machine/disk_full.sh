#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk under the book becomes full in the middle of a calibration; when there is space again, it resumes. In a mount namespace of its own.
# Usage: disk_full.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1
calibrate=$build/calibrate/emp-calibrate
if [ -z "${EMP_OWN_MOUNTS:-}" ]; then
	EMP_OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
mkdir "$dir/small"
mount -t tmpfs -o size=1m emp-test "$dir/small" || exit 1
trap 'umount "$dir/small"; rm -rf "$dir"' EXIT
export EMP_DB=$dir/small/book.db

$calibrate constant >/dev/null || exit 1
# as much as leaves the log some 200 KB
dd if=/dev/zero of="$dir/small/ballast" bs=1K count=$(($(df --output=avail -k "$dir/small" | tail -1) - 200)) status=none
expect 1 "its file system is full; .*to resume: emp-calibrate resume" \
	$calibrate -q run --short 0.02x400 --long 0.1x4 --save full --ignore-audit --force
there=$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM sample')
echo "full after $there samples"
that "some samples were stored before" test "$there" -gt 0
that "the book is sound" sound "$EMP_DB"
expect 0 "stopped; to resume: emp-calibrate resume 1" $calibrate status
expect 1 "its file system is full" $calibrate -q resume
mount -o remount,size=64m "$dir/small"
expect 0 "Profile 'full'" $calibrate -q resume
that "every sample is there once" test "$(sqlite3 "$EMP_DB" 'SELECT count(*) || min(n) || max(n) FROM sample WHERE run = 1')" = 4001400
that "the book is sound in the end" sound "$EMP_DB"
finish
