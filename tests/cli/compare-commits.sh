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
	$user env -C "$repository" HOME="$dir/home" TMPDIR="$dir/home" XDG_DATA_HOME= PATH="$build/measure:$build/analyze:$PATH" "$@"
}
commit() { # STEPS MESSAGE
	printf 'int main(void) { for (volatile long i = 0; i < %s; i++) ; return 0; }\n' "$1" | here tee solver.c >"$dir/commit"
	here $git add -A >>"$dir/commit" 2>&1 && here $git commit -qm "$2" >>"$dir/commit" 2>&1
}
$user env HOME="$dir/home" $git init -q "$repository"
printf 'solver: solver.c\n\t$(CC) -O1 -o $@ $<\n' | here tee Makefile >"$dir/commit"
commit 40000000 'base\ of `it`'
here $git checkout -q -b change
commit 68000000 'slower, <b>é@@'
# a byte that is not UTF-8, as older versions of git and others wrote them
here sh -c "LC_ALL=C; export LC_ALL; git update-ref HEAD \$($git cat-file commit HEAD | sed 's/@@/\xff/' | $git hash-object -t commit -w --stdin)"
here $git checkout -q -b equal main
commit 40000000 'nothing' || here $git commit -q --allow-empty -m nothing
here $git checkout -q -b broken main
echo 'int main(void) { return x; }' | here tee solver.c >"$dir/commit"
here $git commit -qam broken

nothing_is_left() {
	that "no worktree is left" test "$(here git worktree list | wc -l)" = 1
	that "no temporary directory is left" sh -c "! ls -d '$dir/home'/emp-compare-*"
}

