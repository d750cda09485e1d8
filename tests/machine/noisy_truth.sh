#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What EMP concludes on a machine on which busy loops come and go on every CPU. Run by hand, since it takes minutes; prints what it found:
#   - a daemon that takes a fifth of a sample, every 30 samples, has a cutoff, and no other daemon has one that explains 10 % of the delay;
#   - at most 5 % of the pairs of separate runs of one program are called different.
# Usage: noisy_truth.sh BUILD [PAIRS [SEED]]
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1 pairs=${2:-60} seed=${3:-$RANDOM}
calibrate=$build/calibrate/emp-calibrate analyze=$build/analyze/emp-analyze
cpu=$(($(nproc) - 1))
ahead=$(dirname "$0")/ahead.sh
inc=$(realpath "$build/calibrate/inc")
echo "seed $seed"

# Loops of one to six seconds, and as long without, on each CPU.
for at in $(seq 0 $cpu); do
	setsid -w python3 -c '
import ctypes, os, random, sys, time
cpu, seed = int(sys.argv[1]), int(sys.argv[2])
ctypes.CDLL(None).prctl(15, b"loop")
ctypes.CDLL(None).prctl(1, 9)
os.sched_setaffinity(0, {cpu})
rng = random.Random(seed + cpu)
while True:
    end = time.monotonic() + rng.uniform(1, 6)
    while time.monotonic() < end: pass
    time.sleep(rng.uniform(1, 6))' "$at" "$seed" &
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
that "the planted daemon alone has a cutoff that explains 10 % of the delay" python3 - "$dir/profile.json" "$dir/run.json" <<'PY'
import json, statistics, sys
cutoffs = json.load(open(sys.argv[1]))["cutoffs"]
ets = sorted(s["et_ns"] for s in json.load(open(sys.argv[2]))["samples"])
shares = {c["daemon"]: max(c.get("short_share_ppm", 0), c.get("long_share_ppm", 0)) / 1e4 for c in cutoffs}
print(f"90 % of the ETs are within {(ets[len(ets) * 19 // 20] - ets[len(ets) // 20]) / statistics.median(ets):.0%} of the median;",
      ", ".join(f"{name} {share:.1f} %" for name, share in sorted(shares.items(), key=lambda item: -item[1])))
sys.exit([name for name, share in shares.items() if share >= 10] != ["planted"])
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
	'!/no difference shown/ { different += $1 } END { exit different > most }' "$dir/verdicts"
finish
