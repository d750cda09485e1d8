# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that apply and restore in a box (box.sh), and check that it is as before: $box/before holds what their function
# `state` printed first. They also define `apply`; $setup is emp-setup, and $faults is the count of failures.

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# same WORDS: the box is as it was at first
same() {
	state >"$box/now"
	diff "$box/before" "$box/now" >"$box/diff" && return 0
	fault "$1 left a difference:"
	cat "$box/diff"
}

# What is enabled, masked and so on; asking takes too long to do it at every crash point.
file_states() {
	box_run systemctl list-unit-files --no-legend --type=service,timer,socket,path | awk '{ print $1, $2 }' | sort
}

restore() {
	box_run "$setup" restore "$@" >"$box/out" 2>&1
}

# walk [STRIDE FIRST]: killed at every crash point (or every fifth from the FIRST on, with a stride of 5) of apply, then restored; killed
# at every crash point of restore, then restored again
walk() {
	n=$((${2:-1} - ${1:-1})) applied=0 restored=0
	while n=$((n + ${1:-1})); do
		status=0
		apply --kill-after $n || status=$?
		[ $status = 137 ] || break
		applied=$((applied + 1))
		restore || { fault "restore failed after apply was killed at crash point $n"; cat "$box/out"; }
		same "apply, killed at crash point $n, and restore"
	done
	restore
	n=$((${2:-1} - ${1:-1}))
	while n=$((n + ${1:-1})); do
		apply || :
		status=0
		restore --kill-after $n || status=$?
		[ $status = 137 ] || break
		restored=$((restored + 1))
		restore || { fault "the second restore failed, the first was killed at crash point $n"; cat "$box/out"; }
		same "restore, killed at crash point $n, and restore"
	done
	echo "killed at $applied crash points of apply and $restored of restore"
}
