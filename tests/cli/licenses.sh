#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every file names its licence in its first lines, or REUSE.toml does, and LICENSES/ has the text of each licence named.
# Usage: licenses.sh SOURCE
set -u
cd "$1" || exit 1
bad=0

covered=$(sed -n '/^path = /,/]$/p' REUSE.toml | grep -o '"[^"]*"' | tr -d '"')
[ -n "$covered" ] || { echo "REUSE.toml covers nothing"; exit 1; }
set -f

is_covered() {
	for pattern in $covered; do
		case $1 in $pattern) return 0 ;; esac
	done
	return 1
}

checked=0
for file in $(find . \( -name .git -o -name 'build*' -o -name LICENSES -o -name __pycache__ \) -prune -o -type f -print | sed 's|^\./||'); do
	checked=$((checked + 1))
	license=$(head -n 3 "$file" | sed -n 's/.*SPDX-License-Identifier: \([A-Za-z0-9.-]*\).*/\1/p' | head -n 1)
	if [ -n "$license" ]; then
		[ -s "LICENSES/$license.txt" ] || { echo "LICENSES has no text of $license, which $file names"; bad=1; }
	elif ! is_covered "$file"; then
		echo "$file names no licence"
		bad=1
	fi
done
[ $checked -gt 300 ] || { echo "only $checked files found"; bad=1; }
exit $bad
