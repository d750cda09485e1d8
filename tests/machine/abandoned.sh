#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A measurement in another namespace of process ids and of cgroups is not disturbed by the next one here, which removes
# abandoned cgroups. Usage: abandoned.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
measure=$1/measure/emp-measure
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
unshare -p -C -f true || { echo "not run: no namespaces here"; exit 77; }
EMP_DB=$dir/other.db unshare -p -C -f --mount-proc --kill-child sh -c 'mount -t cgroup2 none "$1"; shift; exec "$@"' sh "$cgroups" "$measure" -q -r 1 -w 0 --accounting none -- \
	sh -c "touch '$dir/runs'; until test -e '$dir/end'; do sleep 0.1; done" >"$dir/other" 2>&1 &
wait_until test -e "$dir/runs" || cat "$dir/other"
for _ in 1 2 3; do
	expect 0 'PT (mean' "$measure" -q -r 2 --accounting none --ignore-lock -- true # it would wait for the other
done
touch "$dir/end"
that "the other measurement came to its end" wait $!
that "and was not disturbed" grep -q 'Kept 1 of 1' "$dir/other"
# with a cgroup namespace, but the cgroups of the one before
expect 0 'PT (mean' unshare -C "$measure" -q -r 2 --accounting none -- true
finish
