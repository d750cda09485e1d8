#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the Tab key offers: from emp itself, and in bash, zsh and fish, those that are installed. Usage: completion.sh BUILD SOURCE
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/expect.sh"
build=$(realpath "$1") source=$(realpath "$2")
emp=$build/emp/emp
cd "$dir" || exit 1
mkdir bin sub
for tool in emp/emp measure/emp-measure measure/emp-compare-commits setup/emp-setup analyze/emp-analyze calibrate/emp-calibrate measure/emp-load study/emp-study; do
	ln -s "$build/$tool" bin
done
export PATH=$dir/bin:$PATH

# a book with many runs, names and profiles
expect 0 '' emp-measure -q --accounting none -r 1 -w 0 -n 'a name' -- true
expect 0 '' emp-measure -q --accounting none -r 1 -w 0 'sort -n /dev/null'
columns=$(sqlite3 "$EMP_DB" "SELECT group_concat(name) FROM pragma_table_info('run') WHERE name NOT IN ('id', 'uid')")
sqlite3 "$EMP_DB" "WITH RECURSIVE k(i) AS (VALUES(3) UNION ALL SELECT i + 1 FROM k WHERE i < 5000)
	INSERT INTO run(uid, $columns) SELECT printf('%032x', i), $columns FROM run, k WHERE id = 2;
	INSERT INTO profile(name, resolution_ns, made_ns) VALUES('lab1', 1, 1), ('new one', 1, 1)"

# offers WORDS... -- EXPECTED...: the words that emp says for a line, the first of which says what the shell adds
offers() {
	expected=$1
	shift
	doing="complete $*"
	"$emp" complete "$@" >"$dir/out" 2>"$dir/errors"
	status=$?
	said=$(cut -f 1 "$dir/out" | tr '\n' ' ')
	[ "$status" = 0 ] && [ ! -s "$dir/errors" ] && [[ $said == $expected ]] && return
	echo "FAULT: '$said' (status $status), not '$expected': $*"
	faults=$((faults + 1))
}
offers 'words setup calibrate measure load compare-commits study analyze inc help version ' emp ''
offers 'words measure ' emp me
offers 'words audit apply ' emp setup a
offers 'words audit apply ' emp-setup a
offers 'words audit apply ' /usr/bin/emp-setup a
offers 'words show sample-size scatter study ' emp analyze s
offers 'words --fail-if-slower ' emp measure --fail
offers '* --json --help --version ' emp analyze list --
offers 'words interleave shuffle sequence duet auto ' emp measure --order ''
offers 'words --order=duet ' emp-measure --order=d
offers 'words duet ' emp-measure --order = d # as bash splits it
offers 'words freq.driver,freq.governor ' emp setup apply --only freq.driver,freq.g
offers "words $(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))') " emp measure --cpu ''
offers 'words lab1 new one ' emp measure --profile ''
offers 'words lab1 ' emp calibrate revalidate l
offers 'words 1299 1298 *1200 ' emp analyze show --db "$EMP_DB" --json 12
offers 'files 5000 4999 *' emp analyze compare ''
offers 'words a name ' emp analyze trend ''
offers 'files ' emp analyze scatter 1 -o ''
offers 'files debian-12 ' emp setup audit -p deb
offers 'commands ' emp measure -r 3 -- ''
offers 'files ' emp measure -- sort ''
offers 'commands ' emp-measure -S ''
offers 'words list show export import remove ' emp calibrate profile ''
offers 'files lab1 ' emp calibrate profile show l
offers 'words --strict ' emp compare-commits --st
offers 'words bencher= github-action-benchmark= otava-csv= ' emp compare-commits --export ''
offers 'words bencher= ' emp measure --export b
offers 'words --export=bencher= ' emp measure --export=b
offers 'files ' emp measure --export bencher=su
offers 'files ' emp measure --export bencher = su # as bash splits it
offers 'files ' emp measure --export = bencher =
offers 'commands ' emp measure --export bencher = sub/file ''
git -c init.defaultBranch=main init -q repository
git -C repository -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first
git -C repository branch faster
cd repository || exit 1
offers 'words faster main ' emp compare-commits ''
offers 'words main ' emp-compare-commits -r 3 m
offers 'files ' emp compare-commits main ''
cd ..
offers 'words ' emp compare-commits ''
offers '' emp help ''
offers '' emp
offers '' emp nothing ''
offers 'words ' emp inc ''
offers 'words ' emp-inc 3 ''

# a book that cannot be read is no book, and one that is locked keeps nobody waiting
echo nothing >damaged.db
mkfifo fifo
for book in nowhere.db damaged.db fifo sub; do
	offers 'words ' emp analyze show --db $book ''
done
sqlite3 "$EMP_DB" 'PRAGMA journal_mode = DELETE' >/dev/null
sqlite3 "$EMP_DB" 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE' ".shell touch locked; until [ -e done ]; do sleep 0.1; done" >/dev/null &
wait_until test -e locked
doing="complete, while the book is locked"
begun=$(date +%s%N)
offers 'words ' emp analyze show ''
that "nobody waits for the lock" test $(($(date +%s%N) - begun)) -lt 3000000000
touch done
wait
TIMEFORMAT='%U %S'
used=$({ time "$emp" complete emp analyze show '' >out; } 2>&1 | awk '{ print 1000 * ($1 + $2) }')
that "100 of 5000 runs are there" test "$(wc -l <out)" = 101
that "in less than 50 ms, not $used" awk "BEGIN { exit !($used < 50) }"

# in the shells
for shell in bash zsh fish; do
	command -v $shell >/dev/null || { echo "not tried: there is no $shell"; continue; }
	types() { that "in $shell, '$1' and Tab" "$here/type_tab.py" $shell "$source/emp" "$@"; }
	types 'emp setup aud' '--help' 'Usage: emp-setup audit'
	types 'emp-analyze trend a' '--json' '"format": "emp-trend"|a name'
	types 'emp measure --order du' '-r 2' 'duet needs two commands|too few arguments'
	types 'emp measure --export-json su' 'x true' 'sub/.*x true'
	types 'emp-analyze trend "a n' '" --json' '"format": "emp-trend"|a name'
	types "emp-analyze trend 'a n" "' --json" '"format": "emp-trend"|a name'
	types 'emp measure --export bencher=su' 'x true' 'sub/[^ ]*x'
done
{
	bash -c "source '$source/emp/emp.bash'; PATH=/nowhere; COMP_WORDS=(emp '') COMP_CWORD=1; _emp"
	! command -v zsh || zsh -f -c "words=(emp ''); CURRENT=2; PATH=/nowhere; source '$source/emp/_emp'"
	! command -v fish || fish --no-config -c "source '$source/emp/emp.fish'; set PATH /nowhere; complete -C 'emp '"
} >/dev/null 2>errors
that "without emp, nothing is said" test ! -s errors
finish
