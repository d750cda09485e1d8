#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# -h and -V of every tool and verb: they work, and no line is wider than 80 columns. Usage: help.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
build=$1
unset COLUMNS
export LC_ALL=C.UTF-8

fits() { "$@" | awk 'length > 80 { print; wide = 1 } END { exit wide }'; }

for name in setup calibrate measure analyze load; do
	tool=$(find "$build" -maxdepth 2 -type f -name emp-$name)
	expect 0 "^Usage: emp-$name" "$tool" -h
	expect 0 "^emp-$name [0-9]" "$tool" -V
	that "the help of emp-$name fits 80 columns" fits "$tool" --help
	for verb in $("$tool" --help | awk '/^Verbs/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ { print $1 }'); do
		expect 0 "^Usage: emp-$name $verb" "$tool" "$verb" -h
		that "the help of emp-$name $verb fits 80 columns" fits "$tool" "$verb" --help
	done
done
finish