here $git checkout -q change
expect 2 '^Verdict.*: slower by more than 2 %' here "$compare" -r 8 -m "$repository/report.md" --json "$repository/result.json" --db="$dir/home/book.db" main '{tree}/solver'
that "the report begins with the verdict" grep -q '^\*\*1 is slower, by [0-9.]* %\.\*\*$' "$repository/report.md"
that "it has the ratio" grep -q '^| `{tree}/solver` | CPU | 1\.[0-9]* | 1\.[0-9]* to [12]\.[0-9]* | slower | [0-9.]* ms | [0-9.]* ms | `' "$repository/report.md"
that "it has no elapsed time, which is doubled in a duet" sh -c "grep -q 'in turn' '$repository/report.md' || ! grep -q '| elapsed |' '$repository/report.md'"
that "it names the commits by subject, and the machine" test "$(grep -cE '^- (change [0-9a-f]+: `slower, <b>é�`|base [0-9a-f]+: `base. of .it.`|machine: .* CPUs, Linux `)' "$repository/report.md")" = 3
that "the document has all of it" json "$repository/result.json" 'd["format"] == "emp-compare-commits" and d["version"] == 1 and d["change"]["subject"] == "slower, <b>é�" and d["base"]["subject"] == "base\\ of `it`" and [(r["command_line"], r["status"]) for r in d["results"]] == [("{tree}/solver", 2)] and d["results"][0]["measurement"]["comparisons"][0]["ratio"] > 1.3 and d["machine"]["cpus"] > 0'
that "the runs are in the book that was named" test "$(sqlite3 "$dir/home/book.db" 'SELECT count(*) FROM run')" = 2
nothing_is_left
expect 0 'Verdict.*: equal' here "$compare" -p 900 -r 5 main '{tree}/solver'
expect 2 "" here "$compare" -r 8 -m "$repository/report.md" main 'true {tree}' '{tree}/solver'
that "reports are added" test "$(grep -c '^## ' "$repository/report.md")" = 2
sleeper() { # US MESSAGE: a commit whose program sleeps
	printf '#include <unistd.h>\nint main(void) { return usleep(%s); }\n' "$1" | here tee solver.c >"$dir/commit"
	here $git commit -qam "$2"
}
here $git checkout -q -b sleeps main
sleeper 20000 sleeps
here $git checkout -q -b sleeps-longer
sleeper 80000 'sleeps longer'
expect 2 'elapsed .* slower' here "$compare" -r 12 -m "$repository/sleeps.md" sleeps '{tree}/solver'
that "a gate that failed in elapsed time shows it" grep -q '^| `{tree}/solver` | elapsed | [0-9.]* | [0-9.]* to [0-9.]* | slower |' "$repository/sleeps.md"
here $git checkout -q equal
expect 0 '^Verdict.*: same program; what differs is noise$' here "$compare" -r 5 -p 0 -m "$repository/same.md" --json "$repository/same.json" main '{tree}/solver'
that "the report and the document say so" sh -c "grep -q '^\*\*1 is the same program\.\*\*$' '$repository/same.md' && grep -q '\"verdict\": \"same program\"' '$repository/same.json'"
expect 1 'different work: the output of\|different work; the' here "$compare" -r 3 --same-output -m "$repository/work.md" main 'echo {tree}/solver'
that "the report says so, and nothing of what their times could have shown" sh -c "grep -q '^\*\*1 does different work\.\*\*$' '$repository/work.md' && ! grep -q '^- resolution' '$repository/work.md'"
expect 0 '' here "$compare" -r 3 --no-submodules --check "grep -c /solver" -m "$repository/check.md" main 'echo {tree}/solver'
that "the report says how to repeat it" grep -q "^emp-compare-commits .* '--check=grep -c /solver' --no-submodules " "$repository/check.md"
that "and so with other options" grep -q "^emp-compare-commits .* --same-output " "$repository/work.md"
here $git checkout -q sleeps-longer
# a PT of 0, as a clock of coarse steps has: no clock of the kernel here is that coarse, so the document is made to say so
here mkdir "$dir/home/short"
printf '%s\n' '#!/bin/sh' "'$build/measure/emp-measure' \"\$@\"" 'while [ $# -gt 0 ]; do [ "$1" != --export-json ] || document=$2; [ "$1" != --strict ] || strict=4; shift; done' \
	"exec python3 - \"\$document\" \${strict:-0} <<'P'" 'import json, sys' 'd = json.load(open(sys.argv[1]))' \
	'none = dict(ratio=None, interval=None, verdict="unmeasurable", unmeasurable="shorter than the clock sees", minimum_detectable_difference=None)' \
	'd["verdict"] = "unmeasurable"' 'for c in d.get("comparisons", []): c.update(none); c.get("et", {}).update(none)' \
	'json.dump(d, open(sys.argv[1], "w"), indent=2)' 'sys.exit(int(sys.argv[2]))' P | here tee "$dir/home/short/emp-measure" >"$dir/wrapper"
