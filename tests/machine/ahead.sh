#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command before whatever else a test machine does: with autogroups, "nice" alone counts within a session only.
# Usage: ahead.sh COMMAND...
exec setsid -w sh -c '[ ! -w /proc/self/autogroup ] || echo -20 >/proc/self/autogroup; exec nice -n -20 "$@"' sh "$@"
