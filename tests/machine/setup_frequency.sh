#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup on made-up CPUs of three drivers, with libcpupower itself: what it sets, in which order, what it says when the kernel
# refuses, clamps or has no such file, and that everything is restored, also after a SIGKILL at each crash point. Usage: setup_frequency.sh BUILD
set -eu
if [ "${2:-}" != inside ]; then
	[ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && command -v fusermount3 >/dev/null && [ ! -e /var/lib/emp-setup ] || {
		echo "not run: needs root, FUSE, and a machine on which emp-setup has nothing applied"
		[ -z "${EMP_MUST_RUN:-}" ] || exit 1
		exit 77
	}
	exec unshare --mount --propagation private sh "$0" "$1" inside
fi
. "$(dirname "$0")/fake_cpu.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
. "$(dirname "$0")/fake_cpu_plug.sh"
ids=freq.governor,freq.min,turbo.intel,turbo.boost,turbo.policy,pstate.pct,epp,epb,pstate.boost

# outcome ID WORDS: the last apply or restore reported it so
outcome() {
	grep -q "^$1 .* $2" "$dir/out" || { fault "$1 is not '$2'"; cat "$dir/out"; }
}

holds() { # FILE VALUE
	[ "$(cat "$dir/files/$1")" = "$2" ] || fault "$1 holds $(cat "$dir/files/$1"), not $2"
}

# 1. Each driver: applied, fit, restored
for driver in intel_pstate acpi-cpufreq amd-pstate-epp amd-pstate cpufreq-dt; do
	plug $driver
	run 0 apply --only $ids
	for policy in 0 1 2 3; do
		holds cpufreq/policy$policy/scaling_governor performance
		[ "$(cat "$dir/files/cpufreq/policy$policy/scaling_min_freq")" = "$base" ] || fault "$driver: the lower limit is not $base"
		[ "$(cat "$dir/files/cpufreq/policy$policy/scaling_max_freq")" = "$base" ] || fault "$driver: the upper limit is not $base"
	done
	"$setup" audit --verbose >"$dir/out" || :
	for id in freq.governor freq.min speedstep; do
		grep -q "^$id  *ok " "$dir/out" || { fault "$driver: $id is not ok after apply"; cat "$dir/out"; }
	done
	"$setup" audit --all -v >"$dir/out" || :
	[ $driver != cpufreq-dt ] || grep -q '^turbo.policy is n/a' "$dir/out" || { fault "turbo.policy of cpufreq-dt"; cat "$dir/out"; }
	run 0 restore
	same "$driver"
done
plug amd-pstate-epp
run 0 apply --only $ids
run 0 restore
outcome turbo.policy restored

# While a command runs, idle CPUs halt in C1 if two threads share a core, and poll if SMT is off
requested() {
	run 0 apply --only pstate.boost --for -- od -An -td4 /dev/cpu_dma_latency
	grep -q "^ *$1\$" "$dir/out" || { fault "the latency asked for is not $1 us"; cat "$dir/out"; }
}
plug intel_pstate
: >"$dir/latency"
mount --bind "$dir/latency" /dev/cpu_dma_latency
requested 2
echo 0 >"$dir/files/smt/active"
requested 0
umount /dev/cpu_dma_latency

# 2. What the kernel refuses is reported in words, and the rest is done
plug intel_pstate
printf 'intel_pstate/no_turbo 1\ncpufreq/policy1/scaling_governor 5\ncpu2/power/energy_perf_bias 16\n' >"$dir/files/.faults"
run 2 apply --only $ids
outcome turbo.intel 'refused .*Operation not permitted'
outcome freq.governor 'refused .*Input/output error'
outcome epb 'refused .*Device or resource busy'
holds cpufreq/policy0/scaling_governor performance
run 0 status
grep -q '^turbo.intel  *refused ' "$dir/out" || { fault "status does not show what was refused"; cat "$dir/out"; }
grep -q '^freq.governor  *as set ' "$dir/out" || { fault "status does not show what was set"; cat "$dir/out"; }
: >"$dir/files/.faults"
status=0 # an ordinary user may plan while something is applied
setpriv --reuid=65534 --regid=65534 --clear-groups "$setup" apply --dry-run --only $ids >"$dir/out" 2>&1 || status=$?
[ $status = 0 ] && grep -q 'only root can read' "$dir/out" && grep -q ' already set. Nothing was changed' "$dir/out" || {
	fault "a dry run by an ordinary user ended with $status"
	cat "$dir/out"
}
run 0 restore
same "apply with faults"

# 3. A restore that fails keeps what it could not restore, and a second one does it
run 0 apply --only $ids
printf 'cpufreq/policy3/scaling_governor 5 2\n' >"$dir/files/.faults"
run 1 restore
outcome freq.governor 'failed .*Input/output error'
"$setup" status | grep -q policy3/scaling_governor || fault "status does not list what is left"
run 0 restore
same "a restore that failed once"

# A restore that was killed between the two files of a policy's limits
plug intel_pstate
lowest=$(cat "$dir/files/cpufreq/policy0/scaling_min_freq")
run 0 apply --only freq.min
echo "$lowest" >"$dir/files/cpufreq/policy0/scaling_min_freq"
run 0 restore
same "limits that are restored by half"

# 4. Clamped: firmware that allows no more than 3.0 GHz
plug intel_pstate
for policy in 0 1 2 3; do echo 3000000 >"$dir/files/cpufreq/policy$policy/cpuinfo_max_freq"; done
contents >"$dir/before"
run 2 apply --only freq.min
outcome freq.min 'differs .*3000 to 3000 MHz'
run 2 restore # 4700 MHz, the old value, is requested again, and the firmware hides it
outcome freq.min 'differs .*4700 .*3000 .*hidden'
[ "$("$setup" status)" = "Nothing is applied." ] || fault "a limit that is set again stays applied"
plug intel_pstate
run 0 apply --only freq.governor
printf 'cpufreq/policy3/scaling_governor 5\n' >"$dir/files/.faults"
run 1 restore
outcome freq.governor 'failed .*powersave .*performance'
grep -q 'forget drops it' "$dir/out" || fault "a failure without a way out"
run 0 restore --forget
outcome freq.governor 'forgotten .*powersave .*performance'
grep -q '[1-9] forgotten\.$' "$dir/out" || fault "it does not count what it forgets"
[ "$("$setup" status)" = "Nothing is applied." ] || fault "--forget keeps something"

# 5. Files that vanish: a CPU that is taken away while the settings hold
plug acpi-cpufreq
run 0 apply --only $ids
mv "$dir/files/cpufreq/policy3" "$dir/policy3"
run 0 restore --details
outcome freq.governor 'n/a .*no longer exists'
mv "$dir/policy3" "$dir/files/cpufreq/policy3"

# 6. What somebody else has changed is left alone
plug acpi-cpufreq
run 0 apply --only $ids
echo ondemand >$sys/cpufreq/policy2/scaling_governor
run 2 restore
outcome freq.governor 'left alone .*somebody else'
holds cpufreq/policy2/scaling_governor ondemand
run 0 restore --force
same "restore --force"

# 7. SMT is restored before the frequencies of its CPUs
plug intel_pstate
run 0 apply --only smt,freq.governor
run 0 restore
first=$(grep -n 'smt/control on' "$dir/files/.writes" | cut -d: -f1)
second=$(grep -n 'scaling_governor powersave' "$dir/files/.writes" | head -1 | cut -d: -f1)
[ "$first" -lt "$second" ] || fault "SMT was restored after the governors"
same "SMT"

# With a command, standard output is the command's, and the settings end with it
"$setup" apply --only $ids --json --for -- cat $sys/cpufreq/policy0/scaling_governor >"$dir/out" 2>"$dir/errors" ||
	fault "--for: $(cat "$dir/errors")"
[ "$(cat "$dir/out")" = performance ] || fault "--for --json prints something else: $(cat "$dir/out")"
grep -q '"format": "emp-changes"' "$dir/errors" || fault "--for --json prints no document"
same "apply --for"

# What a governor forgets when another takes its place: its settings, and the speed chosen by hand
plug acpi-cpufreq
echo 500 >$sys/cpufreq/schedutil/rate_limit_us
for policy in 1 2; do
	echo ondemand >$sys/cpufreq/policy$policy/scaling_governor
done
echo 95 >$sys/cpufreq/ondemand/up_threshold
echo userspace >$sys/cpufreq/policy3/scaling_governor
echo 2200000 >$sys/cpufreq/policy3/scaling_setspeed
contents >"$dir/before"
run 0 apply --only $ids
[ ! -e $sys/cpufreq/ondemand ] || fault "ondemand keeps its settings: this proves nothing"
"$setup" status | grep -q setspeed && fault "status lists what is only kept"
run 0 restore
outcome freq.governor 'restored .*<unsupported> .*2200000 .*policy3/scaling_setspeed'
same "a governor with settings of its own"
run 0 apply --only $ids
echo powersave >$sys/cpufreq/policy3/scaling_governor
run 2 restore
outcome freq.governor 'left alone .*policy3/scaling_setspeed'
run 0 restore --force
same "restore --force of a governor with settings of its own"

# What restore does not restore is compared with the state before
run 0 apply --only turbo.boost
echo 2800000 >$sys/cpufreq/policy2/scaling_max_freq
run 2 restore
outcome frequency 'differs  *3700000  *2800000 .*policy2/scaling_max_freq'
grep -q '^Not as before the first apply: 1 ' "$dir/out" || fault "the difference is not counted"
run 0 restore

# A CPU that is offline is left out, does not make this another machine, and stays offline
plug acpi-cpufreq
identity() { "$setup" fingerprint --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["identity"])'; }
identity >"$dir/identity"
echo 0 >$sys/cpu3/online
contents >"$dir/before"
run 0 apply --only $ids
"$setup" audit -v >"$dir/out" || :
for id in freq.governor freq.min speedstep; do
	grep -q "^$id  *ok " "$dir/out" || { fault "$id is not ok with a CPU offline"; cat "$dir/out"; }
done
identity | cmp -s - "$dir/identity" || fault "with a CPU offline, it is another machine"
run 0 apply --only smt,freq.governor
holds cpu2/online 0
"$setup" audit -v >"$dir/out" || :
for id in freq.governor freq.min speedstep; do
	grep -q "^$id  *ok " "$dir/out" || { fault "$id is not ok without SMT"; cat "$dir/out"; }
done
identity | cmp -s - "$dir/identity" || fault "without SMT, it is another machine"
run 0 restore
same "CPUs that are offline"
run 0 apply --only smt,freq.governor
echo 1 >$sys/cpu1/online
run 0 restore
same "SMT and governors at once"
run 0 apply --only freq.governor
echo 0 >$sys/cpu1/online
run 2 restore
outcome freq.governor 'left alone .*policy1/.*its CPUs are offline'
echo 1 >$sys/cpu1/online
run 0 restore
same "a CPU that was offline at the first restore"

# 8. Killed at every crash point of apply, and of restore; on the last driver a policy has turbo off, which that of all policies rewrites
plug amd-pstate
echo 0 >$sys/cpufreq/policy1/boost
echo 0 >$sys/cpu3/online
echo ondemand >$sys/cpufreq/policy0/scaling_governor
echo 95 >$sys/cpufreq/ondemand/up_threshold
ids=$ids,smt
contents >"$dir/before"
run 0 apply --only turbo.boost
holds cpufreq/policy0/boost 0
run 0 restore
same "the turbo switch of all policies"
for verb in apply restore; do
	n=0
	while n=$((n + 1)); do
		[ $verb = apply ] || "$setup" apply --only $ids >/dev/null || fault "apply failed"
		status=0
		if [ $verb = apply ]; then
			"$setup" apply --only $ids --kill-after $n >/dev/null 2>&1 || status=$?
		else
			"$setup" restore --kill-after $n >/dev/null 2>&1 || status=$?
		fi
		[ $status = 137 ] || break
		run 0 restore
		same "$verb killed at crash point $n, and restore"
	done
	"$setup" restore >/dev/null
	echo "killed at each of $((n - 1)) crash points of $verb"
done

# 9. A full disk: nothing is changed if it cannot be recorded
mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /var/lib
run 1 apply --only $ids
grep -q 'emp-setup: nothing was changed: cannot .* No space left' "$dir/out" || fault "a full disk is not reported"
same "apply on a full disk"
umount /var/lib

# The disk runs full while settings are made: what was made is undone. Checks are left out until the marks of the journal need a
# page more than its entries.
plug intel_pstate
journal=/var/lib/emp-setup/journal
pages() { # of the journal and the state before
	stat -c %s /var/lib/emp-setup/* | awk '{ pages += int(($1 + 4095) / 4096) } END { print pages }'
}
some=$ids less=$ids
while run 0 apply --only "$less" && all=$(pages) && run 0 restore; do
	"$setup" apply --only "$less" --kill-after 2 >/dev/null 2>&1 || :
	size=$(($(pages) * 4096))
	run 0 restore
	some=$less less=${less%,*}
	[ "$all" = $((size / 4096)) ] && [ "$less" != "$some" ] || break
done
: >"$dir/files/.writes"
mount -t tmpfs -o size=$size tmpfs /var/lib
run 1 apply --only "$some"
grep -q 'emp-setup: stopped half-way, and undone: cannot write to .* No space left' "$dir/out" ||
	{ fault "a disk that runs full is not reported"; cat "$dir/out"; }
grep -q 'scaling_governor performance' "$dir/files/.writes" || fault "the disk was full before the first change"
same "apply on a disk that runs full"
[ ! -e $journal ] || fault "apply on a disk that runs full leaves its journal"
run 1 apply --only "$some" --for -- touch "$dir/ran"
[ ! -e "$dir/ran" ] || fault "--for runs its command though it could not record what it changes"
umount /var/lib

# A journal that is damaged: all that can be read is restored, and the status is never 0 with something left. Some bytes of it
# here, every byte in tests/unit.
damage() { # HOW OFFSET
	[ "$1" != end ] || truncate -s "$2" $journal
	case $1 in
	flip) printf "\\$(printf %o $(($(od -An -tu1 -j "$2" -N 1 $journal) ^ 1)))" ;;
	NULs) head -c 300 /dev/zero ;;
	end) printf '' ;;
	esac | dd of=$journal bs=1 seek="$2" conv=notrunc status=none
}
tried=0 incomplete=0
for how in flip NULs end; do
	for part in $(seq ${#how} 9 99); do
		run 0 apply --only $ids
		cp $journal "$dir/whole"
		damage $how $(($(stat -c %s $journal) * part / 100))
		status=0
		"$setup" restore >"$dir/out" 2>&1 || status=$?
		tried=$((tried + 1))
		if [ $status = 0 ]; then
			same "a journal with $how at $part %, which restore calls done,"
			[ ! -e $journal ] || fault "$how at $part %: 0, and the journal stays"
			continue
		fi
		if [ $status = 2 ]; then # as of an apply that was killed: what it had not reached may be anybody's
			[ $how = end ] || fault "a journal with $how at $part %: not all is restored"
			run 0 restore --force
			same "a journal with $how at $part %, and --force,"
			continue
		fi
		incomplete=$((incomplete + 1))
		[ $status = 1 ] && outcome journal "failed .*'journalctl -t emp-setup'"
		run 1 restore --force
		run 1 apply --only $ids
		run 1 status
		run 0 restore --forget
		run 0 restore
		grep -q 'Nothing is applied' "$dir/out" || fault "$how at $part %: --forget keeps something"
		mkdir /var/lib/emp-setup
		cp "$dir/whole" $journal
		run 0 restore
		same "a journal with $how at $part %, put back,"
	done
done
echo "$tried damaged journals, $incomplete of them with something lost"
[ $incomplete -gt 10 ] && [ $incomplete -lt $tried ] || fault "too few or too many were lost"

# 10. Nothing is set in the middle of a calibration
export EMP_LOCK=$dir/lock
flock "$EMP_LOCK" sleep 1000 &
holder=$!
until grep -q "FLOCK *ADVISORY *WRITE $holder " /proc/locks; do sleep 0.1; done
who="flock (process $holder, since .*)" # in an overlay of several file systems, the kernel knows the lock by other numbers
grep -q "$(printf ' %02x:%02x:%d ' $(stat -c '%Hd %Ld %i' "$EMP_LOCK"))" /proc/locks || who='another process'
run 1 apply --only $ids
grep -q "$who.* has locked this machine" "$dir/out" || fault "the holder is not named"
same "apply beside a calibration"
pkill -P $holder sleep

[ $faults = 0 ] && echo "everything was restored" || echo "$faults faults"
exit $((faults > 0))
