#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs each fuzzer for some seconds (EMP_FUZZ_SECONDS, or 300), as many at once as there are CPUs. What they find stays in
# BUILD/tests/fuzz: new inputs in found/NAME, from which the next run starts too, and faults in faults/NAME-*.
# Usage: run.sh BUILD SOURCE [NAME...]
set -eu
fuzz=$1/tests/fuzz corpus=$2/tests/fuzz/corpus
shift 2
[ $# -gt 0 ] || set -- $(ls "$corpus")
export fuzz corpus seconds="${EMP_FUZZ_SECONDS:-300}"
mkdir -p "$fuzz/faults"

printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh -c '
	mkdir -p "$fuzz/found/$0"
	if "$fuzz/fuzz_$0" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=8192 -print_final_stats=1 \
		-artifact_prefix="$fuzz/faults/$0-" "$fuzz/found/$0" "$corpus/$0" >"$fuzz/$0.log" 2>&1; then
		echo "$0: $(sed -n "s/^Done \([0-9]*\) .*/\1 inputs/p" "$fuzz/$0.log"), no fault"
	else
		tail -n 40 "$fuzz/$0.log"
		echo "$0: a fault, see $fuzz/$0.log and $fuzz/faults"
		exit 1
	fi'
