#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter as a user types it, on runs made up here. Usage: jitter.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
analyze=$1/analyze/emp-analyze
here=$(dirname "$0")

$analyze import "$here/../papers/data/emp-run-inc16384.json" >"$dir/out"
for run in "60 1" "60 2" "60 3 backupd" "60 4 bursts" "10 5 kinds"; do # runs 2 to 6
	python3 "$here/made_up_jitter.py" "$EMP_DB" $run >"$dir/out"
done

# Table I.
expect 0 '^dummydaemon1 .* 67 %$' $analyze jitter 2
expect 0 'dummydaemon1 *process *dummy.service *1.000 s *systemctl stop dummy.service' $analyze jitter 2
expect 0 'every 1.000 ms (outside)' $analyze jitter 2
expect 0 'outside the kernel *6000 .* 0.0020 % of the time' $analyze jitter 2
expect 0 '^host or processor *outside .* nothing from inside' $analyze jitter 2
expect 0 'reports 20.* ms of steal time' $analyze jitter 2
expect 0 'and 1 more that took' $analyze jitter 2
expect 0 '^page_fault_user' $analyze jitter 2 --all
gives "the document is an emp-jitter" '(d["format"] == "emp-jitter" and d["version"] == 1 and d["cpus"] == [1] and d["duration_ns"] == 6 * 10**10 and d["sampled_share"] == 0.998 and d["events_lost"] == 0 and d["explained"]["count_share"] > 0.15 and d["residue"]["periods"][0]["period_ns"] == 10**6 and d["residue"]["outside_kernel"]["name"] == "host or processor" and d["residue"]["outside_kernel"]["count"] == 6000 and d["residue"]["steal_ns"] == 2 * 10**7 and d["residue"]["smis"] is None)' $analyze jitter 2 --json
gives "its members are those that are promised" '({"cpus", "duration_ns", "sampled_share", "threshold_ns", "events_lost", "gaps", "explained", "by_chance", "residue", "sources", "combinations"} <= d.keys() and {"count", "total_ns"} <= d["gaps"].keys() and all({"count_share", "time_share"} <= d[k].keys() for k in ("explained", "by_chance")) and {"time_share", "periods"} <= d["residue"].keys() and all({"period_ns", "count", "total_ns"} <= p.keys() for p in d["residue"]["periods"]) and all({"name", "kind", "unit", "count", "min_ns", "max_ns", "mean_ns", "sd_ns", "total_ns", "share", "period_ns"} <= s.keys() and s["kind"] in ("process", "kernel", "irq", "softirq", "vector", "nmi", "fault") for s in d["sources"]) and all({"name", "parts", "count", "mean_ns"} <= c.keys() for c in d["combinations"]) and d["residue"]["time_share"] == d["residue"]["total_ns"] / (d["duration_ns"] * d["sampled_share"]))' $analyze jitter 2 --json
gives "its sources are single, largest first" '([s["name"] for s in d["sources"]] == ["dummydaemon1", "local_timer", "softirq:TIMER", "page_fault_user"] and d["sources"][0]["count"] == 60 and abs(sum(s["share"] for s in d["sources"]) - 1) < 1e-9 and d["sources"][0]["remedy"]["kind"] == "unit" and d["sources"][0]["period_ns"] == 10**9)' $analyze jitter 2 --json
gives "its combinations have their parts" '({"local_timer_dummydaemon1"} < {c["name"] for c in d["combinations"]} and [c["parts"] for c in d["combinations"] if c["name"] == "local_timer_dummydaemon1"] == [["local_timer", "dummydaemon1"]])' $analyze jitter 2 --json

# A remedy that is a command of emp-setup is one as it is printed, but for the CPU, which this machine may not have.
$analyze jitter 6 --all --json >"$dir/kinds"
that "each kind of source has its remedy" json "$dir/kinds" '{s["remedy"]["kind"] for s in d["sources"]} >= {"none", "unit", "isolate", "irq-affinity", "setting", "boot", "program"}'
python3 -c 'import json, sys
print(*sorted({s["remedy"]["how"] for s in json.load(open(sys.argv[1]))["sources"] if s["remedy"]["how"].startswith("emp-setup ")}), sep="\n")' "$dir/kinds" >"$dir/remedies"
echo "emp-setup apply --only svc.units,svc.timers" >>"$dir/remedies" # where the policy of a machine lists a unit
that "there are seven or more" test "$(wc -l <"$dir/remedies")" -ge 7
while read -r tool remedy; do
	expect 0 '' "$1/setup/$tool" $(echo "$remedy" | sed -E 's/--(cpu|isolate) 1/--\1 0/') --dry-run
done <"$dir/remedies"

