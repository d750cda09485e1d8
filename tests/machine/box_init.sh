#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first process of a box's namespaces (see box.sh): makes its file systems and becomes systemd. Usage: box_init.sh BOX BUILD
set -e
box=$1 root=$1/root build=$2
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$box/lower:/,upperdir=$box/upper,workdir=$box/work" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for part in sys irq sysrq-trigger; do
	[ -e "$root/proc/$part" ] || continue
	mount --bind "$root/proc/$part" "$root/proc/$part"
	mount -o remount,bind,ro "$root/proc/$part"
done
cat /proc/sys/kernel/random/uuid >"$root/run/boot_id" # a new one at each boot, as a machine has
mount --bind "$root/run/boot_id" "$root/proc/sys/kernel/random/boot_id"
for node in null:3 zero:5 full:7 random:8 urandom:9; do
	mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"
done
mknod -m 666 "$root/dev/tty" c 5 0
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mkdir -p "$root$build"
mount --bind "$build" "$root$build"
[ ! -f "$box/before_boot.sh" ] || . "$box/before_boot.sh" # a test's own: a made-up /sys, for one
hostname box
cd "$root"
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
exec env -i container=other TERM=linux PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=emp-test.target \
	--show-status=0
