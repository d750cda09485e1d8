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
