# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze trend: a point for each run in the order of time, the levels with their intervals, and what changed.
#
# name, unit     of the program; "s", "ms", "us", or "INC"
# drift        what is said of it, or nothing
# last         x is 1 to last
# low, high      what the picture shows; the points of runs outside it are at its edge
# step, moments  when each step-th run started
# n_places       kinds of points that there are: places (1 to 4), and $runs index 0, 1...
# n_outside      of those above and below: outside (their PT), outside_at, outside_above (0 or 1)
# n_levels       of each: $levels index 0, 1..., two points (many if it drifts): x, mean, and the interval of the mean; from the second on, begins (x),
#                changes (from the level before) and slower (0 or 1); first_has_interval

# By place: within the picture; outliers in it, above it, and below it.
array marks[4] = [7, 6, 9, 11]
array sizes[4] = [0.8, 1.2, 1.6, 1.6]
titles = "'runs' 'outliers' 'outliers above the picture' 'outliers below the picture'"

set title drift eq "" ? name : name . ": " . drift
set xlabel "runs in the order of time"
set ylabel unit eq "INC" ? "PT (INC units: millions of increments)" : "PT (" . unit . ")"
set xrange [0.5:greater(last, 1) + 0.5]
set yrange [low:high]
set key outside right top reverse Left
set lmargin 12

set xtics ("" -9)
do for [i = 1:last:step] { set xtics add (moments[i] i) }

do for [i = 1:n_outside] {
	x = outside_at[i]
	if (4 * (x - 1) < last) {
		set label outside[i] at x, graph (outside_above[i] ? 0.98 : 0.02) left offset 1, 0 tc rgb "#d08000" front
	} else {
		set label outside[i] at x, graph (outside_above[i] ? 0.98 : 0.02) right offset -1, 0 tc rgb "#d08000" front
	}
}
do for [i = 2:n_levels] {
	x = begins[i]
	set arrow from x, graph 0 to x, graph 1 nohead dt 2 lc rgb "#a0a0a0" back
	set label changes[i] at x, graph (i % 2 ? 0.87 : 0.92) offset 0.5, 0 tc rgb (slower[i] ? "#c00000" : "#007000") front
}

plot for [i = 1:n_levels] $levels index i - 1 using 1:3:4 with filledcurves fc rgb "#1f77b4" fs transparent solid 0.2 noborder \
		title i == 1 && first_has_interval ? "95 % interval" : "", \
	for [i = 1:n_levels] $levels index i - 1 using 1:2 with lines lw 2 lc rgb "#1f77b4" title i == 1 ? "level" : "", \
	for [i = 1:n_places] $runs index i - 1 with points pt marks[places[i]] ps sizes[places[i]] \
		lc rgb (places[i] == 1 ? "#404040" : "#d08000") title word(titles, places[i])
