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

# said_choices COMMAND...: what each of its options says that it must be, a line each: "--kind short long".
said_choices() {
	"$@" --help | grep -o -e '--[a-z-]*[ =[][A-Z]' | sed 's/[ =[]*[A-Z]$//' | while read -r option; do
		"$@" "$option" no-such-word --help 2>&1 |
			sed -n "s/^[a-z-]*: --[a-z-]* must be \([a-z, -]*\), not 'no-such-word'$/$option, \1/p" |
			sed 's/ or /, /g; s/,//g'
	done
}
# names_choices COMMAND...: help and man page have each of these words with the option.
names_choices() {
	"$@" --help | awk '/^ *(-.,)? *--/ { printf "\n" } { printf "%s ", $0 }' >"$dir/options"
	said_choices "$@" | {
		wrong=0
		while read -r option words; do
			for word in $words; do
				grep -e "$option " "$dir/options" | grep -qw -e "$word" &&
					grep -qw -e "$word" "$dir/words" && continue
				echo "$option: $word"
				wrong=1
			done
		done
		return $wrong
	}
}

for name in setup calibrate measure analyze load study; do
	tool=$(find "$build" -maxdepth 2 -type f -name emp-$name)
	expect 0 "^Usage: emp-$name" "$tool" -h
	expect 0 "^emp-$name [0-9]" "$tool" -V
	that "the help of emp-$name fits 80 columns" fits "$tool" --help
	options_in "$man/emp-$name.1.scd" >"$dir/page"
	tr -s '_*\n' ' ' <"$man/emp-$name.1.scd" >"$dir/words"
	that "emp-$name(1) has each option" in_man "$tool"
	that "help and emp-$name(1) have each choice" names_choices "$tool"
	for verb in $("$tool" --help | awk '/^Verbs/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ { print $1 }'); do
		expect 0 "^Usage: emp-$name $verb" "$tool" "$verb" -h
		that "the help of emp-$name $verb fits 80 columns" fits "$tool" "$verb" --help
		that "emp-$name(1) has each option of $verb" in_man "$tool" "$verb"
		that "help and emp-$name(1) have each choice of $verb" names_choices "$tool" "$verb"
	done
done
options_in "$man/emp.1.scd" >"$dir/page"
that "emp(1) has each option of emp help" in_man "$build/emp/emp" help
finish
