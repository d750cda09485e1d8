#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze compare: stored runs, and results of emp-measure, hyperfine and pyperf. Usage: analyze-compare.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
analyze=$build/analyze/emp-analyze
burn=$build/tests/machine/burn
cd "$dir" || exit 1
"$build/measure/emp-measure" -q -r 5 --export-json emp.json "$burn 10" "$burn 30" >/dev/null
hyperfine -N -w 1 -r 5 --export-json hyperfine.json "$burn 10" "$burn 30" >/dev/null 2>&1
echo '{"benchmarks": [{"runs": [{"warmups": [[1, 0.5]]}, {"values": [0.010, 0.0101]}, {"values": [0.0102]}], "metadata": {"name": "ten"}}]}' >pyperf.json

expect 0 'slower' $analyze compare 1 2
expect 0 'Taken in turn: compared in 5 pairs' $analyze compare 1 2
expect 0 'faster' $analyze compare 2 1
expect 0 'Process times.*in 5 samples\|Process times.*in 4 samples' env COLUMNS=200 $analyze compare 1 emp.json:1
expect 0 'slower' $analyze compare emp.json:1 emp.json:2
expect 0 'Taken in turn: compared in 5 pairs' $analyze compare emp.json:1 2
expect 0 'Taken in turn: compared in 5 pairs' $analyze compare 1 emp.json:2
that "the document has the call, and the CPU, if the program was pinned to one" json emp.json '[r["emp"]["cpu"] for r in d["results"]] == [None, None] and len({r["emp"]["call"] for r in d["results"]}) == 1'
expect 0 'Elapsed times' $analyze compare hyperfine.json:1 hyperfine.json:2
expect 0 'Only one of them has process times' $analyze compare emp.json:1 hyperfine.json:2
expect 0 "'ten' 10.10 ms in 3 samples" $analyze compare pyperf.json hyperfine.json:2
expect 2 'slower .* more than 50 %' $analyze compare --fail-if-slower 50 1 2
echo '{"results": [{"command": "a", "times": [1, 1, 1, 9], "emp": {"pt_ns": [5, 5, 5, 5], "incomplete": [4]}}]}' >discarded.json
expect 0 "^Elapsed times: 'a' 1.000 s in 3 samples" $analyze compare discarded.json pyperf.json

