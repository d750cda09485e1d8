#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-compare-commits and the recipes of its man page, as an ordinary user with a fresh repository. Usage: compare-commits.sh BUILD SOURCE
set -u
. "$(dirname "$0")/expect.sh"
build=$1 source=$2
unset EMP_DB
git="git -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main"
compare=$build/measure/emp-compare-commits
repository=$dir/home/repository

# As root, become somebody else.
user=
if [ "$(id -u)" = 0 ]; then
	user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 755 "$dir"
	install -d -o 65534 -g 65534 "$dir/home"
else
	mkdir "$dir/home"
fi
here() { # COMMAND...: in the repository
	$user env -C "$repository" HOME="$dir/home" TMPDIR="$dir/home" XDG_DATA_HOME= PATH="$build/measure:$PATH" "$@"
}
commit() { # STEPS MESSAGE
	printf 'int main(void) { for (volatile long i = 0; i < %s; i++) ; return 0; }\n' "$1" | here tee solver.c >"$dir/commit"
	here $git add -A >>"$dir/commit" 2>&1 && here $git commit -qm "$2" >>"$dir/commit" 2>&1
}
$user env HOME="$dir/home" $git init -q "$repository"
printf 'solver: solver.c\n\t$(CC) -O1 -o $@ $<\n' | here tee Makefile >"$dir/commit"
commit 40000000 'base\ of `it`'
here $git checkout -q -b change
commit 68000000 'slower, <b>'
here $git checkout -q -b equal main
commit 40000000 'nothing' || here $git commit -q --allow-empty -m nothing
here $git checkout -q -b broken main
echo 'int main(void) { return x; }' | here tee solver.c >"$dir/commit"
here $git commit -qam broken

nothing_is_left() {
	that "no worktree is left" test "$(here git worktree list | wc -l)" = 1
	that "no temporary directory is left" sh -c "! ls -d '$dir/home'/tmp.*"
}

here $git checkout -q change
expect 2 'is slower than' here "$compare" -r 8 -m "$repository/report.md" --json "$repository/result.json" --db="$dir/home/book.db" main '{tree}/solver'
that "the report has both" test "$(grep -c '^| `\(base\|change\) [0-9a-f]*`' "$repository/report.md")" = 2
that "it has the ratio" grep -q '^| `change .* | [12]\.[0-9]* ([12]\.[0-9]* to [12]\.[0-9]*) |$' "$repository/report.md"
that "it says what came of it" grep -q '^\*\*Slower by more than 2 %\.\*\* A difference of [0-9.]* % or more would be shown\.\( In elapsed time: .*\)\?$' "$repository/report.md"
that "it has no elapsed time, which is doubled in a duet" sh -c "grep -q 'taken in turn' '$repository/report.md' || ! grep -E 'Mean|Relative' '$repository/report.md'"
that "it names the commits by subject, and the machine" test "$(grep -cE '^- (change [0-9a-f]+: `slower, <b>`|base [0-9a-f]+: `base. of .it.`|machine: .* CPUs, Linux )' "$repository/report.md")" = 3
that "the picture is of the interval" grep -qE '^ +0 *: *\[-*O-*\]$' "$repository/report.md"
that "the document has all of it" json "$repository/result.json" 'd["format"] == "emp-compare-commits" and d["version"] == 1 and d["change"]["subject"] == "slower, <b>" and d["base"]["subject"] == "base\\ of `it`" and [(r["command_line"], r["status"]) for r in d["results"]] == [("{tree}/solver", 2)] and d["results"][0]["measurement"]["comparisons"][0]["ratio"] > 1.3 and d["machine"]["cpus"] > 0'
that "the runs are in the book that was named" test "$(sqlite3 "$dir/home/book.db" 'SELECT count(*) FROM duet')" = 2
nothing_is_left
expect 0 'slower' here "$compare" -p 200 -r 5 main '{tree}/solver'
expect 2 "" here "$compare" -r 8 -m "$repository/report.md" main true '{tree}/solver'
that "reports are added" test "$(grep -c '^###' "$repository/report.md")" = 3
sleeper() { # US MESSAGE: a commit whose program sleeps
	printf '#include <unistd.h>\nint main(void) { return usleep(%s); }\n' "$1" | here tee solver.c >"$dir/commit"
	here $git commit -qam "$2"
}
here $git checkout -q -b sleeps main
sleeper 20000 sleeps
here $git checkout -q -b sleeps-longer
sleeper 80000 'sleeps longer'
expect 2 'in elapsed time' here "$compare" -r 12 -m "$repository/sleeps.md" sleeps '{tree}/solver'
that "a gate that failed in elapsed time shows it" test "$(grep -cE '^\| Command \| Mean |In elapsed time: \+[0-9.]+ %, 95 % CI \+[0-9.]+ % to \+[0-9.]+ %\.$' "$repository/sleeps.md")" = 2
here $git checkout -q equal
expect 0 '' here "$compare" -r 5 -p 10 main '{tree}/solver'
here $git checkout -q broken
expect 1 "'make' failed in .* (broken)" here "$compare" main '{tree}/solver'
nothing_is_left
expect 0 'Nothing to compare' here "$compare" -m "$repository/nothing.md" --json "$repository/nothing.json" HEAD '{tree}/solver'
that "the report says so" grep -q '^Nothing to compare' "$repository/nothing.md"
that "so does the document" json "$repository/nothing.json" 'd["results"] == [] and d["base"] == d["change"]'
expect 1 "'nowhere' is not known here" here "$compare" nowhere '{tree}/solver'
here $git checkout -q --orphan alone
here $git commit -q --allow-empty -m alone
expect 1 'have no commit in common' here "$compare" main '{tree}/solver'
here $git checkout -qf change
expect 1 '^Usage' here "$compare" main
expect 0 '^Usage' here "$compare" --help
expect 1 "cannot write the report '/none/report.md'" here "$compare" -b false -m /none/report.md main true
expect 1 'ended with exit status 1' here "$compare" -r 3 main false
nothing_is_left

