#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup as a user types it: on this machine, whatever it is, and on a made-up one.
. "$(dirname "$0")/expect.sh"
export COLUMNS=300 # rows in one line: what they say is looked for, not where they are folded
setup=${1:?usage: setup.sh BUILD}/setup/emp-setup

# A desktop with intel_pstate, Debian 12 and a kernel that waits for its reboot.
m=$dir/machine
cpu=$m/sys/devices/system/cpu
mkdir -p "$m/proc/sys/kernel" "$m/proc/77" "$m/etc" "$m/boot" "$cpu/intel_pstate" "$cpu/cpufreq/policy0"
printf 'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Test CPU\nflags\t\t: fpu est constant_tsc ida\n' >"$m/proc/cpuinfo"
printf 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n' >"$m/etc/os-release"
echo 6.1.0-50-amd64 >"$m/proc/sys/kernel/osrelease"
echo 1 >"$m/proc/sys/kernel/task_delayacct"
echo '77 (cron) S 1 77 77 0 -1 4194560 100' >"$m/proc/77/stat"
: >"$m/boot/vmlinuz-6.1.0-50-amd64"
: >"$m/boot/vmlinuz-6.1.0-56-amd64"
echo 0 >"$cpu/intel_pstate/no_turbo"
for f in scaling_governor=powersave scaling_driver=intel_pstate scaling_min_freq=800000 scaling_max_freq=4700000 \
	base_frequency=3600000 cpuinfo_max_freq=4700000; do
	echo "${f#*=}" >"$cpu/cpufreq/policy0/${f%=*}"
done

expect 2 'This is a physical machine with Debian GNU/Linux 12' "$setup" audit --root "$m"
expect 2 'svc.units .*off .*cron.service' "$setup" audit --root "$m"
expect 2 'turbo.intel .*off .*no_turbo = 0' "$setup" audit --root "$m"
expect 2 'kernel.pending .*off .*6.1.0-56-amd64 installed' "$setup" audit --root "$m"
expect 2 'Not fit.* for timing: .* required settings are off' "$setup" audit --root "$m"
summary() { # LINES COMMAND...: no more lines than these, none wider than 80 columns
	COLUMNS=80 "${@:2}" >"$dir/out"
	[ "$(LC_ALL=C.UTF-8 wc -L <"$dir/out")" -le 80 ] && [ "$(wc -l <"$dir/out")" -le "$1" ] || { cat "$dir/out"; return 1; }
}
# Load, priority and tracing have rows where others work on the machine, or where this test does not have the usual priority.
that "the audit of this machine fits a screen" summary 16 "$setup" audit
that "an audit with 8 required settings off has each with its way out" summary 22 "$setup" audit --root "$m"
for columns in 60 80 120; do
	that "no reason is cut in $columns columns, and the remedy is beside it" python3 -c '
import json, re, subprocess, sys
run = lambda *words: subprocess.run([*sys.argv[1:], *words], stdout=subprocess.PIPE, text=True).stdout
off = [c for c in json.loads(run("--json"))["checks"] if c["state"] == "off" and c["level"] == "A"]
rows = run().split("CHECK", 1)[1].split("Also open")[0]
squeezed = re.sub(r"\s+", "", rows)
for c in off:
    fix = "" if c["how"].startswith("emp-setup apply") else "; fix: " + c["how"]
    assert re.sub(r"\s+", "", c["value"] + fix) in squeezed, (c, rows)' env COLUMNS=$columns PYTHONUTF8=1 "$setup" audit --root "$m"
done
that "what counts for the verdict is said without colour" python3 - "$setup" "$m" <<'P'
import json, re, subprocess, sys
def audit(*words):
    return subprocess.run([sys.argv[1], "audit", *words], stdout=subprocess.PIPE, text=True).stdout
for root in [], ["--root", sys.argv[2]]:
    document = json.loads(audit("--json", *root))
    wanted = sorted(c["id"] for c in document["checks"] if c["state"] == "off" and c["level"] == "A")
    for verbose in [], ["-v"]:
        screen = audit(*root, *verbose)
        assert sorted(re.findall(r"(?m)^(\S+) +off +required ", screen)) == wanted, screen
        assert f": {len(wanted)} required setting" in screen, screen
P
expect 2 'advice  EMP' "$setup" audit --root "$m" --verbose
expect 2 'advice  EMP' "$setup" audit --root "$m" --details # its old name

