#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk under the book is full, or becomes full: a calibration resumes when there is space again; other measurements end in a copy of the
# book, with a command that brings their runs into it. In a mount namespace of its own.
# Usage: disk_full.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1
calibrate=$build/calibrate/emp-calibrate
measure=$build/measure/emp-measure
analyze=$build/analyze/emp-analyze
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

# fill KIB: as much as leaves so much
fill() {
	rm -f "$dir/small/ballast"
	dd if=/dev/zero of="$dir/small/ballast" bs=1K count=$(($(df --output=avail -k "$dir/small" | tail -1) - $1)) status=none
}
# ended_in_copy: what `expect` printed names a copy, in a folder that only its owner reads
ended_in_copy() {
	there=$(sed -n "s/.* is stored in '\(.*\)' only; .*/\1/p" "$dir/out")
	run=$(sed -n "s/.*: run \([0-9]*\) is stored .*/\1/p" "$dir/out")
	command=$(sed -n 's/.*can be written again: //p' "$dir/out")
	test -n "$run" && sound "$there" && test "$(stat -c %a "$(dirname "$there")")" = 700
}
# comes_back VERB: the command that was printed brings it into the book, with the same answer
comes_back() {
	mount -o remount,size=64m "$dir/small"
	rm -f "$dir/small/ballast"
	got=$(PATH=$build/analyze:$PATH sh -c "$command") || return 1
	"$analyze" --db "$there" "$1" "$run" --json >"$dir/one" && "$analyze" "$1" "$got" --json >"$dir/two" || return 1
	sed -i 's/"run": [0-9]*//; s/"uid": "[0-9a-f]*"//' "$dir/one" "$dir/two"
	diff "$dir/one" "$dir/two"
}
mkdir "$dir/spare"
export TMPDIR=$dir/spare
umount "$dir/small"

# full from the beginning: not even an empty book fits
mount -t tmpfs -o size=256k emp-test "$dir/small" || exit 1
expect 1 "Kept 5 of 5" $measure -q -r 5 -w 0 --export-json "$dir/spare/result.json" -- true
that "the run is in a copy" ended_in_copy
that "the document is there" json "$dir/spare/result.json" 'len(d["results"][0]["times"]) == 5'
fill 0
expect 1 "Kept 5 of 5" $measure -q -r 5 -w 0 -- true
that "nor if it is full to the last byte" ended_in_copy
rm "$dir/small/ballast"
that "it comes back" comes_back show

# full in the middle, beside busy loops
busy=
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	busy="$busy $!"
done
before=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
fill 60
expect 1 "Kept .* of 300" $measure -q -r 300 -w 0 -- sh -c 'read x </proc/self/stat'
that "some were stored before" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM run WHERE id > $before")" = 1
that "the run is in a copy" ended_in_copy
that "with each sample once" test "$(sqlite3 "$there" "SELECT count(*) || min(n) || max(n) FROM sample WHERE run = $run")" = 3001300
that "the book is sound" sound "$EMP_DB"
expect 0 "interrupted" $analyze show "$run"
that "it comes back" comes_back show
kill $busy
wait $busy 2>"$dir/killed"

# a load, and the interruptions of a CPU
printf '[load]\nruns = 3\n[work]\nslaves = 2\nrepetitions = 2\ncommand = true\n' >"$dir/load.ini"
fill 0
expect 1 "." $build/measure/emp-load -q run "$dir/load.ini"
that "the load is in a copy" ended_in_copy
that "it comes back" comes_back load
fill 0
expect 1 "." $calibrate -q jitter --for 2s
that "the interruptions are in a copy" ended_in_copy
that "they come back" comes_back jitter

# files of other options: an old one stays as it was
mount -o remount,size=64m "$dir/small"
rm -f "$dir/small/ballast"
run=$(sqlite3 "$EMP_DB" "SELECT max(run) FROM sample")
for file in x.svg x.json; do echo before >"$dir/small/$file"; done
cp "$EMP_DB" "$dir/copy.db"
mount -o remount,size=$(($(df --output=used -k "$dir/small" | tail -1) + 64))k "$dir/small"
fill 0
expect 1 "cannot write '$dir/small/x.svg': No space left on device" $analyze --db "$dir/copy.db" scatter "$run" -o "$dir/small/x.svg"
expect 1 "cannot write '$dir/small/x.json': No space left on device" \
	$measure --db "$dir/copy.db" -q -r 300 -w 0 --export-json "$dir/small/x.json" -- true
that "they are as before" test "$(cat "$dir/small/x.svg" "$dir/small/x.json" | tr '\n' ' ')" = "before before "
finish
