#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages that scripts/package makes, as a user has them: built without the network, twice with the same bytes; installed, upgraded
# and purged in a Debian 12; the tarball in Debian 11, 12 and 13, as an ordinary user. Needs root, debootstrap and the network, and takes
# a quarter of an hour. SOURCE has to be a clone without changes.
# Usage: packages.sh BUILD SOURCE [FOLDER]    FOLDER keeps the debootstrapped systems for the next time
here=$(dirname "$(readlink -f "$0")")
. "$here/../cli/expect.sh"
build=$(realpath "$1") source=$(realpath "$2") roots=${3:-$dir/roots}
need_root
unset EMP_DB EMP_LOCK
mkdir -p "$roots"

skip() {
	echo "not run: $*"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}
for command in debootstrap dh lintian rpmbuild patchelf; do
	command -v $command >/dev/null || skip "$command is missing: apt-get install debootstrap debhelper lintian rpm patchelf"
done

thp=/sys/kernel/mm/transparent_hugepage/enabled
thp_before=$(sed 's/.*\[\(.*\)\].*/\1/' $thp)
trap 'echo "$thp_before" >$thp; rm -rf "$dir"' EXIT

# the mirror and the proxy that apt uses here; without one, debootstrap has its own
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
[ -z "${http_proxy:-}" ] || export http_proxy

system() { # SUITE: a fresh one, in $root
	[ -e "$roots/$1" ] || debootstrap --variant=minbase "$1" "$roots/$1.new" $mirror >"$dir/log" 2>&1 &&
		{ [ -e "$roots/$1" ] || mv "$roots/$1.new" "$roots/$1"; } || { tail -n 5 "$dir/log"; skip "no $1 from the archive"; }
	root=$dir/$1
	cp -a "$roots/$1" "$root"
	chroot "$root" useradd --create-home user
	mkdir "$root/packages"
}

# within COMMAND...: as root in $root, which has its own /run and this machine's processes, /sys and /dev
within() {
	unshare --mount --propagation private sh -c '
		root=$1
		shift
		mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev"
		mount --bind "$root/run" "$root/run" # stays between two commands
		exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$root" "$@"
}
as_user() { # COMMAND LINE
	within su user -c "cd && $1"
}
apt() { # ARGUMENT...: @PATTERN stands for the files in /packages
	for argument; do
		shift
		case $argument in @*) set -- "$@" $(cd "$root" && ls -d packages/${argument#@} | sed 's|^|/|') ;; *) set -- "$@" "$argument" ;; esac
	done
	within apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}
files() { # all files with what is in them, but for the records of apt and dpkg
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./packages -o -path ./var/cache -o -path ./var/log \
		-o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./tmp \) -prune -o ! -name ld.so.cache ! -path ./run/lock -printf '%p %M %U %G %l ' \
		\( -type f -exec sha256sum {} \; -o -print \)) | sort
}

# --- built twice: from the clone, and later from the archive, in another folder and time zone
version=$(meson introspect --projectinfo "$source/meson.build" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
expect 0 '' unshare --net "$source/scripts/package" dist "$dir/archive"
mkdir -p "$dir/elsewhere/tmp"
tar -C "$dir/elsewhere" -xf "$dir/archive/emp-$version.tar.xz"
twice() { # WHAT PATTERN...
	what=$1
	shift
	expect 0 '' unshare --net "$source/scripts/package" $what "$dir/one"
	expect 0 '' env TZ=Asia/Tokyo TMPDIR="$dir/elsewhere/tmp" unshare --net \
		"$dir/elsewhere/emp-$version/scripts/package" $what "$dir/two"
	for pattern; do
		for file in "$dir"/one/$pattern; do
			that "${file##*/} has the same bytes in both builds" cmp "$file" "$dir/two/${file##*/}"
		done
	done
}
twice dist '*.tar.xz'
twice deb '*.deb' '*.dsc' '*.debian.tar.xz'
twice rpm '*.rpm'
twice tarball '*-*.tar.xz' '*.spdx.json'
that "the SBOM knows the licence of libcpupower" json "$(echo "$dir"/one/*.spdx.json)" \
	'any(p["name"].startswith("libcpupower") and "GPL-2" in p["licenseDeclared"] for p in d["packages"])'

# --- Debian
system bookworm
cp "$dir"/one/*.deb "$root/packages"
rm "$root"/packages/*dbgsym*
expect 0 '' apt update
files >"$dir/before"
mkdir "$root/packages/next"
for package in "$root"/packages/*.deb; do # the next version
	dpkg-deb -R "$package" "$dir/unpacked"
	sed -i "s/^Version: .*/&.1/; s/(= \([^)]*\))/(= \1.1)/" "$dir/unpacked/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$dir/unpacked" "$root/packages/next" >/dev/null
	rm -r "$dir/unpacked"
done

