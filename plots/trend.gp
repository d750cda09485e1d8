# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze trend: a point for each run in the order of time, the levels with their intervals, and what changed.
#
# name           of the program
# inc            whether PT is in units of INC; else it is in seconds
# pt_low, pt_high, pt_ticks, pt_unit   what the picture shows; the points of runs outside it are at its edge
# drift        what is said of it, or nothing
# last         x is 1 to last
# step, moments  when each step-th run started
# n_places       kinds of points that there are: places (1 to 4), and $runs index 0, 1...
# n_outside      of those above and below: outside (their PT), outside_at, outside_above (0 or 1)
# n_levels       of each: $levels index 0, 1..., two points (many if it drifts): x, mean, and the interval of the mean; from the second on, begins (x),
#                changes (from the level before) and slower (0 or 1); first_has_interval

# By place: within the picture; outliers in it, above it, and below it.
array marks[4] = [7, 6, 9, 11]
array sizes[4] = [0.45, 0.7, 0.9, 0.9]
titles = "'runs' 'outliers' 'outliers above the picture' 'outliers below the picture'"

set label 1 drift eq "" ? name : name . "\n" . drift
set tmargin 3
set xlabel "runs in the order of time, from " . moments[1][1:10] offset 0,-0.2
set ylabel inc ? "PT (INC units: millions of increments)" : with_unit("PT", pt_unit)
set xrange [0.5:greater(last, 1) + 0.5]
set yrange [pt_low:pt_high]
eval "set ytics " . pt_ticks
lines = n_places + 1 + first_has_interval
set bmargin below(lines) + 0.5
set key maxrows lines
set rmargin 3

set xtics ("" -9) font ",6"
# the day, and below it the time
do for [i = 1:last:step] { set xtics add (moments[i][6:10] . "\n" . moments[i][12:*] i) }

do for [i = 1:n_outside] {
	x = outside_at[i]
	if (4 * (x - 1) < last) {
		set label outside[i] at x, graph (outside_above[i] ? 0.98 : 0.02) left offset 1, 0 \
			font ",6" front
	} else {
		set label outside[i] at x, graph (outside_above[i] ? 0.98 : 0.02) \
			right offset -1, 0 font ",6" front
	}
}
do for [i = 2:n_levels] {
	x = begins[i]
	set arrow from x, graph 0 to x, graph 1 nohead dt 2 lc rgb grey back
	row = 0.96 - 0.07 * ((i - 2) % 3)
	if (2 * x < last) {
		set label changes[i] at x, graph row left offset 0.5, 0 font ",6" front
	} else {
		set label changes[i] at x, graph row right offset -0.5, 0 font ",6" front
	}
}

plot for [i = 1:n_levels] $levels index i - 1 using 1:3:4 with filledcurves fc rgb pale \
	fs solid noborder \
		title i == 1 && first_has_interval ? "95 % interval" : "", \
	for [i = 1:n_levels] $levels index i - 1 using 1:2 with lines lw 1.8 lc rgb blue \
		title i == 1 ? "level" : "", \
	for [i = 1:n_places] $runs index i - 1 with points pt marks[places[i]] ps sizes[places[i]] \
		lc rgb (places[i] == 1 ? dark : red) title word(titles, places[i])