# an end that was seen late: its ET is in the mean of the run, not in a comparison, which says so; also in a document
python3 - <<'P'
import json
late = {"n": 3, "et_ns": 10**9, "et_late_ns": 9 * 10**8}
samples = [{"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 10**8 + n, "pt_ns": 5 * 10**7 + n, "executions": [], **(late if n == 3 else {})} for n in range(1, 11)]
json.dump({"format": "emp-run", "version": 1, "run": 1, "program": "late", "task_length_s": 0, "resolution_ns": 1, "samples": samples}, open("late.json", "w"))
emp = {"pt_ns": [s["pt_ns"] for s in samples], "et_ns": [s["et_ns"] for s in samples], "ended_late": [3]}
json.dump({"results": [{"command": "late", "times": [s["et_ns"] / 1e9 for s in samples], "emp": emp}]}, open("late-result.json", "w"))
P
EMP_DB=$dir/late.db expect 0 "" $analyze import late.json
for clocks in et both; do
	expect 0 "'run 1 (late)' 100.0 ms in 9 samples" env COLUMNS=200 EMP_DB=$dir/late.db $analyze compare --compare $clocks 1 1
	that "what is left out is said" \
		grep -qx "Left out, since the end was seen late: 1 of 'run 1 (late)', 1 of 'run 1 (late)'" "$dir/out"
done
expect 0 "'late' 100.0 ms in 9 samples" $analyze compare --compare et late-result.json pyperf.json
that "what is left out is said" grep -qx "Left out, since the end was seen late: 1 of 'late', 0 of 'ten'" "$dir/out"
gives "so does the document" '[f["ended_late"] for f in d["files"]] == [1, 0]' $analyze compare --json --compare et late-result.json pyperf.json
that "a run's own ET is of all samples" sh -c "EMP_DB=$dir/late.db $analyze show 1 | grep -q 'too long in 1 of 10 samples: the end was seen late'"

# separate runs: no verdict until it is known how they vary
"$build/measure/emp-measure" -q -r 5 "$burn 10" >/dev/null
expect 0 'not known how separate runs vary\.$' $analyze compare 1 3
expect 0 '^Verdict\( (PT)\)\?: cannot tell; it is not known how separate runs vary$' $analyze compare 1 3
expect 0 'not known' $analyze compare 2 3
expect 0 '^Verdict\( (PT)\)\?: cannot tell; it is not known how separate runs vary$' $analyze compare --fail-if-slower 50 3 2
expect 4 'cannot be told' $analyze compare --fail-if-slower 50 --strict 3 2
expect 0 'vary by 1.0 % (--between-runs)' $analyze compare --between-runs 1 3 2
expect 2 'slower .* more than 50 %' $analyze compare --between-runs 1 --fail-if-slower 50 3 2
echo '{"results": [{"command": "early", "times": [0.0101, 0.01013, 0.0102]}, {"command": "late", "times": [0.0301, 0.0303, 0.03021]}]}' >et-only.json
expect 2 'in elapsed time' $analyze compare --compare et --between-runs 1 --fail-if-slower 50 et-only.json:1 et-only.json:2
expect 1 'not both of them have process times; compare et' $analyze compare --compare pt emp.json:1 hyperfine.json:2
"$build/measure/emp-measure" -q -r 3 --export-json sleep.json 'sleep 0.1' 'sleep 0.3' >/dev/null
expect 2 'slower than .* in elapsed time' $analyze compare --fail-if-slower 50 sleep.json:1 sleep.json:2
that "both times have a row" sh -c "grep -q '^sleep.* PT ' $dir/out && grep -q '^sleep.* ET ' $dir/out"
expect 0 '' $analyze compare --compare pt --fail-if-slower 900 sleep.json:1 sleep.json:2
$analyze compare --json sleep.json:1 sleep.json:2 >both.json
that "both are in the document" json both.json 'd["clock"] == "pt" and d["et"]["clock"] == "et" and 2 < d["et"]["ratio"] < 4'
python3 - <<'P'
import json
document = json.load(open("sleep.json"))
for emp in (result["emp"] for result in document["results"]):
    emp.update(wait_source="schedstat", wait_ns=[et - pt for et, pt in zip(emp["et_ns"], emp["pt_ns"])])
json.dump(document, open("waited.json", "w"))
P
$analyze compare --json waited.json:1 waited.json:2 >waited
that "what only waited for its CPU has no elapsed times to compare" json waited 'd["clock"] == "pt" and not d.get("et")'
expect 0 'Verdict: cannot tell' $analyze compare hyperfine.json:1 hyperfine.json:2
for _ in 1 2 3; do "$build/measure/emp-measure" -q -r 5 "$burn 10" >/dev/null; done
expect 0 'vary by .* (sd of 3 runs)' $analyze compare 2 3 # 1 was at the same time as 2
that "the variance is in the document" sh -c "$analyze compare --json 2 3 >v.json"
that "with the number of runs" json v.json 'd["test"] == "between runs" and d["runs_known"] == 3 and d["between_runs"] > 0'
expect 0 '^Not taken in turn: separate runs vary by .* % (sd of 5 runs)$' "$build/measure/emp-measure" -q -r 5 --order sequence --export-json sequence.json "$burn 10" "$burn 30"
that "and emp-measure's document has it" json sequence.json 'd["comparisons"][0]["test"] == "between runs" and d["comparisons"][0]["between_runs"] > 0 and d["comparisons"][0]["runs_known"] == 5'
$analyze compare --json 1 2 >c.json
that "JSON has ratio and interval" json c.json 'd["interval"][0] < d["ratio"] < d["interval"][1] and 1.5 < d["ratio"] < 6 and d["clock"] == "pt"'
that "JSON has a format and a version" json c.json 'd["format"] == "emp-comparison" and d["version"] == 1'
expect 1 "'hyperfine.json': it has 2 results; name one: hyperfine.json:1 (.*burn 10), hyperfine.json:2 (.*burn 30)" $analyze compare 1 hyperfine.json
expect 1 'has 2 results, but no number 3' $analyze compare 1 hyperfine.json:3
expect 1 "not JSON of emp-measure, hyperfine or pyperf" $analyze compare 1 c.json
expect 1 'run 99 is not in' $analyze compare 1 99
expect 1 "cannot open 'none.json'" $analyze compare 1 none.json
echo '{"results": [{"command": "x", "times": [1e300]}]}' >great.json
expect 1 'number 1 of its times is not a valid time' $analyze compare great.json great.json
expect 1 'too few arguments' $analyze compare 1

# what a document is, and what its numbers are
said() { # FILE TEXT
	printf '%s' "$2" >"$1"
}
said version.json '{"format": "emp-measure", "version": 2, "results": [{"command": "x", "times": [1, 2]}]}'
expect 1 "'version' is 2, and this EMP reads emp-measure version 1 only" $analyze compare version.json pyperf.json
said unknown.json '{"version": 2, "results": [{"command": "x", "times": [1, 2]}]}'
expect 1 "it has a 'version', and no 'format'" $analyze compare unknown.json pyperf.json
said format.json '{"format": "other", "version": 1, "results": [{"command": "x", "times": [1, 2]}]}'
expect 1 "its 'format' is 'other'" $analyze compare format.json pyperf.json
said pytest.json '{"version": "4.0.0", "benchmarks": [{"name": "x", "stats": {}}]}'
expect 1 "its 'version' is not \"1.0\"" $analyze compare pytest.json pyperf.json
said emp.json '{"results": [{"command": "x", "times": [1, 2], "emp": {"pt_ns": [1, 2], "by_cutoff": [{"sample": "2"}]}}]}'
expect 1 "entry 1 of 'by_cutoff' is not the number of one of its samples" $analyze compare emp.json pyperf.json
said emp.json '{"results": [{"command": "x", "times": [1, 2], "emp": {"pt_ns": [1]}}]}'
expect 1 "'emp' has 1 times in 'pt_ns', not 2 as in 'times'" $analyze compare emp.json pyperf.json
said emp.json '{"results": [{"command": "x", "times": [1, 2], "emp": {"pt_ns": [1, 2], "start_ns": [9223372036854775807, 1]}}]}'
expect 1 "entry 1 of 'start_ns', 'et_ns' or 'wait_ns' is not a valid time" $analyze compare emp.json pyperf.json
said bytes.json '{"version": "1.0", "metadata": {"unit": "byte", "name": "mem"}, "benchmarks": [{"runs": [{"values": [1e6, 1e6]}]}]}'
expect 1 "the values of 'mem' are no times: their unit is 'byte'" $analyze compare bytes.json pyperf.json
gzip -c pyperf.json >pyperf.json.gz
expect 0 "'ten' 10.10 ms in 3 samples" $analyze compare pyperf.json.gz pyperf.json
iconv -t UTF-16 pyperf.json >utf16.json
expect 1 "'utf16.json' is UTF-16, not JSON in UTF-8: 'iconv" $analyze compare utf16.json pyperf.json

# suites: pair by pair, by their names, whatever the order
said one.json '{"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": [
 {"metadata": {"name": "json"}, "runs": [{"values": [0.1, 0.101, 0.102]}]}, {"metadata": {"name": "old"}, "runs": [{"values": [1, 1]}]},
 {"metadata": {"name": "mem", "unit": "byte"}, "runs": [{"values": [1, 1]}]}, {"metadata": {"name": "re"}, "runs": [{"values": [0.2, 0.201, 0.199]}]}]}'
