#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup apply --for restores whatever happens: signals typed and sent, a closed output, a host that somebody else uses at the end,
# a command that does not exist. On one made-up setting of the kernel, in a mount namespace. Usage: setup_for.sh BUILD
set -u
if [ "${2:-}" != inside ]; then
	[ "$(id -u)" = 0 ] && [ ! -e /var/lib/emp-setup ] || {
		echo "not run: needs root, and a machine on which emp-setup has nothing applied"
		[ -z "${EMP_MUST_RUN:-}" ] || exit 1
		exit 77
	}
	exec unshare --mount --propagation private bash "$0" "$1" inside
fi
. "$(dirname "$0")/../cli/expect.sh"
setup=$(realpath "$1")/setup/emp-setup
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /sys/kernel/mm
mkdir /sys/kernel/mm/ksm
ksm=/sys/kernel/mm/ksm/run
echo 1 >$ksm
export dir setup ksm

apply_for() { # COMMAND...
	"$setup" apply --only ksm --for -- "$@"
}

restored() { # WORDS
	that "$1: restored" test "$(cat $ksm)" = 1
	that "$1: the journal is gone" test ! -e /var/lib/emp-setup
}

expect 7 "ksm  *restored " apply_for sh -c "echo holds \$(cat $ksm); exit 7"
that "the command runs while it is applied" test "$(grep -c "^holds 0" "$dir/out")" = 1
restored "a command that fails"

# What cannot be executed
: >"$dir/file"
expect 127 "command 'emp-no-such-command' not found in PATH" apply_for emp-no-such-command
expect 127 "cannot execute '/emp/none': No such file" apply_for /emp/none
expect 126 "cannot execute '$dir/file': Permission denied" apply_for "$dir/file"
that "nothing was changed for it" test "$(grep -c restored "$dir/out")" = 0
printf 'neither a program nor a script' >"$dir/file"
chmod +x "$dir/file"
expect 126 "Exec format error" apply_for "$dir/file"
restored "a command that cannot be executed"

# Signals that somebody sends to emp-setup (a shell starts background processes with INT and QUIT ignored): INT, TERM and HUP reach the command, the others have no effect
cat >"$dir/waits" <<'S'
#!/bin/sh
trap 'echo INT >>"$dir/got"' INT
trap 'echo HUP >>"$dir/got"' HUP
trap 'echo TERM >>"$dir/got"; exit 5' TERM
echo ready >"$dir/got"
while :; do sleep 0.02; done
S
chmod +x "$dir/waits"
rm -f "$dir/got"
env --default-signal=INT,QUIT,HUP "$setup" apply --only ksm --for -- "$dir/waits" >"$dir/said" 2>&1 &
pid=$!
wait_until grep -q ready "$dir/got"
for signal in QUIT PIPE USR1 USR2 ALRM; do kill -$signal $pid; done
for signal in INT HUP TERM; do
	kill -$signal $pid
	wait_until grep -q $signal "$dir/got"
done
wait $pid
that "the command's status is ours" test $? = 5
that "it got each signal once" test "$(tr '\n' ' ' <"$dir/got")" = "ready INT HUP TERM "
restored "signals from processes"

# Keys of a terminal, and outputs that nobody reads
cat >"$dir/keys.py" <<'P'
import os, pty, signal, subprocess, sys, time
setup, dir = os.environ["setup"], os.environ["dir"]
command = [setup, "apply", "--only", "ksm", "--for", "--"]

for ignored in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP: # by a shell that started this test in the background
    signal.signal(ignored, signal.SIG_DFL)

def until(condition):
    end = time.time() + 60 * int(os.environ.get("EMP_TIMEOUT_MULTIPLIER", 1))
    while not condition():
        assert time.time() < end, "waited in vain"
        time.sleep(0.02)

def got():
    return open(dir + "/got").read().split() if os.path.exists(dir + "/got") else []