"$setup" audit --root "$m" --json >"$dir/audit.json"
that "the document names all checks" json "$dir/audit.json" \
	'{c["id"] for c in d["checks"]} >= {"svc.units", "ntp.on", "freq.governor", "turbo.intel", "speedstep", "kernel.version"}'
that "verdict and units are printed" json "$dir/audit.json" \
	'd["verdict"] == "not fit" and d["checks"][0]["items"] == ["cron.service"]'

# What is put right makes it fit; a clock cannot be asked on a captured machine, and makes the only fault.
rm -r "$m/proc/77"
echo performance >"$cpu/cpufreq/policy0/scaling_governor"
echo 3600000 >"$cpu/cpufreq/policy0/scaling_min_freq"
echo 3600000 >"$cpu/cpufreq/policy0/scaling_max_freq"
echo 1 >"$cpu/intel_pstate/no_turbo"
rm "$m/boot/vmlinuz-6.1.0-56-amd64"
"$setup" audit --root "$m" --json >"$dir/audit.json"
that "only the clock is off now" json "$dir/audit.json" '[c["id"] for c in d["checks"] if c["state"] == "off"] == ["ntp.on"]'
that "a fixed clock is called equivalent" json "$dir/audit.json" \
	'[c["value"] for c in d["checks"] if c["id"] == "speedstep"] == ["equivalent: the clock is fixed at 3600 MHz"]'

# The screen: 80 columns, colours only on a terminal, one paragraph for all that the host of a virtual machine decides.
narrow() { # COMMAND...: no line of its output is wider than 80 columns
	test "$(COLUMNS=80 "$@" | LC_ALL=C.UTF-8 wc -L)" -le 80
}
for verb in 'audit --all' 'audit --verbose --all' 'apply --dry-run' 'apply --dry-run --verbose' status fingerprint; do
	that "$verb fits 80 columns" narrow "$setup" $verb
done
that "a captured machine fits 80 columns" narrow "$setup" audit --root "$m" --all --verbose
echo 0 >"$cpu/intel_pstate/no_turbo"
expect 2 'turbo.intel *off *required *no_turbo = 0: turbo is on' "$setup" audit --root "$m"
expect 2 '  fix     emp-setup apply --only turbo.intel' "$setup" audit --root "$m" -v
that "no colour without a terminal" sh -c "env -u NO_COLOR '$setup' audit --root '$m' | grep -v \"\$(printf '\\033')\""
on_terminal() {
	env -u NO_COLOR TERM=xterm script -qec "stty cols 80; '$setup' audit -v --root '$m'" /dev/null
}
red=$(printf '\033\\[31moff') green=$(printf '\033\\[32mok')
expect 2 "$red" on_terminal
expect 2 "$green" on_terminal
v=$dir/virtual
cp -r "$m" "$v"
rm -r "$v/sys/devices/system/cpu/cpufreq" "$v/sys/devices/system/cpu/intel_pstate"
sed -i 's/flags.*/& hypervisor/' "$v/proc/cpuinfo"
expect 2 '[0-9] decided by the host' "$setup" audit --root "$v"
expect 2 '^freq.governor *n/a *required *the host decides' "$setup" audit --root "$v" -v
that "the host's settings are not in the table" sh -c "! '$setup' audit --root '$v' | grep -q '^freq.governor '"
"$setup" audit --root "$v" --json >"$dir/virtual.json"
that "the document still calls them absent" json "$dir/virtual.json" \
	'[(c["state"], c["by_host"]) for c in d["checks"] if c["id"] == "freq.governor"] == [("absent", True)]'
that "every document says what it is" json "$dir/virtual.json" 'd["format"] == "emp-audit" and d["version"] == 1'

# Policies
expect 1 "there is no policy 'plan9'" "$setup" audit --policy plan9
printf '[stop]\ncron = x\n' >"$dir/bad.ini"
expect 1 "'cron' in \[stop\] is not a unit" "$setup" audit --policy "$dir/bad.ini"
expect 2 'Policy: paper-rhel6' "$setup" audit -v --root "$m" --policy paper-rhel6
expect 1 'cannot open /nonexistent' "$setup" audit --root /nonexistent
echo 0 >"$cpu/online"
expect 1 'CPU 9 does not exist: choose one of 0' "$setup" audit --root "$m" --cpu 9
printf 'perf\351\n' >"$cpu/cpufreq/policy0/scaling_governor"
"$setup" audit --root "$m" --json >"$dir/audit.json"
that "a value that is not UTF-8 is in the document" json "$dir/audit.json" \
	'[c["value"] for c in d["checks"] if c["id"] == "freq.governor"] == ["perf\\xe9 on 1 of 1 policies"]'
