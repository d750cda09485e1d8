# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of emp-setup on made-up CPUs, after fake_cpu.sh and in a mount namespace of their own: puts the CPUs in place, and runs
# emp-setup with a journal and a lock that are nobody else's. $build and $setup are set; $faults counts.
sys=/sys/devices/system/cpu
dir=$(mktemp -d)
mount -t tmpfs tmpfs /var/lib
export EMP_LOCK=$dir/own.lock
export COLUMNS=500 # a row is a line
faults=0

unplug() {
	umount -l $sys 2>/dev/null || :
	[ -z "${fake:-}" ] || wait $fake || :
	fake=
}
trap 'unplug; rm -rf "$dir"' EXIT

plug() { # DRIVER
	unplug
	cpu_files "$dir/files" "$1"
	mkdir -p "$dir/mount"
	"$build/tests/machine/fake_cpu" "$dir/files" "$dir/mount" &
	fake=$!
	until mountpoint -q "$dir/mount"; do
		kill -0 $fake || { echo "fake_cpu has ended"; exit 1; }
		sleep 0.02
	done
	mount --move "$dir/mount" $sys
	contents >"$dir/before"
}

contents() {
	(cd "$dir/files" && find . -type f ! -name '.*' | sort | xargs grep -H '')
}

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

same() {
	contents | diff "$dir/before" - >"$dir/diff" && return 0
	fault "$1 left a difference:"
	cat "$dir/diff"
}

run() { # STATUS COMMAND...
	want=$1 status=0
	shift
	"$setup" "$@" >"$dir/out" 2>&1 || status=$?
	[ $status = "$want" ] && return 0
	fault "emp-setup $* ended with $status, not $want"
	cat "$dir/out"
}