# Peaks and combinations.
expect 0 'local_timer_dummydaemon1' $analyze jitter 2 --combinations
expect 0 '^dummydaemon1 *[0-9]* *2.50' $analyze jitter 2 --between 2.4ms..2.6ms
expect 0 'saw 60 gaps' $analyze jitter 2 --between 2.4ms..2.6ms
expect 0 'The trace has no interruptions' $analyze jitter 2 --between 100ms..200ms
gives "a peak has whom it is made of" '({s["name"] for s in d["sources"]} == {"dummydaemon1", "local_timer_dummydaemon1"} and d["gaps"]["count"] == 60 and d["low_ns"] <= 2400000 and d["high_ns"] > 2600000)' $analyze jitter 2 --between 2.4ms..2.6ms --json

# A baseline.
expect 0 'None of 5 sources is new' $analyze jitter 3 --baseline 2
expect 0 '^backupd (backup.service) *new ' $analyze jitter 4 --baseline 2
expect 0 '^backupd (backup.service) *gone ' $analyze jitter 2 --baseline 4
expect 0 'Unclear (1)' $analyze jitter 5 --baseline 2
expect 0 '^dummydaemon1 (dummy.service) *none .* 1.00 *1.00 … 1.00 ' $analyze jitter 4 --baseline 2
expect 2 'new sources took 3.. % of the time of all interruptions, more than 2.0 %' $analyze jitter 4 --baseline 2 --fail-if-new 2%
expect 0 '' $analyze jitter 4 --baseline 2 --fail-if-new 5%
expect 0 '' $analyze jitter 5 --baseline 2 --fail-if-new 0%
gives "changes have their p" '([(s["name"], s["change"]) for s in d["sources"] if s["change"] != "none"] == [("backupd", "new")] and d["sources"][0]["p"] < 0.001 and d["baseline"] == 2)' $analyze jitter 4 --baseline 2 --json

# After a remedy: the first run is the baseline of the second.
expect 0 '^backupd (backup.service) *gone .* < 0.063 *<0.001' $analyze jitter 4 2
expect 0 'All sources took 0.38 % before, 0.37 % after' $analyze jitter 4 2
expect 0 'and 2 more that took little (--all lists them)' $analyze jitter 4 2
expect 0 '^page_fault_user *none ' $analyze jitter 4 2 --all
gives "each ratio has its interval" 'all(s["ratio_low"] <= s["ratio"] <= s["ratio_high"] for s in d["sources"] if s["baseline_time_share"]) and [(s["ratio"], s["ratio_low"], 0 < s["ratio_high"] < 0.1) for s in d["sources"] if s["name"] == "backupd"] == [(0, 0, True)]' $analyze jitter 4 2 --json
expect 0 'backupd .*gone' $analyze jitter 4 2 --by-source --script -o "$dir/shares.svg"
that "the picture has a row for each source" grep -q 'backupd' "$dir/shares.svg"
that "and the ratio of each" grep -q 'only before (.* 0.063)' "$dir/shares.svg.gnuplot"
expect 1 'leave --baseline out' $analyze jitter 4 2 --baseline 3
expect 1 "must be the number of a run, not 'x', or the name of one" $analyze jitter x 2
expect 1 'compares two runs' $analyze jitter 4 --by-source -o "$dir/x.png"

# Pictures.
expect 0 'bandwidth 0.0.* decades' $analyze jitter 2 -o "$dir/lengths.svg"
that "the peaks have names" grep -q dummydaemon1 "$dir/lengths.svg"
expect 0 '' $analyze jitter 4 --baseline 2 -o "$dir/both.svg"
that "the new peak too" grep -q backupd "$dir/both.svg"
expect 0 '' $analyze jitter 5 --timeline --script -o "$dir/timeline.png"
that "the script has who interrupted" grep -q apt-check "$dir/timeline.png.gnuplot"
for picture in lengths.png both.pdf; do
	that "gnuplot has nothing to say" sh -c "! $analyze jitter 4 -o '$dir/$picture' 2>&1 | grep -v '^Parzen'"
done

# Everything fits 80 columns.
for options in '' --combinations '--between 2us..9us' '--baseline 4' '--baseline 5 --all'; do
	that "emp-analyze jitter 2 $options fits 80 columns" sh -c "! $analyze jitter 2 $options | grep -E '.{81}'"
done

# What is not there, and what does not go together.
expect 1 'run 1 .* has no interruptions of a CPU' $analyze jitter 1
expect 1 'run 77 is not in the lab book' $analyze jitter 77
expect 1 'run 1 .* has no interruptions' $analyze jitter 2 --baseline 1
expect 1 'must be two times such as 11us..13us' $analyze jitter 2 --between 11us
expect 1 "the first time of '13us..11us' is longer" $analyze jitter 2 --between 13us..11us
expect 1 'needs a run to compare with' $analyze jitter 2 --fail-if-new 5
expect 1 'needs a picture' $analyze jitter 2 --timeline
expect 1 'choose one' $analyze jitter 2 --combinations --between 1us..2us
expect 1 'leave --baseline out' $analyze jitter 2 --timeline --baseline 3 -o "$dir/x.png"
that "no picture is left" test ! -e "$dir/x.png"
finish
