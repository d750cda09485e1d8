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
	"$measure" -q --order duet --cpu "$cpu" --neighbour off -w 0 --alone 0 --export-json "$dir/duet.json" "$@"
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
	for accounting in bpf none; do
		[ "$way $accounting" != 'freezer none' ] || continue
		for place in 0 1; do
			both() { # COMMAND: that one in this place, and the honest one in the other
				: >"$dir/pids"
				[ "$place" = 0 ] && set -- "$1" "$honest" || set -- "$honest" "$1"
				expect 0 '' duet --slices-by "$way" --accounting "$accounting" --linger "$linger" -r 2 "$@"
				that "nothing that escaped is left ($what)" none_runs
			}
			what="$way, $accounting, program $((place + 1))"
			linger=0.3
			for staying in "$stays" "$daemon"; do
				both "$staying"
				check "$place" "it is left behind by its own program ($what)" 'p["left_behind"] == 2 and o["left_behind"] == 0 and o["escaped"] == 0'
			done
			linger=60
			for burning in "$burns" "$leaves" "$itself"; do
				both "$burning"
				check "$place" "the CPU time that escaped is its own program's ($what)" 'min(p["pt_ns"]) > 145e6 and max(o["pt_ns"]) < 130e6'
				check "$place" "only it has escaped ($what)" 'p["escaped"] == 2 and o["escaped"] == 0'
			done
		done
	done
done

# A turn ends when another program gets the CPU, and not when one of a higher class does every millisecond: each has its slices of 20 ms.
if [ "$(nproc)" != 1 ]; then
	taskset -c "$cpu" chrt -f 1 python3 -c 'import time
while True: time.sleep(0.001)' &
	waker=$!
	expect 0 '' duet --accounting bpf --slices-by freezer --slice 20ms -r 2 "'$burn' 200" "'$burn' 200"
	kill "$waker"
	that "turns are told from interruptions" [ "$(sqlite3 "$EMP_DB" 'SELECT min(turns) >= 2 AND max(turns * 20000000 > et_ns) = 0
		AND sum(involuntary_switches) > 2 * sum(turns) FROM duet_sample d JOIN sample s ON s.run = d.run AND s.n = d.sample
		JOIN counters c ON c.run = d.run AND c.sample = d.sample WHERE d.run >= (SELECT max(run) FROM duet) - 1')" = 1 ]
fi

# The time-out is against the time that a program has for itself: of 4.8 s, 0.2 s and what others take, of which a first run tells how much
# it is. The limit lies in the middle between that and the elapsed time. They take little from programs of such a priority.
many=()
for _ in $(seq 24); do many+=("sh -c \"'$burn' 200; :\""); done
chmod 755 "$dir"
install -d -o 65534 "$dir/nobody"
ordinary="nice -n -20 setpriv --reuid 65534 --clear-groups env EMP_DB=$dir/nobody/book.db $measure -q --order duet --cpu $cpu --neighbour off -w 0 --alone 0 --export-json $dir/nobody/duet.json"
hurried() { # OPTION... COMMAND...: a duet
	nice -n -20 "$measure" -q --order duet --cpu "$cpu" --neighbour off -w 0 --alone 0 --export-json "$dir/duet.json" "$@"
}
is_own() { # FILE COMMAND...: a limit below the elapsed time is kept, at the third try at the latest
	file=$1
	shift
	for _ in 1 2 3; do
		"$@" -r 1 "${many[@]}" || return 1
		limit=$(python3 -c 'import json, sys; print(max(r["emp"]["et_ns"][0] for r in json.load(open(sys.argv[1]))["results"]) / 1e9 - 2.4)' "$file")
		rm "$file"
		"$@" -r 1 --timeout "$limit" "${many[@]}" &&
			json "$file" "max(r['emp']['et_ns'][0] for r in d['results']) > $limit * 1e9" && return 0
	done
	return 1
}
for way in $ways; do
	that "the limit is that of a program's own time ($way)" is_own "$dir/duet.json" hurried --slices-by "$way" --accounting none
	expect 124 "ran longer than 500.0 ms in sample 1" duet --slices-by "$way" --accounting none --timeout 0.5 -r 1 "'$burn' 3600000" "'$burn' 3600000"
	expect 124 "'sleep 4321' ran longer than 2.000 s in sample 1" duet --slices-by "$way" --accounting none --timeout 2 -r 1 'sleep 4321' "'$burn' 60"
done
that "so it is without a cgroup" is_own "$dir/nobody/duet.json" $ordinary
expect 124 'ran longer than 500.0 ms in sample 1' $ordinary --timeout 0.5 -r 1 "'$burn' 3600000" "'$burn' 3600000"

# Interrupts are charged to the program that they interrupt: those of a program of 20 ms beside one of 600, as the book has them.
few_of_them() {
	[ "$(sqlite3 "$EMP_DB" "SELECT 4 * sum(a.interrupts_ns) < sum(b.interrupts_ns) FROM counters a JOIN counters b USING (sample)
		WHERE b.run = (SELECT max(run) FROM duet) AND a.run = b.run - 1")" = 1 ]
}
expect 0 '' duet --accounting bpf -r 3 "'$burn' 20" "'$burn' 600"
that "the shorter program has few of the interrupts" few_of_them
expect 0 '' duet --accounting bpf -r 3 --repeat "'$burn' 20" "'$burn' 600"
that "also if it runs often" few_of_them

# Programs that change the limit by which they are told apart have their turns by their cgroups.
expect 0 '' duet --accounting bpf -r 2 --slice 10ms "prlimit --locks=99999 '$burn' 200" "prlimit --locks=99999 '$burn' 200"
that "turns of programs without a tag count" [ "$(sqlite3 "$EMP_DB" 'SELECT min(turns) >= 6 FROM duet_sample WHERE run >= (SELECT max(run) FROM duet) - 1')" = 1 ]

# The turns of a repetition that is killed do not count: the shorter one's are as long as those of the longer one.
expect 0 '' duet --accounting bpf -r 4 --repeat --slice 4ms "'$burn' 60" "'$burn' 100"
that "turns are those of complete repetitions" [ "$(sqlite3 "$EMP_DB" "SELECT sum(a.turns) < 0.8 * sum(b.turns) FROM duet_sample a JOIN duet_sample b USING (sample)
	WHERE b.run = (SELECT max(run) FROM duet) AND a.run = b.run - 1 AND a.repetitions = 1")" = 1 ]

# A run says the same in each document.
expect 0 '' duet --accounting bpf -r 3 "$honest" "$honest"
that "W comes from the same in each document" json "$dir/duet.json" '[r["emp"]["wait_source"] for r in d["results"]] == ["elapsed"] * 2'
that "and in the book" [ "$(sqlite3 "$EMP_DB" 'SELECT DISTINCT wait_source FROM run JOIN duet ON run = id')" = elapsed ]
finish
