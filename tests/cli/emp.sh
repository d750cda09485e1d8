#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The front command: it executes the tools beside it, corrects what is mistyped and runs nothing then, and finds words in the manual
# pages. Usage: emp.sh BUILD SOURCE
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/expect.sh"
build=$(realpath "$1")
emp=$build/emp/emp
unset COLUMNS

runs() { sqlite3 "$EMP_DB" 'SELECT count(*) FROM run' 2>/dev/null || echo 0; }
says() { # EXACTLY COMMAND...: status 1, this sentence and nothing else
	sentence=$1
	shift
	expect 1 '' "$@"
	that "it says only: $sentence" test "$(cat "$dir/out")" = "emp: $sentence"
}

# one screen
for words in '' help --help -h; do
	expect 0 '^  emp setup audit ' $emp $words
	that "'emp $words' fits a screen" awk 'length > 80 { wide = 1 } END { exit wide || NR > 24 }' "$dir/out"
done
for name in measure setup calibrate analyze load compare-commits; do
	expect 0 "^Usage: emp-$name" $emp $name --help
	"$emp" $name --help >"$dir/one"
	"$(find "$build" -maxdepth 2 -type f -name "emp-$name")" --help >"$dir/other"
	that "emp $name is emp-$name" cmp "$dir/one" "$dir/other"
done
expect 0 '' $emp inc --iterations 1000
expect 0 '^Usage: emp help' $emp help --help
that "its help fits" awk 'length > 80 { exit 1 }' "$dir/out"

expect 1 "^emp: no command ''; 'emp' lists them$" $emp ''
expect 1 "^emp-calibrate: unknown verb ''" $emp calibrate ''
expect 1 '^emp: emp help needs a word' $emp help ''
expect 1 '^emp: emp help needs a word' $emp help ' ' ''

# words, status and standard streams are the tool's
expect 0 '^a  b$' $emp measure -q -r 1 -w 0 --show-output -- echo 'a  b'
expect 124 'ran longer than' $emp measure -q -r 1 -w 0 --timeout 0.1 -- sleep 60
expect 1 "emp-measure: command 'no-such' not found" $emp measure no-such
expect 0 '^1$' sh -c "$emp analyze export 1 | $emp analyze --db '$dir/other.db' import -"

# nothing is run
before=$(runs)
says "no command 'audit'; type 'emp setup audit'" $emp audit
says "no command 'audit'; type 'emp setup audit'" $emp audit --only x -v
says "no command 'run'; type 'emp calibrate run' or 'emp load run' or 'emp study run'" $emp run -- true
says "no command 'jitter'; type 'emp calibrate jitter' or 'emp analyze jitter'" $emp jitter
says "no command 'mesure' (did you mean 'emp measure'?)" $emp mesure true
says "no command 'audti' (did you mean 'emp setup audit'?)" $emp audti
says "no command 'hepl' (did you mean 'emp help'?)" $emp hepl
says "no command 'sort'; 'emp' lists them" $emp sort big.txt
says "'emp calibrate' has no verb 'audit'; type 'emp setup audit'" $emp calibrate audit
says "'emp setup' has no verb 'jitter'; type 'emp calibrate jitter' or 'emp analyze jitter'" $emp setup jitter
expect 1 "emp-calibrate: unknown verb 'rnu' (did you mean 'run'?)" $emp calibrate rnu
expect 1 "emp-measure: command 'audit' not found" $emp measure audit
that "nothing was measured" test "$(runs)" = "$before"

# what it has
expect 0 '^  BPF  *yes (libbpf [0-9.]*); ' $emp --version
that "the first line is the version" sh -c "head -n 1 '$dir/out' | grep -qx 'emp [0-9][^ ]*'"
expect 0 '^  gnuplot  *not found: no pictures' env PATH=/nowhere $emp -V
expect 0 '^  taskstats  *yes (libmnl [0-9.]*)$' $emp -V
mkdir "$dir/bin" "$dir/bin/share"
cp "$emp" "$build/measure/emp-measure" "$dir/bin"
expect 0 '^  file capabilities  *none; see' "$dir/bin/emp" --version
if [ "$(id -u)" = 0 ] && setcap cap_bpf,cap_net_admin=p "$dir/bin/emp-measure" 2>/dev/null; then
	expect 0 'file capabilities  *emp-measure (cap_net_admin,cap_bpf=p)$' "$dir/bin/emp" --version
fi
rm "$dir/bin/emp-measure"
expect 1 "emp: emp-measure is not in $dir/bin; install all tools of the suite in one directory" "$dir/bin/emp" measure true

# words in the manual pages: an option, a verb, a check, a column, a message
first() { # TEXT WORD...: the first passage that is found contains the text
	text=$1
	shift
	expect 0 '' $emp help "$@"
	that "first for '$*': $text" grep -q -e "$text" <(head -n 2 "$dir/out" | tr '\n' ' ')
}
first 'emp-setup(1), CHECKS  *freq.governor' governor
first 'emp-analyze(1), VERBS  *daemons' daemons
first 'emp-measure(1), [A-Za-z ]*  *-S, --shell' -S
first 'emp-measure(1), [A-Za-z ]*  *--linger TIME' --linger
first 'emp-measure(1), OUTPUT  *Kept: ' Kept
first 'emp-measure(1), OUTPUT  *ET is up to 4.1 ms too long' the end was seen late
first 'emp-measure(1), OUTPUT  *ET is up to 4.1 ms too long' 'ET is up to 93 us too long in 7 of 9 samples: the end was seen late'
expect 0 '^[0-9]* more: emp help --all cpu$' $emp help cpu
n=$(sed -n 's/^\([0-9]*\) more.*/\1/p' "$dir/out")
that "8 are shown at first, and all with --all" test "$($emp help --json cpu | grep -c '"page"')" = $((n + 8))
that "no line is wider than the terminal" sh -c "COLUMNS=60 '$emp' help cpu | awk 'length > 60 { exit 1 }'"
expect 1 "^emp: 'governr' is in no manual page (did you mean 'governor'?)$" $emp help governr
expect 1 "^emp: 'qwrtzp' is in no manual page$" $emp help qwrtzp
expect 0 '"words": "--adopt"' $emp help --json -- --adopt
expect 1 '"matches": \[\]' $emp help --json qwrtzp
expect 1 '^emp: --all changes the text' $emp help --json -a cpu

# every option of every tool is found by its name, as what a passage is about
for name in measure setup calibrate analyze load; do
	"$(find "$build" -maxdepth 2 -type f -name "emp-$name")" --dump-options >"$dir/dump.json"
	python3 - "$dir/dump.json" <<'PYTHON' >"$dir/options"
import json, sys
print(*sorted({"--" + o["name"] for v in json.load(open(sys.argv[1]))["verbs"] for o in v["options"]}), sep="\n")
PYTHON
	while read -r option; do
		$emp help --json -- "$option" >"$dir/found" 2>&1 || { echo "FAULT: emp help $option finds nothing"; faults=$((faults + 1)); }
	done <"$dir/options"
done

# installed pages, packed ones, too
mkdir -p "$dir/root/bin" "$dir/root/share/man/man1"
cp "$emp" "$dir/root/bin"
gzip -c "$build/man/emp-inc.1" >"$dir/root/share/man/man1/emp-inc.1.gz"
expect 0 '^emp-inc(1), DESCRIPTION$' "$dir/root/bin/emp" help taken branch
finish
