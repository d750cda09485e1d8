# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter -o: how long interruptions were, as Parzen densities on two logarithmic axes (De, Kothari and Mann, Figures 1,
# 4, 6 and 8), so that the area under a curve is a number of interruptions a second.
#
# heading, how
# baseline     0: the trace beside the gaps that the loop saw; 1: a run beside its baseline
# low, high    of the length: log10 of seconds
# least, most  of the density
# n_peaks      how many have a name: peaks, peaks_x, peaks_y
# $curves      length in seconds, and the two densities: the gaps and the trace, or the run and the baseline

set title heading . "\n" . how
set logscale xy
set xrange [10**low:10**high]
set yrange [least:most]
set format y "%g"
set mxtics 10
set xtics ("" 1e9)
do for [decade = int(ceil(low)):int(floor(high))] {
	at = 10.0**decade
	set xtics add (time_text(at) at)
}
set xlabel "length of an interruption"
set ylabel "interruptions per second and decade of length"
set key top right

do for [i = 1:n_peaks] {
	set label peaks[i] at first peaks_x[i],peaks_y[i] offset 0,0.7 center font ",9" front
}

plot $curves using 1:3 with filledcurves y1=least fc rgb "#cfdff0" notitle, \
	$curves using 1:3 with lines lw 1.5 lc rgb "#3366a0" title (baseline ? "baseline, from the trace" : "master: from the trace"), \
	$curves using 1:2 with lines lw 1.5 lc rgb "#d62728" title (baseline ? "this run, from the trace" : "user level: gaps that the loop saw")
