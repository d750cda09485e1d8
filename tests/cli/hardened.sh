#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every program that is installed is hardened: its ELF file shows it.
# Usage: hardened.sh BUILD
. "$(dirname "$0")/expect.sh"
build=$1

# option NAME: of the build
option() {
	python3 -c 'import json, sys; print(next(o["value"] for o in json.load(open(sys.argv[1])) if o["name"] == sys.argv[2]))' \
		"$build/meson-info/intro-buildoptions.json" "$1"
}

has() { # PATTERN: in the facts about the program
	grep -qE -- "$1" "$dir/facts"
}
lacks() {
	! has "$1"
}

case $(uname -m) in
x86_64) checked_branch='^ .*endbr64' ;;
aarch64) checked_branch='^ .*(bti|paciasp)' ;;
*) checked_branch= ;;
esac
fortified=$([ "$(option b_sanitize)" != none ] || [ "$(option optimization)" = 0 ] || echo yes)

check_library() { # LIBRARY
	readelf -Wlds "$1" >"$dir/facts" || return 1
	that "$1: the stack cannot be executed" has 'GNU_STACK .* RW +0x'
	that "$1: relocations are read-only" has 'GNU_RELRO'
	that "$1: all symbols are bound at the start" has 'FLAGS_1.* NOW'
	that "$1: no segment can be written and executed" lacks 'LOAD .* RWE '
}

check() { # PROGRAM
	readelf -Wlds "$1" >"$dir/facts" && objdump -d --disassemble=main "$1" >>"$dir/facts" || return 1
	that "$1: the stack cannot be executed" has 'GNU_STACK .* RW +0x'
	that "$1: relocations are read-only" has 'GNU_RELRO'
	that "$1: the stack is protected" has '__stack_chk_fail'
	[ -z "$checked_branch" ] || that "$1: indirect branches are checked" has "$checked_branch"
	if has '\(NEEDED\)'; then
		that "$1: all symbols are bound at the start" has 'FLAGS_1.* NOW'
		that "$1: the program is position-independent" has 'FLAGS_1.* PIE'
		[ -z "$fortified" ] || that "$1: FORTIFY is on" has '__[a-z]+_chk(@|$| )'
	else
		that "$1: only emp-inc and emp-slowed, which have the same addresses in each run, are static" expr "${1##*/}" : 'emp-\(inc\|slowed\)$'
	fi
	that "$1: no segment can be written and executed" lacks 'LOAD .* RWE '
}

python3 -c '
import json, os, sys
for path in filter(os.path.isabs, json.load(open(sys.argv[1]))): # the others are links to libraries
    with open(path, "rb") as file:
        if file.read(4) == b"\x7fELF":
            print(path)' "$build/meson-info/intro-installed.json" >"$dir/programs"
that "thirteen programs and two libraries are installed" test "$(wc -l <"$dir/programs")" = 15
while read -r program; do
	that "$program can be read" test -r "$program"
	case $program in *.so*) kind=check_library ;; *) kind=check ;; esac
	$kind "$program" || faults=$((faults + 1))
done <"$dir/programs"
finish
