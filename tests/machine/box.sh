# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that need a systemd of their own: a box, in which systemd is the first process of namespaces (processes,
# mounts, network, host name, cgroups). Its root is this machine's own, read through an overlay, so that nothing has to be
# installed for it; what it writes is in $box/upper. Files in /etc and units are those that the machine had when the box was
# made ($box/lower), since another test or a user may install something meanwhile. The kernel, its settings and its clock are
# the machine's: /proc/sys and /sys are read-only in there.
#
#   box_new               makes $box; the caller may put files into $box/upper before the first start
#   box_install PACKAGE...  before the first start: from the distribution's archive, also if this machine has it, so that its files are in $box/upper;
#                         its daemons are not started. Ends the test (77) if there is no archive
#   box_restore_at_boot EMP-SETUP  before the first start: its emp-restore.service is enabled
#   box_start, box_stop   boots it and waits until it is up; switches it off
#   box_reboot, box_crash each boot has a new boot id; a crash is a SIGKILL to its first process
#   box_run COMMAND...    runs a command in it
#   box_wait SECONDS COMMAND...  until the command succeeds; 1 if it does not within that time (times EMP_TIMEOUT_MULTIPLIER)

box_wait() {
	deadline=$(($(date +%s) + $1 * ${EMP_TIMEOUT_MULTIPLIER:-1}))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $deadline ] || return 1
		sleep 0.05
	done
}

box_new() {
	box=$(mktemp -d /tmp/emp-box-XXXXXX)
	mount -t tmpfs -o size=1g,mode=755 tmpfs "$box"
	mkdir -p "$box/upper/etc/systemd/system" "$box/work" "$box/root"
	for part in etc usr/lib/systemd/system; do
		mkdir -p "$box/lower/$part"
		cp -a "/$part/." "$box/lower/$part" || : # but for files that vanish meanwhile
		python3 -c 'import os, sys; os.setxattr(sys.argv[1], "trusted.overlay.opaque", b"y")' "$box/lower/$part"
	done
	box_cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/${box##*/}
	: >"$box/upper/etc/fstab"
	echo box >"$box/upper/etc/hostname"
	tr -d - </proc/sys/kernel/random/uuid >"$box/upper/etc/machine-id"
}

box_install() {
	unshare --mount --propagation private --pid --fork --kill-child sh -c '
		set -e
		box=$1 root=$1/root
		shift
		mount -t overlay overlay -o "lowerdir=$box/lower:/,upperdir=$box/upper,workdir=$box/work" "$root"
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs -o mode=755 tmpfs "$root/run"
		mount -t tmpfs tmpfs "$root/var/cache/apt"
		cp -L /etc/resolv.conf "$root/run/resolv.conf" && mount --bind "$root/run/resolv.conf" "$root/etc/resolv.conf" || :
		printf "#!/bin/sh\nexit 101\n" >"$root/usr/sbin/policy-rc.d"
		chmod +x "$root/usr/sbin/policy-rc.d"
		export DEBIAN_FRONTEND=noninteractive
		[ -n "$(ls /var/lib/apt/lists/*Packages* 2>/dev/null)" ] || chroot "$root" apt-get -qq update
		chroot "$root" apt-get -qq install -y --reinstall --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
		rm "$root/usr/sbin/policy-rc.d"' sh "$box" "$@" </dev/null >"$box/log" 2>&1 && return 0
	grep -qE 'Could not (resolve|connect)|Failed to fetch' "$box/log" || { cat "$box/log"; exit 1; }
	echo "not run: the distribution's archive cannot be reached"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}

box_restore_at_boot() {
	mkdir -p "$box/upper/etc/systemd/system/emp-test.target.wants" "$box/upper/usr/lib/systemd/system"
	sed "s,^ExecStart=[^ ]*,ExecStart=$1," "$build/setup/emp-restore.service" >"$box/upper/usr/lib/systemd/system/emp-restore.service"
	ln -s /usr/lib/systemd/system/emp-restore.service "$box/upper/etc/systemd/system/emp-test.target.wants/emp-restore.service"
}

box_start() {
	mkdir -p "$box_cgroup"
	setsid sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$box_cgroup" \
		unshare --pid --mount --uts --ipc --net --cgroup --fork --kill-child sh "$(dirname "$0")/box_init.sh" "$box" "$build" \
		</dev/null >"$box/log" 2>&1 &
	box_unshare=$!
	box_wait 60 box_is_up || { cat "$box/log"; echo "the box did not start"; return 1; }
	kill -0 $box_unshare 2>/dev/null || { cat "$box/log"; echo "the box did not start"; return 1; }
	# "degraded" is good enough: not every service of this machine runs in a box
	box_run timeout $((60 * ${EMP_TIMEOUT_MULTIPLIER:-1})) systemctl is-system-running --wait >/dev/null || :
}

# True as well if it has ended: then there is nothing to wait for.
box_is_up() {
	kill -0 $box_unshare 2>/dev/null || return 0
	box_pid=$(cat "/proc/$box_unshare/task/$box_unshare/children" 2>/dev/null) || :
	box_pid=${box_pid%% *}
	[ -n "$box_pid" ] && (cd "/proc/$box_pid/root" && [ -e run/boot_id ] && [ -S run/systemd/private ]) 2>/dev/null
}

box_run() {
	sh -c 'echo $$ >"$1/init.scope/cgroup.procs"; shift; exec "$@"' sh "$box_cgroup" \
		nsenter -t "$box_pid" -m -u -i -n -p -C -r -w -- env -i TERM=dumb COLUMNS=500 LANG=C.UTF-8 \
		SYSTEMD_BUS_TIMEOUT=$((25 * ${EMP_TIMEOUT_MULTIPLIER:-1})) \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

box_has_no_cgroup() {
	find "$box_cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || :
	[ ! -d "$box_cgroup" ]
}

box_gone() {
	wait $box_unshare 2>/dev/null || :
	box_pid=
	box_wait 60 box_has_no_cgroup
}

box_stop() {
	box_run systemctl --no-block poweroff
	box_gone
}

box_crash() {
	kill -KILL "$box_pid"
	box_gone
}

box_reboot() {
	box_run systemctl --no-block reboot
	box_gone
	box_start
}

box_remove() {
	[ -z "${box_pid:-}" ] || box_crash
	umount -l "$box"
	rmdir "$box"
}

box_needs() {
	for program in unshare nsenter dbus-daemon python3 "$@"; do
		command -v $program >/dev/null && continue
		echo "not run: $program is not installed"
		[ -z "${EMP_MUST_RUN:-}" ] || exit 1
		exit 77
	done
	[ "$(id -u)" = 0 ] && [ -x /lib/systemd/systemd ] && grep -q cgroup2 /proc/mounts && return 0
	echo "not run: needs root, systemd on disk, and cgroup v2"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}
