#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze study as a user types it, on studies made up here, whose truth is known. Usage: analyze-study.sh BUILD
set -u
build=$(realpath "$1") here=$(realpath "$(dirname "$0")")
. "$here/expect.sh"
analyze=$build/analyze/emp-analyze
cd "$dir" || exit 1

expect 1 'there is no lab book' "$analyze" study last
"$build/measure/emp-measure" -q -w 0 -r 2 true >out 2>&1
expect 1 "the lab book has no study: 'emp-study list'" "$analyze" study last
expect 0 '' python3 "$here/made_up_studies.py" "$EMP_DB"
expect 1 'has no study 99' "$analyze" study 99
expect 1 "STUDY must be the number of a study, not 'x'" "$analyze" study x

# Settings: units removes all but a thousandth of the variance of ET, and 5 % of the time; ntp 0.5 % of every sample; the last step nothing.
expect 0 '^Study 1 (settings)' "$analyze" study 1
expect 0 '^units  *ET .* faster, steadier$' "$analyze" study 1 --table steps
expect 0 '^ntp  *ET .* faster$' "$analyze" study 1 --table steps
that "PT shows nothing, and the empty step neither" test "$("$analyze" study 1 --table steps | grep -c 'PT .* nothing$\|^nothing  *ET .* nothing$')" = 5
gives "the shares are those planted" '(lambda s: all(abs(r["removed"] - 0.998) < 0.03 and r["removed_low"] <= r["removed"] <= r["removed_high"] for r in s if r["step"] == "units" and r["clock"] == "ET") and all(abs(r["removed"]) < 0.03 for r in s if r["step"] in ("ntp", "nothing") and r["clock"] == "ET"))(d["tables"]["shares"])' "$analyze" study 1 --json
gives "the cost is the planted one" 'all(r["time_change_low"] < -0.05 / 1.05 < r["time_change_high"] for r in d["tables"]["steps"] if (r["step"], r["clock"]) == ("units", "ET"))' "$analyze" study 1 --json
gives "parts of the variance are a whole" 'all(abs(r["settings"] + r["blocks"] + r["samples"] - 1) < 1e-9 for r in d["tables"]["variance"])' "$analyze" study 1 --json
expect 0 '^units  *backupd  *postfix.service  *4.[0-9] %  *0 %  *mail$' "$analyze" study 1 --table daemons
expect 0 '^units  *ET .* faster, steadier$' "$analyze" study 4 --table steps
expect 0 'without ntp' "$analyze" study 4
that "nobody says that a step of an unfinished study shows something" sh -c "! '$analyze' study 9 | grep -q SHOWS"

# Lengths: the papers' numbers, rules, detection limits.
expect 0 '^INC8 .* emp .* 0.021 %$' "$analyze" study 2 --table rules_pt
gives "both checks discard no less than the first" '(lambda n: all(n[k, "ET", "emp"] <= n.get((k, "ET", "sedona"), 100) <= n[k, "ET", "all"] == 100 for k, _, _ in n))({(r["program"], r["clock"], r["rule"]): r["samples"] for t in ("rules_et", "rules_pt") for r in d["tables"][t]} | {(r["program"], "ET", r["rule"]): r["samples"] for r in d["tables"]["rules_et"]})' "$analyze" study 2 --json
gives "longer programs have a smaller detection limit, as a share" '(lambda s: s[0] > 10 * s[-1] > 0)([r["share"] for r in d["tables"]["limits"]])' "$analyze" study 2 --json
gives "the papers' tables are there" '{r["table"] for r in d["tables"]["papers"]} == {"VI", "VII", "XVIII", "XIX"}' "$analyze" study 2 --json
expect 0 'reconstruction' "$analyze" study 2

# Samples, clocks, algorithms, suite.
gives "sizes halve" '[r["first"] for r in d["tables"]["sizes"] if r["clock"] == "PT"] == [320, 160, 80, 40, 30, 20, 10]' "$analyze" study 3 --json
expect 0 '^INC8  *getrusage in ticks ' "$analyze" study 5
gives "the fits are right" '{(r["program"], r["growth"]) for r in d["tables"]["fits"] if r["fits"] == "yes"} == {("sort", "n^2"), ("merge", "n log n")}' "$analyze" study 6 --json
gives "sizes are in the order of size" '(lambda s: s == sorted(s) and len(s) == 6)([r["size"] for r in d["tables"]["times"] if r["program"].startswith("sort") and r["clock"] == "PT"])' "$analyze" study 6 --json
gives "the gain is that of the CVs" 'all(abs(r["et_cv"] / r["pt_cv"] - r["gain"]) < 1e-9 for r in d["tables"]["programs"]) and sum(r["programs"] for r in d["tables"]["classes"]) == 5' "$analyze" study 7 --json

