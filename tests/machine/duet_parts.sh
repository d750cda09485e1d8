#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a duet charges to each of its programs: processes that leave its cgroup, interrupts, time-outs. Usage: duet_parts.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1
measure=$build/measure/emp-measure
burn=$build/tests/machine/burn
cpu=$(($(nproc) - 1))
ways=scheduler
[ "$(nproc)" = 1 ] || ways='scheduler freezer'
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)

duet() { # OPTION... COMMAND...
	"$measure" -q --order duet --cpu "$cpu" -w 0 --alone 0 --export-json "$dir/duet.json" "$@"
}
check() { # PLACE WORDS EXPRESSION: of p, the program in that place, and o, the other one
	place=$1 words=$2 expression=$3
	that "$words" python3 - "$dir/duet.json" "$place" "$expression" <<'P'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
p, o = (results[int(sys.argv[2]) ^ k]["emp"] for k in (0, 1))
print({k: [r[k] for r in (p, o)] for k in ("pt_ns", "et_ns", "left_behind", "escaped")})
assert eval(sys.argv[3])
P
}

# A process that leaves the cgroup: it stays, or computes 150 ms; its parent waits for it or not; it leads a session and has no environment.
cat >"$dir/escape" <<E
#!/bin/sh
echo 0 >'$root/cgroup.procs' || exit 9
echo \$\$ >>'$dir/pids'
exec "\$@"
E
chmod 755 "$dir/escape"
stays="sh -c \"'$dir/escape' sleep 4321 & exec '$burn' 60\""
daemon="sh -c \"(setsid env -i '$dir/escape' sleep 4321 &) ; exec '$burn' 60\""
burns="sh -c \"'$dir/escape' '$burn' 150 & wait \$!; exec '$burn' 60\""
leaves="sh -c \"('$dir/escape' '$burn' 150 &) ; exec '$burn' 60\""
itself="'$dir/escape' '$burn' 150"
honest="'$burn' 60"
none_runs() { # of the processes that escaped
	[ -s "$dir/pids" ] || return 1
	while read -r pid; do
		[ ! -d "/proc/$pid" ] || return 1
	done <"$dir/pids"
}
for way in $ways; do
	for accounting in none bpf; do
		for place in 0 1; do
			both() { # COMMAND: that one in this place, and the honest one in the other
				: >"$dir/pids"
				[ "$place" = 0 ] && set -- "$1" "$honest" || set -- "$honest" "$1"
				expect 0 '' duet --slices-by "$way" --accounting "$accounting" --linger 0.3 -r 2 "$@"
				that "nothing that escaped is left ($what)" none_runs
			}
			what="$way, $accounting, program $((place + 1))"
			for staying in "$stays" "$daemon"; do
				both "$staying"
				check "$place" "it is left behind by its own program ($what)" 'p["left_behind"] == 2 and o["left_behind"] == 0 and o["escaped"] == 0'
			done
			for burning in "$burns" "$leaves" "$itself"; do
				both "$burning"
				check "$place" "the CPU time that escaped is its own program's ($what)" 'min(p["pt_ns"]) > 150e6 and max(o["pt_ns"]) < 130e6'
				check "$place" "only it has escaped ($what)" 'p["escaped"] == 2 and o["escaped"] == 0'
			done
		done
	done
done
finish
