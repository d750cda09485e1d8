#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A test that meson cuts off says what it waited for. Usage: cut-off.sh
set -u
. "$(dirname "$0")/expect.sh"
library=$(realpath "$(dirname "$0")/expect.sh")

cut() { # LINE: a test of this line, ended with all its processes once $dir/begun is there
	rm -f "$dir/begun"
	setsid bash -c ". '$library'; $1" >"$dir/said" 2>&1 &
	wait_until test -e "$dir/begun"
	kill -TERM -- -$!
	wait $!
	that "it is a failure" test $? = 143
}
cut "expect 0 '' sh -c 'touch $dir/begun; exec sleep 1234'"
that "the command is named" grep -q '^CUT OFF after .*(last begun: sh -c touch .*sleep 1234)$' "$dir/said"
cut "wait_until sh -c 'touch $dir/begun; exit 1'"
that "the condition is named" grep -q '^CUT OFF after .*(last begun: wait_until sh -c touch ' "$dir/said"
cut "sh -c 'touch $dir/begun; exec sleep 1234'"
that "a plain line is named" grep -q '^CUT OFF after .* at: sh -c .*sleep 1234' "$dir/said"
finish
