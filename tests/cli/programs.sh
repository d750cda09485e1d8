#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The papers' programs: sizes and seeds, and by how much their times grow.
# Usage: programs.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
programs=$1/programs
sort=$programs/emp-sort

for n in 1 2 3 7 1000 1.5K; do
	expect 0 '' "$sort" $n
	expect 0 '' "$sort" --algorithm merge --seed 3 $n
done
for program in emp-matr emp-matc; do
	for n in 1 2 3 100; do
		expect 0 '' "$programs/$program" $n
		expect 0 '' "$programs/$program" --seed 3 $n
	done
	expect 1 "SIZE must be a whole number from 1 to 100K, such as 250, 100K or 3.2M, not '1X'" "$programs/$program" 1X
	expect 1 "not '0'" "$programs/$program" 0
	that "$program prints nothing" sh -c "[ -z \"\$('$programs/$program' 10 2>&1)\" ]"
done
expect 1 "not '1.0001K'" "$sort" 1.0001K
expect 1 "not '-5'" "$sort" -- -5
expect 1 'SIZE must be a whole number from 1 to 1G' "$sort" 2G
expect 1 "algorithm must be insertion or merge, not 'bubble'" "$sort" --algorithm bubble 10
expect 1 'seed' "$sort" --seed 0 10
expect 1 'SIZE' "$sort"
expect 0 '^Usage: emp-sort' "$sort" --help

# user_time COMMAND...: of the least of three runs, in hundredths of a second
user_time() {
	python3 - "$@" <<'PYTHON'
import resource, subprocess, sys
def used():
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(sys.argv[1:], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
print(round(100 * min(used() for _ in range(3))))
PYTHON
}
# Four times the integers take 16 times as long by insertion, 4.5 times by merging.
small=$(user_time "$sort" 20K) large=$(user_time "$sort" 80K)
that "insertion grows with the square: $small, $large" test "$large" -ge $((8 * small))
merged=$(user_time "$sort" --algorithm merge 80K)
that "merging is faster: $merged, $large" test "$large" -ge $((8 * merged))
finish