here chmod +x "$dir/home/short/emp-measure"
here cp "$compare" "$dir/home/short/"
for row in 0 '4 --strict'; do
	here rm -f "$repository/short.md"
	expect "${row%% *}" '' here "$dir/home/short/emp-compare-commits" ${row#?} -r 3 -m "$repository/short.md" --json "$repository/short.json" sleeps '{tree}/solver'
	that "the report names the cause, and no ratio" sh -c "grep -qx '\*\*1 is unmeasurable\.\*\*' '$repository/short.md' && grep -q '^- .*shorter than the clock sees' '$repository/short.md'"
	that "so does the repetition" test "$(grep -c '^emp-compare-commits .* --strict ' "$repository/short.md")" = "$(echo "$row" | grep -c strict)"
	that "the document has it" json "$repository/short.json" 'd["verdict"] == d["results"][0]["verdict"] == "unmeasurable"'
done
here $git checkout -q broken
expect 1 "'make' failed in .* (broken)" here "$compare" -m "$repository/broken.md" main '{tree}/solver'
that "the report says so" grep -q '^\*\*Nothing was measured: the change [0-9a-f]* cannot be built\.\*\*$' "$repository/broken.md"
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
expect 1 "cannot write the report '/none/report.md'" here "$compare" -b false -m /none/report.md main '{tree}/solver'
expect 1 'ended with exit status 1' here "$compare" -r 3 main 'false {tree}'
expect 1 "options come before the commit and the command lines, and '--json' is after them" here "$compare" main '{tree}/solver' --json x
expect 1 "'./solver' has no {tree}: it would compare a program with itself" here "$compare" main '{tree}/solver' ./solver
nothing_is_left

# interrupted
here "$compare" -r 1000 main "{tree}/solver" >"$dir/interrupted" 2>&1 &
wait_until pgrep -f "^$build/measure/emp-measure .*-r 1000 "
wait_until pgrep -f "^$dir/home/emp-compare-.*/head/solver"
script=$(pgrep -f "^/bin/sh $compare .*-r 1000")
tool=$(pgrep -P "$script" -f "^$build/measure/emp-measure .*-r 1000 ") # not its children, which have that name until they execute the program
that "the script and emp-measure run" test "$(echo "$script" "$tool" | wc -w)" = 2
kill -TERM $script $tool # as build servers do: all processes
wait $!
that "an interruption is exit status 130" test $? = 130
nothing_is_left

# A limit of time: fewer samples, or none
or_none() { "$@" || [ $? = 1 ]; }
expect 0 '^Note: --max-time 10s is not enough for 1000 samples of each' or_none here "$compare" --max-time 10s -r 1000 -p 900 --json "$dir/home/time.json" main '{tree}/solver'
that "it took fewer" json "$dir/home/time.json" 'd["max_time"] == "10s" and (
	lambda r: r["benchmark"] == "no time" or 3 <= len(r["measurement"]["results"][0]["times"]) < 1000)(d["results"][0])'
expect 1 'was not measured for lack of time' here "$compare" --strict --max-time 0.01s --json "$dir/home/time.json" main '{tree}/solver'
that "that is no comparison" json "$dir/home/time.json" 'd["verdict"] is None and d["results"][0]["benchmark"] == "no time"'
for wrong in -p.,'--percent.*must be a number' -p2.,'--percent.*must be a number' -r010,'--runs.*must be a number' -r99999999999999999999,'--runs.*must be a number' \
	--strict=no,"'--strict' takes no value" --export=csv=x,"'--export' must be bencher=FILE" --export=bencher=/nowhere/x,"cannot write '/nowhere/x'"; do
	expect 1 "${wrong#*,}" here "$compare" -b false "${wrong%%,*}" main '{tree}/solver'
done
expect 1 'Verdict: 1 was not measured' here "$compare" --max-time 0.01s -p .5 main '{tree}/solver'
expect 1 "'--max-time' must be a time such as 90s, 10min or 1h, not 'soon'" here "$compare" --max-time soon main '{tree}/solver'
nothing_is_left

# A program on several CPUs is taken in turn: here, emp-measure is made to say so.
here mkdir "$dir/home/threads"
printf '%s\n' '#!/bin/sh' "'$build/measure/emp-measure' \"\$@\" || exit" 'while [ $# -gt 0 ]; do [ "$1" != --export-json ] || document=$2; shift; done' \
	'sed -i "s/\"off_cpu\": .*/\"off_cpu\": -0.9,/" "$document"' | here tee "$dir/home/threads/emp-measure" >"$dir/wrapper"
here chmod +x "$dir/home/threads/emp-measure"
here cp "$compare" "$dir/home/threads/"
expect 0 "^Note: '{tree}/solver' runs on several CPUs at once, so both commits are taken in turn" \
	here "$dir/home/threads/emp-compare-commits" -r 3 -p 900 --json "$dir/home/threads.json" main '{tree}/solver'
that "and is no duet" json "$dir/home/threads.json" '"duet" not in d["results"][0]["measurement"]'

