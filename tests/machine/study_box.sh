#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a box: emp-study with a step of settings that stops a planted daemon. The daemon runs in all samples but those of that step; a study
# that is killed (kill -9) at random moments, or whose machine is switched off, is resumed, and has each sample once; afterwards the machine is as it
# was before. Usage: study_box.sh BUILD [KILLS]
set -eu
. "$(dirname "$0")/box.sh"
build=$(realpath "$1") kills=${2:-10}
study=$build/study/emp-study faults=0
RANDOM=${EMP_SEED:=$RANDOM}
echo "EMP_SEED=$EMP_SEED"
box_needs sqlite3
box_new
trap 'box_remove' EXIT
put() {
	mkdir -p "$(dirname "$box/upper$1")"
	cat >"$box/upper$1"
}
fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}
put /etc/systemd/system/emp-test.target <<'U'
[Unit]
Requires=basic.target
After=basic.target
Wants=dbus.service systemd-logind.service planted.service other.service
U
# when it ran, and whether the daemon did
put /usr/local/bin/look <<'D'
#!/bin/sh
echo "$(date +%s%N)|$(systemctl is-active planted.service || :)" >>/looks
D
chmod +x "$box/upper/usr/local/bin/look"
printf '[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/planted.service
printf '[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/other.service
put /etc/settings.ini <<'I'
[study]
what = settings
order = each-alone
rounds = 3
samples = 9
[subject INC]
inc = 0.05
[subject look]
command = /usr/local/bin/look
[step planted]
stop = planted
[step other]
stop = other.service
[step nothing]
apply = turbo.intel
I
put /etc/suite.ini <<'I'
[study]
what = suite
rounds = 2
samples = 10
[subject look]
command = /usr/local/bin/look
I
put /etc/night.ini <<'I'
[study]
what = night
max-time = 10min
studies = /etc/settings.ini /etc/suite.ini
I

# What must be as it was before.
state() {
	box_run systemctl show -p ActiveState,UnitFileState,FragmentPath planted.service other.service
	box_run find /run/systemd/system /etc/systemd/system /var/lib/emp-setup 2>/dev/null | sort
}
run() { box_run "$study" --db /study.db "$@" >"$box/out" 2>&1; }
books() { sqlite3 "$box/study.db" "$1"; }
copy_book() { rm -f "$box"/study.db*; cp "$box"/upper/study.db* "$box/"; }
is_as_before() { state >"$box/after" && cmp -s "$box/before" "$box/after"; }
check_restored() {
	box_wait 30 is_as_before || { fault "$1: not as before"; diff "$box/before" "$box/after" || :; }
}
# check_samples WORDS STUDY: each block has the samples that were planned, and the daemon ran in all samples but those of its step
check_samples() {
	copy_book
	[ "$(books "SELECT count(*), sum(samples) FROM study_block WHERE study = $2")" = "18|54" ] || fault "$1: the plan: $(books "SELECT count(*), sum(samples) FROM study_block WHERE study = $2")"
	wrong=$(books "SELECT position, subject, step, samples, (SELECT count(*) FROM study_run JOIN sample USING(run) WHERE block = study_block.id) AS taken
		FROM study_block WHERE study = $2 AND (taken <> samples OR finished_ns IS NULL)")
	[ -z "$wrong" ] || fault "$1: samples: $wrong"
	steps=$(sqlite3 "$box/study.db" 'CREATE TABLE look(at INTEGER, state TEXT)' ".import '$box/upper/looks' look" "SELECT ifnull(step, 'none'), state, count(*)
		FROM study_block JOIN study_run ON block = study_block.id JOIN sample USING(run)
		JOIN look ON at BETWEEN start_ns AND start_ns + et_ns WHERE study = $2 GROUP BY 1, 2 ORDER BY 1" | tr '\n' ' ')
	[ "$steps" = "none|active|9 other|active|9 planted|inactive|9 " ] || fault "$1: the daemon: $steps"
}

box_start
box_wait 30 box_run systemctl -q is-active planted.service || fault "the daemon does not run"
state >"$box/before"

run run --dry-run /etc/settings.ini || fault "a dry run ends with $?"
grep -q "step 'nothing' changes nothing on this machine" "$box/out" || { fault "the empty step is not named"; cat "$box/out"; }
run run --seed 1 /etc/settings.ini || { fault "the study ends with $?"; cat "$box/out"; }
check_restored "after a study"
check_samples "a study" 1

# Killed at random moments, the study or all of it
begin() {
	box_run "$study" --db /study.db "$@" >"$box/out" 2>&1 &
	client=$!
}
begun() { grep -q "^Study $1," "$box/out"; }
processes() { box_run pgrep -x "$1" || :; }
begin run /etc/settings.ini
box_wait 60 begun 2 || fault "study 2 does not begin"
for i in $(seq "$kills"); do
	sleep "$((RANDOM % 3)).$(printf %03d $((RANDOM % 1000)))"
	if [ $((i % 2)) = 0 ]; then names='emp-study emp-measure emp-setup'; else names=emp-study; fi
	for name in $names; do
		victims=$(processes $name)
		[ -z "$victims" ] || box_run kill -KILL $victims || :
	done
	wait $client || :
	begin resume -q
done
wait $client || { fault "the last resume ends with $?"; cat "$box/out"; }
run resume -q || { fault "nothing to resume: $?"; cat "$box/out"; }
check_restored "after $kills kills"
check_samples "after $kills kills" 2

# A signal, as systemd sends it
begin run /etc/settings.ini
box_wait 60 begun 3 || fault "study 3 does not begin"
sleep 2
box_run kill -TERM "$(processes emp-study | head -n 1)"
status=0
wait $client || status=$?
[ $status = 130 ] || { fault "TERM: status $status"; cat "$box/out"; }
check_restored "after TERM"

# crash_in_step WORDS STUDY: what is resumed is switched off in the middle of a step of settings, and resumed
stopped() { ! box_run systemctl -q is-active planted.service; }
crash_in_step() {
	begin resume -q
	box_wait 60 stopped || fault "$1: the daemon was never stopped"
	box_crash
	wait $client || :
	box_start
	box_wait 30 box_run systemctl -q is-active planted.service || fault "$1: the daemon does not run"
	run resume -q || { fault "$1: resume ends with $?"; cat "$box/out"; }
	check_restored "$1"
	check_samples "$1" "$2"
}
crash_in_step "after a crash" 3

# A night: killed, and switched off in a step of its first study
measures() {
	copy_book
	[ -n "$(books 'SELECT 1 FROM study_run JOIN study_block ON study_block.id = block JOIN study ON study.id = study WHERE night IS NOT NULL LIMIT 1' 2>/dev/null)" ]
}
begin run /etc/night.ini
box_wait 60 measures || { fault "the night does not begin"; cat "$box/out"; }
for name in emp-study emp-measure emp-setup; do
	victims=$(processes $name)
	[ -z "$victims" ] || box_run kill -KILL $victims || :
done
wait $client || :
crash_in_step "after a crash in a night" 5
studies=$(books "SELECT group_concat(name || ' ' || (finished_ns IS NOT NULL)) FROM (SELECT * FROM study WHERE ifnull(night, id) = 4 ORDER BY id)")
[ "$studies" = "night 1,settings 1,suite 1" ] || fault "a night: $studies"

[ $faults = 0 ] || echo "$faults faults"
exit $((faults > 0))