# A night, and a study that is not finished.
expect 0 'not finished: 3 of 6 blocks' "$analyze" study 9
gives "a night has its studies" '([s["study"] for s in d["studies"]] == [9, 10] and d["studies"][0]["finished_ns"] is None and d["studies"][0]["night"] == 8)' "$analyze" study 8 --json
expect 1 'study 8 is a night of several studies: name one of them' "$analyze" study 8 --csv -
gives "the last one" 'd["study"] == 10' "$analyze" study last --json

# Rules, formats.
gives "a rule for all tables" '(d["rule"] == "emp" and all(r["samples"] < 160 for r in d["tables"]["times"]))' "$analyze" study 1 --rule emp --json
expect 1 "a profile 'x'\|no profile\|'x'" "$analyze" study 1 --profile x
expect 1 "study 1 has no table 'x'; it has: times, steps, shares" "$analyze" study 1 --table x
expect 1 'choose one' "$analyze" study 1 --json --csv -
expect 1 '\-\-script needs a picture' "$analyze" study 1 --script
expect 1 '\-\-picture needs a picture' "$analyze" study 1 --picture sd
expect 1 '\-\-table is for text' "$analyze" study 1 --table times --json
"$analyze" study 2 --csv study.csv --table limits
that "CSV has numbers only" python3 -c 'import csv; rows = list(csv.DictReader(open("study.csv"))); assert len(rows) == 6 and all(float(r["share"]) > 0 and int(r["samples"]) == 100 for r in rows), rows'
expect 0 '^| INC0.1 | as it was | ET |' "$analyze" study 1 --markdown -
expect 0 '^\\begin{tabular}{lllS\[table-format=1.0\]S\[table-format=3.0\]S\[table-format=[0-9]\.[0-9]\]' "$analyze" study 1 --latex - --table times
"$analyze" study 1 --latex study.tex
that "each table is whole" python3 -c 'text = open("study.tex").read(); n = text.count("\\begin{table}"); assert n == 8 == text.count("\\end{table}") == text.count("\\toprule"), n'
if command -v pdflatex >/dev/null && kpsewhich siunitx.sty >/dev/null; then
	printf '\\documentclass{article}\n\\usepackage{booktabs,siunitx}\n\\begin{document}\n\\input{study}\n\\end{document}\n' >paper.tex
	expect 0 'Output written' pdflatex -halt-on-error paper.tex
fi

# Pictures, at the width of a paper's column.
if command -v gnuplot >/dev/null; then
	for study in 1 2 3 4 5 6 7; do
		expect 0 '' "$analyze" study $study -o $study.svg --script
		that "gnuplot has nothing to say" test ! -s out
		that "it can be read: study $study" python3 "$here/picture.py" $study.svg
	done
	expect 0 '' "$analyze" study 1 -o shares.svg --picture shares
	that "it can be read: shares" python3 "$here/picture.py" shares.svg
	expect 0 '' "$analyze" study 4 -o sd.svg --picture sd
	that "it can be read: sd" python3 "$here/picture.py" sd.svg
	that "the picture has what the table has" python3 - 2.svg.gnuplot <<'P'
import re, sys
text = open(sys.argv[1]).read()
blocks = re.search(r"^\$curves << EOD\n(.*?)^EOD$", text, re.S | re.M)[1].split("\n\n\n")
assert len(blocks[0].split("\n")) == 6 and len(blocks[3].split("\n")) == 15, blocks
assert abs(float(blocks[3].split("\n")[0].split()[1]) - 100 * 0.7 / 1002) < 1e-6, blocks[3]
P
	expect 1 "has nothing for a picture of 'shares'" "$analyze" study 2 -o shares.svg --picture shares
	expect 1 'must end with .png, .svg or .pdf' "$analyze" study 2 -o shares.jpg
fi
finish