def typed(key, script):  # the exit status of emp-setup in a terminal in which `key` is typed once the command is ready
    if os.path.exists(dir + "/got"):
        os.remove(dir + "/got")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(setup, command + ["sh", "-c", script])
    os.set_blocking(terminal, False)
    def read():
        try:
            while os.read(terminal, 4096): pass
        except (BlockingIOError, OSError): pass
    until(lambda: read() or "ready" in got())
    os.write(terminal, key)
    while True:
        read()
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)

traps = "trap 'echo INT >>$dir/got' INT; trap 'echo QUIT >>$dir/got; exit 9' QUIT; echo ready >$dir/got; "
loop = "while :; do sleep 0.02; done"
status = typed(b"\x1c", traps + loop)
print("^\\: status", status, got())
assert status == 9 and got() == ["ready", "QUIT"]
status = typed(b"\x03", traps + "while [ $(grep -c INT $dir/got) = 0 ]; do sleep 0.02; done; exit 4")
print("^C: status", status, got())
assert status == 4 and got() == ["ready", "INT"]  # not a second time by us

read_end, write_end = os.pipe()
os.close(read_end)
status = subprocess.run(command + ["sh", "-c", "cat $ksm >$dir/got; exit 3"], stdout=write_end, stderr=write_end).returncode
print("closed outputs: status", status, got())
assert status == 3 and got() == ["0"]

# ^C that comes while it applies: here it is there from the beginning, and blocked
os.remove(dir + "/got")
if os.fork() == 0:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)
    os.execv(setup, command + ["sh", "-c", "echo ran >$dir/got"])
status = os.waitstatus_to_exitcode(os.wait()[1])
print("interrupted: status", status, got())
assert status == 130 and got() == []
P
that "keys, closed outputs and interrupts" python3 "$dir/keys.py"
restored "keys, closed outputs and interrupts"

# The command itself restores: all, or all but what somebody else has changed
apply_for "$setup" restore >"$dir/own" 2>/dev/null
that "the command's output has only its own" test "$(grep -c '^1 restored\|^Nothing' "$dir/own")" = 1
restored "a command that restores"
mount -t tmpfs tmpfs /sys/module
mkdir -p /sys/module/zswap/parameters
zswap=/sys/module/zswap/parameters/enabled
echo Y >$zswap
expect 0 '2 changed' "$setup" apply --only ksm,zswap
echo 2 >$ksm
expect 0 'ksm  *left alone' "$setup" apply --only zswap --for -- sh -c "'$setup' restore; true"
that "what is not left alone is restored" test "$(cat $zswap)" = Y
expect 0 'ksm  *forgotten .* changed by somebody else$' "$setup" restore --forget
echo 1 >$ksm
umount /sys/module

# Several at once: each keeps what it needs until its command ends, whoever ends first, also by kill -9
mount -t tmpfs tmpfs /sys/module
mkdir -p /sys/module/zswap/parameters
echo Y >$zswap
export zswap
holds() { # KSM ZSWAP WORDS
	that "$3: ksm is $1" test "$(cat $ksm)" = "$1"
	that "$3: zswap is $2" test "$(cat $zswap)" = "$2"
}
declare -A pids
begin() { # NAME IDS: a process of --for, whose command waits for "end NAME"
	rm -f "$dir/$1.ready" "$dir/$1.go"
	"$setup" apply --only "$2" --for -- sh -c "touch $dir/$1.ready; until [ -e $dir/$1.go ]; do sleep 0.02; done; cat $ksm >$dir/$1.saw; exit 4" >"$dir/$1.said" 2>&1 &
	pids[$1]=$!
	wait_until test -e "$dir/$1.ready"
}
end() { # NAME
	touch "$dir/$1.go"
	wait "${pids[$1]}"
	that "$1 ends with its command's status" test $? = 4
}
killed() { # NAME
	kill -KILL "${pids[$1]}"
	wait "${pids[$1]}" 2>/dev/null
	touch "$dir/$1.go" # its command goes on alone
}
for last in a b; do
	first=$([ $last = a ] && echo b || echo a)
	begin a ksm
	begin b ksm
	end $first
	that "the first to end says who needs it" grep -q "^One setting stays applied: process ${pids[$last]} (emp-setup apply --for) needs it" "$dir/$first.said"
	holds 0 Y "$first has ended"
	end $last
	that "$last ran with it until its end" test "$(cat "$dir/$last.saw")" = 0
	restored "two of the same setting, $last ends last"
