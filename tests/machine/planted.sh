#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that takes 200 ms of CPU time inside samples 10, 37 and 80 of 100 of 0.1 s, started and ended inside them, is found by its
# name in exactly those: by bpf with its CPU time accurate to 1 %; by taskstats with the difference shown. Usage: planted.sh BUILD
set -eu
[ "$(id -u)" = 0 ] || { echo "not run: needs root"; [ -z "${EMP_MUST_RUN:-}" ] || exit 1; exit 77; }
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export EMP_DB="$dir/book.db" EMP_LOCK="$dir/lock"
cpu=$(($(nproc) - 1))
ahead=$(dirname "$0")/ahead.sh
"$build/calibrate/emp-calibrate" constant >/dev/null

for backend in bpf taskstats; do
	"$ahead" "$build/tests/machine/planter" "$(realpath "$build/calibrate/emp-inc")" $cpu 100 planted=200@10,37,80 >"$dir/planted" &
	planter=$!
	"$ahead" "$build/measure/emp-measure" --json -q -r 100 --cpu $cpu --neighbour off --accounting $backend -- "$build/calibrate/emp-inc" 0.1 >"$dir/result.json"
	wait $planter
	run=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["emp"]["run"])' "$dir/result.json")
	"$build/analyze/emp-analyze" export "$run" >"$dir/run.json"
	python3 - "$dir/planted" "$dir/run.json" $backend <<'PY'
import json, sys
run, backend = json.load(open(sys.argv[2])), sys.argv[3]
def sample_at(start_ns):
    return max(s["n"] for s in run["samples"] if s["start_ns"] <= start_ns)
planted = {sample_at(int(start)): int(ns) for _, _, start, _, ns in (line.split() for line in open(sys.argv[1]))}
found = {}
for sample in run["samples"]:
    for execution in sample["executions"]:
        if execution["name"] == "planted":
            assert sample["n"] not in found, f"two executions in sample {sample['n']}"
            found[sample["n"]] = execution["pt_ns"]
assert len(planted) == 3, planted
assert sorted(found) == sorted(planted), f"planted in {sorted(planted)}, {backend} found it in samples {sorted(found)}"
for n in found:
    error = (found[n] - planted[n]) / planted[n]
    print(f"{backend}: sample {n}: took {planted[n] / 1e6:.3f} ms by its rusage, found {found[n] / 1e6:.3f} ms, {error:+.2%}")
    assert abs(error) < (0.01 if backend == "bpf" else 0.05)
PY
done
