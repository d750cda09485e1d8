#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-measure --trace: that it names what takes the CPU while the program waits for it, and leaves nothing behind.
# Usage: measure_trace.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$(realpath "$1")
measure="$build/measure/emp-measure -q --neighbour off"
cpu=$(($(nproc) - 1))
. "$(dirname "$0")/tracefs.sh"

none_left() { # traces of processes that are gone
	for trace in "$tracing"/instances/emp-trace-*; do
		pid=${trace##*/emp-trace-}
		[ ! -d "$trace" ] || [ -d "/proc/${pid%%-*}" ] || return 1
	done
}

cp "$build/tests/machine/burn" "$dir/rival"
cp "$build/tests/machine/burn" "$dir/subject"
burn=$dir/subject
taskset -c $cpu "$dir/rival" 100000000 &
rival=$!
trap 'kill $rival; rm -rf "$dir"' EXIT
wait_until grep -q '^Cpus_allowed_list:.*[0-9]' /proc/$rival/status

# so long that a start takes little of it, also on an emulated machine
least=1000
for _ in 1 2 3 4 5; do
	begin=$(date +%s%N)
	"$burn" 0
	took=$((($(date +%s%N) - begin) / 1000000))
	[ $took -ge $least ] || least=$took
done
ms=$((60 + 20 * least))
[ $ms -le 1000 ] || ms=1000
$measure --trace --cpu $cpu -r 8 --json -- "$burn" $ms >"$dir/got" 2>"$dir/err" || cat "$dir/err"
that "there is a trace of each sample" json "$dir/got" '([s["sample"] for s in d["results"][0]["emp"]["trace"]["samples"]] == [*range(1, 9)])'
that "the rival is named in each" json "$dir/got" 'all("rival" in {x["name"] for x in s["sources"]} for s in d["results"][0]["emp"]["trace"]["samples"])'
that "what was taken is what the program lacks" json "$dir/got" \
	'(lambda e: 0.85 < sum(s["taken_ns"] for s in e["trace"]["samples"]) / (sum(e["et_ns"]) - sum(e["pt_ns"])) < 1.05)(d["results"][0]["emp"])'
that "the program itself takes nothing" json "$dir/got" 'all("subject" not in {x["name"] for x in s["sources"]} for s in d["results"][0]["emp"]["trace"]["samples"])'
expect 0 'Tracing: .* events a sample' $measure --trace --cpu $cpu -r 3 -- "$burn" 60
that "nothing is left" none_left

# A sample in which somebody takes the CPU is explained.
kill -STOP $rival
cat >"$dir/sometimes" <<END
#!/bin/sh
[ "\$HYPERFINE_ITERATION" = 7 ] && kill -CONT $rival || kill -STOP $rival
END
chmod +x "$dir/sometimes"
expect 0 'Tracing: ' $measure --trace --cpu $cpu -r 12 --prepare "$dir/sometimes" --export-json "$dir/got" -- "$burn" 100
cp "$dir/out" "$dir/screen"
that "the rival took most in sample 8" json "$dir/got" \
	'max((x["total_ns"], s["sample"]) for s in d["results"][0]["emp"]["trace"]["samples"] for x in s["sources"] if x["name"] == "rival")[1] == 8'
if json "$dir/got" '(lambda t: t.index(max(t)) == 7)(d["results"][0]["times"])'; then # others took less
	that "sample 8 is explained" grep -q '^  sample 8: +.* slices' "$dir/screen"
fi
kill -CONT $rival

# Two programs in turn have a trace each.
$measure --trace --cpu $cpu -r 3 --json "$burn 20" "$burn 30" >"$dir/got" 2>"$dir/err" || cat "$dir/err"
that "both have one" json "$dir/got" '([len(r["emp"]["trace"]["samples"]) for r in d["results"]] == [3, 3])'

# What is missing is said.
expect 1 '--trace records one CPU; name the one' $measure --trace -- "$burn" 1
chmod 755 "$dir"
install -d -m 777 "$dir/of_another"
expect 1 'needs root' setpriv --reuid 65534 --clear-groups "$build/measure/emp-measure" --db "$dir/of_another/book.db" --trace --cpu $cpu -- "$burn" 1

# kill -9: its guard cleans up
$measure --trace --cpu $cpu -r 1000000 -- "$burn" 1 >"$dir/screen" 2>&1 &
pid=$!
wait_until sh -c "ls '$tracing/instances' | grep -q emp-trace-$pid-"
kill -KILL $pid
wait $pid
wait_until none_left
finish
