#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For a machine that may be changed and has a frequency driver, such as a virtual one (in_vm.sh, and setup_real.sh for how it gets one): a study with
# a step that sets the governor and the lower limit of the frequency. Samples of the step run with them, all others as the machine was, also if the
# study is killed in the step and resumed. By hand, as root: study_real.sh BUILD
set -eu
build=$(realpath "$1") study=$(realpath "$1")/study/emp-study analyze=$(realpath "$1")/analyze/emp-analyze
policies=/sys/devices/system/cpu/cpufreq
modprobe -a acpi-cpufreq cpufreq_powersave 2>/dev/null || :
[ -e $policies/policy0/scaling_governor ] || {
	echo "not run: this machine has no frequency driver"
	exit 77
}
dir=$(mktemp -d) faults=0
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export EMP_DB="$dir/book.db"
fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}
settings() { cat $policies/policy*/scaling_governor $policies/policy*/scaling_min_freq | tr '\n' ' '; }
for policy in $policies/policy*; do
	grep -qw powersave "$policy/scaling_available_governors" && echo powersave >"$policy/scaling_governor"
done
cat >look <<'L'
#!/bin/sh
echo "$(date +%s%N)|$(cat /sys/devices/system/cpu/cpufreq/policy0/scaling_governor)" >>"$(dirname "$0")/looks"
L
chmod +x look
cat >settings.ini <<I
[study]
what = settings
rounds = 3
samples = 6
[subject look]
command = $dir/look
[subject INC]
inc = 0.05
[step governor]
apply = freq.governor, freq.min
I
settings >before
echo "$(cat $policies/policy0/scaling_driver): $(cat before)"
check() { # STUDY WORDS
	settings | diff before - || fault "$2: not as before"
	rm -f copy.db # a lab book with other tables is refused
	sqlite3 book.db '.backup copy.db'
	found=$(sqlite3 copy.db 'CREATE TABLE look(at INTEGER, governor TEXT)' ".import looks look" "SELECT ifnull(step, 'none'), governor, count(*)
		FROM study_block JOIN study_run ON block = study_block.id JOIN sample USING(run)
		JOIN look ON at BETWEEN start_ns AND start_ns + et_ns WHERE study = $1 GROUP BY 1, 2 ORDER BY 1" | tr '\n' ' ')
	[ "$found" = "governor|performance|6 none|powersave|6 " ] || fault "$2: $found"
}
"$study" run --seed 1 settings.ini || fault "the study ends with $?"
"$analyze" study --last
check 1 "a study"

in_step() { [ "$(cat $policies/policy0/scaling_governor)" = performance ]; }
"$study" run -q settings.ini &
until in_step || ! kill -0 $!; do sleep 0.1; done
kill -KILL $!
wait $! || :
"$study" resume || fault "resume ends with $?"
check 2 "killed in the step"
[ $faults = 0 ] || echo "$faults faults"
exit $((faults > 0))
