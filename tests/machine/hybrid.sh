#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On a processor whose CPUs are of two types (made up in /sys), emp-measure says which type --cpu is, or that PT depends on it;
# emp-setup has the types in audit and fingerprint. Usage: hybrid.sh BUILD
set -eu
if [ "${2:-}" != inside ]; then
	[ "$(id -u)" = 0 ] && [ "$(nproc)" -ge 2 ] || {
		echo "not run: needs root and two CPUs"
		[ -z "${EMP_MUST_RUN:-}" ] || exit 1
		exit 77
	}
	exec unshare --mount --propagation private sh "$0" "$1" inside
fi
build=$(realpath "$1")
dir=$(mktemp -d)
trap 'umount /sys/devices/system/cpu 2>/dev/null || :; rm -rf "$dir"' EXIT
faults=0

# prints WORDS COMMAND...
prints() {
	words=$1
	shift
	output=$(COLUMNS=500 "$@" 2>&1) || :
	case $output in *"$words"*) ;; *)
		echo "FAULT: '$words' is not in the output of $*:"
		echo "$output"
		faults=$((faults + 1))
		;;
	esac
}

mkdir -p "$dir/cpu"
for file in online present possible isolated; do
	cp /sys/devices/system/cpu/$file "$dir/cpu/"
done
for cpu in $(seq 0 $(($(nproc --all) - 1))); do
	mkdir "$dir/cpu/cpu$cpu"
	echo $((cpu == 0 ? 1024 : 512)) >"$dir/cpu/cpu$cpu/cpu_capacity"
done
mount --bind "$dir/cpu" /sys/devices/system/cpu
set -- "$build/measure/emp-measure" --ignore-lock --db "$dir/book.db" -r 3
prints 'PT depends on the type of core that ran it (capacity 1024, capacity 512): see --cpu' "$@" -v -- true
prints 'CPU 0 is of type capacity 1024' "$@" -v --cpu 0 -- true
prints 'CPU 1 is of type capacity 512' "$@" -v --cpu 1 -- true
prints 'CPU 1 is of type capacity 512: capacity 1024 (CPU 0)' "$build/setup/emp-setup" audit -v --cpu 1
prints 'no CPU is chosen' "$build/setup/emp-setup" audit -v
prints 'cpus.types.capacity 1024' "$build/setup/emp-setup" fingerprint
prints 'unmeasurable: CPUs of several kinds; pin both to one CPU with --cpu' "$@" 'sleep 0.01' 'sleep 0.02'
"$@" --cpu 0 'sleep 0.01' >"$dir/out"
"$@" --cpu 1 'sleep 0.01' >>"$dir/out"
at=$(sed -n 's/.* run \([0-9]*\), CPU.*/\1/p' "$dir/out")
prints 'unmeasurable: CPUs of several kinds' "$build/analyze/emp-analyze" --db "$dir/book.db" compare $at
echo "$faults faults"
[ $faults = 0 ]
