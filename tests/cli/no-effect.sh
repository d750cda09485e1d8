#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options that would have no effect where they stand are refused, each with its sentence; what they need makes them work. Usage: no-effect.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
build=$(realpath "$1")
cd "$dir" || exit 1
analyze=$build/analyze/emp-analyze calibrate=$build/calibrate/emp-calibrate setup=$build/setup/emp-setup load=$build/measure/emp-load
measure="$build/measure/emp-measure -q -w 0 -r 2"
document() { python3 -c 'import json, sys; json.load(sys.stdin)' <"$1"; }
runs() { sqlite3 "$EMP_DB" 'SELECT count(*) FROM run' 2>/dev/null || echo 0; }

# refused TEXT COMMAND...: status 1, the sentence, and no run in the book
refused() {
	before=$(runs)
	expect 1 "$@"
	that "nothing was measured: $*" test "$(runs)" = "$before"
}

# Shells
refused "the words after -- are a program and its arguments, which --shell does not run: quote the command line" $measure -S sh -- ls '|' wc
refused "the words after -- are" $measure --shell 'bash --norc' -- echo a b
expect 0 '^1$' "$build/measure/emp-measure" -q -w 0 -r 1 -S sh --show-output -- 'echo a | wc -l'
expect 0 'Kept 2 of 2' $measure -S sh -- : # which only a shell has
expect 0 'ls .|. wc' $measure -i -S none -- ls '|' wc
expect 0 'Kept 2 of 2' $measure -N -- true a b

# Nothing can be discarded without accounting
"$calibrate" profile import "$(dirname "$0")/../../profiles/paper-rhel6.4.json" >/dev/null 2>&1 || "$calibrate" profile import "$OLDPWD/profiles/paper-rhel6.4.json"
for option in '--profile paper-rhel6.4' '--discard-unprofiled 2%' '--retain 2'; do
	refused 'without accounting no daemon is seen, so nothing can be discarded' $measure --accounting none $option -- true
done
cpu=$(taskset -pc $$ | grep -o '[0-9]*$')
refused 'without accounting no daemon is seen, so nothing can be discarded' $measure --accounting none --retain 2 --cpu "$cpu" --neighbour off -- true
refused 'without accounting no daemon is seen, so nothing can be discarded' $measure --accounting none --retain 2 --cpu "$cpu" --probe off -- true
expect 0 'Kept [2-9] of' $measure --accounting none --retain 2 --max-runs 1000 --cpu "$cpu" --neighbour discard=100% -- true
expect 0 'Kept 2 of 2' $measure --accounting none -- true
refused '\-\-other-cpus extends --profile or --discard-unprofiled: add one of them' $measure --other-cpus -- true
refused '\-\-other-cpus extends' $measure --accounting none --other-cpus -- true
for share in 0 0% 0.0 250% 100.1 -1 nan; do
	refused "discard-unprofiled must be \(above 0 and at most 100 %\|a percentage\)" $measure --discard-unprofiled=$share -- true
done
for share in 100% 100 0.0001; do
	"$build/measure/emp-measure" -q -w 0 -r 2 --discard-unprofiled $share -- true >out 2>&1
	that "$share is a limit" grep -q 'Kept [0-2] of 2' out
done

# Documents on standard output: one
for options in '--json --export-json -' '--json --export-json /dev/stdout' '--export-json - --export-csv -' '--export-markdown /dev/stdout --export-csv -' \
	'--export-orgmode /proc/self/fd/1 --export-asciidoc /dev/fd/1' '--json - --export-csv -'; do
	refused 'two documents cannot share standard output: give all but one a file of its own' $measure $options -- true
done
refused "two exports cannot share the file 'x'" $measure --export-json x --export-csv x -- true
refused "\-\-output and an export cannot share the file 'x'" $measure --export-csv x --output x -- true
echo kept >read
ln -s read also
for same in read ./read also; do
	refused "would empty '$same', which --input reads: name another file" $measure --input read --output "$same" -- cat
done
that "the input is as it was" grep -q kept read
expect 0 'Kept 2 of 2' $measure --input read --output written --export-json x -- cat
that "so is what a program writes" grep -q kept written
expect 0 'Kept 2 of 2' $measure --input null --output null -- cat
for document in read ./read also; do # nor does a document replace it
	refused "'$document' would replace what --input reads: name another file" $measure --input read --export-json "$document" -- cat
done
that "the input is as it was, too" grep -q kept read
refused "\-\-output and --plot cannot share the file './x.svg'" $measure --plot x.svg --output ./x.svg -- true
refused "two exports cannot share the file './y'" $measure --export-json y --export-csv ./y -- true
expect 0 'Kept 2 of 2' $measure --input null --export-json /dev/null -- true
rm read also written x
: >there
ln -s there link
refused "two exports cannot share the file" $measure --export-json there --export-csv ./link -- true
expect 0 '' $measure --json --export-csv x --export-markdown y --export-json z -- true
expect 0 '' $measure --export-csv /dev/null --export-json /dev/null -- true
before=$(runs)
$measure --json --export-csv same -- true >same 2>said
that "standard output is that file: refused" test $? = 1
that "with the sentence" grep -q "two exports cannot share the file 'same'" said
for options in '--json' '--export-json -'; do # what programs and hooks print is beside it
	$measure $options --show-output --prepare 'echo hook' -- echo program >out 2>said
	that "$options is a document" document out
	that "what is shown is on standard error" sh -c "grep -q '^hook$' said && grep -q '^program$' said"
	$measure $options --output inherit -- echo program >out 2>said
	that "$options is a document beside --output inherit" document out
done

