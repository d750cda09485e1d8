#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The verdicts "same program" and "different work", each provoked for real in each tool. Usage: same-program.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
measure=$(realpath "$1")/measure/emp-measure
analyze=$(realpath "$1")/analyze/emp-analyze
cd "$dir" || exit 1
unset LD_LIBRARY_PATH

measured() {
	$measure -q -r 3 -w 0 --accounting none --ignore-lock "$@"
}
# verdict COMMAND COMMAND OPTION...: with a gate that allows nothing. `said`: its word in JSON.
verdict() {
	one=$1 two=$2
	shift 2
	rm -f json
	measured --fail-if-slower 0 --export-json json "$@" "$one" "$two" >out 2>&1
	status=$?
	said=$(python3 -c 'import json; print("; ".join(sorted({c["verdict"] for c in json.load(open("json"))["comparisons"]})))')
}
same() {
	verdict "$@"
	that "'$1' and '$2' are the same program" test "$said" = 'same program'
	that "the gate passes" test $status = 0
	that "the last line says so" sh -c "tail -n 1 out | grep -q '^Verdict\( ([PE]T)\)\?: same program; what differs is noise$'"
}
different() {
	verdict "$@"
	that "'$1' and '$2' are compared by their times" sh -c "echo '$said' | grep -Eqx '(;? ?(faster|slower|equal|cannot tell))+'"
}
settled() { # a file that has changed since the program began may have been another one
	touch now
	wait_until sh -c 'touch later; [ later -nt now ]'
}

cat >prog.c <<'C'
int work(void);
int main(void) { for (volatile long i = 0; i < 100000 * work(); i++) ; return 0; }
C
mkdir one two three modules1 modules2 apart1 apart2
echo 'int work(void) { return 1; }' >work1.c
echo 'int work(void) { return 2; }' >work2.c
for n in one/1 two/2 three/1; do cc -shared -fPIC -o "${n%/*}/libwork.so" "work${n#*/}.c"; done
cc -o prog prog.c -Lone -lwork '-Wl,--disable-new-dtags,-rpath,$ORIGIN/one'
for n in one two three; do cc -o $n/prog prog.c -Lone -lwork '-Wl,--disable-new-dtags,-rpath,$ORIGIN'; done
cc -o static -x c - <<<'int main(void) { for (volatile long i = 0; i < 100000; i++) ; return 0; }'
cc -o other -x c - <<<'int main(void) { for (volatile long i = 0; i < 100001; i++) ; return 0; }'
cp static copy
cp static one/copy
ln -s static link
cat >reader.c <<'C'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char path[4096];
	char *slash;

	snprintf(path, 4000, "%s", argv[0]);
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, "table.dat");
	return fopen(path, "r") == NULL;
}
C
cc -o one/reader reader.c
cp one/reader two/reader
for n in beside:'"%.*s/tables/t"' suffix:'"%s.conf"'; do
	cc -o one/${n%%:*} -D "WHERE=${n#*:}" -D "ARGUMENTS=$([ ${n%%:*} = beside ] && echo '(int)(strrchr(argv[0], 47) - argv[0]), argv[0]' || echo 'argv[0]')" -x c - <<'C'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char path[4096];

	snprintf(path, 4096, WHERE, ARGUMENTS);
	return fopen(path, "r") == NULL;
}
C
	cp one/${n%%:*} two/
