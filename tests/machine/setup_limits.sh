#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup restores frequency limits, and what depends on them, on made-up CPUs of ten drivers: whether turbo was on or off before, and
# whatever switched it in between; and after random sequences of apply, apply --for, third parties, CPUs that come and go, kills and
# restores, which a model checks (setup_random.py). Usage: setup_limits.sh BUILD [SEQUENCES]; EMP_SEED repeats them.
set -eu
if [ "${3:-}" != inside ]; then
	[ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && command -v fusermount3 >/dev/null && [ ! -e /var/lib/emp-setup ] || {
		echo "not run: needs root, FUSE, and a machine on which emp-setup has nothing applied"
		[ -z "${EMP_MUST_RUN:-}" ] || exit 1
		exit 77
	}
	exec unshare --mount --propagation private sh "$0" "$1" "${2:-20}" inside
fi
. "$(dirname "$0")/fake_cpu.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
. "$(dirname "$0")/fake_cpu_plug.sh"

drivers="intel_pstate intel_pstate-follows intel_cpufreq hybrid acpi-cpufreq acpi-turbo cppc_cpufreq amd-pstate amd-pstate-all amd-pstate-epp"

# Limits that nobody has asked for stay so: the kernel's requests (see fake_cpu_rules.c) are as before, whatever switched turbo in
# between. A limit that the user has asked for is set again.
turbo() { # on|off, by whichever switch there is
	value=$([ "$1" = on ] && echo 1 || echo 0)
	if [ -e $sys/intel_pstate/no_turbo ]; then
		echo $((1 - value)) >$sys/intel_pstate/no_turbo
	elif [ -e $sys/cpufreq/boost ]; then
		echo $value >$sys/cpufreq/boost
	fi
	for boost in $sys/cpufreq/policy*/boost; do
		[ ! -e "$boost" ] || { echo $value >"$boost"; } 2>/dev/null || :
	done
}
limits() { # what holds with turbo and without it
	for state in on off; do
		turbo $state
		grep -H '' "$dir"/files/cpufreq/policy*/scaling_m[ai][xn]_freq
	done
}
limits_are_as_before() { # WORDS
	limits >"$dir/limits"
	cmp -s "$dir/limits_before" "$dir/limits" && return 0
	fault "$1: other limits than before:"
	diff "$dir/limits_before" "$dir/limits" || :
}
for driver in $drivers; do
	for before in on off; do
		for meanwhile in on off no; do
			plug $driver
			limits >"$dir/limits_before"
			turbo $before
			for first in turbo.intel,turbo.boost,turbo.policy freq.min; do
				run 0 apply --only $first
				run 0 apply --only freq.min,turbo.intel,turbo.boost,turbo.policy,pstate.pct
				[ $meanwhile = no ] || turbo $meanwhile
				run 0 restore --force
				limits_are_as_before "$driver, turbo $before before, $meanwhile meanwhile, $first first"
				turbo $before
			done
		done
	done
	plug $driver
	echo 2800000 >$sys/cpufreq/policy1/scaling_max_freq
	echo 2300000 >$sys/cpufreq/policy1/scaling_min_freq
	contents >"$dir/before"
	run 0 apply --only turbo.intel,turbo.boost,turbo.policy
	run 0 apply --only freq.min
	run 0 restore
	same "$driver: limits that the user has asked for"
	run 0 apply --only turbo.intel,turbo.boost,turbo.policy --for -- true
	same "$driver: turbo switched alone"
	plug $driver
	run 0 apply --only freq.min # of limits that are left alone, those are shown that hold
	echo 2300000 >$sys/cpufreq/policy1/scaling_max_freq
	run 2 restore --json
	holds="$(($(cat $sys/cpufreq/policy1/scaling_min_freq) / 1000)) to 2300 MHz"
	grep -A4 'policy1"' "$dir/out" | grep -q "\"now\": \"$holds\"" || {
		fault "$driver: other limits shown than hold"
		cat "$dir/out"
	}
	run 0 restore --force
done

# A limit that is set again, but that turbo hides which somebody else has switched off, is no error
for driver in intel_pstate intel_cpufreq amd-pstate-all; do
	plug $driver
	echo 4400000 >$sys/cpufreq/policy1/scaling_max_freq
	contents >"$dir/before"
	run 0 apply --only freq.min
	turbo off
	run 2 restore
	grep -q '^freq.min .*differs .*policy1: .*hidden' "$dir/out" || {
		fault "$driver: a hidden limit is not named"
		cat "$dir/out"
	}
	run 0 restore
	turbo on
	[ $driver != intel_pstate ] || echo 90 >$sys/intel_pstate/min_perf_pct # lowered with turbo
	[ $driver != intel_cpufreq ] || echo 20 >$sys/intel_pstate/min_perf_pct
	same "$driver: a limit that turbo hid"
done
# and a limit that turbo hid before cannot be read
plug intel_pstate
turbo off
run 0 apply --only freq.min
grep -q 'Turbo was off: a higher upper limit cannot be read' "$dir/out" || fault "a hidden limit is not spoken of"
run 0 restore
plug intel_pstate
run 0 apply --only freq.min,turbo.intel
! grep -q 'Turbo was off' "$dir/out" || fault "a hidden limit is spoken of where turbo was on"
run 0 restore

# What somebody else sets after an apply was killed stays, or is gone back to.
theirs() {
	echo 2900000 >$sys/cpufreq/policy2/scaling_max_freq
	echo 4 >$sys/cpu1/power/energy_perf_bias
}
for driver in acpi-cpufreq amd-pstate-epp; do
	plug $driver
	theirs
	contents >"$dir/theirs"
	after=0
	while :; do
		plug $driver
		cp "$dir/theirs" "$dir/before"
		after=$((after + 3)) status=0
		"$setup" apply --only freq.min,turbo.boost,turbo.policy,epb --kill-after $after >"$dir/out" 2>&1 || status=$?
		[ $status = 137 ] || break
		theirs
		[ $((after % 2)) = 0 ] || run 0 apply --only freq.min,epb
		"$setup" restore >"$dir/out" 2>&1 || :
		run 0 restore --forget
		same "$driver: killed after $after, then changed by somebody else"
	done
	run 0 restore
done

# So does the very value that apply wanted, where it was killed before it came there. Only at the moment right before it sets
# that file can nobody tell whose the value is.
plug amd-pstate-epp
after=0 n_untold=0
while :; do
	after=$((after + 1)) status=0
	"$setup" apply --only freq.governor,epb --kill-after $after >"$dir/out" 2>&1 || status=$?
	[ $status = 137 ] || break
	for name in cpu1/power/energy_perf_bias cpufreq/policy2/scaling_governor; do
		case $name in *governor) value=performance ;; *) value=0 ;; esac
		[ "$(cat $sys/$name)" != $value ] || continue # set by apply
		echo $value >$sys/$name
		"$setup" restore >"$dir/out" 2>&1 || :
		run 0 restore --forget
		[ "$(cat $sys/$name)" = $value ] || n_untold=$((n_untold + 1))
		plug amd-pstate-epp
		"$setup" apply --only freq.governor,epb --kill-after $after >"$dir/out" 2>&1 || :
	done
	run 0 restore
	same "killed after $after"
