#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-study: what it says of studies and of mistakes in their files; a study that is measured, interrupted, resumed, listed and removed; a night whose
# studies fail. tests/machine/study_box.sh has settings. Usage: study.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
build=$(realpath "$1")
study=$build/study/emp-study analyze=$build/analyze/emp-analyze
cd "$dir" || exit 1

# Without a lab book
expect 0 '^lengths  *INC of rising lengths' "$study" list
expect 0 '^what = lengths' "$study" show lengths
expect 1 "there is no study 'length'" "$study" run length
expect 1 "cannot read './none.ini': No such file" "$study" run ./none.ini
expect 1 'there is no lab book' "$study" --db none.db list
for name in algorithms clocks lengths samples suite; do
	expect 0 'Nothing was measured (--dry-run)' "$study" run --dry-run $name
done
expect 0 '^35 blocks\|in 35 blocks and 5 rounds' "$study" run -n lengths
expect 0 'Fewer samples than the file says' "$study" run -n --max-time 2min lengths
expect 1 "'lengths' takes .* raise it with --max-time" "$study" run -n --max-time 5s lengths
expect 0 'INC0.8 ' "$study" run -n --scale 0.1 lengths
expect 1 'less than a millisecond: use a greater --scale' "$study" run -n --scale 0.01 lengths
expect 1 '--scale must be a factor' "$study" run -n --scale x lengths
expect 1 "'lengths' measures several lengths or sizes" "$study" run -n lengths -- true
that "a dry run makes no lab book" test ! -e "$EMP_DB"

# Mistakes in a file
refuses() { # SENTENCE TEXT
	printf "$2" >wrong.ini
	expect 1 "$1" "$study" run wrong.ini
}
refuses "wrong.ini, line 3: there is no 'sample' in the section \[study\], see emp-study(1)" '[study]\nwhat = suite\nsample = 3\n'
printf '[study]\nwhat = suite\n[subject a]\ncommand = false\n' >fails.ini # in a night, too
expect 1 "a: 'false' ended with exit status 1" "$study" run fails.ini
printf '[study]\nwhat = settings\n[subject a]\ncommand = true\n[step b]\napply = no.such\n' >step.ini
expect 1 "\[step b\], line 5: emp-setup refuses it" "$study" run -n step.ini
# Nothing is left out without a word
refuses "wrong.ini, line 5: \[subject b\]: a subject has either 'inc', or 'command' or 'shell'" '[study]\nwhat = suite\n[subject a]\ncommand = true\n[subject b]\n; command = false\n'
refuses 'wrong.ini, line 5: \[step b\] does nothing' '[study]\nwhat = settings\n[subject a]\ncommand = true\n[step b]\n'
refuses 'a study of settings has a \[step NAME\]' '[study]\nwhat = settings\n[subject a]\ncommand = true\n'
refuses "no subject has a line 'sizes = …'" '[study]\nwhat = algorithms\n[subject a]\ncommand = true\n'
refuses "options of emp-measure: .*unknown option '--runz'" '[study]\nwhat = suite\noptions = --runz 3\n[subject a]\ncommand = true\n'
refuses "options of emp-measure: .*'--runs' is given twice" '[study]\nwhat = suite\noptions = -r 3\n[subject a]\ncommand = true\nexpected = 5ms\n'
refuses "^emp-study: a: command 'no-such-program' not found" '[study]\nwhat = suite\n[subject a]\ncommand = no-such-program\nexpected = 5ms\n'
refuses "wrong.ini, line 6: there is no section \[subjects b\]" '[study]\nwhat = suite\n[subject a]\ncommand = true\n\n [subjects b]\n; nothing\n'
expect 1 'the lab book has no study' "$study" resume
refuses "wrong.ini, line 4: 'rounds' is there twice in \[study\]" '[study]\nwhat = suite\nrounds = 2\nrounds = 3\n[subject a]\ncommand = true\n'

