#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several programs, and hyperfine's options. Usage: compare.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
measure="$build/measure/emp-measure -q"
burn=$build/tests/machine/burn
export EMP_DB=$dir/book.db
cd "$dir" || exit 1

# several programs, in turn
expect 0 'slower' $measure -r 5 "$burn 10" "$burn 30" --export-json two.json --export-csv two.csv --export-markdown two.md
that "both are in the document" json two.json '[r["command"].split()[-1] for r in d["results"]] == ["10", "30"]'
that "their CPU times are right" json two.json 'abs(d["results"][1]["emp"]["pt"]["mean_ns"] / d["results"][0]["emp"]["pt"]["mean_ns"] - 3) < 0.5'
that "CSV has a line each" test "$(wc -l <two.csv)" = 3
that "CSV begins as hyperfine's" grep -q '^command,mean,stddev,median,user,system,min,max' two.csv
that "Markdown has a row each" test "$(grep -c '^| `' two.md)" = 2
samples() { # in the order they were taken, as the programs' last argument
	sqlite3 "$EMP_DB" "SELECT group_concat(a, '') FROM (SELECT substr(json_extract(command, '\$[1]'), 1, 1) AS a FROM sample JOIN run ON run.id = run
		WHERE run >= (SELECT max(id) - 1 FROM run) ORDER BY start_ns)"
}
$measure -r 3 "$burn 1" "$burn 2" >/dev/null
that "they are interleaved" test "$(samples)" = 121212
$measure -r 3 --order sequence "$burn 1" "$burn 2" >/dev/null
that "they run in sequence when asked to" test "$(samples)" = 111222
$measure -r 20 --order shuffle "$burn 1" "$burn 2" >/dev/null
that "they are shuffled when asked to" test "$(samples)" != "$(printf '12%.0s' $(seq 20))"
expect 0 '(again)' $measure -r 3 --aa "$burn 5"
expect 2 'is slower than .* more than 5 %' $measure -r 5 --fail-if-slower 5 "$burn 10" "$burn 20"
expect 0 '' $measure -r 5 --fail-if-slower 5 "$burn 20" "$burn 10"
expect 1 'must be a percentage' $measure --fail-if-slower fast true

# command lines, shells, names, parameters
expect 0 '^first  *run ' $measure -r 2 -n first true
expect 1 "'true' comes before --" $measure -r 2 true -- false
expect 0 '^echo -- b  *run ' $measure -r 2 -- echo -- b
expect 1 "no command '0.01' in PATH (for one command with arguments, put -- before it)" $measure -r 2 sleep 0.01
expect 1 'there are 2 names for 1 command' $measure -n a -n b true
expect 1 "'|' needs a shell: run it with -S sh" $measure 'echo a | cat'
expect 0 '^a$' $measure -r 1 -w 0 -S sh --show-output 'echo a | cat'
expect 0 '^a$' $measure -r 1 -w 0 -S 'bash --norc' --show-output 'echo a | cat'
expect 0 '^a$' $measure -r 1 -w 0 -S default --show-output 'echo a | cat'
expect 1 "'|' needs a shell: run it with -S sh" $measure -S none 'echo a | cat'
expect 1 "a quote is not closed" $measure -S "bash '" 'echo a'
expect 1 'exclude each other' $measure -N -S sh true
expect 0 '' $measure -r 2 -w 0 -L ms 1,2 -P more 1 3 -D 1 "$burn {ms}" --export-json par.json
that "parameters are combined, the first fastest" json par.json \
	'[(r["parameters"]["ms"], r["parameters"]["more"]) for r in d["results"]] == [("1","1"),("2","1"),("1","2"),("2","2"),("1","3"),("2","3")]'
