#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What EMP concludes on a machine on which busy loops come and go on every CPU. Run by hand, since it takes minutes; prints what it found:
#   - a daemon that takes a fifth of a sample, every 30 samples of the short run, has a cutoff, and nobody else has one there that explains
#     10 % of the delay, but the loops and kernel threads, which take ms themselves;
#   - at most 5 % of the pairs of separate runs of one program are called different.
# While a loop runs, interrupts every PERIOD_US (default 60; 0: none) also slow its CPU down, as an SMT sibling would, which the CPUs of a
# virtual machine may not have.
# Usage: noisy_truth.sh BUILD [PAIRS [SEED [PERIOD_US]]]
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1 pairs=${2:-60} seed=${3:-$RANDOM} period=${4:-60}
calibrate=$build/calibrate/emp-calibrate analyze=$build/analyze/emp-analyze
cpu=$(($(nproc) - 1))
ahead=$(dirname "$0")/ahead.sh
inc=$(realpath "$build/calibrate/emp-inc")
echo "seed $seed"

# Loops of one to six seconds, and as long without, on each CPU.
for at in $(seq 0 $cpu); do
	setsid -w python3 -c '
import ctypes, os, random, struct, sys, time
cpu, seed, period = map(int, sys.argv[1:])
libc = ctypes.CDLL(None)
libc.prctl(15, b"loop")
libc.prctl(1, 9)
os.sched_setaffinity(0, {cpu})
rng = random.Random(seed + cpu)
def interrupts():  # a software clock of the CPU that is sampled, as by perf record
    if period == 0: return -1
    clock = struct.pack("IIQQQ", 1, 112, 0, period * 1000, 1).ljust(112, b"\0")
    fd = libc.syscall(298, clock, -1, cpu, -1, 0)
    if fd < 0: sys.exit("no perf events: set the period to 0")
    return fd
while True:
    fd = interrupts()
    end = time.monotonic() + rng.uniform(1, 6)
    while time.monotonic() < end: pass
    if fd >= 0: os.close(fd)
    time.sleep(rng.uniform(1, 6))' "$at" "$seed" "$period" &
	loops="${loops-} $!"
done
trap 'kill $loops; rm -rf "$dir"' EXIT

$calibrate constant --cpu $cpu >/dev/null || exit 1
timeout 900 taskset -c 0 "$ahead" "$build/tests/machine/planter" "$inc" $cpu 300 "planted=20@$(seq -s, 15 30 300)" >"$dir/planted" &
planter=$!
expect 0 "Profile 'noisy'" "$ahead" $calibrate -q run --short 0.1x300 --long 0.5x20 --save noisy --cpu $cpu --ignore-audit --force
cat "$dir/out"
wait $planter || echo "the planter missed starts of INC, and was ended"
$calibrate profile export noisy >"$dir/profile.json"
"$analyze" export 1 >"$dir/run.json"
that "no daemon but the planted one has a cutoff that explains 10 % of the delay" python3 - "$dir/profile.json" "$dir/run.json" <<'PY'
import json, statistics, subprocess, sys
takers = {"loop"} | {name.split("/")[0] for name in subprocess.check_output(["ps", "--ppid", "2", "-o", "comm="], text=True).split()}
cutoffs = json.load(open(sys.argv[1]))["cutoffs"]
ets = sorted(s["et_ns"] for s in json.load(open(sys.argv[2]))["samples"])
shares = {c["daemon"]: c["short_share_ppm"] / 1e4 for c in cutoffs if "short_share_ppm" in c}
print(f"90 % of the ETs are within {(ets[len(ets) * 19 // 20] - ets[len(ets) // 20]) / statistics.median(ets):.0%} of the median;",
      ", ".join(f"{name} {share:.1f} %" for name, share in sorted(shares.items(), key=lambda item: -item[1])))
sys.exit({name for name, share in shares.items() if share >= 10 and name.split("/")[0] not in takers} != {"planted"})
PY
cat "$dir/out"

# The first runs tell how separate runs vary.
run_once() {
	"$ahead" "$build/measure/emp-measure" -q -r 10 --cpu $cpu --json -- "$inc" 0.1 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["emp"]["run"])'
}
for _ in 1 2 3 4 5; do run_once >/dev/null; done
for _ in $(seq "$pairs"); do
	"$analyze" compare "$(run_once)" "$(run_once)" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["verdict"])'
done | sort | uniq -c | tee "$dir/verdicts"
that "at most 5 % of the pairs are called different" awk -v most=$((pairs / 20)) \
	'!/equal|cannot tell/ { different += $1 } END { exit different > most }' "$dir/verdicts"
finish
