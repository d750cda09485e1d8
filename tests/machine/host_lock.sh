#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The host's lock in /run/emp: root's tools make it, an ordinary user can neither hold it nor write to it, a member of the
# group emp can hold it. In a mount namespace with a /run and an /etc/group of its own.
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
if [ "${2-}" != inside ]; then
	unshare -m true || { echo "no mount namespaces here"; exit 77; }
	exec unshare -m "$0" "$1" inside
fi
build=$1
. "$(dirname "$0")/../cli/expect.sh"
chmod 755 "$dir"
calibrate=$build/calibrate/emp-calibrate measure=$build/measure/emp-measure setup=$build/setup/emp-setup
mount -t tmpfs none /run || { echo "no tmpfs here"; exit 77; }
cp /etc/group "$dir/group"
sed -i '/^emp:/d' "$dir/group"
mount --bind "$dir/group" /etc/group
unset EMP_LOCK
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
member() { setpriv --reuid=65534 --regid=65534 --groups=4242 "$@"; }
held_by() { grep -q "FLOCK *ADVISORY *WRITE $1 " /proc/locks; }

# root's tools make it, whatever the umask
(umask 077; exec "$calibrate" --db "$dir/book.db" -q run --short 0.02x2 --long 0.02x2 --save a --ignore-audit --force) >"$dir/out" 2>&1
that "the directory is root's alone" test "$(stat -c '%u %a' /run/emp)" = '0 755'
that "so is the lock without a group emp" test "$(stat -c '%u %g %a %s' /run/emp/lock)" = '0 0 600 0'
expect 66 'Permission denied' nobody flock -n /run/emp/lock true
expect 66 'Permission denied' nobody flock -sn /run/emp/lock true
expect 2 'Permission denied' nobody sh -c 'echo PWN >/run/emp/lock'
expect 1 'Permission denied' nobody mkdir /run/emp/other
rm -rf /run/emp

# a directory of somebody else's is not used
mkdir /run/emp
chown 65534 /run/emp
expect 1 '/run/emp must belong to root' "$calibrate" -q run --short 0.02x2 --long 0.02x2 --save b --ignore-audit --force
rmdir /run/emp

# the shipped tmpfiles.d, without the group and with it
if command -v systemd-tmpfiles >/dev/null; then
	systemd-tmpfiles --create "$(realpath "$(dirname "$0")/../../setup/emp.conf")" >"$dir/out" 2>&1
	that "tmpfiles.d makes it without the group" test "$(stat -c '%u %g %a' /run/emp /run/emp/lock | tr '\n' ' ')" = '0 0 755 0 0 600 '
	echo 'emp:x:4242:' >>"$dir/group"
	systemd-tmpfiles --create "$(realpath "$(dirname "$0")/../../setup/emp.conf")" >"$dir/out" 2>&1
	that "tmpfiles.d gives it to the group" test "$(stat -c '%u %g %a' /run/emp/lock)" = '0 4242 660'
	rm -rf /run/emp
	sed -i '/^emp:/d' "$dir/group"
fi
echo 'emp:x:4242:' >>"$dir/group"
expect 0 '' "$calibrate" -q run --short 0.02x2 --long 0.02x2 --save c --ignore-audit --force
that "root's tools give it to the group" test "$(stat -c '%u %g %a' /run/emp/lock)" = '0 4242 660'

# everybody is told who holds it
"$calibrate" --db "$dir/long.db" -q run --short 10x100 --long 10x100 --save d --ignore-audit --force >/dev/null 2>&1 &
holder=$!
wait_until held_by $holder
expect 1 "emp-calibrate (process $holder, since 20.*) has locked this machine" "$measure" -q -r 2 -- true
expect 1 "emp-calibrate (process $holder, since 20.*) has locked this machine" "$setup" apply --only nmi
install -d -o 65534 "$dir/theirs"
install -m 755 "$measure" "$calibrate" "$setup" "$build/calibrate/emp-inc" "$dir/theirs"
for who in nobody member; do
	expect 1 "emp-calibrate (process $holder, since 20.*) has locked this machine" \
		$who "$dir/theirs/emp-measure" --db "$dir/theirs/book.db" -q -r 2 -- true
	expect 1 "emp-calibrate (process $holder, since 20.*) has locked this machine" \
		$who "$dir/theirs/emp-calibrate" --db "$dir/theirs/book.db" revalidate none
done
kill $holder
wait $holder 2>/dev/null
expect 0 'PT (mean' nobody "$dir/theirs/emp-measure" --db "$dir/theirs/book.db" -q -r 2 -- true

# a user without access has a lock beside the book; a member of the group holds the host's
nobody "$dir/theirs/emp-calibrate" --db "$dir/theirs/book.db" revalidate none >/dev/null 2>&1
that "BOOK.lock is used instead" test -e "$dir/theirs/book.db.lock"
setpriv --reuid=65534 --regid=65534 --groups=4242 flock /run/emp/lock sleep 1000 &
wait_until held_by $!
wait_until pgrep -P $! sleep
expect 1 "flock (process [0-9]*, since 20.*) has locked this machine" "$calibrate" -q run --short 0.02x2 --long 0.02x2 --save e --ignore-audit --force
pkill -P $! sleep
wait $! 2>/dev/null
finish
