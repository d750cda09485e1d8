# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze scatter: samples as points, marked by what made them long (EMP, Figures 13 to 15).
#
# kind     "pairs": the first sample of each pair (x) and the second (y); "zooms": the same, a panel for each zoom of cluster
#          detection (Figure 14); "samples": all of them in the order of time
# time     "ET" or "W": what the axes show, in seconds beyond the median of the central cluster; median, as a text
# many     whether there are so many points that they must be small
# panels   how many; of each one
#   axis_low, axis_high, axis_ticks, axis_unit
#   linear        above 0: the axes are linear as far as this, and logarithmic beyond
#   low, high     the frame in it: the central cluster, or the next zoom; low above high: none
#   captions, second_lines
# number_low, number_high, number_ticks  of the numbers of samples
# heading  of the zooms
# n_causes how many kinds of points; causes and names of each one; the points are $points index 0, 1...

# By the number of the cause: the central cluster, long and unexplained, short, beyond two sd of PT, beside a neighbour,
# other daemons, and the daemons that made most samples long.
array marks[12] = [7, 1, 2, 6, 4, 3, 9, 5, 13, 11, 15, 8]
mark_colours = blue . " " . dark . " " . dark . " " . dark . " " . red . " " . grey . " " . red . " " . orange \
	. " " . green . " " . purple . " " . sky . " " . dark
size_of(cause) = cause == 1 ? (many ? 0.12 : 0.3) : (many ? 0.5 : 0.75)
counted = kind eq "samples" ? "samples (number)" : "pairs (number)"

if (kind eq "zooms") {
	set multiplot layout (panels + 2) / 2,2 title \
		sprintf("%s: the first (x) and the second (y) of a pair,\n%s minus the median (%s)", heading, time, median)
	unset key
	set tmargin 4.2
	set bmargin 3
	set rmargin 1
	set tics font ",6"
	set lmargin 7
} else {
	set bmargin below(n_causes + 1)
	set key maxrows n_causes + 1
	set tmargin linear[1] > 0 ? 3 : 2
}
if (kind eq "samples") {
	set xlabel "sample"
	set ylabel sprintf("%s minus the median (%s), in %s", time, median, axis_unit[1])
	set xrange [number_low:number_high]
	eval "set xtics " . number_ticks
	axes = "y"
} else {
	set size square
	axes = "x y"
}
if (kind eq "pairs") {
	set xlabel \
		sprintf("first of a pair: %s minus the median (%s), in %s", time, median, axis_unit[1])
	set ylabel sprintf("second: %s minus the median, in %s", time, axis_unit[1])
}

do for [p = 1:panels] {
	do for [axis in axes] {
		if (linear[p] > 0) {
			eval sprintf("set nonlinear %s via asinh(%s/%.9g) inverse %.9g*sinh(%s)", axis, axis, linear[p], linear[p], axis)
		}
		eval sprintf("set %srange [%.12g:%.12g]", axis, axis_low[p], axis_high[p])
		eval sprintf("set %stics %s", axis, axis_ticks[p])
	}
	if (kind eq "zooms") {
		set title captions[p] . "\n" . second_lines[p] font ",6" offset 0,-0.8
		set xlabel axis_unit[p] offset 0,0.6
	} else {
		set label 1 linear[p] > 0 ? captions[p] . "\n" . second_lines[p] : captions[p]
	}
	if (kind eq "pairs") {
		set object 1 rectangle from low[p],low[p] to high[p],high[p] behind fc rgb pale \
			fs solid noborder
	}
	if (kind eq "samples") {
		set object 1 rectangle from graph 0,first low[p] to graph 1,first high[p] behind \
			fc rgb pale fs solid noborder
	}
	if (kind eq "zooms") {
		unset object
		if (low[p] <= high[p]) {
			set object 1 rectangle from low[p],low[p] to high[p],high[p] front \
				fs empty border lc rgb dark
		}
		plot for [i = 1:n_causes] $points index i - 1 using 1:2 with points \
			pt marks[causes[i]] ps size_of(causes[i]) \
			lc rgb word(mark_colours, causes[i])
	} else {
		plot for [i = 1:n_causes] $points index i - 1 using 1:2 with points \
			pt marks[causes[i]] ps size_of(causes[i]) \
				lc rgb word(mark_colours, causes[i]) title names[i], \
			keyentry with boxes fs solid noborder fc rgb pale \
				title "bounds of the central cluster"
	}
}

# The key of the zooms has a panel of its own.
if (kind eq "zooms") {
	unset object
	unset title
	unset border
	unset tics
	unset grid
	unset xlabel
	set xrange [0:1]
	set yrange [0:1]
	set lmargin 0
	set key center center title counted maxrows 12 font ",6"
	plot for [i = 1:n_causes] NaN with points pt marks[causes[i]] ps size_of(causes[i]) \
		lc rgb word(mark_colours, causes[i]) title names[i], \
		NaN with lines lc rgb dark title panels > 1 ? "bounds of the next zoom" : ""
	unset multiplot
}