echo performance >"$cpu/cpufreq/policy0/scaling_governor"
expect 1 'one argument too many' "$setup" audit now

# The fingerprint: the same twice, another after a setting changed, the same document for root and others.
digest() {
	"$setup" fingerprint --json "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["digest"])'
}
one=$(digest)
that "the digest is 64 digits" test ${#one} = 64
that "the digest stays" test "$one" = "$(digest)"
captured=$(digest --root "$m")
echo powersave >"$cpu/cpufreq/policy0/scaling_governor"
that "a governor changes the digest" test "$captured" != "$(digest --root "$m")"
made() { # FILE VALUE: of the captured machine
	mkdir -p "$(dirname "$m/$1")"
	echo "$2" >"$m/$1"
}
made sys/devices/system/cpu/cpu1/power/energy_perf_bias 6
made sys/devices/system/cpu/cpu1/cpuidle/state2/name C6
made sys/devices/system/cpu/cpu1/cpuidle/state2/disable 0
made sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw 65000000
made sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz 2400000
made sys/devices/virtual/workqueue/cpumask f
made sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled 'always [never]'
made sys/devices/cpu_core/cpus 0
made sys/devices/cpu_atom/cpus 1
made proc/cmdline 'ro rcu_nocbs=1'
"$setup" fingerprint --root "$m" --json >"$dir/hybrid.json"
that "types of cores stand in the fingerprint" json "$dir/hybrid.json" \
	'd["settings"]["cpus"]["types"] == {"P-core": "0", "E-core": "1"} and d["settings"]["cpus"]["rcu_nocbs"] == "1"'
captured=$(digest --root "$m")
# each of them in turn: FILE VALUE WHAT-DIFFERS
while read -r file value what; do
	cp "$m/$file" "$dir/held"
	echo "$value" >"$m/$file"
	"$setup" fingerprint --root "$m" --json >"$dir/changed.json"
	expect 2 "$what.* to " "$setup" fingerprint --diff "$dir/hybrid.json" "$dir/changed.json"
	cp "$dir/held" "$m/$file"
done <<E
sys/devices/system/cpu/cpu1/power/energy_perf_bias 0 power.energy_perf_bias.*
sys/devices/system/cpu/cpu1/cpuidle/state2/disable 1 idle.disabled
sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw 45000000 power.limits.intel-rapl:0
sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz 1200000 power.uncore
sys/devices/virtual/workqueue/cpumask 1 kernel.workqueue_cpumask
sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled [always] memory.mthp
sys/devices/cpu_core/cpus 0,2 cpus.types
E
that "all is as before" test "$captured" = "$(digest --root "$m")"
printf 'bogomips\t: 7200.1\ncpu MHz\t: 3600.2\n' >>"$m/proc/cpuinfo"
that "what is measured at each boot is not in the digest" test "$captured" = "$(digest --root "$m")"
echo 'MemTotal: 99999999999999999999 kB' >"$m/proc/meminfo"
expect 0 'memory_gib *8589934592' "$setup" fingerprint --root "$m"
expect 0 '^Identity$' "$setup" fingerprint
"$setup" fingerprint --json >"$dir/print.json"
that "the document is as agreed" json "$dir/print.json" \
	'd["format"] == "emp-fingerprint" and d["version"] == 1 and d["machine"] and {"identity", "settings", "volatile"} <= set(d)'
python3 - "$dir/print.json" >"$dir/digest" <<'P'
import hashlib, json, sys
d = json.load(open(sys.argv[1]))
both = {"identity": d["identity"], "settings": d["settings"]}
print(hashlib.sha256(json.dumps(both, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest())
P
that "others compute the same digest from the document" grep -q "$("$setup" fingerprint --json | sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' | head -1)" "$dir/digest"
if [ "$(id -u)" = 0 ]; then
	that "an ordinary user gets the same digest" test "$one" = \
		"$(setpriv --reuid=65534 --regid=65534 --clear-groups "$setup" fingerprint --json |
			sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' | head -1)"
fi

# Two fingerprints
cp "$dir/print.json" "$dir/other.json"
sed -i 's/"aslr": "[0-9]*"/"aslr": "7"/' "$dir/other.json"
expect 0 'the same' "$setup" fingerprint --diff "$dir/print.json" "$dir/print.json"
expect 2 "kernel.aslr .*'7'.*to the short run" "$setup" fingerprint --diff "$dir/other.json" "$dir/print.json"
expect 2 'kernel.aslr' "$setup" fingerprint --diff "$dir/other.json"
python3 - "$dir/print.json" "$dir/other.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
for name, units in (sys.argv[1], ["cron.service", "dev-a\\x2db.swap"]), (sys.argv[2], ["cron.service", "added.service"]):
    d["settings"]["units"] = units
    json.dump(d, open(name, "w"))
P
expect 2 'units.added.service  *absent  *present  *to the short run' "$setup" fingerprint --diff "$dir/print.json" "$dir/other.json"
expect 2 'units.dev-a\\x2db.swap  *present  *gone' "$setup" fingerprint --diff "$dir/print.json" "$dir/other.json"
that "what both have is not named" sh -c "! '$setup' fingerprint --diff '$dir/print.json' '$dir/other.json' | grep cron"
expect 1 '/dev/null' "$setup" fingerprint --diff /dev/null
expect 1 'is not a fingerprint' "$setup" fingerprint --diff "$dir/audit.json"
expect 1 '--diff needs a file' "$setup" fingerprint --diff
expect 1 'files need --diff' "$setup" fingerprint "$dir/print.json"
expect 0 'Stored as environment 1 in' "$setup" fingerprint --save --db "$dir/book.db"
expect 1 "there is no profile 'lab1'" "$setup" verify lab1 --db "$dir/book.db"
expect 1 'there is no lab book' "$setup" verify lab1 --db "$dir/nothing.db"

# Changing: only what changes nothing here (tests/machine has the rest)
expect 0 'will change\|already set' "$setup" apply --dry-run --details
expect 1 "there is no check 'frq'" "$setup" apply --dry-run --only frq
expect 1 "there is no check ''" "$setup" apply --dry-run --only ''
expect 1 "'' is not the name of a unit" "$setup" apply --dry-run --stop ''
expect 1 'kernel.version cannot be applied' "$setup" apply --dry-run --only kernel.version
[ -n "$(cat /sys/devices/system/cpu/isolated)" ] ||
	expect 1 'irq.each: no CPU is set apart for timing; --cpu names one' "$setup" apply --dry-run --only irq.each
expect 1 '--for needs a command' "$setup" apply --for
expect 1 'a command needs --for' "$setup" apply ls
expect 1 'exclude each other' "$setup" apply --persistent --for -- true
expect 0 'prepare this machine for timing' "$setup" tune --help
expect 0 'undo everything that apply has changed' "$setup" reset --help
if [ "$(id -u)" = 0 ]; then
	expect 1 'changing settings needs root' setpriv --reuid=65534 --regid=65534 --clear-groups "$setup" apply
	expect 1 'changing settings needs root' setpriv --reuid=65534 --regid=65534 --clear-groups "$setup" restore
fi

# The table of checks in emp-setup(1) has each of them, also those that this machine has not.
source=$(dirname "$0")/../..
that "the manual page has each check" python3 - "$source/setup/audit" "$source/man/emp-setup.1.scd" <<'P'
import re, sys
rows = open(sys.argv[1] + "/checks.c").read()
rows = rows[rows.index("check_rows[]"):]
macros = dict(re.findall(r'#define (CHECK_ID_\w+) "(.+)"', open(sys.argv[1] + "/checks.h").read()))
ids = [macros.get(name) or name.strip('"') for name in re.findall(r"^\t\{(\"[\w.]+\"|CHECK_ID_\w+), '[ABC]'", rows, re.M)]
named = re.findall(r"[\w.]+", " ".join(re.findall(r"^\|  (.*)", open(sys.argv[2]).read(), re.M)))
missing = [i for i in ids if i not in named]
assert len(ids) > 60 and not missing, f"{len(ids)} checks; man/emp-setup.1.scd does not have {missing}"
P

# With nothing applied, status and restore say so, in JSON too
if [ ! -e /var/lib/emp-setup ]; then
	"$setup" status --json >"$dir/status.json"
	that "status prints a document" json "$dir/status.json" 'd["format"] == "emp-applied" and d["version"] == 1 and d["entries"] == []'
	if [ "$(id -u)" = 0 ]; then
		"$setup" restore --json >"$dir/restore.json"
		that "restore prints a document" json "$dir/restore.json" 'd["format"] == "emp-changes" and d["changes"] == []'
		expect 0 'Nothing is applied' "$setup" restore --at-boot
	fi
else
	echo "not run: what emp-setup says with nothing applied; something is applied here"
	[ -z "${EMP_MUST_RUN:-}" ] || faults=$((faults + 1))
fi
finish
