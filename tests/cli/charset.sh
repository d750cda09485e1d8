#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Locales whose characters are not UTF-8: what is printed is ASCII, or text of the locale, and no line is wider for it.
# charset.sh BUILD SOURCE
build=$1 source=$2
. "$(dirname "$0")/expect.sh"
measure="$build/measure/emp-measure -q" analyze=$build/analyze/emp-analyze data=$source/tests/papers/data
mkdir "$dir/locales"
localedef -i de_DE -f ISO-8859-1 "$dir/locales/de_DE.ISO-8859-1" 2>/dev/null
export LOCPATH=$dir/locales
cd "$dir" || exit 1

# in_locale LOCALE COMMAND...: what the command prints on either output, in "printed"
in_locale() {
	LC_ALL=$1 COLUMNS=80 "${@:2}" >printed 2>&1
	status=$?
	# two bytes beyond ASCII, of which the first begins a character of UTF-8 and the second continues it
	if LC_ALL=C grep -q -P '[\xc2-\xf4][\x80-\xbf]' printed || { [ "$1" = C ] && LC_ALL=C grep -q -P '[\x80-\xff]' printed; }; then
		echo "FAULT: UTF-8 in the locale $1: ${*:2}"
		sed 's/^/    /' printed
		faults=$((faults + 1))
	fi
	return $status
}
bytes() { # BYTES: whether they were printed
	LC_ALL=C grep -q -a -F "$(printf '%b' "$1")" printed
}

$analyze import "$data"/emp-run-*.json >/dev/null
EMP_DB=$EMP_DB $measure -r 3 -w 0 -n größe -n 'a…b×' true 'echo größe' >/dev/null
for locale in C de_DE.ISO-8859-1; do
	in_locale $locale $measure -r 3 -w 0 -n größe -n 'a…b×' true 'echo größe'
	that "the table is in columns" sh -c "! LC_ALL=C grep -E '.{81}' printed"
	that "the deviation has a sign" grep -a -q ' +- ' printed
	that "EMP's own characters in a name are ASCII" grep -a -q 'a\.\.\.bx' printed
	[ $locale = C ] || that "a name is in the locale's characters" bytes 'gr\xf6\xdfe '
	[ $locale != C ] || that "a name that the locale has not is readable" bytes 'gr\\xc3\\xb6\\xc3\\x9fe '
	for command in "$measure -v -r 3 -w 0 -- sh -c true" "$measure --json -r 2 -w 0 -n größe true" \
		"$measure -r 2 -w 0 -n größe --export-markdown - true" "$measure -r 2 -w 0 -n größe --export-csv - true" \
		"$measure -r 3 -w 0 --order duet true 'sh -c true'" \
		"$analyze show last" "$analyze show last --json" "$analyze compare größe a…b×" "$analyze list" "$analyze list --json" \
		"$analyze cutoffs --short 1 --long 2" "$analyze daemons 1" "$analyze discard 1" "$analyze sample-size 1" "$analyze trend größe" \
		"$analyze trend größe --csv -" "$analyze trend größe --markdown -" "$analyze show größ" "$measure nö-such" "$analyze import nö.json" \
		"$build/setup/emp-setup audit" "$build/setup/emp-setup fingerprint" "$build/calibrate/emp-calibrate status" \
		"$build/measure/emp-load example" "$measure --help" "$analyze --help"; do
		in_locale $locale sh -c "$command"
	done
	in_locale $locale $measure -r 2 -w 0 -n "$(printf 'gr\366\337e')" true
	[ $locale = C ] || that "a name that was typed in the locale is read so" sh -c "LC_ALL=C.UTF-8 $analyze list | grep -q ' größe '"
	in_locale $locale $analyze show "$(printf 'gr\366\337e')"
	[ $locale = C ] || that "and found" bytes 'gr\xf6\xdfe  '
	that "JSON is read back" sh -c "LC_ALL=$locale $analyze export größe >$locale.json && $analyze import $locale.json && grep -q '\"name\": \"gr.u00F6.u00DFe\"' $locale.json"
done
$measure -r 2 -w 0 true 'sh -c true' >printed
that "UTF-8 stays UTF-8" grep -q ' ± ' printed
finish