# What is for text, beside --json
refused '\-\-verbose changes the text, and --json prints none: use one of them' $measure -v --json -- true
refused '\-\-verbose changes the text' $measure --json -v -- true
refused '\-\-style none prints nothing: omit it, or use --export-json FILE in place of --json' $measure --style none --json -- true
refused '\-\-style none prints nothing' $measure --style none -v -- true
refused '\-u and --sort are for text and tables' $measure --json -u ms -- true
refused '\-u and --sort are for text and tables' $measure --json --sort command true false
expect 0 '' $measure --json -u ms --export-markdown x -- true
expect 0 '' $measure --style none --export-json x -- true
that "nothing is printed" test ! -s out
expect 0 'Not in PT' $measure -v --export-json x -- true

# Names and parameters
refused "'base' is the name of 2 commands: put the parameter into it ('base {x}'), or give each a name" $measure -n base -L x 1,2 'echo {x}'
refused "'base' is the name of 3 commands" $measure -n base -P x 1 3 'echo {x}'
expect 0 'base 2 ' $measure -n 'base {x}' -L x 1,2 'echo {x}'
expect 0 '^ *[0-9]*  b  ' $measure -n a -n b -L x 1,2 'echo {x}'
expect 0 ' KEPT$' $measure -n a 'echo 1' 'echo 2'
refused "\-\-parameter-scan 'x' from 0.1 to 0.9 needs a step: -D 0.1" $measure -P x 0.1 0.9 'echo {x}'
refused "'x' from 0 to 2.5 needs a step" $measure -P x 0 2.5 'echo {x}'
refused "'x' from 0 to 1 has one value only: --parameter-step-size 5 is more than that" $measure -P x 0 1 -D 5 'echo {x}'
expect 0 'echo 0.9 ' $measure -P x 0.1 0.9 -D 0.4 'echo {x}'
expect 0 'echo 9 ' $measure -P x 0 10 -D 3 'echo {x}'
expect 0 'echo 1 ' $measure -P x 1 1 'echo {x}'

# Others of the same kind
refused '\-\-show-output and --output exclude each other' $measure --show-output --output null -- true
refused '\-\-compare compares commands, and there is only one' $measure --compare et -- true
printf '[load]\nruns = 1\n[work]\nrepetitions = 1\ncommand = echo shown\n' >load.ini
refused 'so --profile cannot discard anything: omit one of them' "$load" run -q -w 0 --accounting none --profile paper-rhel6.4 load.ini
refused 'two documents cannot share standard output' "$load" run -q -w 0 --json --export-json - load.ini
if "$load" run -q -w 0 --accounting none --json --show-output load.ini >out 2>said; then
	that "a load's document is alone" document out
	that "what its commands print is beside it" grep -q '^shown$' said
fi
refused '\-\-by-wait and --by-et exclude each other' "$analyze" daemons 1 --by-wait --by-et
refused '\-\-by-wait and --by-et exclude each other' "$analyze" cutoffs --short 1 --long 2 --by-wait --by-et
refused '\-\-replace needs --save NAME' "$analyze" cutoffs --short 1 --long 2 --replace
refused '\-\-all and --last exclude each other' "$analyze" list --all --last 2
refused "'emp-analyze scatter' has no option '--json'" "$analyze" scatter 1 -o x.png --json
refused "'emp-analyze remove' has no option '--json'" "$analyze" --json remove 1
that "help does not offer it" sh -c "! '$analyze' remove --help | grep -q json"
refused '\-\-verbose changes the text' "$analyze" show 1 -v --json
refused '\-\-script needs a picture' "$analyze" clocks --script
refused '\-o draws in place of --json' "$analyze" clocks --json -o x.png
refused 'two documents cannot share' "$analyze" trend true --json --csv -
refused "two exports cannot share the file 'x'" "$analyze" trend true --csv x --markdown x
refused '\-\-page-wait-bin is for the text of one load' "$analyze" load 1 --page-wait-bin 1ms --json
expect 0 '' $measure --export-json a.json -- true
refused '\-\-profile and --recompute are for stored runs' "$analyze" compare --profile paper-rhel6.4 a.json a.json
refused "'emp-calibrate constant' has no option '--verbose'" "$calibrate" constant -v
refused "\-\-verbose is for the text of 'profile show'" "$calibrate" profile list -v
refused "\-\-verbose is for the text of 'profile show'" "$calibrate" profile show paper-rhel6.4 -v --json
refused "'profile remove' prints no document" "$calibrate" profile remove paper-rhel6.4 --json
refused "\-\-replace is for 'profile import'" "$calibrate" profile list --replace
refused '\-\-reuse-long takes no long run: omit --long' "$calibrate" run --save x --reuse-long 1 --long 1x2
refused "accounting must be auto, bpf or taskstats, not 'none'" "$calibrate" run --save x --preset quick --accounting none
refused "accounting must be auto, bpf or taskstats, not 'none'" "$calibrate" revalidate paper-rhel6.4 --accounting none
refused '\-\-ignore-changes is for a calibration that is resumed' "$calibrate" run --save x --ignore-changes
refused '\-\-verbose changes the text' "$setup" audit -v --json
refused '\-\-isolate and --cpu name different CPUs' "$setup" apply -n --isolate 0 --cpu 1
refused '\-\-at-boot restores nothing' "$setup" restore --at-boot --force
refused '\-\-force and --forget exclude each other' "$setup" restore --force --forget
refused '\-\-diff compares documents' "$setup" fingerprint --diff a.json --save
refused '\-\-db names the lab book of --save' "$setup" fingerprint --db x
"$setup" fingerprint --json --save >finger.json 2>said
that "a document that is also stored" json finger.json 'd["digest"]'
that "and it is in the book" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM environment WHERE document LIKE '%identity%'")" -ge 1
finish