# an EMP of meson install, with an older book and with applied settings
cp -a "$root/usr/local" "$dir/local"
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet >/dev/null
expect 0 '' apt install libgsl27 libcpupower1 libbpf1 libinih1 libjansson4 libmnl0 libtraceevent1 libsqlite3-0
mkdir -p "$root/var/lib/emp"
sqlite3 "$root/var/lib/emp/emp.db" <"$source/tests/unit/data/book-v6.sql"
runs=$(sqlite3 "$root/var/lib/emp/emp.db" 'SELECT count(*) FROM run')
expect 0 'changed' within /usr/local/bin/emp-setup apply --only thp
expect 0 'another EMP is in /usr/local' apt install '@emp_*.deb'
rm -r "$root/usr/local"
mv "$dir/local" "$root/usr/local"
that "settings are still applied" grep -q '\[never\]' $thp
expect 0 'thp' within emp-setup status
gives "the book has its runs" "len(d['runs']) == $runs" within emp-analyze list --json
that "no service is enabled" test -z "$(find "$root/etc/systemd" -lname '*emp*')"
that "no program has capabilities" test -z "$(getcap -r "$root/usr")"

# as root and as a user, without a compiler
that "there is no compiler" test ! -e "$root/usr/bin/cc"
expect 2 'setcap cap_bpf,cap_perfmon,cap_net_admin=p /usr/bin/emp-measure' as_user 'emp-setup audit'
expect 0 'Kept' as_user 'emp-measure -r 3 -- gzip -c /bin/bash'
expect 0 '' apt install gnuplot-nox gcc libc6-dev pkg-config python3 '@emp-*.deb' '@libemp*.deb'
install -m 755 "$source/packaging/debian/tests/quickstart" "$root/packages/quickstart"
expect 0 '' within /packages/quickstart
that "the manual is found" test -e "$root/usr/share/man/man1/emp-measure.1.gz"

# an upgrade while a calibration runs and settings are applied
within emp-calibrate run --short 0.1x60 --long 0.2x6 --save upgraded --force --ignore-audit >"$dir/calibration" 2>&1 &
calibration=$!
calibrates() {
	within emp-analyze list --json | grep -q running
}
wait_until calibrates
expect 0 '' apt install '@next/*.deb'
wait $calibration
that "the calibration went on" grep -q "Profile 'upgraded'" "$dir/calibration" || cat "$dir/calibration"
that "settings are still applied after the upgrade" grep -q '\[never\]' $thp
expect 0 'thp' within emp-setup status
gives "the book has its runs and the new ones" "len(d['runs']) > $runs" within emp-analyze list --json

# removed: settings are put back, the book stays; purged: nothing stays
expect 0 'restoring' apt remove emp
that "the settings are those of before" grep -q "\[$thp_before\]" $thp
that "the book stays" test -s "$root/var/lib/emp/emp.db"
rm -r "$root/packages" "$root/home/user/.local" # the book of the user is the user's
expect 0 '' apt purge 'emp*' 'libemp*'
apt purge gnuplot-nox gcc libc6-dev pkg-config python3 libgsl27 libcpupower1 libbpf1 libinih1 libjansson4 libmnl0 libtraceevent1 libsqlite3-0 >/dev/null 2>&1
apt autoremove --purge >/dev/null 2>&1
files >"$dir/after"
that "nothing that EMP brought stays" sh -c '! diff "$1" "$2" | grep -i emp' sh "$dir/before" "$dir/after"
diff "$dir/before" "$dir/after" | sed 's/^/left by other packages: /' | head -n 20
rm -rf "$root"

# --- the tarball
sysroot=$roots/sysroot
[ -e "$sysroot" ] || expect 0 '' "$source/scripts/package" sysroot "$sysroot"
expect 0 'needs glibc 2.3[01] or newer' unshare --net "$source/scripts/package" tarball --sysroot "$sysroot" "$dir/old"
for suite in bullseye bookworm trixie; do
	system $suite
	tar -C "$root/opt" --no-same-owner -xf "$dir"/old/emp-*.tar.xz
	emp=/opt/$(ls "$root/opt")
	that "$suite has no compiler" test ! -e "$root/usr/bin/cc"
	expect 2 "patchelf --set-rpath $emp/lib/emp $emp/bin/emp-measure" as_user "$emp/bin/emp-setup audit"
	expect 0 'times faster' as_user "$emp/bin/emp-measure -r 3 'gzip -c /bin/bash' true"
	expect 0 'Kept' as_user "$emp/bin/emp-measure --fast-clock -r 3 'gzip -c /bin/bash'"
	expect 0 'gzip' as_user "$emp/bin/emp-analyze list"
	patchelf --set-rpath "$emp/lib/emp" "$root$emp/bin/emp-measure"
	setcap cap_bpf,cap_perfmon,cap_net_admin=p "$root$emp/bin/emp-measure"
	expect 0 'Kept' as_user "$emp/bin/emp-measure -r 3 'gzip -c /bin/bash'"
	that "$suite: as a user with capabilities, it sees other processes" sh -c "! grep -q 'Accounting off' '$dir/out'"
	expect 0 "Profile 'quick'" within "$emp/bin/emp-calibrate" run --short 0.02x40 --long 0.2x4 --save quick --force --ignore-audit
	rm -rf "$root"
done
finish
