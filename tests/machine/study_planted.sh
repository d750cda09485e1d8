#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a box: a daemon of real-time priority makes each sample longer by a known share, and emp-study has a step that stops it, and one that stops
# another daemon, which only sleeps. The first step is shown as faster by that share, and the other one as nothing. In a container EMP sees no other
# process, so that no daemon is named. 80 % of the CPU are seen beside any other work; on a quiet machine, 5 % is shown as well:
# study_planted.sh BUILD 5. Usage: study_planted.sh BUILD [PERCENT]
set -eu
. "$(dirname "$0")/box.sh"
build=$(realpath "$1") percent=${2:-80}
study=$build/study/emp-study analyze=$build/analyze/emp-analyze
cpu=$(taskset -cp $$ | sed 's/.*[,: -]//')
box_needs python3
box_new
trap 'box_remove' EXIT
put() {
	mkdir -p "$(dirname "$box/upper$1")"
	cat >"$box/upper$1"
}
put /etc/systemd/system/emp-test.target <<'U'
[Unit]
Requires=basic.target
After=basic.target
Wants=dbus.service systemd-logind.service planted.service other.service
U
# each 20 ms
printf '[Service]\nExecStart=%s planted %s 20 %s 0\n' "$build/tests/machine/dummy_daemon" "$cpu" $((percent * 200)) | put /usr/lib/systemd/system/planted.service
printf '[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/other.service
lengths='0.1, 0.3' samples=24
[ "$percent" -lt 20 ] || lengths=0.05 samples=12
put /etc/settings.ini <<I
[study]
what = settings
rounds = 6
samples = $samples
[subject INC]
inc = $lengths
[step other]
stop = other
[step planted]
stop = planted
I
box_start
box_wait 30 box_run systemctl -q is-active planted.service || { echo "FAULT: the daemon does not run"; box_run systemctl status planted.service; exit 1; }
box_run "$study" --db /study.db run -q --cpu "$cpu" --seed 1 /etc/settings.ini
box_run "$analyze" --db /study.db study --last
box_run "$analyze" --db /study.db study --last --json >"$box/study.json"
python3 - "$box/study.json" "$percent" "${2:-}" <<'P'
import json, sys

tables, percent = json.load(open(sys.argv[1]))["tables"], float(sys.argv[2])
steps = {(row["step"], row["clock"]): row for row in tables["steps"]}
faults = []
planted, true = steps["planted", "ET"], -percent / 100
print(f"planted: {100 * true:.1f} %, found: {100 * planted['time_change']:.1f} % [{100 * planted['time_change_low']:.1f}, {100 * planted['time_change_high']:.1f}]")
# beside other work, the verdict at a level of one study in 200 is not certain
if sys.argv[3] and "faster" not in planted["shows"]:
    faults.append(f"the step is shown as {planted['shows']}")
if planted["time_change_high"] > 0:
    faults.append("the interval contains no change")
if abs(planted["time_change"] - true) > 0.3 * abs(true):
    faults.append("the change is another one")
for key, row in steps.items():
    if key[0] == "other" and row["shows"] != "nothing":
        faults.append(f"{key} is shown as {row['shows']}")
for fault in faults:
    print("FAULT:", fault)
sys.exit(bool(faults))
P