# Measured
cat >small.ini <<'I'
[study]
what = suite
rounds = 2
samples = 5
options = --accounting none -w 0
[subject true]
command = true
expected = 5ms
[subject shell]
shell = sleep 0.02; exit 0
I
expect 0 'Study 1 is complete: emp-analyze study 1' "$study" run --seed 3 small.ini
that "each block has its samples" test "$(sqlite3 "$EMP_DB" "SELECT group_concat(n) FROM (SELECT samples || '=' || count(*) AS n FROM study_block
	JOIN study_run ON block = study_block.id JOIN sample USING(run) GROUP BY study_block.id ORDER BY position)")" = 3=3,3=3,2=2,2=2
expect 0 '1  *-  *small .*complete  *4  *4' "$study" list
gives "the list is a document" 'd["format"] == "emp-studies" and d["studies"][0]["state"] == "complete" and d["studies"][0]["blocks_done"] == 4' "$study" list --json
expect 0 'Nothing to resume' "$study" resume
expect 1 "study 1 is complete: 'emp-analyze study 1' shows it" "$study" resume 1
expect 1 'the lab book has no study 9' "$study" resume 9
expect 0 '^Study 1 (small)' "$analyze" study 1
expect 0 'takes\|TAKES' "$study" run -n small.ini
that "what a program took is known from then on" test "$(grep -c 'is not known' out)" = 0

# Interrupted: the samples so far stay, and the missing ones are taken
sed -i 's/samples = 5/samples = 40/' small.ini
"$study" run -q small.ini >said 2>&1 &
pid=$!
has_samples() { [ "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM study_run JOIN study_block ON study_block.id = block JOIN sample USING(run) WHERE study = 2")" -gt 3 ]; }
wait_until has_samples
kill -TERM $pid
wait $pid
that "status 130" test $? = 130
that "it says how to go on" grep -q "study 2 has . of 4 blocks; 'emp-study resume' goes on" said
expect 0 '2  *-  *small .*interrupted' "$study" list
expect 0 'Study 2 is complete' "$study" resume
that "no sample is there twice, and none is missing" test "$(sqlite3 "$EMP_DB" "SELECT count(DISTINCT run || ' ' || n) FROM study_block
	JOIN study_run ON block = study_block.id JOIN sample USING(run) WHERE study = 2")" = 80

# Runs of a study do not vanish silently
run=$(sqlite3 "$EMP_DB" 'SELECT min(run) FROM study_run')
expect 1 "run $run is of study 1, small (emp-study remove 1 deletes all of it); --force" "$analyze" remove "$run"
expect 0 "of studies (--all; 'emp-study list' lists the studies)" "$analyze" list
expect 1 'the lab book has no study 99' "$study" remove 1 99
expect 0 '1  *-  *small' "$study" list
expect 0 '' "$study" remove 1
that "its runs are gone" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM run WHERE id = $run")" = 0
expect 1 'the lab book has no study 1' "$study" remove 1

# A night goes on when a study fails
printf '[study]\nwhat = night\nmax-time = 1min\nstudies = ./fails.ini ./small.ini\n' >night.ini
sed -i 's/samples = 40/samples = 4/' small.ini
sed -i 's/command = false/command = false\nexpected = 5ms/' fails.ini
expect 0 'About .* in all, at most 1 min' "$study" run -n night.ini
expect 1 'these studies failed: ./fails.ini' "$study" run -q night.ini
sed 's|^studies.*|studies = ./small.ini ./small.ini|' night.ini >twice.ini
expect 1 "the study 'small' is in the night twice" "$study" run -n twice.ini
expect 0 '5  *3  *small .*complete  *4  *4' "$study" list
expect 1 "study 5 is a part of study 3: 'emp-study remove 3' deletes all of it" "$study" remove 5
expect 0 'Nothing to resume' "$study" resume

# What can never be measured leaves nothing to resume
printf '[study]\nwhat = suite\noptions = --profile none\n[subject a]\ncommand = true\n' >never.ini
expect 1 "a: emp-measure: .*none" "$study" run never.ini
that "it is not in the lab book" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM study WHERE name = 'never'")" = 0

# Programs that fail are named
printf '[study]\nwhat = suite\nrounds = 2\nsamples = 6\noptions = --ignore-failure\n[subject a]\ncommand = false\nexpected = 2ms\n' >fails.ini
expect 0 'is complete' "$study" run fails.ini
expect 0 "Warning: 'a' failed in 6 of 6 samples" "$analyze" study --last
finish
