#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# setup_isolation.sh on a kernel of its own, in QEMU without KVM: some two minutes. Needs qemu-system-x86, busybox-static and cpio.
# KERNEL is a vmlinuz with a serial console, such as that of the package linux-image-cloud-amd64.
# Usage: setup_isolation_vm.sh KERNEL BUILD
set -eu
kernel=$1 build=$(realpath "$2") here=$(realpath "$(dirname "$0")")
for tool in qemu-system-x86_64 busybox cpio; do
	command -v $tool >/dev/null || {
		echo "not run: needs $tool"
		[ -z "${EMP_MUST_RUN:-}" ] || exit 1
		exit 77
	}
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
root=$dir/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc" "$root/var/lib" "$root/run/lock" "$root$build/setup" "$root$build/measure"
cp "$(command -v busybox)" "$root/bin/busybox"
busybox --list | while read -r name; do [ -e "$root/bin/$name" ] || ln -s busybox "$root/bin/$name"; done
for program in setup/emp-setup measure/emp-measure; do
	cp "$build/$program" "$root$build/$program"
	ln -sf "$build/$program" "$root/bin/${program#*/}"
	ldd "$build/$program" | grep -o '/[^ ]*'
done | sort -u | while read -r library; do
	mkdir -p "$root$(dirname "$library")"
	cp -L "$library" "$root$library"
done
cp -r "$build/profiles" "$root$build/"
cp "$here/setup_isolation.sh" "$root/test.sh"
printf 'root:x:0:0::/:/bin/sh\n' >"$root/etc/passwd"
cat >"$root/init" <<I
#!/bin/sh
export PATH=/bin HOME=/tmp
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mount -t cgroup2 c /sys/fs/cgroup
sh /test.sh $build; echo "exit status \$?"
poweroff -f
I
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$dir/initrd"
timeout 600 qemu-system-x86_64 -accel tcg,thread=multi -cpu Nehalem -smp 4,cores=2,threads=2 -m 700 -nographic -no-reboot \
	-kernel "$kernel" -initrd "$dir/initrd" -append "console=ttyS0 quiet panic=-1 cgroup_no_v1=all no_timer_check" </dev/null | tee "$dir/out"
grep -q '^exit status 0' "$dir/out"
