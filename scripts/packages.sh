# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by quickstart and test: installs the Debian packages that are missing, and only those.

root=$([ "$(id -u)" = 0 ] || echo sudo)

build_packages="build-essential meson ninja-build pkg-config clang llvm bpftool libbpf-dev libelf-dev libcap-dev
	libcpupower-dev libsystemd-dev libtraceevent-dev libmnl-dev libsqlite3-dev libjansson-dev libinih-dev libgsl-dev
	nettle-dev zlib1g-dev scdoc gnuplot-nox"

need_packages() {
	missing=
	for package; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	if [ -n "$root" ] && ! command -v sudo >/dev/null; then
		echo "These packages are missing, and installing them needs root or sudo:$missing" >&2
		exit 1
	fi
	echo "Installing:$missing"
	$root env DEBIAN_FRONTEND=noninteractive sh -c '
		apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@" >/dev/null' sh $missing
}
