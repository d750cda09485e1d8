#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lines as people have typed them for hyperfine: after "emp measure" they run unchanged, or one sentence says what to type.
# Usage: hyperfine-lines.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
emp=$(realpath "$1")/emp/emp
cd "$dir" || exit 1
seq 2000 -1 1 >big.txt
mkdir src
echo '// TODO' >src/a.c
printf 'all:\n\t@true\n' >src/Makefile
printf '#!/bin/sh\nexec sleep 0.00${1:-1}\n' >program
printf 'WORD=big\n' >env.sh
chmod +x program

lines=0
# How a line ends: it runs directly; a shell runs all or some of its commands; or it says a sentence.
while IFS='	' read -r how line <&3; do
	eval "set -- $line"
	lines=$((lines + 1))
	case $how in
	direct)
		expect 0 '' "$emp" measure "$@"
		that "no shell runs: $line" sh -c "! grep -q 'Run by' '$dir/out'"
		;;
	shell) expect 0 'Run by [a-z -]* -c (start alone: PT ' "$emp" measure "$@" ;;
	*)
		expect 1 "^emp-measure: .*$how" "$emp" measure "$@"
		that "a sentence is all that is said: $line" test "$(wc -l <"$dir/out")" = 1
		;;
	esac
done 3<<'LINES'
direct	'sleep 0.01'
direct	'sleep 0.01' 'sleep 0.02'
direct	--warmup 3 'grep -R TODO src'
shell	'sort big.txt | uniq -c'
shell	'FOO=1 ./program'
shell	--runs 5 './program > /dev/null'
shell	'./program <big.txt' 'wc -l <big.txt'
shell	-r 3 --prepare 'sync; rm -f o' 'cat big.txt >o'
shell	--export-json out.json './program 1 && ./program 2' './program 3'
direct	--export-markdown out.md --export-csv out.csv 'sort big.txt' 'sort -r big.txt'
direct	--export-asciidoc out.adoc --export-orgmode out.org -u second './program'
direct	-P n 1 3 './program {n}'
direct	-P delay 0.001 0.003 -D 0.001 'sleep {delay}'
shell	-P size 0 1 -r 3 'sleep 0.0$((1 + {size}))'
shell	-L cmd sort,cat '{cmd} big.txt | wc -l'
direct	-L a 1,2 -L b x,y 'echo {a} {b}'
shell	-i 'exit 3'
direct	--ignore-failure false true
direct	--shell=none 'sort big.txt'
direct	-N --warmup 10 ./program
shell	--shell bash 'for i in {1..3}; do true; done'
shell	-S 'bash --norc' '[[ a == a ]]'
shell	-S 'bash -c' '[[ a == a ]]'
shell	-S default true
direct	-n baseline -n changed 'sort big.txt' 'sort -u big.txt'
direct	--setup 'cp big.txt work.txt' --cleanup 'rm work.txt' 'sort work.txt'
direct	-r 2 --show-output 'echo hi'
direct	--style basic --time-unit millisecond true
direct	--output=pipe 'cat big.txt'
direct	--input big.txt 'wc -l'
direct	--reference 'sort big.txt' --reference-name old 'sort -u big.txt'
direct	--min-runs 5 --max-runs 8 ./program
shell	'cd src && ls'
shell	'hash -r'
shell	'. ./env.sh; cat $WORD.txt'
shell	'cat *.txt' 'cat ~/../etc/hostname || :'
direct	"awk '{ n += \$1 } END { print n }' big.txt"
direct	-m 20 "sh -c 'echo \$HOME | wc -c'"
direct	-w 1 'make -C src -B'
shell	$'true\nfalse || true'
direct	--sort mean-time true 'sleep 0.01'
direct	-r 3 --export-json - true
(for one command with arguments, put -- before it)	sleep 0.01
there is none with -N	-N 'sort big.txt | uniq -c'
-i measures it anyway	'exit 3'
needs a step: -D 0.1, for example	-P delay 0.1 0.3 'sleep {delay}'
LINES
that "the table was read" [ "$lines" = 46 ]
that "names are the lines as they were typed" json out.json '[r["command"] for r in d["results"]] == ["./program 1 && ./program 2", "./program 3"]'
that "and the start of the shell is beside those that it ran" json out.json \
	'["shell" in r["emp"] for r in d["results"]] == [True, False]' 'd["results"][0]["emp"]["shell"]["name"] == "sh -c"' \
	'len(d["results"][0]["emp"]["shell"]["pt_ns"]) == 10 and min(d["results"][0]["emp"]["shell"]["pt_ns"]) > 0'
expect 0 'sort big.txt | uniq -c' env COLUMNS=300 "$emp" analyze list --all
that "the list has the lines as they were typed, and that of -S default" test "$(grep -o '/bin/sh -c [a-z]*' "$dir/out")" = '/bin/sh -c true'
expect 0 "Ran [a-z/]*/echo, not the shell's own echo (-S default runs that)" "$emp" measure -r 2 'echo hi'
for words in "-- echo hi" "-S default 'echo hi'" "-N 'echo hi'" true; do
	eval "set -- $words"
	expect 0 '' "$emp" measure -r 2 "$@"
	that "nothing is said of a builtin: $words" sh -c "! grep -q \"the shell's own\" '$dir/out'"
done
that "no table is empty" test -s out.md -a -s out.csv -a -s out.adoc -a -s out.org
finish