done
begin a ksm
begin b zswap
begin c ksm,zswap
end b
holds 0 N "b has ended"
end a
holds 0 N "a has ended"
end c
holds 1 Y "all have ended"
restored "three at once"
begin a ksm
begin b ksm,zswap
killed a
holds 0 N "one was killed"
end b
holds 1 Y "the other has ended"
restored "one of two was killed"
begin a ksm
killed a
begin b zswap
end b
holds 1 Y "the next one restores what a killed one has left"
restored "one that was killed, and the next"
begin a ksm
killed a
expect 0 '1 restored' "$setup" restore
restored "restore after a kill"

# Beside a plain apply, which lasts until a restore
begin a ksm
expect 0 '2 changed\|1 changed, 1 already' "$setup" apply --only ksm,zswap
end a
holds 0 N "an apply made meanwhile stays"
begin a ksm
begin b zswap
end b
end a
holds 0 N "an apply made before stays"
expect 0 '2 restored' "$setup" restore
restored "a plain apply"
begin a ksm,zswap
expect 0 '2 restored' "$setup" restore
expect 0 '1 changed' "$setup" apply --only zswap
end a
that "it is said that the changes did not last" grep -q '^emp-setup: 2 of 2 changes did not last until the command ended' "$dir/a.said"
holds 1 N "what was applied after a restore stays"
expect 0 '1 restored' "$setup" restore
restored "restore and apply meanwhile"

# What somebody else has set is what they go back to
expect 0 '1 changed' "$setup" apply --only ksm
echo 3 >$ksm # the administrator's choice
expect 2 'ksm  *left alone' "$setup" restore
apply_for true 2>/dev/null
holds 3 Y "--for goes back to what was there when it began"
that "nothing is applied any more" test ! -e /var/lib/emp-setup
echo 1 >$ksm
expect 0 '1 changed' "$setup" apply --only ksm
echo 3 >$ksm
expect 2 'ksm  *left alone' "$setup" restore
expect 0 '1 changed' "$setup" apply --only ksm
expect 0 'ksm  *restored  *0  *3 .*somebody else had set' "$setup" restore
holds 3 Y "a restore goes back to what was there before the second apply"
echo 1 >$ksm
expect 0 '1 changed' "$setup" apply --only ksm
echo 3 >$ksm
begin a ksm
begin b ksm
end a
end b
holds 3 Y "--for goes back to what had changed since an apply"
expect 0 '0 failed' "$setup" restore
holds 3 Y "and so does a restore"
restored_to_3() { that "$1" test "$(cat $ksm)" = 3 -a ! -e /var/lib/emp-setup; }
restored_to_3 "the journal is gone"
echo 1 >$ksm
expect 0 '1 changed' "$setup" apply --only ksm
echo 3 >$ksm
expect 2 'ksm  *left alone' "$setup" restore
echo 0 >$ksm # by chance what apply had set
expect 0 'already set' "$setup" apply --only ksm
expect 0 '' "$setup" restore
holds 0 Y "what is left alone is not applied, whatever it holds"
echo 1 >$ksm
begin a ksm
echo 3 >$ksm
end a
that "changed while the command ran: left alone" grep -q 'ksm  *left alone' "$dir/a.said"
holds 3 Y "changed while the command ran"
expect 0 'ksm  *forgotten' "$setup" restore --forget
echo 1 >$ksm
restored "somebody else's values"