said two.json '{"version": "1.0", "benchmarks": [
 {"metadata": {"name": "re"}, "runs": [{"values": [0.1, 0.101, 0.102]}]}, {"metadata": {"name": "new"}, "runs": [{"values": [1, 1]}]},
 {"metadata": {"name": "mem", "unit": "byte"}, "runs": [{"values": [1, 1]}]}, {"metadata": {"name": "json"}, "runs": [{"values": [0.2, 0.201, 0.199]}]}]}'
expect 2 "^2 pairs: 1 faster, 1 slower; geometric mean of the ratios 1$" $analyze compare --between-runs 1 --fail-if-slower 5 one.json two.json
that "the last line is the answer" sh -c "tail -n 2 '$dir/out' | grep -q \"^Verdict on 'json': slower\""
that "what has no partner is named" sh -c "grep -q \"^Only in 'one.json': 'old'\$\" '$dir/out' && grep -q \"^Only in 'two.json': 'new'\$\" '$dir/out'"
gives "the document has the pairs" '[round(c["ratio"], 1) for c in d["comparisons"]] == [2.0, 0.5] and d["verdict"] == "slower" and d["files"][0] == {"file": "one.json", "results": 4, "only_here": ["old"], "no_times": ["mem"]}' $analyze compare --json --between-runs 1 one.json two.json
expect 1 "'one.json': it has 4 results; name one" $analyze compare one.json pyperf.json

