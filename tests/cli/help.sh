#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# -h and -V of every tool and verb: they work, no line is wider than 80 columns, and the man page has each option.
# Usage: help.sh BUILD SOURCE
set -u
. "$(dirname "$0")/expect.sh"
build=$1
man=$2/man
unset COLUMNS
export LC_ALL=C.UTF-8

fits() { "$@" | awk 'length > 80 { print; wide = 1 } END { exit wide }'; }
# options_in TEXT: what looks like an option, sorted.
options_in() { tr -c '[:alnum:]-' '\n' <"$1" | grep -x -e '-[a-zA-Z]' -e '--[a-z][a-z-]*' | sort -u; }

# in_man COMMAND...: each option of the command's help is in the page, whose options are in $dir/page.
in_man() {
	"$@" --help >"$dir/help" && options_in "$dir/help" | comm -23 - "$dir/page" |
		awk '{ print; missing = 1 } END { exit missing }'
}

for name in setup calibrate measure analyze load; do
	tool=$(find "$build" -maxdepth 2 -type f -name emp-$name)
	expect 0 "^Usage: emp-$name" "$tool" -h
	expect 0 "^emp-$name [0-9]" "$tool" -V
	that "the help of emp-$name fits 80 columns" fits "$tool" --help
	options_in "$man/emp-$name.1.scd" >"$dir/page"
	that "emp-$name(1) has each option" in_man "$tool"
	for verb in $("$tool" --help | awk '/^Verbs/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ { print $1 }'); do
		expect 0 "^Usage: emp-$name $verb" "$tool" "$verb" -h
		that "the help of emp-$name $verb fits 80 columns" fits "$tool" "$verb" --help
		that "emp-$name(1) has each option of $verb" in_man "$tool" "$verb"
	done
done
finish
