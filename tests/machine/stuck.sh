#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that waits in the kernel and cannot be killed: it writes to a file system that is frozen. emp-measure must give up on it with
# a message, and nothing of it may be left once the file system is thawed. Usage: stuck.sh BUILD
set -u
[ "$(id -u)" = 0 ] || { echo 'not run: needs root'; [ "${EMP_MUST_RUN:-}" ] && exit 1; exit 77; }
# mounts of its own
[ "${2:-}" ] || exec unshare -m --propagation private sh "$0" "$1" inside
emp_measure=$1/measure/emp-measure
dir=$(mktemp -d) || exit 1
cd "$dir" || exit 1
export EMP_LOCK=$dir/lock
mkdir place
cleanup() {
	fsfreeze -u place 2>/dev/null
	umount place 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT
bad() { echo "FAILED: $*"; cat out err 2>/dev/null; exit 1; }

truncate -s 16M image
mkfs.ext4 -q image && mount -o loop image place && fsfreeze -f place || bad 'no file system to freeze'

timeout $((120 * ${EMP_TIMEOUT_MULTIPLIER:-1})) "$emp_measure" --db "$dir/book.db" -q -r 2 --timeout 0.5 -- dd if=/dev/zero "of=place/stuck-$$" bs=4k count=1 >out 2>err
status=$?
[ $status = 1 ] || bad "status $status of a program that cannot be killed"
grep -q "'dd' was killed, but one of its processes has not ended for 20 s: it waits in the kernel" err || bad 'no such sentence'
pgrep -f "of=place/stuck-$$" >/dev/null || bad 'nothing was stuck: this proves nothing'

fsfreeze -u place
tries=600 # for it to end, 0.1 s each
while pgrep -f "of=place/stuck-$$" >/dev/null; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || bad 'it is still there although it could end'
	sleep 0.1
done
"$emp_measure" --db "$dir/book.db" -q -r 2 -- true >out 2>err || bad 'the next session'
echo 'given up on, and gone'
