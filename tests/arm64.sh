#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds EMP for arm64 on a Debian machine with another processor, and runs the unit tests and those of the papers under QEMU's
# emulation of a user's process. By hand: arm64.sh [DIRECTORY], which keeps the packages and the build (some 500 MB).
#
# Debian's packages for arm64 are unpacked there by an apt with a configuration of its own; this machine's is left alone. Each test that fails is
# judged: see `known`.
set -eu
source=$(realpath "$(dirname "$0")/..")
dir=$(realpath -m "${1:-$source/build-arm64}")
. "$source/scripts/packages.sh"
need_packages $build_packages libcmocka-dev gcc-aarch64-linux-gnu
mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" "$dir/sysroot/usr/lib"
root=$dir/sysroot

# known TEST: why it fails under the emulator, though not on an arm64 machine
known() {
	case $1 in
	clock) echo "QEMU says that it carries out MADV_WIPEONFORK, and does not: a forked child takes its parent's times for its own" ;;
	program | sampling) echo "QEMU has neither clone3 nor CLONE_PIDFD, with which programs are started" ;;
	subprocess) echo "QEMU's vfork is a fork, so that posix_spawn does not hear that there is no such program" ;;
	time_source) echo "QEMU's /proc/self/stat has no CPU times" ;;
	esac
}

libraries=$(for package in $build_packages libcmocka-dev libc6-dev; do case $package in *-dev) echo "$package" ;; esac; done)
: >"$dir/status"
cat >"$dir/apt.conf" <<-END
	APT::Architecture "arm64";
	APT::Architectures { "arm64"; };
	APT::Sandbox::User "root";
	Dir::State "$dir/state";
	Dir::State::status "$dir/status";
	Dir::Cache "$dir/cache";
	Dir::Log "$dir";
END
if [ ! -e "$dir/unpacked" ]; then
	APT_CONFIG=$dir/apt.conf apt-get -qq update
	APT_CONFIG=$dir/apt.conf apt-get -qq install -y --download-only --no-install-recommends $libraries
	ln -sfn usr/lib "$root/lib"
	for package in "$dir"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar x -C "$root" --keep-directory-symlink
	done
	find "$root" -xtype l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
	# not installed: it would become this machine's interpreter of arm64's programs
	(cd "$dir" && apt-get -qq download qemu-user-static)
	dpkg-deb --fsys-tarfile "$dir"/qemu-user-static_*.deb | tar x -C "$dir" ./usr/bin/qemu-aarch64-static
	touch "$dir/unpacked"
fi
cat >"$dir/arm64.ini" <<-END
	[binaries]
	c = ['aarch64-linux-gnu-gcc', '--sysroot=$root']
	ar = 'aarch64-linux-gnu-ar'
	strip = 'aarch64-linux-gnu-strip'
	pkgconfig = 'pkg-config'
	exe_wrapper = ['$dir/usr/bin/qemu-aarch64-static', '-L', '$root']
	[properties]
	sys_root = '$root'
	pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig'
	[host_machine]
	system = 'linux'
	cpu_family = 'aarch64'
	cpu = 'aarch64'
	endian = 'little'
END

sed "s/'little'/'big'/" "$dir/arm64.ini" >"$dir/big.ini"
rm -rf "$dir/build-big"
meson setup --cross-file "$dir/big.ini" "$dir/build-big" "$source" 2>&1 | grep -q '64-bit little-endian processor' || {
	echo "FAULT: a big-endian processor is not refused"
	exit 1
}
[ -f "$dir/build/build.ninja" ] || meson setup --werror -Dtests=enabled --cross-file "$dir/arm64.ini" "$dir/build" "$source"
ninja -C "$dir/build" --quiet all meson-test-prereq
log=$dir/tests.log
EMP_TIMEOUT_MULTIPLIER=20 meson test -C "$dir/build" --no-rebuild --suite unit --suite papers --timeout-multiplier 20 \
	--print-errorlogs >"$log" 2>&1 || :
sed -n 's,^ *[0-9]*/[0-9]* emp:[a-z]* / \([^ ]*\) *\(FAIL\|TIMEOUT\|ERROR\).*,\1,p' "$log" | sort -u >"$dir/failed"
faults=0
while read -r test; do
	reason=$(known "$test")
	echo "$test failed: ${reason:-FAULT, see $log}"
	[ -n "$reason" ] || faults=$((faults + 1))
done <"$dir/failed"
passed=$(sed -n "s/^Ok: *\([0-9]*\).*/\1/p" "$log")
echo "arm64: $passed passed, $(wc -l <"$dir/failed") failed, $faults of them not explained"
[ "$faults" = 0 ] && [ "${passed:-0}" -gt 0 ]