# interrupted
here "$compare" -r 1000 main "{tree}/solver" >"$dir/interrupted" 2>&1 &
wait_until sh -c "ls -d '$dir/home'/tmp.*/head/solver && pgrep -f '^$dir/home/tmp.*/head/solver'"
script=$(pgrep -f "^/bin/sh $compare .*-r 1000")
tool=$(pgrep -P "$script" -f "^$build/measure/emp-measure ") # not its children, which have that name until they execute the program
that "the script and emp-measure run" test "$(echo "$script" "$tool" | wc -w)" = 2
kill -TERM $script $tool # as build servers do: all processes
wait $!
that "an interruption is exit status 130" test $? = 130
nothing_is_left

# the recipes: the lines of the man page, word for word
page() { # HEADING: its first block of code
	awk -v heading="# $1" '$0 == heading { on = 1 } on && /^```/ { if (block++) exit; next } on && block' "$source/man/emp-compare-commits.1.scd"
}
here $git clone -q "$repository" "$dir/home/clone" 2>>"$dir/commit"
repository=$dir/home/clone
here $git checkout -q change
recipe() { # STATUS VARIABLE... SCRIPT
	want=$1
	shift
	expect "$want" 'is slower than' here env -u TMPDIR "${@:1:$#-1}" sh -c "$(printf '%s' "${!#}" | sed "s| {tree}/input||")"
}
recipe 2 GITHUB_STEP_SUMMARY="$repository/summary.md" GITHUB_BASE_REF=main "$(page 'GITHUB ACTIONS' | sed -n '/run: >/,$p' | sed 1d | tr '\n' ' ')"
that "GitHub gets a summary" grep -q Slower "$repository/summary.md"
recipe 2 CI_MERGE_REQUEST_DIFF_BASE_SHA="$(here git rev-parse origin/main)" "$(page 'GITLAB CI' | sed -n '/script:/,/artifacts:/p' | sed '1d; $d; s/^ *- //' | tr '\n' ' ')"
that "GitLab gets an artifact" grep -q Slower "$repository/speed.md"
recipe 2 "$(page BUILDBOT | sed -n 's/^ *\(command=\)*"\(.*\)".*/\2/p' | tr '\n' ' ')"
that "Buildbot gets a log" grep -q Slower "$repository/speed.md"
recipe 2 "$(page 'WITHOUT THE SCRIPT' | sed 's/\\\\$/\\/')"
finish
