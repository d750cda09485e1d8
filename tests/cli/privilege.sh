#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-measure with file capabilities, used by an ordinary user: it sees other processes, and nothing else is gained by it.
# Usage: privilege.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
bin=$dir/bin
mkdir "$bin" "$dir/home"
chmod 755 "$dir" "$bin"
cp "$build/measure/emp-measure" "$build/setup/emp-setup" "$bin"
setcap cap_bpf,cap_perfmon,cap_net_admin=p "$bin/emp-measure"
user=$((100000 + $$)) # nobody's, and no process of it runs
chown $user "$dir/home"
export HOME=$dir/home
unset EMP_DB XDG_DATA_HOME
as_user="setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all"
measure="$as_user $bin/emp-measure"
cd "$dir/home" || exit 1

expect 0 'Accounting: bpf' $measure -q -v -r 3 -- true
expect 0 'Accounting: taskstats' $measure -q -v -r 3 --accounting taskstats -- true

# each backend with the least that it needs
cp "$bin/emp-measure" "$bin/least"
setcap cap_bpf,cap_perfmon=p "$bin/least"
expect 0 'Accounting: bpf' $as_user "$bin/least" -q -v -r 3 --accounting bpf -- true
expect 1 'needs CAP_NET_ADMIN' $as_user "$bin/least" -q -r 3 --accounting taskstats -- true
setcap cap_net_admin=p "$bin/least"
expect 0 'Accounting: taskstats' $as_user "$bin/least" -q -v -r 3 --accounting taskstats -- true
expect 1 'needs CAP_BPF and CAP_PERFMON' $as_user "$bin/least" -q -r 3 --accounting bpf -- true
rm "$bin/least"

# the program has nothing of it, nor its kin
expect 0 'CapPrm:.0*$' $measure -q -r 1 -w 0 --show-output -- grep CapPrm /proc/self/status
expect 0 'CapEff:.0*$' $measure -q -r 1 -w 0 --show-output -- grep CapEff /proc/self/status
expect 0 'CapAmb:.0*$' $measure -q -r 1 -w 0 --show-output -- grep CapAmb /proc/self/status
expect 0 'CapEff:.0*$' $measure -q -r 1 -w 0 --prepare 'grep CapEff /proc/self/status' --show-output -- true

# between samples nothing is effective, and nobody may look into it
$measure -q -r 1 -w 0 -- sleep 1000 >/dev/null 2>&1 &
wait_until pgrep -u $user -x sleep
pid=$(pgrep -u $user -x emp-measure)
that "no capability is effective while the program runs" grep -qx 'CapEff:.0*' "/proc/$pid/status"
that "nothing can be passed on" grep -qx 'CapInh:.0*' "/proc/$pid/status"
ptrace='import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(0 if libc.ptrace(16, int(sys.argv[1]), 0, 0) == 0 else 1)'
expect 1 '' $as_user /usr/bin/python3 -c "$ptrace" "$pid"
expect 0 '' $as_user /usr/bin/python3 -c "$ptrace" "$(pgrep -u $user -x sleep)" # the program itself may be looked into
expect 1 'ermission denied' $as_user cat "/proc/$pid/environ"
kill "$pid"
wait

# a library of the user's is not loaded
cat >"$dir/home/evil.c" <<'C'
#include <stdio.h>
__attribute__((constructor)) static void run(void)
{
	fputs("evil was loaded\n", stderr);
}
C
cc -shared -fPIC -o "$dir/home/evil.so" "$dir/home/evil.c"
chmod 755 "$dir/home/evil.so"
preloaded() { # COMMAND...: as the user, and setpriv itself does not load it
	$as_user env LD_PRELOAD="$dir/home/evil.so" TMPDIR=/nowhere "$@"
}
preloaded $bin/emp-measure -q -r 1 -w 0 -- true >"$dir/preload" 2>&1
that "LD_PRELOAD is ignored" sh -c "! grep 'evil was loaded' '$dir/preload'"

# the program, which has no capability, has the user's whole environment
expect 0 'evil was loaded' preloaded $bin/emp-measure -q -r 1 -w 0 --show-output -- true
expect 0 '^TMPDIR=/nowhere$' preloaded $bin/emp-measure -q -r 1 -w 0 --show-output -- env
expect 0 'CapPrm:.0*$' preloaded $bin/emp-measure -q -r 1 -w 0 --show-output -- grep CapPrm /proc/self/status
expect 0 '^TMPDIR=/nowhere$' preloaded $bin/emp-measure -q -r 1 -w 0 --prepare env --show-output -- true

# paths are opened as the user
expect 1 'shadow' env EMP_DB=/etc/shadow $measure -q -r 1 -- true
expect 1 'cannot open.*shadow.*ermission denied' $measure -q -r 1 --input /etc/shadow -- true
expect 1 'cannot open.*ermission denied' $measure -q -r 1 --output /etc/emp-test-output -- true
echo untouched >"$dir/roots"
ln -s "$dir/roots" "$dir/home/link.json"
chown -h $user "$dir/home/link.json"
expect 1 'cannot write.*Permission denied' $measure -q -r 1 --export-json "$dir/home/link.json" -- true
that "a link to root's file does not reach it" grep -qx untouched "$dir/roots"
expect 1 'cannot write' $measure -q -r 1 --export-json /etc/emp-test.json -- true
# the audit says to a user what is lacking: nothing, the capabilities, the group
audit() {
	$as_user "$bin/emp-setup" audit 2>&1 || [ $? = 2 ]
}
mkdir -p "$dir/share/emp" # as in an installation that was moved
cp -R "$build/profiles" "$dir/share/emp"
cp "$build/measure/emp-measure" "$dir/plain"
audit >out
that "the audit ran" grep -q 'for timing' out
that "nothing is lacking" sh -c '! grep -E "setcap|usermod" out'
mv "$dir/plain" "$bin/emp-measure"
audit >out
that "the line that gives the capabilities is named" grep -qx "  setcap cap_bpf,cap_perfmon,cap_net_admin=p $bin/emp-measure" out
mkdir -p "$dir/lib/emp" # the tarball's libraries, which the loader does not take for a file with capabilities
touch "$dir/lib/emp/libsome.so.1"
audit >out
that "before it, they are named in the file" sh -c "grep -A 1 -x '  patchelf --set-rpath $dir/lib/emp $bin/emp-measure' out | grep -q setcap"
rm -r "$dir/lib/emp"
chgrp daemon "$bin/emp-measure"
chmod 750 "$bin/emp-measure"
audit >out
that "the group is named" grep -qx '  usermod --append --groups daemon USER' out
finish
