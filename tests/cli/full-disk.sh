#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A disk is full where a tool writes: standard output, and the file of each option. The status is 1, and the message names the file and the
# cause. Usage: full-disk.sh BUILD
set -u
set -- "$(realpath "$1")" "$(realpath "$0")"
. "$(dirname "$2")/expect.sh"
analyze=$1/analyze/emp-analyze
calibrate=$1/calibrate/emp-calibrate
measure=$1/measure/emp-measure
load=$1/measure/emp-load
commits=$1/measure/emp-compare-commits
setup=$1/setup/emp-setup
here=$(dirname "$2")
cd "$dir" || exit 1
for ending in json csv md adoc org svg png pdf svg.gnuplot dat; do ln -s /dev/full "full.$ending"; done

expect 0 '' $measure -q -r 3 -w 0 -- true
expect 0 '' $measure -q -r 3 -w 0 -- true
python3 "$here/made_up_jitter.py" "$EMP_DB" 20 1 backupd >jitter
python3 "$here/made_up_jitter.py" "$EMP_DB" 20 2 kinds >after
python3 "$here/made_up_load.py" "$EMP_DB" 1 >load
python3 "$here/made_up_load.py" "$EMP_DB" 2 speed=1.1 >other
python3 "$here/made_up_runs.py" "$EMP_DB" >out
jitter=$(cat jitter) after=$(cat after) run=$(cat load) other=$(cat other)
cat >profile.json <<'END_OF_PROFILE'
{"format": "emp-profile", "version": 1, "name": "lab", "resolution_ns": 1, "short": {"program": "INC", "samples": 9, "l_samples": []},
 "long": {"program": "INC", "samples": 9, "l_samples": []}, "cutoffs": []}
END_OF_PROFILE
expect 0 '' $calibrate profile import profile.json
expect 0 '' $measure -q -r 2 -w 0 --profile lab -- true
lab=$($analyze list --json | sed -n 's/^ *"run": \([0-9]*\),$/\1/p' | tail -1)
printf '[load]\nruns = 2\n[work]\nslaves = 2\nrepetitions = 2\ncommand = true\n' >load.ini

# full COMMAND...: what it prints does not fit
full() {
	expect 1 ': cannot write to standard output: No space left on device$' sh -c '"$@" 2>&1 >/dev/full' full "$@"
}
for words in list show\ 1 daemons\ 1 sample-size\ 1 compare\ 1\ 2 trend\ solver load\ $run load\ $run\ $other jitter\ $jitter \
	jitter\ $jitter\ $after; do
	full $analyze $words
	full $analyze $words --json
done
full $analyze export 1
full $analyze discard $lab
full $analyze discard $lab --json
full $analyze trend solver --csv -
full $analyze trend solver --markdown -
full $analyze load $run --csv -
full $analyze load $run --markdown -
full $analyze list --help
full $analyze --version
for words in constant status profile\ list; do
	full $calibrate $words
	full $calibrate $words --json
done
for words in audit status fingerprint apply\ --dry-run; do
	full $setup $words
	full $setup $words --json
done
full $load example
full $load check load.ini
full $load -q run load.ini
full $load -q run load.ini --json
full $load -q run load.ini --export-json -
full $measure -q -r 2 -w 0 -- true
full $measure -q -r 2 -w 0 --json -- true
full $measure -q -r 2 -w 0 -- true false -i
for format in json csv markdown asciidoc orgmode; do full $measure -q -r 2 -w 0 --export-$format - -- true; done

# wrote FILE COMMAND...: what it writes to that file does not fit
wrote() {
	file=$1
	shift
	expect 1 "cannot write '$file': No space left on device" "$@"
}
files() { # DIRECTORY: the options that write files, into files of that directory
	for format in json csv markdown asciidoc orgmode; do wrote "$1.json" $measure -q -r 2 -w 0 --export-$format "$1.json" -- true; done
	wrote "$1.json" $load -q run load.ini --export-json "$1.json"
	for ending in svg png pdf; do
		wrote "$1.$ending" $analyze scatter 1 -o "$1.$ending"
		wrote "$1.$ending" $analyze trend solver -o "$1.$ending"
		wrote "$1.$ending" $analyze load "$run" -o "$1.$ending"
		wrote "$1.$ending" $analyze jitter "$jitter" -o "$1.$ending"
	done
	wrote "$1.svg" $analyze jitter "$jitter" -o "$1.svg" --timeline
	wrote "$1.svg" $analyze jitter "$jitter" "$after" -o "$1.svg" --by-source
	wrote "$1.csv" $analyze trend solver --csv "$1.csv"
	wrote "$1.md" $analyze trend solver --markdown "$1.md"
	wrote "$1.csv" $analyze load "$run" --csv "$1.csv"
	wrote "$1.md" $analyze load "$run" --markdown "$1.md"
}
files full
rm full.svg
wrote full.svg.gnuplot $analyze scatter 1 -o full.svg --script
that "without its script there is no picture" test ! -e full.svg

# emp-compare-commits
git init -q repository
cd repository || exit 1
git config user.email a@example.org
git config user.name A
printf '#!/bin/sh\n:\n' >program
chmod +x program
git add program
git commit -q -m one
git branch before
git commit -q --allow-empty -m two
for option in "--json full.json" "--markdown full.md"; do
	file=${option#* }
	ln -s /dev/full "$file"
	expect 1 "cannot write the .* '$file'$" $commits -b true -r 3 $option before '{tree}/program'
done
cd ..

finish