done
for n in 1:one 2:two; do mkdir ${n#*:}/tables; echo ${n%:*} | tee ${n#*:}/tables/t >${n#*:}/suffix.conf; done
# a library that looks beside itself
mkdir far1 far2
cc -shared -fPIC -D _GNU_SOURCE -o far1/libfar.so -x c - <<'C'
#include <dlfcn.h>
int far(void) { Dl_info info; return dladdr((void *)far, &info); }
C
cc -o far1/prog -x c - -Lfar1 -lfar '-Wl,--disable-new-dtags,-rpath,$ORIGIN' <<<'int far(void); int main(void) { return !far(); }'
cp far1/* far2/
echo 1 >one/table.dat
echo 2 >two/table.dat
echo 'import sys; print(len(sys.argv))' >a.py
cp a.py copy_of_a.py
cp a.py apart1/
cp a.py apart2/
echo 'print(3)' >b.py
echo 'import helper' | tee modules1/a.py >modules2/a.py
echo 'x = 1' >modules1/helper.py
echo 'x = 2' >modules2/helper.py
for script in s1 s2; do printf '#!/bin/sh\nexit 0\n' >$script; done
for n in 1 2; do printf '#!/bin/sh\nexec "${0%%/*}"/other\n' >modules$n/script; printf '#!/bin/sh\nexit 0 # %s\n' $n >modules$n/other; done
chmod +x s1 s2 modules?/script modules?/other
printf '#!/bin/sh\n[ "$(basename "$0")" = by-name ] || sleep 0.01\n' | tee by-name >by-another-name
chmod +x by-name by-another-name
echo data | tee data1 >data2
echo else >data3
: >empty1
: >empty2
settled

same ./static ./static
same ./static ./copy
same ./static ./link
same ./static one/copy
same one/prog three/prog
same 'python3 a.py' 'python3 copy_of_a.py'
same 'python3 apart1/a.py' 'python3 apart2/a.py'
same ./s1 ./s2
same 'cat ./data1' 'cat ./data2'
same './s1' './s2' -S sh
expect 0 '^Verdict.*: same program' measured --aa --fail-if-slower 0 ./static

different ./static ./other
different one/prog two/prog
different "env LD_LIBRARY_PATH=$dir/one ./prog" "env LD_LIBRARY_PATH=$dir/two ./prog"
different 'python3 a.py' 'python3 b.py'
different 'python3 a.py' 'python3 a.py x'
different 'python3 a.py' 'python3 -O a.py'
different 'python3 modules1/a.py' 'python3 modules2/a.py'
different modules1/script modules2/script
different one/reader two/reader
different one/beside two/beside
different one/suffix two/suffix
different far1/prog far2/prog
different ./by-name ./by-another-name
different 'cat ./data1' 'cat ./data3'
different 'cat ./empty1' 'cat ./empty2'
different 'cat ./data1' 'cat ./data2' -S sh
different 'cat ./data1; :' 'cat ./data2; :' -S sh
different 'sleep 0.001' 'sleep 0.002'
different 'bzip2 -c ./data1' 'bunzip2 -c ./data1' -i
different 'env X=1 ./static' 'env X=2 ./static'
different ./static ./copy -p true -p :
different ./static ./copy --output null --output pipe
different "sh -c 'cp static changing; chmod +x changing; ./changing'" ./static
# another program each time
printf '#!/bin/sh\nexit 0\n' >rebuilt
chmod +x rebuilt
different ./rebuilt ./s1 -p "printf '#!/bin/sh\nexit 0\n' >rebuilt"

# the book and documents keep it
$measure -q -r 3 -w 0 --accounting none --ignore-lock --export-json json --export-csv csv --export-markdown md --export-asciidoc adoc --export-orgmode org ./static ./copy >out 2>&1
for format in csv md adoc org; do that "$format has the verdict" grep -q 'same program' $format; done
last=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 '^Verdict.*: same program' $analyze compare $((last - 1)) "$last" --fail-if-slower 0
gives "so does JSON" 'd["verdict"] == "same program"' $analyze compare $((last - 1)) "$last" --json
expect 0 '^Verdict.*: same program' $analyze compare json:1 json:2 --fail-if-slower 0
that "an A/A point is two runs of one digest" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM run a JOIN run b USING (program_digest) WHERE a.id = $last - 1 AND b.id = $last")" = 1
$analyze export "$last" >run.json
that "a run takes it along" json run.json 'len(d["program_digest"]) >= 64'
measured ./static ./copy >out 2>&1
expect 0 '' $analyze compare "$last" $((last + 1))
that "runs of two calls are not called the same program" sh -c "! grep -q 'same program' '$dir/out'"

# different work
expect 1 "different work: the output of 'echo b' differs from that of 'echo a'" measured --same-output --export-json json --export-csv csv --export-markdown md 'echo a' 'echo b'
that "the last line says so" grep -q '^Verdict: different work; their outputs differ$' "$dir/out"
that "JSON has it" json json 'd["verdict"] == d["comparisons"][0]["verdict"] == "different work" and all(len(set(r["emp"]["output_digests"])) == 1 for r in d["results"])'
for format in csv md; do that "$format has it" grep -q 'different work' $format; done
last=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 1 '^Verdict.*: different work' $analyze compare $((last - 1)) "$last"
expect 1 '^Verdict: different work' $analyze compare json:1 json:2
expect 1 '^Verdict: different work' $analyze compare --compare both json:1 json:2
expect 0 '' measured --same-output 'echo a' "printf 'a\n'"
expect 0 '' measured 'echo a' 'echo b'
expect 1 "the output of 'date +%N' differs in samples 2, 3 from that in sample 1" measured --same-output -- date +%N
printf '%s\n' 'n=$(cat n 2>&- || echo 0); echo $((n + 1)) >n; echo $((n == 1))' >second.sh
expect 1 "the output of 'sh second.sh' differs in sample 2 from that in sample 1" measured --same-output 'sh second.sh' 'echo 0'
that "and a warning in the book" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM note WHERE text LIKE '%another output than usual in sample 2'")" = 1
for where in null pipe file; do
	expect 0 '' measured --same-output --output $where 'seq 1 100000' "sh -c 'seq 1 50000; seq 50001 100000'"
	expect 1 'different work' measured --same-output --output $where 'seq 1 100000' "sh -c 'seq 1 50000; seq 50002 100001'"
done
that "the file has the output of the last sample" sh -c "{ seq 1 50000; seq 50002 100001; } | cmp - '$dir/file'"
expect 0 '^shown$' measured --same-output --show-output -- echo shown
that "once for each sample" test "$(grep -c '^shown$' "$dir/out")" = 3
expect 0 '' measured --same-output --order duet --alone 0 'seq 1 300000' 'seq 1 300000'
expect 1 'different work' measured --same-output --order duet --alone 0 'seq 1 300000' 'seq 1 300001'
expect 1 'omit --same-output' measured --same-output --order duet --repeat 'seq 1' 'seq 1'

expect 0 '' measured --check sort 'seq 3' 'seq 3 -1 1'
expect 1 'what --check makes of the output' measured --check cat 'seq 3' 'seq 3 -1 1'
seq 3 >expected
expect 0 '' measured --check 'cmp - expected' -- seq 3
expect 1 "different work: --check failed in samples 1, 2, 3 of 'seq 4'" measured --check 'cmp - expected' 'seq 3' 'seq 4'
expect 1 'different work: --check failed' measured --check false 'echo a' 'echo a'
that "the last line does not say that equal outputs differ" grep -q "^Verdict.*: different work; --check failed for 'echo a'\$" "$dir/out"
expect 1 "^Verdict: different work; --check failed for 'seq 4'\$" measured --check 'cmp - expected' --export-json json 'seq 3' 'seq 4'
expect 1 "^Verdict on 'seq 4': different work; --check failed for it\$" measured --check 'cmp - expected' --export-json json 'seq 3' 'seq 3' 'seq 4'
that "JSON has it, with the one" json json '[c["different_work"] for c in d["comparisons"]] == [None, "--check failed for '"'seq 4'"'"]'
expect 1 "^Verdict: different work; the output of 'date +%N' varies\$" measured --same-output --export-json json 'date +%N' 'echo a'
last=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 1 "^Verdict: different work; the output of 'run $((last - 1)) (date +%N)' varies\$" $analyze compare $((last - 1)) "$last"
expect 1 "^Verdict: different work; the output of 'date +%N' varies\$" $analyze compare json:1 json:2
gives "so has that of compare" 'd["different_work"] == "the output of '"'date +%N'"' varies"' $analyze compare --json json:1 json:2
expect 0 '' measured --check "tr -d '\\000' | grep -c ''" --export-json json 'printf a\000b' 'printf a\000c'
that "each sample's is in JSON" json json 'd["results"][0]["emp"]["check_exit_codes"] == [0, 0, 0]'
expect 1 '' measured --check cat 'printf a\000b' 'printf a\000c'

# The record of what noise alone does
export EMP_DB=$dir/record.db
expect 0 '' measured 'true' 'sleep 0'
expect 0 'no such runs of one program in one call' $analyze list --same-program
expect 0 '' measured ./static ./static
expect 0 '^ *4  *3  *./static  *[0-9]  *[0-9.]*  ' $analyze list --same-program --last 1
expect 0 '^ *4  *3  *./static  *[0-9]  *[0-9.]*  ' $analyze list --same-program
gives "the document has them" '[(p["run"], p["against"], p["samples"], 0.2 < p["ratio"] < 5) for p in d["same_program"]] == [(4, 3, 3, True)]' \
	$analyze list --same-program --json
finish
