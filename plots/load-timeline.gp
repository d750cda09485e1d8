# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze load --timeline: a row for each worker of a run, with its share of the work, what it repeated to keep the load
# constant, and the rest until the meters stopped.
#
# heading, second_line
# time_high, time_ticks  of the run, in seconds since the release
# constant   whether workers repeat their share
# n_scripts  and of each of them: names; the first n_keys are in the key
# n          workers, and of each of them: labels (each step-th is shown), ranks (0: not known), finished
# ranked     whether the ranks are shown
# $phases    script, phase (1 to 3), worker, begin, end

phases = "'share of the work' 'further repetitions' 'until the meters stopped'"
array shades[3] = [1, 0.45, 0.15]
colour(script) = word(colours, (script - 1) % words(colours) + 1)

set label 1 heading . "\n" . second_line
set tmargin 3
set xlabel "seconds since the release" . (ranked ? " (numbers: order of finishing)" : "")
set xrange [0:1.06 * time_high]
eval "set xtics " . time_ticks
set yrange [n + 0.5:0.5]
set grid noytics
set bmargin below(n_keys + (constant ? 3 : 2))
set key maxrows n_keys + 3
set ytics ("" -9) scale 0 font ",6"
do for [i = 1:n:step] { set ytics add (labels[i] i) }
do for [i = 1:n * ranked] {
	if (ranks[i] > 0) {
		set label sprintf("%d", ranks[i]) at first finished[i],i left offset 0.4,0 \
			font ",6" front
	}
}

plot for [s = 1:n_scripts] for [p = 1:3] $phases \
	using ($1 == s && $2 == p ? $4 : NaN):3:4:5:($3 - 0.35):($3 + 0.35) \
		with boxxyerror fs solid shades[p] noborder lc rgb colour(s) \
			title p == 1 && s <= n_keys ? names[s] : "", \
	for [p = 1:3:constant ? 1 : 2] NaN with boxes fs solid shades[p] noborder lc rgb "#404040" \
		title word(phases, p)
