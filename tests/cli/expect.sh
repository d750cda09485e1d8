# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of the command line. A test types commands as a user does, and says what must come of them.
# Its lab book and its lock are its own.

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# What a test waits for when meson, after its timeout, ends it and all that it has started.
doing= begun=$(date +%s)
trap 'echo "CUT OFF after $(($(date +%s) - begun)) s at: ${BASH_COMMAND:-} (last begun: $doing)"; exit 143' TERM
export LC_ALL=C.UTF-8 NO_COLOR=1 EMP_DB=$dir/book.db EMP_LOCK=$dir/own.lock
unset EMP_NAMES
faults=0

# expect STATUS TEXT COMMAND...: the command ends with STATUS and prints TEXT (a grep pattern; "" for anything) on either output.
expect() {
	want=$1 text=$2
	shift 2
	doing=$*
	status=0 faults_then=$faults
	"$@" >"$dir/out" 2>&1 </dev/null || status=$?
	[ "$faults" = "$faults_then" ] || grep '^FAULT' "$dir/out" # of a function of the test, which waited in vain
	if [ "$status" != "$want" ]; then
		echo "FAULT: status $status, not $want: $*"
	elif [ -n "$text" ] && ! grep -q -e "$text" "$dir/out"; then
		echo "FAULT: '$text' is not in the output: $*"
	else
		return 0
	fi
	sed 's/^/    /' "$dir/out"
	faults=$((faults + 1))
}

# that WORDS COMMAND...: the command succeeds; WORDS say what that means. $dir/out stays what the last `expect` printed.
that() {
	words=$1
	shift
	doing=$*
	"$@" >"$dir/that" 2>&1 && return 0
	echo "FAULT: not so: $words ($*)"
	sed 's/^/    /' "$dir/that"
	faults=$((faults + 1))
}

# wait_until COMMAND...: waits until the command succeeds, for some five minutes at most (EMP_TIMEOUT_MULTIPLIER=10: ten times that).
wait_until() {
	doing="wait_until $*"
	for _ in $(seq $((3000 * ${EMP_TIMEOUT_MULTIPLIER:-1}))); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "FAULT: waited in vain: $*"
	faults=$((faults + 1))
	return 1
}

# cgroups_of PID: the cgroups that an emp with this process id has made (emp-NAMESPACE-PID-COUNT).
cgroups_of() {
	find /sys/fs/cgroup -type d -name "emp-*-$1-*" 2>/dev/null
}

# json FILE EXPRESSION: a Python expression on the document, called d, that must hold.
json() {
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2"
}

# gives WORDS EXPRESSION COMMAND...: the command's output is a document for which the expression holds.
gives() {
	words=$1 expression=$2
	shift 2
	"$@" >"$dir/got" 2>"$dir/err" || cat "$dir/err"
	that "$words" json "$dir/got" "$expression"
}

sound() { # BOOK
	[ "$(sqlite3 "$1" 'PRAGMA integrity_check')" = ok ]
}

# random_seed: seeds $RANDOM (bash) with EMP_SEED or a seed of its own, and prints it, so that a failure can be repeated.
random_seed() {
	seed=${EMP_SEED:-$RANDOM}
	echo "EMP_SEED=$seed"
	RANDOM=$seed
}

need_root() {
	[ "$(id -u)" = 0 ] && return 0
	echo "not run: needs root"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}

no_invariant_counter() { # as in QEMU 7.2, if it emulates: "mount --bind" a /proc/cpuinfo with nonstop_tsc there
	[ $faults = 0 ] || finish
	echo "not run: the time stamp counter is not invariant"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}

finish() {
	[ $faults = 0 ] || echo "$faults faults"
	exit $((faults > 0))
}
