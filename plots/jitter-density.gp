# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter -o: how long interruptions were, as Parzen densities on two logarithmic axes (De, Kothari and Mann, Figures 1,
# 4, 6 and 8), so that the area under a curve is a number of interruptions a second.
#
# heading, how
# baseline     0: the trace beside the gaps that the loop saw; 1: a run beside its baseline
# length_low, length_high, length_ticks, length_unit   of the x axis, in seconds; height_low and so on of the density
# least        of the density
# n_peaks      how many have a name: peaks, peaks_x, peaks_y
# $curves      length in seconds, and the two densities: the gaps and the trace, or the run and the baseline

set label 1 heading . "\n" . how
set tmargin 3
set logscale xy
set xrange [length_low:length_high]
set yrange [height_low:height_high]
eval "set xtics font \",6\" " . length_ticks
eval "set ytics " . height_ticks
set xlabel with_unit("length of an interruption", length_unit)
set ylabel "interruptions per second and decade"
set bmargin below(n_peaks + 2)
set key maxrows n_peaks + 2

# A peak has a number, and its name is in the key.
do for [i = 1:n_peaks] {
	set label sprintf("%d", i) at first peaks_x[i],peaks_y[i] offset 0,0.6 center front
}

plot $curves using 1:3 with filledcurves y1=least fc rgb pale, \
	$curves using 1:3 with lines lw 1.5 lc rgb blue \
		title (baseline ? "baseline, from the trace" : "from the trace"), \
	$curves using 1:2 with lines lw 1.5 dt 2 lc rgb red \
		title (baseline ? "this run, from the trace" : "gaps that the loop saw"), \
	for [i = 1:n_peaks] NaN with points pt sprintf("%d", i) tc rgb dark title peaks[i]