# What only one commit has: measured alone or named, and the rest goes on. Programs of a few ms, since nothing is said of their times.
write() { # FILE: standard input, as this user
	here tee "$1" >"$dir/commit"
}
kinds() { # JSON EXPRESSION...: of k, the kind and the status of each command line
	json "$dir/home/$1" "(lambda k: $2)([(r['benchmark'], r['status'], r['measurement'] is not None) for r in d['results']])"
}
here $git checkout -q -b grows main
printf 'int main(void) { return 0; }\n' | write small.c
printf 'all: p q\np q: small.c\n\tcc -o $@ small.c\n' | write Makefile
printf '[ "$1" != more ]\n' | write bench.sh
echo x | write old-input
here $git add -A && here $git commit -qm 'has p and q'
here $git checkout -q -b grown
printf 'all: p r\np r: small.c\n\tcc -o $@ small.c\n' | write Makefile
printf ':\n' | write bench.sh
here $git mv old-input new-input
here $git add -A && here $git commit -qm 'has p and r'
all="-r 2 -m $dir/home/kinds.md --json $dir/home/kinds.json"
expect 0 "^New: '{tree}/r' is measured with the change alone" here "$compare" $all grows '{tree}/r' '{tree}/q' '{tree}/p' 'grep x {tree}/new-input' 'sh {tree}/bench.sh more'
that "what fails in the base is not called new" grep -q "^Fails in the base: 'sh {tree}/bench.sh more' is measured with the change alone" "$dir/out"
that "each command line has its kind" kinds kinds.json '[x[0] for x in k] == ["new", "gone", "both", "new", "new"] and all(x[1] == 0 for x in k)'
that "what is new has been measured" kinds kinds.json '[x[2] for x in k] == [True, False, True, True, True]'
that "what is gone is said" grep -q "^Gone: '{tree}/q' is only in the base, and is not measured" "$dir/out"
that "the report says it" test "$(grep -cE '^\| .* \| (new|gone) \| ' "$dir/home/kinds.md")" = 4
that "it has the times of what is new" test "$(grep -cE '^\| .* \| new \| - \| [0-9.]+ [mu]?s \| ' "$dir/home/kinds.md")" = 3
nothing_is_left
printf 'false\n' | write bench.sh
here $git commit -qam 'bench.sh fails'
expect 1 "^emp-compare-commits: 'sh {tree}/bench.sh less' cannot be measured: .* exit status 1" here "$compare" $all grows 'sh {tree}/bench.sh less' '{tree}/typo' '{tree}/p'
that "what fails in the change is an error, and the rest goes on" kinds kinds.json '[x[:2] for x in k] == [("broken", 1), ("broken", 1), ("both", 0)]'

# A base that cannot be built: all is measured with the change alone. It has no benchmark, or a fault.
here $git checkout -q -b scripted grows
printf 'make p\n' | write build.sh
here chmod 755 build.sh
here $git add -A && here $git commit -qm 'has a build script'
expect 0 "the base has nothing to run './build.sh' with" here "$compare" -b ./build.sh $all grows '{tree}/p'
that "all is new" kinds kinds.json 'k == [("new", 0, True)]'
that "the document says why" json "$dir/home/kinds.json" 'len(d["notes"]) == 1 and "the base has nothing" in d["notes"][0]'
here $git checkout -q -b mended broken
here $git checkout -q main -- solver.c && here $git commit -qm mended
expect 1 "nothing was compared: 'make' failed in the base .* (broken)" here "$compare" $all broken '{tree}/solver'
that "the change was measured" kinds kinds.json 'k == [("new", 0, True)]'
nothing_is_left

# Submodules, one in another, by a relative address; from the objects that are here, or else from where .gitmodules says.
library=$dir/home/library
git_in() { # DIRECTORY ARGUMENT...
	$user env HOME="$dir/home" $git -c protocol.file.allow=always -C "$1" "${@:2}" >>"$dir/commit" 2>&1
}
for name in deepest library; do
	$user env HOME="$dir/home" $git init -q "$dir/home/$name"
	printf 'int %s(void) { return 0; }\n' "$name" | $user tee "$dir/home/$name/$name.c" >"$dir/commit"
	[ "$name" = deepest ] || git_in "$library" submodule add ../deepest 'in it'
	git_in "$dir/home/$name" add -A
	git_in "$dir/home/$name" commit -qm "$name"