done
run 0 restore
[ $after -gt 20 ] || fault "apply was killed at $after moments only"
[ $n_untold -le 2 ] || fault "what somebody else set was taken for ours at $n_untold moments"

# A restore that is killed has switched turbo, with which these drivers lose what somebody else has set: the next one, or an apply,
# sets it again.
for driver in acpi-turbo cppc_cpufreq; do
	plug $driver
	echo 2738000 >$sys/cpufreq/policy1/scaling_max_freq
	contents >"$dir/theirs"
	after=0
	while :; do
		plug $driver
		run 0 apply --only freq.min,turbo.boost
		echo 2738000 >$sys/cpufreq/policy1/scaling_max_freq
		after=$((after + 1)) status=0
		"$setup" restore --kill-after $after >"$dir/out" 2>&1 || status=$?
		[ $status = 137 ] || break
		[ $((after % 2)) = 0 ] || run 0 apply --only freq.min
		"$setup" restore >"$dir/out" 2>&1 || :
		run 0 restore --forget
		cp "$dir/theirs" "$dir/before"
		same "$driver: restore, killed after $after, with a limit of somebody else"
	done
	run 0 restore --forget
	[ $after -gt 5 ] || fault "restore was killed at $after moments only"
done

# So do a limit of somebody else and those of another owner, when only turbo is restored.
for driver in acpi-turbo cppc_cpufreq; do
	plug $driver
	run 0 apply --only freq.min
	echo 2738000 >$sys/cpufreq/policy1/scaling_max_freq
	before=$(grep -H '' $sys/cpufreq/policy*/scaling_m[ai][xn]_freq)
	run 0 apply --only turbo.boost --for -- true
	[ "$(grep -H '' $sys/cpufreq/policy*/scaling_m[ai][xn]_freq)" = "$before" ] || {
		fault "$driver: turbo was restored, and limits of others are gone"
		grep -H '' $sys/cpufreq/policy*/scaling_m[ai][xn]_freq
	}
	"$setup" restore >"$dir/out" 2>&1 || :
	run 0 restore --forget
