#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles does_not_compile.c once without a macro, and once with each that it asks for.
# Usage: does_not_compile.sh SOURCE COMPILER...
set -eu
root=$1
shift
file=$root/tests/unit/does_not_compile.c

compile() {
	"$@" -std=gnu17 -D_GNU_SOURCE -fsyntax-only -I"$root" "$file"
}

compile "$@"
for trap in $(sed -n 's/^#ifdef //p' "$file"); do
	if compile "$@" -D"$trap" 2>/dev/null; then
		echo "$file compiles with $trap"
		exit 1
	fi
done