done
$user env HOME="$dir/home" $git init -q "$dir/home/with spaces"
repository="$dir/home/with spaces"
git_in "$repository" submodule add ../library sub
printf 'p: sub/library.c sub/in\\ it/deepest.c\n\tcc -shared -fPIC -o lib.so sub/library.c "sub/in it/deepest.c"\n\techo exit 0 >p\n' | write Makefile
git_in "$repository" add -A
git_in "$repository" commit -qm base
git_in "$repository" submodule update --init --recursive
git_in "$repository" checkout -q -b change
printf 'int library(void) { return 1; }\n' | $user tee "$repository/sub/library.c" >"$dir/commit"
git_in "$repository/sub" commit -qam 'not pushed'
git_in "$repository" commit -qam change
before=$(here git config -l)
mv "$library" "$library.away"
mv "$dir/home/deepest" "$dir/home/deepest.away"
expect 0 '' here "$compare" -r 2 main 'sh {tree}/p'
that "the configuration is as before" test "$(here git config -l)" = "$before"
nothing_is_left
git_in "$repository" worktree add -q --detach "$dir/home/linked" change
repository=$dir/home/linked
expect 0 '' here "$compare" -r 2 main 'sh {tree}/p'
repository="$dir/home/with spaces"
git_in "$repository" worktree remove --force "$dir/home/linked"
cp -R "$repository/.git/modules/sub" "$dir/home/embedded" # as of old: a repository of its own, in its place
git_in "$repository/sub" config --unset core.worktree
rm "$repository/sub/.git"
mv "$repository/.git/modules/sub" "$repository/sub/.git"
expect 0 '' here "$compare" -r 2 main 'sh {tree}/p'
rm -r "$repository/sub/.git"
mv "$dir/home/embedded" "$repository/.git/modules/sub"
echo 'gitdir: ../.git/modules/sub' >"$repository/sub/.git"
nothing_is_left
mv "$library.away" "$library"
mv "$dir/home/deepest.away" "$dir/home/deepest"
git_in "$repository" checkout -q -b pushed main
git_in "$repository" commit -q --allow-empty -m pushed
$user env HOME="$dir/home" $git clone -q "$repository" "$dir/home/fresh" 2>>"$dir/commit"
repository=$dir/home/fresh
git_in "$repository" config remote.origin.url "$dir/home/with spaces/" # its submodules are beside it
before=$(here git config -l)
expect 1 "cannot fetch the submodule 'sub' from '$library'. Run .* or give --no-submodules" here "$compare" -r 2 origin/main 'sh {tree}/p'
nothing_is_left
expect 1 "'make' failed in" here "$compare" --no-submodules -r 2 origin/main 'sh {tree}/p'
allowed="GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always"
expect 0 '' here env $allowed "$compare" -r 2 origin/main 'sh {tree}/p'
that "the configuration is as before" test "$(here git config -l)" = "$before"

# What is no full checkout is said.
repository="$dir/home/with spaces"
printf 'p:\n\techo exit 0 >p\n' | write Makefile
here git rm -qf --cached sub
here rm -rf sub .gitmodules
echo '*.bin filter=lfs' | write .gitattributes
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' | write big.bin
here mkdir far
echo x | write far/file
git_in "$repository" add -A
git_in "$repository" commit -qm pointers
git_in "$repository" commit -q --allow-empty -m more
expect 0 'Note: the base has 1 LFS pointer in place of content (big.bin)' here "$compare" -r 2 --json "$dir/home/notes.json" HEAD~1 'sh {tree}/p'
git_in "$repository" sparse-checkout set --no-cone '/*' '!/far/'
expect 0 'Note: this checkout is sparse, and so is that of the change: 1 file missing' here "$compare" -r 2 --json "$dir/home/notes.json" HEAD~1 'sh {tree}/p'
that "in the document, too" json "$dir/home/notes.json" 'len(d["notes"]) == 4'
$user env HOME="$dir/home" $git clone -q --depth 1 "file://$repository" "$dir/home/shallow" 2>>"$dir/commit"
far=$(here git rev-parse main)
repository=$dir/home/shallow
git_in "$repository" fetch -q --depth 1 origin main
expect 1 "no commit in common in this shallow clone; get the history with 'git fetch --unshallow'" here "$compare" FETCH_HEAD 'sh {tree}/p'

