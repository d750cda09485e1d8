# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that look at traces themselves. $tracing: where tracefs is mounted; if nowhere, it is for this test only.
tracing=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
[ -n "$tracing" ] || { rm -r "$dir" && exec unshare -m sh -c 'mount -t tracefs nodev /sys/kernel/tracing && exec "$@"' sh "$0" "$@"; }