expect 0 'x 0.5  *run ' $measure -r 1 -w 0 -P n 0 1 -D 0.5 'echo x {n}'
expect 1 'must go from a number up to a number' $measure -P n 3 1 'echo {n}'
expect 1 'needs 3 values' $measure -P n 3
expect 1 "step-size must be a number above 0 (such as 0.5).*not '1e-3'" $measure -P n 0 1 -D 1e-3 'echo {n}'
expect 1 "the parameter 'n' has its values twice" $measure -L n 1,2 -P n 3 4 'echo {n}'
expect 0 '' $measure -r 1 -w 0 -L n '' 'echo {n}'

# an aborted session keeps what it had
$measure -r 3 --order sequence --export-json aborted.json "$burn 1" "sleep 1000" >/dev/null 2>&1 &
for i in $(seq 50); do [ -s aborted.json ] && break; sleep 0.1; done
kill -KILL $!
wait $! 2>/dev/null
that "the command that was done is in the file" json aborted.json 'len(d["results"]) == 1 and len(d["results"][0]["times"]) == 3'

# what runs around samples
$measure -r 3 -w 2 -s 'echo setup >>log' -p 'echo prepare >>log' -C 'echo conclude >>log' -c 'echo cleanup >>log' true >/dev/null
that "hooks run as often as they should" test "$(sort log | uniq -c | tr -s ' \n' ' ')" = " 1 cleanup 5 conclude 5 prepare 1 setup "
expect 1 "prepare 'exit 3' ended with exit status 3" $measure -p 'exit 3' true
expect 1 "'false' ended with exit status 1" $measure -c 'echo cleaned >cleaned' false
that "what failed is cleaned up after" grep -qx cleaned cleaned
expect 1 'give it once for all, or once for each of the 2 commands' $measure -p a -p b -p c true false

# documents to standard output and to pipes: once, at the end
$measure -r 2 --style none --order sequence --export-json - true false -i >stdout.json
that "'-' is standard output" json stdout.json 'len(d["results"]) == 2'
$measure -r 2 --style none --order sequence --export-csv >(cat >piped.csv) true 'sh -c true'
sleep 0.3
that "a pipe gets the whole, once" test "$(wc -l <piped.csv)" = 3
mkfifo fifo
cat fifo >through.json &
$measure -r 2 --style none --export-json fifo true
wait $!
that "a named pipe stays one" test -p fifo
that "the document went through it" json through.json 'len(d["results"]) == 1'

# input, output, style, counts
echo 'some input' >in.txt
expect 0 '^some input$' $measure -r 2 -w 0 --input in.txt --output inherit cat
expect 0 '' $measure -r 3 --input in.txt --output out.txt cat
that "the output file holds the last sample's output" cmp in.txt out.txt
expect 1 "cannot open 'no-such-file'" $measure --input no-such-file cat
that "style none prints nothing" test -z "$($measure -r 2 --style none true)"
expect 1 'must be one of auto' $measure --style loud true
escape=$(printf '\033')
that "style color has colour where nobody looks" sh -c "$measure -r 2 --style color true | grep -q '$escape\[1m'"
that "style full has a bar where nobody looks" sh -c "$build/measure/emp-measure -r 2 --style full true 2>&1 | grep -q '\[#*\]'"
that "style basic has neither on a terminal" sh -c "! TERM=xterm NO_COLOR= script -qec '$build/measure/emp-measure -r 2 --style basic true' /dev/null | grep '$escape'"
that "style nocolor has a bar without colour on a terminal" sh -c "TERM=xterm NO_COLOR= script -qec '$build/measure/emp-measure -r 2 --style nocolor true' '$dir/typed' >/dev/null &&
	grep -q '\[#*\]' '$dir/typed' && ! grep -q '$escape\[1m' '$dir/typed'"
expect 0 'Kept [0-9] of 4$\|Kept [0-9] of 4 ' $measure -M 4 true
expect 0 'Kept [0-9]* of 12' $measure -m 12 true
expect 0 'PT (mean ± σ) .* s ± .* s  ' $measure -r 3 -u second true
expect 3 'only .* of 3 samples .* are clean, and 4 were to be' $measure --retain 4 -M 3 true
expect 0 'Kept [4-9] of\|Kept 1[0-9] of' $measure --retain 4 true
finish
