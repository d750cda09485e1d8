#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measurements take turns on a core: a second one says who measures and waits, unless it is on another core, --ignore-lock is given, or
# the first one has started it. In a mount namespace with a /run of its own. Usage: turns.sh BUILD
set -u
[ "$(id -u)" = 0 ] || { echo "not run: needs root"; [ -z "${EMP_MUST_RUN:-}" ] || exit 1; exit 77; }
if [ "${2-}" != inside ]; then
	unshare -m true || { echo "no mount namespaces here"; exit 77; }
	exec unshare -m "$0" "$1" inside
fi
build=$1 measure="$1/measure/emp-measure --neighbour off"
. "$(dirname "$0")/../cli/expect.sh"
chmod 755 "$dir"
mount -t tmpfs none /run || { echo "no tmpfs here"; exit 77; }
unset EMP_LOCK
last=$(($(nproc) - 1))
core_of() { cut -d, -f1 "/sys/devices/system/cpu/cpu$1/topology/thread_siblings_list" | cut -d- -f1; }
says() { grep -q -e "$1" "$2"; }

# begin [OPTION...]: a measurement that lasts until $dir/gate is written to; $first is its process id
begin() {
	rm -f "$dir/gate" "$dir/in"
	mkfifo "$dir/gate"
	$measure -q -w 0 -r 1 "$@" -- sh -c "touch '$dir/in'; read x <'$dir/gate'" >"$dir/first" 2>&1 &
	first=$!
	wait_until test -e "$dir/in"
}
end() {
	echo x >"$dir/gate"
	wait $first
}
# second [OPTION...]: another one, in the background; $other
second() {
	rm -f "$dir/ran"
	env --default-signal=INT $measure -q -w 0 -r 1 "$@" -- touch "$dir/ran" >"$dir/second" 2>&1 &
	other=$!
}

# on the same CPU, and without one
for pair in "--cpu 0:--cpu 0" "--cpu 0:" ":--cpu $last" ":" "--affinity 0-$last:--cpu $last"; do
	begin ${pair%%:*}
	second ${pair#*:}
	wait_until says "Waiting for emp-measure (process $first, since 20.*), which measures on the same CPUs" "$dir/second"
	that "it has not run its program ($pair)" test ! -e "$dir/ran"
	end
	that "it has its turn afterwards ($pair)" wait $other
	that "and runs its program" test -e "$dir/ran"
done

# on another core
if [ "$(core_of 0)" != "$(core_of "$last")" ]; then
	begin --cpu 0
	expect 0 'Kept 1 of 1' $measure -q -w 0 -r 1 --cpu "$last" -- true
	that "it does not wait" test "$(grep -c Waiting "$dir/out")" = 0
	end
fi

# going on all the same
begin --cpu 0
EMP_DB="$dir/constant.db" expect 0 "measured beside emp-measure (process $first, since 20" \
	"$build/calibrate/emp-calibrate" constant --cpu 0
expect 0 "Warning: beside emp-measure (process $first, since 20" $measure -q -v -w 0 -r 1 --cpu 0 --ignore-lock -- true
that "and does not wait" test "$(grep -c Waiting "$dir/out")" = 0
expect 0 "Warning: beside emp-measure (process $first, since 20" $build/analyze/emp-analyze show \
	"$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')"
# ^C
second --cpu 0
wait_until says Waiting "$dir/second"
kill -INT $other
wait $other
that "it can be interrupted while it waits" test $? = 130
that "and says so" says 'interrupted before the first sample' "$dir/second"
# the first one is killed
second --cpu 0
wait_until says Waiting "$dir/second"
kill -9 $first
that "a kill of the first lets it begin" wait $other
wait $first 2>/dev/null

# a program that measures itself, also on the same CPU, also in its own namespace of processes
expect 0 'Kept 1 of 1' $measure -q -w 0 -r 1 --cpu 0 -- $measure -q -w 0 -r 1 --cpu 0 -- true
expect 0 'Kept 1 of 1' $measure -q -w 0 -r 1 -- sh -c "$measure -q -w 0 -r 1 -- $measure -q -w 0 -r 1 --cpu 0 -- true; :"
expect 0 'Kept 1 of 1' $measure -q -w 0 -r 1 -- unshare -p -f --mount-proc $measure --accounting none -q -w 0 -r 1 -- true
# --prepare and other hooks
expect 0 'Kept 1 of 1' $measure -q -w 0 -r 1 --prepare "$measure -q -w 0 -r 1 -- true" -- true

# calibrations wait as well
begin --cpu 0
$build/calibrate/emp-calibrate constant >"$dir/calibration" 2>&1
$build/calibrate/emp-calibrate -q run --short 0.02x2 --long 0.02x2 --save a --ignore-audit --force >"$dir/second" 2>&1 &
other=$!
wait_until says "Waiting for emp-measure (process $first, since 20" "$dir/second"
end
wait $other
that "it goes on" test $? = 0

# other users see root's, and have turns of their own
install -d -o 65534 "$dir/theirs"
begin --cpu 0
EMP_DB=$dir/theirs/book.db HOME=$dir/theirs setpriv --reuid=65534 --regid=65534 --clear-groups \
	$measure -q -w 0 -r 1 --cpu 0 -- true >"$dir/second" 2>&1 &
other=$!
wait_until says "Waiting for emp-measure (process $first, since 20" "$dir/second"
end
that "an ordinary user waits for root" wait $other
finish