# A journal of an older version knows no owners: it is a plain apply's
expect 0 '1 changed' "$setup" apply --only ksm
python3 - /var/lib/emp-setup/journal <<'P'
import hashlib, json, sys
lines = []
for line in open(sys.argv[1]):
    length, digest, text = line.split(" ", 2)
    document = {k: v for k, v in json.loads(text).items() if k not in ("owners", "prior", "adopted", "limits")}
    text = json.dumps(document, separators=(",", ":"))
    lines.append("%d %s %s\n" % (len(text), hashlib.sha256(text.encode()).hexdigest()[:16], text))
open(sys.argv[1], "w").writelines(lines)
P
begin a ksm
end a
holds 0 Y "an apply of an older version stays"
expect 0 '1 restored' "$setup" restore
restored "a journal of an older version"
umount /sys/module

# In a container: its host's settings are not changed for good without an option, and where it cannot write, audit and apply agree
in_container() { unshare --pid --fork --mount-proc "$@"; }
expect 2 'in a .*container.*, apply would change the host.* use --for, or --in-container' in_container "$setup" apply --only ksm
that "nothing was changed" test "$(cat $ksm)" = 1 -a ! -e /var/lib/emp-setup
expect 0 'ksm  *will change' in_container "$setup" apply --dry-run --only ksm
expect 0 'ksm  *restored' in_container "$setup" apply --only ksm --for -- true
restored "--for in a container"
expect 0 '1 changed' in_container "$setup" apply --only ksm --in-container
that "it is applied" test "$(cat $ksm)" = 0
expect 0 'ksm  *restored' in_container "$setup" restore
restored "--in-container"
mount -o remount,ro,bind /sys/kernel/mm
ordinary="setpriv --reuid=65534 --regid=65534 --clear-groups"
for user in "" "$ordinary"; do
	expect 0 'ksm  *n/a .*the host decides' in_container $user "$setup" apply --dry-run --verbose --only ksm
	in_container $user "$setup" audit --verbose >"$dir/out" 2>&1
	that "audit (${user:-root}) says that the host decides" grep -q '^ksm  *n/a .*the host decides' "$dir/out"
	that "nothing is for root only (${user:-root})" test "$(grep -c 'only root can read' "$dir/out")" = 0
done
expect 0 '0 changed, 0 already set, 0 refused' in_container "$setup" apply --only ksm
expect 1 'the capability cap_sys_admin, which root does not have here' \
	in_container setpriv --bounding-set=-sys_admin --inh-caps=-all "$setup" apply --only ksm
mount -o remount,rw,bind /sys/kernel/mm
restored "settings that a container cannot write"

# The host is in use when the command has ended
cat >"$dir/locks" <<'S'
#!/bin/bash
(
	exec 8>"$EMP_LOCK"
	flock 8
	touch "$dir/locked"
	until [ -e "$dir/go" ]; do sleep 0.02; done
) &
until [ -e "$dir/locked" ]; do sleep 0.02; done
exit 6
S
chmod +x "$dir/locks"
env --default-signal=INT,QUIT,HUP "$setup" apply --only ksm --for -- "$dir/locks" >"$dir/said" 2>&1 &
pid=$!
wait_until grep -q 'waiting to restore: .* has locked this machine' "$dir/said"
that "it is still applied" test "$(cat $ksm)" = 0
kill -INT $pid # ends the wait no more than anything else
touch "$dir/go"
wait $pid
that "the status is the command's" test $? = 6
restored "a host in use"

# Without the file that keeps CPUs awake
mkdir "$dir/dev"
mount -t tmpfs tmpfs "$dir/dev"
cp -a /dev/null /dev/zero /dev/tty "$dir/dev"
mount --move "$dir/dev" /dev
expect 0 'CPUs may enter deep idle states: cannot open /dev/cpu_dma_latency: No such file' apply_for true
umount /dev
restored "no /dev/cpu_dma_latency"
finish