done

# An apply that was killed before it set limits knows none: those of now count
for driver in cppc_cpufreq amd-pstate-epp; do
	plug $driver
	[ ! -e $sys/cpufreq/boost ] || echo 0 >$sys/cpufreq/boost
	"$setup" apply --only freq.min --kill-after 3 >"$dir/out" 2>&1 || :
	[ ! -e $sys/cpufreq/boost ] || echo 1 >$sys/cpufreq/boost
	contents >"$dir/before"
	run 0 apply --only freq.min
	"$setup" restore >"$dir/out" 2>&1 || :
	run 0 restore --forget
	same "$driver: killed before it set limits, and turbo switched since"
done

# What belongs to a governor goes with it: a command that ends while another one keeps that governor
# away leaves it to the other.
begin() { # ID: apply --for with a command that runs until `end`
	"$setup" apply --only "$1" --for -- sh -c \
		"touch $dir/ready; until [ -e $dir/go ]; do sleep 0.02; done" >"$dir/long" 2>&1 &
	long=$!
	until [ -e "$dir/ready" ]; do
		kill -0 $long || { cat "$dir/long"; exit 1; }
		sleep 0.02
	done
}
end() {
	touch "$dir/go"
	wait $long || {
		fault "$driver: the longer --for ended with $?"
		cat "$dir/long"
	}
	rm "$dir/go" "$dir/ready"
}
for driver in intel_cpufreq acpi-cpufreq; do
	for first in no plain; do
		plug $driver
		[ $first = no ] || run 0 apply --only freq.governor
		begin freq.governor
		echo userspace >$sys/cpufreq/policy3/scaling_governor
		echo 2300000 >$sys/cpufreq/policy3/scaling_setspeed
		echo ondemand >$sys/cpufreq/policy2/scaling_governor
		echo 95 >$sys/cpufreq/ondemand/up_threshold
		contents >"$dir/before"
		run 0 apply --only freq.governor --for -- true
		[ "$(cat $sys/cpufreq/policy3/scaling_governor)" = performance ] ||
			fault "$driver: the longer --for has lost its governor"
		end
		[ $first = no ] || run 0 restore
		for file in policy2/scaling_governor policy3/scaling_governor \
			policy3/scaling_setspeed ondemand/up_threshold; do
			[ "$(cat $sys/cpufreq/$file)" = "$(sed -n "s,^./cpufreq/$file:,,p" "$dir/before")" ] || {
				fault "$driver, $first apply first: $file is $(cat $sys/cpufreq/$file)"
				cat "$dir/long" "$dir/out"
			}
		done
	done
done

# What a --for has found of a governor that an earlier apply was killed before is not gone back to
# once that --for was killed as well, or the setting is applied again: the governor is not, either.
for second in '--for -- true' ''; do
	plug acpi-cpufreq
	echo userspace >$sys/cpufreq/policy0/scaling_governor
	echo 2300000 >$sys/cpufreq/policy0/scaling_setspeed
	contents >"$dir/before"
	"$setup" apply --only freq.governor --kill-after 2 >"$dir/out" 2>&1 || :
	[ "$(cat $sys/cpufreq/policy0/scaling_governor)" = userspace ] || fault "apply was killed too late"
	begin freq.governor
	if [ -n "$second" ]; then
		kill -KILL $long
		wait $long || :
		touch "$dir/go"
	fi
	run 0 apply --only freq.governor $second
	[ -n "$second" ] || end
	rm -f "$dir/go" "$dir/ready"
	run 0 restore
	same "a killed apply, --for, and apply $second"
done

# Random sequences
seed=${EMP_SEED:-$(date +%s)}
echo "EMP_SEED=$seed"
n=0
while [ $n -lt "$2" ]; do
	for driver in $drivers; do
		[ $n -lt "$2" ] || break
		plug $driver
		python3 "$(dirname "$0")/setup_random.py" "$setup" "$dir/files" $((seed + n)) $driver >"$dir/out" 2>&1 || {
			fault "sequence $((seed + n)) on $driver"
			cat "$dir/out"
			umount -l /var/lib
			mount -t tmpfs tmpfs /var/lib
		}
		n=$((n + 1))
	done
done
echo "$n random sequences"
[ $faults = 0 ] && echo "everything was restored" || echo "$faults faults"
exit $((faults > 0))
