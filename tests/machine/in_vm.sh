#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs all tests that depend on the kernel under another kernel, in a virtual machine (QEMU), and prints a line for each and the counts:
#
#   apt-get install debootstrap busybox-static cpio
#   debootstrap --variant=minbase --include=qemu-system-x86,virtiofsd trixie /var/tmp/debian13
#   apt-get download linux-image-6.1.0-56-amd64        the kernel of Debian 12; that of backports is linux-image-6.12*
#   export EMP_VM_FROM=/var/tmp/debian13
#   meson setup -Dtests=enabled BUILD
#   in_vm.sh linux-image-6.1.0-56-amd64_*.deb BUILD    builds what is not yet built there; two hours without KVM
#   in_vm.sh KERNEL BUILD tests/machine/one_by_one.py BUILD accounting jitter       only these tests
#   in_vm.sh KERNEL BUILD COMMAND...                   any other command, as root
#
# KERNEL is a Debian package linux-image-*.deb, or a directory in which it is unpacked. The machine's root is this one's, read through
# an overlay in memory, so that nothing has to be installed for it and nothing stays; systemd is its first process. It has two cores of two
# threads each, and all controllers of cgroup v2.
#
# The exit status is the command's. In the environment:
#   EMP_VM_FROM=DIR       the root of another system, whose QEMU and virtiofsd are used
#   EMP_VM_ACCEL=kvm      needs a /dev/kvm that runs any guest. Without it, QEMU emulates, and each instruction takes 8 ns of the guest's time,
#                         however busy this machine is, so that CPU times are right. Virtual CPUs then take turns: two that are busy have half the
#                         speed, and tests of what happens at the same time on two CPUs are skipped. Needs QEMU 8.1 or later: with Debian 12's
#                         own, Linux 6.1 hangs while it starts its second CPU
#   EMP_VM_ACCEL=tcg,thread=single
#                         the guest's time is this machine's: while this is busy, virtual CPUs stand still, and tests that compare CPU times fail
#   EMP_VM_ACCEL=tcg,thread=multi
#                         likewise, with a thread for each CPU, so that they run at the same time
#   EMP_VM_SMP=2          as QEMU's -smp
#   EMP_VM_NETWORK=1      a network, for tests that install packages from the distribution's archive; without it, they are skipped
#   EMP_VM_INVARIANT=1    says in /proc/cpuinfo that the time stamp counter is invariant. The emulated one is, but QEMU has no CPUID bit for it, so
#                         jitter and jitter-experiments are skipped without this
#   EMP_VM_QEMU=OPTIONS   more options for QEMU
set -eu
kernel=$(realpath "$1") build=$(realpath "$2")
shift 2
ninja -C "$build" --quiet all meson-test-prereq || {
	echo "$build is no build with tests: meson setup -Dtests=enabled"
	exit 1
}
[ $# -gt 0 ] || set -- "$(dirname "$(realpath "$0")")/one_by_one.py" "$build"
from=${EMP_VM_FROM:-} libraries=/usr/lib/x86_64-linux-gnu
for tool in "$from/usr/bin/qemu-system-x86_64" "$from/usr/libexec/virtiofsd" busybox cpio; do
	command -v "$tool" >/dev/null || {
		echo "not run: needs $tool"
		exit 77
	}
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 143' INT TERM
[ -d "$kernel" ] || {
	dpkg-deb -x "$kernel" "$dir/kernel"
	kernel=$dir/kernel
}
[ -e "$kernel/lib" ] || ln -s usr/lib "$kernel/lib" # as Debian 13 has it
version=$(ls "$kernel/lib/modules")
modules=$kernel/lib/modules/$version
[ -f "$modules/modules.dep" ] || busybox depmod -b "$kernel" "$version"

first_root() {
	mkdir -p "$dir/first/bin" "$dir/first/host" "$dir/first/root" "$dir/first/lib/modules/$version"
	cp "$(command -v busybox)" "$dir/first/bin/"
	(cd "$modules" && find . -path '*/virtio/*' -o -path '*/fuse/*' -o -path '*/overlayfs/*' \
		-o -path './modules.builtin*' -o -path './modules.order') | while read -r file; do
		[ ! -f "$modules/$file" ] || cp "$modules/$file" "$dir/first/lib/modules/$version/"
	done
	find "$dir/first" -name '*.xz' -exec unxz {} +
	busybox depmod -b "$dir/first" "$version" 2>/dev/null
	cat >"$dir/first/init" <<-I
		#!/bin/busybox sh
		/bin/busybox --install -s /bin
		mkdir -p /proc /sys /dev /rw /sbin
		mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
		modprobe -a virtio_pci virtiofs overlay
		mount -t virtiofs -o ro host /host
		mount -t tmpfs -o mode=755,size=90% rw /rw; mkdir /rw/upper /rw/work
		mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work overlay /root
		sh /root$dir/prepare
		for part in proc sys dev; do mount --move /\$part /root/\$part; done
		exec switch_root /root /lib/systemd/systemd --system --unit=emp-test.target --show-status=0
	I
	chmod +x "$dir/first/init"
	(cd "$dir/first" && find . | cpio -o -H newc --quiet) >"$dir/initrd"
}

# What differs from this machine's root: run in the virtual machine, in front of systemd.
cat >"$dir/prepare" <<P
cd /root
: >etc/fstab
echo vm >etc/hostname
tr -d - </proc/sys/kernel/random/uuid >etc/machine-id
rm -f etc/resolv.conf .dockerenv
mkdir -p lib/modules boot
ln -s $modules lib/modules/$version
ln -s $kernel/boot/config-$version boot/config-$version
for program in modprobe insmod rmmod depmod lsmod; do [ -e sbin/\$program ] || ln -s $(command -v busybox) sbin/\$program; done
printf '[Unit]\nRequires=basic.target dbus.service emp-test.service\n' >etc/systemd/system/emp-test.target
# systemd asks for thousands of names that do not exist, each of which would be asked of this machine
for part in etc/systemd usr/lib/systemd; do cp -a \$part rw; rm -r \$part; mv rw \$part; done
mkdir -p etc/tmpfiles.d
: >etc/tmpfiles.d/tmp.conf # else it empties /tmp, where this may lie
cp .$dir/emp-test.service etc/systemd/system/
P
cat >"$dir/emp-test.service" <<S
[Unit]
After=basic.target dbus.service
[Service]
WorkingDirectory=$PWD
Environment=HOME=/root TERM=dumb LANG=C.UTF-8 SYSTEMD_BUS_TIMEOUT=300
ExecStart=/bin/sh $dir/command
StandardOutput=tty
TTYPath=/dev/ttyS0
ExecStopPost=/bin/systemctl --no-block poweroff -f -f
S
{
	[ -z "${EMP_VM_NETWORK:-}" ] || echo 'modprobe virtio_net; ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0
		ip route add default via 10.0.2.2; echo nameserver 10.0.2.3 >/etc/resolv.conf'
	[ -z "${EMP_VM_INVARIANT:-}" ] ||
		echo 'sed "s/^flags.*/& constant_tsc nonstop_tsc/" /proc/cpuinfo >/run/cpuinfo; mount --bind /run/cpuinfo /proc/cpuinfo'
	printf '{ '
	for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done
	printf '\necho "exit status $?"; } 2>&1 | cat\n' # no terminal
} >"$dir/command"
first_root

program() { # PATH ARGUMENT...: of the other system
	path=$1
	shift
	"$from/lib64/ld-linux-x86-64.so.2" --library-path "$from$libraries" "$from$path" "$@"
}
qemu() {
	export QEMU_MODULE_DIR="$from$libraries/qemu"
	program /usr/bin/qemu-system-x86_64 -L "$from/usr/share/qemu" -L "$from/usr/share/seabios" \
		-machine q35,memory-backend=memory -object memory-backend-memfd,id=memory,size=3G,share=on -m 3G \
		-accel ${EMP_VM_ACCEL:-tcg,thread=single -icount shift=3,sleep=off} -cpu "${EMP_VM_CPU:-Nehalem}" -smp "${EMP_VM_SMP:-4,cores=2,threads=2}" \
		-nodefaults -no-reboot -display none -serial stdio \
		-kernel "$kernel/boot/vmlinuz-$version" -initrd "$dir/initrd" \
		-append "console=ttyS0 quiet loglevel=3 panic=-1 no_timer_check mitigations=off nowatchdog net.ifnames=0 systemd.log_target=null" \
		-chardev socket,id=host,path="$dir/host" -device vhost-user-fs-pci,chardev=host,tag=host \
		${EMP_VM_NETWORK:+-nic user,model=virtio-net-pci} ${EMP_VM_QEMU:-} </dev/null
}

# It ends with its client. A descriptor for each file that was looked up would be too many.
program /usr/libexec/virtiofsd --socket-path "$dir/host" --shared-dir / --readonly --sandbox none --no-announce-submounts --cache always \
	--inode-file-handles=prefer 2>"$dir/log" &
until [ -S "$dir/host" ]; do
	kill -0 $! 2>/dev/null || { cat "$dir/log"; exit 1; }
	sleep 0.1
done
qemu | sed -u 's/\r$//' | tee "$dir/out"
status=$(sed -n 's/^exit status \([0-9]*\)$/\1/p' "$dir/out" | tail -1)
exit "${status:-1}"
