#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Page waits of emp-load, compared with bpftrace's count of the same requests at the same time, with the number of reads that dd makes, and with the
# pressure that the kernel counts; also where nothing is read, without privileges, and without a block device. Usage: page_waits.sh BUILD
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/expect.sh"
need_root
load=$1/measure/emp-load

not_run() {
	echo "not run: $*"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}

# waits EXPRESSION: of d, the document, w, its page waits, and runs, by sample, from the book
waits() {
	python3 - "$dir/out.json" "$EMP_DB" "$1" <<-'PYTHON'
		import json, sqlite3, sys
		d = json.load(open(sys.argv[1]))
		w = d["page_waits"]
		db = sqlite3.connect(sys.argv[2])
		stored = {kind: (n, total, bins) for kind, n, total, bins in db.execute(
		    "SELECT kind, sum(count), sum(total_ns), (SELECT sum(count) FROM page_wait_bin b WHERE b.run = p.run AND b.kind = p.kind)"
		    " FROM page_wait p WHERE run = ? GROUP BY kind", (d["run"],))}
		sys.exit(not eval(sys.argv[3]))
	PYTHON
}

# Something to read, on a block device: that of a directory for temporary files, or a loop device.
disk=$dir
on_device() { [[ $(findmnt -no SOURCE -T "$disk") == /dev/* ]]; }
on_device || disk=$(mktemp -d /var/tmp/emp-page-waits-XXXXXX)
[ "$disk" = "$dir" ] || trap 'umount "$disk" 2>/dev/null; rm -rf "$dir" "$disk"' EXIT
on_device || { truncate -s 256M "$dir/image" && mkfs.ext4 -q "$dir/image" && mount -o loop "$dir/image" "$disk"; }
cd "$dir" || exit 1

# In memory alone: no page is waited for. Others may read a disk meanwhile, but hardly always.
printf '[load]\ndirectory = /dev/shm\nruns = 2\n[script]\nslaves = 2\nsetup = seq 1000 >text\ncommand = cat text\n' >memory.ini
nothing_read() {
	"$load" run -q -w 0 --export-json out.json memory.ini >out && grep -q 'none, and no block device was read' out || waits 'w["slave"]["count"] == 0 and w["read"]["count"] == 0'
}
if cat $(ls -d /sys/block/*/mq 2>/dev/null | sed 's/mq$/size/') /dev/null | grep -q '[1-9]'; then
	wait_until nothing_read
fi

# Without privileges, and without a block device, which this namespace does not see.
expect 0 'Page waits  *not measured: needs CAP_BPF and CAP_PERFMON' capsh --drop=cap_bpf,cap_perfmon,cap_sys_admin -- -c "exec '$load' run -q -w 0 --export-json out.json memory.ini"
that "the document says why" waits 'set(w) == {"missing", "correlation_with_run_time"} and not stored'
expect 0 'Block reads  *not counted: this machine has no block device' unshare -m sh -c "mount -t tmpfs none /sys/block && exec '$load' run -q -w 0 --export-json out.json memory.ini"
that "only slaves were watched" waits 'set(w) == {"slave", "correlation_with_run_time"} and set(stored) == {"slave"}'

on_device || { echo "no file system on a block device here"; finish; }

# Each read of one reader that waits for it, on one CPU.
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
printf '[load]\ndirectory = %s\nruns = 2\ncpus = %s\n[read]\nrepetitions = 3\nsetup = dd if=/dev/urandom of=data bs=1M count=8 oflag=direct status=none\ncommand = dd if=data of=/dev/null bs=4k iflag=direct\n' "$disk" "$cpu" >one.ini
expect 0 'Page waits of slaves' "$load" run -q -w 0 --coordination no-teardown --export-json out.json one.ini
cat "$dir/out"
that "each of 12288 direct reads is a request" waits '.98 * 12288 <= w["read"]["count"]'
that "each is waited for at most once, if the reader does not wait for a CPU instead" waits '100 <= w["slave"]["count"] <= 1.05 * 12288'
that "the histograms have them all" waits 'all(v["count"] == sum(b["count"] for b in v["bins"]) and v["total_ns"] == sum(b["total_ns"] for b in v["bins"]) for v in (w["slave"], w["read"]))'
that "the book has the same" waits 'all(stored[k] == (w[k]["count"], w[k]["total_ns"], w[k]["count"]) for k in ("slave", "read"))'
that "the bins have what is in them" waits 'all(b["low_ns"] * b["count"] <= b["total_ns"] < b.get("high_ns", 1 << 62) * b["count"] for k in ("slave", "read", "write") for b in w[k]["bins"])'
# The kernel's own count of the time until they are woken; a switch takes some us besides.
python3 - out.json <<'PYTHON' || { echo "FAULT: the pressure of the slave's cgroup differs"; faults=$((faults + 1)); }
import json, sys
d = json.load(open(sys.argv[1]))
w = d["page_waits"]["slave"]
kernel = sum(s.get("io_wait_ns", 0) for run in d["runs"] for s in run["slaves"])
print(f"asleep {w['total_ns'] - w['ready_ns']} ns, by its pressure {kernel} ns")
sys.exit(kernel > 0 and not kernel * .9 <= w["total_ns"] - w["ready_ns"] <= kernel * 1.1 + 10000 * w["count"])
PYTHON
expect 0 '0 … 2 ms' "$load" run -q -w 0 --page-wait-bin 2ms one.ini
expect 1 'page-wait-bin must be' "$load" run -q --page-wait-bin 3us one.ini

# Beside bpftrace.
command -v bpftrace >/dev/null || not_run "bpftrace is not installed, to count beside"
printf '[load]\ndirectory = %s\nruns = 3\n[direct]\nslaves = 2\nrepetitions = 4\nsetup = dd if=/dev/urandom of=data bs=1M count=16 oflag=direct status=none\ncommand = dd if=data of=/dev/null bs=4k iflag=direct\n[cached]\nsetup = dd if=/dev/urandom of=data bs=1M count=16 conv=fsync status=none\ncommand = dd if=data iflag=nocache count=0\ncommand = md5sum data\n' "$disk" >peer.ini
unshare -m sh -c "mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing; exec env BPFTRACE_MAP_KEYS_MAX=200000 bpftrace -q -f json -o peer.json '$here/page_waits.bt'" 2>peer.err &
peer=$!
wait_until grep -q ready peer.json || cat peer.err
offset=$(python3 -c 'import time; print(time.time_ns() - time.monotonic_ns())')
began=$(python3 -c 'import time; print(time.monotonic_ns() // 1000000)')
expect 0 'Block reads' "$load" run -q -w 0 --export-json out.json peer.ini
cat "$dir/out"
peer_has_ended() {
	kill $peer 2>/dev/null # one signal can be lost; it prints its maps after the first
	! kill -0 $peer 2>/dev/null
}
wait_until peer_has_ended
python3 - peer.json "$EMP_DB" "$offset" "$began" <<'PYTHON' || { echo "FAULT: it differs from bpftrace by more than 2 %"; faults=$((faults + 1)); }
import collections, json, sqlite3, sys
peer, db, offset, began = sys.argv[1], sqlite3.connect(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
(run,), = db.execute("SELECT max(run) FROM page_wait")
runs = [((start - offset) // 1000000, (start + et - offset) // 1000000) for start, et in
        db.execute("SELECT start_ns, et_ns FROM sample WHERE run = ?", (run,))]
maps = {}
for line in open(peer):
    message = json.loads(line) if line.startswith("{") else {}
    if message.get("type") == "map":
        maps.update(message["data"])
theirs, times = collections.Counter(), 0
for name in "@count", "@us":
    for key, n in maps[name].items():
        at, ms = map(int, key.split(","))
        if at - ms < began: # somebody's request, issued before emp-load watched
            continue
        if not any(begin <= at <= end for begin, end in runs):
            continue
        if name == "@us":
            times += n * 1000
        else:
            theirs[min(ms, 1000)] += n
ours = collections.Counter()
for low, n in db.execute("SELECT low_ns, count FROM page_wait_bin WHERE run = ? AND kind = 'read'", (run,)):
    ours[min(low // 1000000, 1000)] += n
(total,), = db.execute("SELECT sum(total_ns) FROM page_wait WHERE run = ? AND kind = 'read'", (run,))
n, m = sum(ours.values()), sum(theirs.values())
shift = abs(total - times) / max(n, 1) / 1e6  # of each, in ms: what one of the two takes before the other; it moves some to the next bin
print(f"reads: emp-load {n}, bpftrace {m}; in all {total / 1e6:.1f} and {times / 1e6:.1f} ms; by whole ms {dict(sorted(ours.items()))} and {dict(sorted(theirs.items()))}")
sys.exit(n < 10000 or abs(n - m) > .02 * m or abs(total - times) > .05 * times or
         any(abs(ours[b] - theirs[b]) > .02 * theirs[b] + 5 + theirs[b] ** .5 + shift * (theirs[b - 1] + theirs[b] + theirs[b + 1])
             for b in set(ours | theirs)))
PYTHON
finish