# TMPDIR with blanks; and what a killed one left is removed by the next.
repository="$dir/home/with spaces"
here mkdir "$dir/home/a b"
expect 0 '' here env TMPDIR="$dir/home/a b" "$compare" -r 2 HEAD~1 'sh {tree}/p'
here "$compare" -b "case \$PWD in */base) echo \$\$ >$dir/home/builds; exec sleep 4321 ;; esac" HEAD~1 'sh {tree}/p' >"$dir/killed" 2>&1 &
wait_until test -s "$dir/home/builds"
kill -KILL $(pgrep -f "^/bin/sh $compare -b case")
kill -KILL "$(cat "$dir/home/builds")"
wait $! 2>>"$dir/killed"
that "a killed one leaves its trees" test "$(here git worktree list | wc -l)" = 3
expect 0 '' here "$compare" -r 2 HEAD~1 'sh {tree}/p'
nothing_is_left
# TERM to the script alone ends the build, and all that this has started
here rm "$dir/home/builds"
here "$compare" -b "echo \$\$ >$dir/home/builds; sleep 4321; :" HEAD~1 'sh {tree}/p' >"$dir/killed" 2>&1 &
wait_until test -s "$dir/home/builds"
kill $(pgrep -f "^/bin/sh $compare -b echo")
ended=0
wait $! || ended=$?
that "TERM during a build" test $ended = 130
that "ends it" test ! -d "/proc/$(cat "$dir/home/builds")"
nothing_is_left
repository=$dir/home/repository
here $git checkout -qf change

# the recipes: the lines of the man page, word for word
page() { # HEADING N: its N-th block of code
	awk -v heading="# $1" -v n="$2" '$0 == heading { on = 1 } on && /^```/ { if (++fences == 2 * n) exit; next } on && fences == 2 * n - 1' "$source/man/emp-compare-commits.1.scd"
}
here $git clone -q "$repository" "$dir/home/clone" 2>>"$dir/commit"
repository=$dir/home/clone
here $git checkout -q change
recipe() { # STATUS VARIABLE... SCRIPT
	want=$1
	shift
	expect "$want" 'slower' here env -u TMPDIR "${@:1:$#-1}" sh -c "$(printf '%s' "${!#}" | sed "s| {tree}/input||")"
}
recipe 2 GITHUB_STEP_SUMMARY="$repository/summary.md" GITHUB_BASE_REF=main "$(page 'GITHUB ACTIONS' 2 | sed -n '/run: >/,$p' | sed 1d | tr '\n' ' ')"
that "GitHub gets a summary" grep -qF "1 is slower, by" "$repository/summary.md"
recipe 2 CI_MERGE_REQUEST_DIFF_BASE_SHA="$(here git rev-parse origin/main)" "$(page 'GITLAB CI' 2 | sed -n '/script:/,/artifacts:/p' | sed '1d; $d; s/^ *- //' | tr '\n' ' ')"
that "GitLab gets an artifact" grep -qF "1 is slower, by" "$repository/speed.md"
recipe 2 "$(page BUILDBOT 1 | sed -n 's/^ *\(command=\)*"\(.*\)".*/\2/p' | tr '\n' ' ')"
that "Buildbot gets a log" grep -qF "1 is slower, by" "$repository/speed.md"
recipe 2 "$(page 'WITHOUT THE SCRIPT' 1 | sed 's/\\\\$/\\/')"
finish