# two calls at the same time, on two CPUs if there are two, are separate runs, even if their starts happen to alternate
rm -f "$EMP_DB"*
beside() { # CPU
	"$build/measure/emp-measure" -q --ignore-lock --cpu "$1" --neighbour off -r 6 "$burn 30" --export-json "beside$1.json" >"out$1" 2>&1
}
beside 0 &
beside $(($(nproc) > 1)) || cat "out$(($(nproc) > 1))"
wait $!
that "it is in the document" json beside0.json 'd["results"][0]["emp"]["cpu"] == 0'
expect 0 'Not taken in turn' $analyze compare 1 2
python3 - <<'END_OF_DOCUMENTS'
import json

def write(name, first_s, digest, et_ns=20_000_000, **more):
    starts = [int((1.7e9 + first_s + 0.1 * i) * 1e9) for i in range(8)]
    pts = [et_ns + i * 7919 % 5000 for i in range(8)]
    json.dump({"results": [{"command": name, "times": [et_ns / 1e9] * 8, "emp": {
        "environment": digest, "pt_ns": pts, "et_ns": [et_ns] * 8, "start_ns": starts, **more}}]}, open(name + ".json", "w"))

write("here", 0, "a" * 64)
write("next", 0.05, "a" * 64)
write("overlap", 0.05, "a" * 64, 60_000_000)
write("abroad", 0.05, "b" * 64)
for cpu in 0, 1:
    write(f"cpu{cpu}", 0.05 * cpu, "a" * 64, cpu=cpu)
    write(f"also{cpu}", 0.05 * cpu, "a" * 64, cpu=1)
    write(f"call{cpu}", 0.05 * cpu, "a" * 64, 60_000_000, cpu=cpu, call="one")
END_OF_DOCUMENTS
expect 0 'Taken in turn: compared in 8 pairs' $analyze compare --compare pt here.json next.json
expect 0 'Not taken in turn' $analyze compare --compare pt here.json overlap.json
expect 0 'Not taken in turn' $analyze compare --compare pt here.json abroad.json
expect 0 'Not taken in turn' $analyze compare --compare pt cpu0.json cpu1.json
expect 0 'Taken in turn: compared in 8 pairs' $analyze compare --compare pt also0.json also1.json
expect 0 'Taken in turn: compared in 8 pairs' $analyze compare --compare pt call0.json call1.json

# the two programs of a duet in a file
"$build/measure/emp-measure" -q --cpu 0 --neighbour off --order duet --slice 10ms -r 4 "$burn 120" "$burn 120" --export-json duet.json >/dev/null
expect 0 'A duet: compared in 4 pairs' $analyze compare duet.json:1 duet.json:2
second=$(python3 -c 'import json; print(json.load(open("duet.json"))["results"][1]["emp"]["run"])')
expect 0 'A duet: compared in 4 pairs' $analyze compare duet.json:1 "$second"
expect 1 'in a duet on one CPU the elapsed time is that of all' $analyze compare --compare et duet.json:1 duet.json:2
expect 1 'in a duet on one CPU the elapsed time is that of all' $analyze compare --compare both "$second" duet.json:1
$analyze compare --json duet.json:1 duet.json:2 >d.json
that "its ratio and interval are those of the duet" json d.json "d['test'] == 'log ratios' and all(abs(x - y) < 1e-9 for x, y in zip([d['ratio'], *d['interval']], $(python3 -c 'import json; c = json.load(open("duet.json"))["comparisons"][0]; print([c["ratio"], *c["interval"]])')))"
finish
