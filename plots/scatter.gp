# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze scatter: samples as points, marked by what made them long (EMP, Figures 13 to 15).
#
# kind     "pairs": the first sample of each pair (x) and the second (y); "zooms": the same, a panel for each zoom of cluster
#          detection (Figure 14); "samples": all of them in the order of time
# time     "ET" or "W": what the axes show, in seconds beyond the median of the central cluster; median, as a text
# panels   how many; of each one
#   least, most   what it shows
#   linear        The axes are linear as far as this, and logarithmic beyond if that is far: one picture then shows a cluster of
#                 milliseconds and arms of minutes.
#   low, high     the frame in it: the central cluster, or the next zoom; low above high: none
#   captions, second_lines
# heading  of the zooms
# last     the number of the last sample
# n_causes how many kinds of points; causes and names of each one; the points are $points index 0, 1...

# By the number of the cause: the central cluster, long and unexplained, short, beyond two sd of PT, other daemons, and the
# daemons that made most samples long.
array marks[11] = [7, 1, 2, 6, 3, 9, 5, 13, 11, 15, 8]
colours = "#7a9cc6 #404040 #404040 #202020 #808080 #d62728 #e6a000 #2ca02c #9467bd #8c564b #e377c2"

if (kind eq "zooms") {
	columns = smaller(panels + 1, 3)
	set multiplot layout (panels + columns) / columns,columns title \
		sprintf("%s: %s of the first (x) and second sample (y) of a pair, minus the median (%s)", heading, time, median)
	unset key
} else {
	set key outside right top reverse Left title (kind eq "pairs" ? "pairs" : "samples") . " (number)"
}
if (kind eq "samples") {
	set xlabel "sample"
	set ylabel sprintf("%s minus the median of the central cluster (%s)", time, median)
	set xrange [0:last + 1]
	axes = "y"
} else {
	set size square
	axes = "x y"
}
if (kind eq "pairs") {
	set xlabel sprintf("%s of the first sample of a pair, minus the median (%s)", time, median)
	set ylabel sprintf("%s of the second sample of a pair, minus the median", time)
}

# A logarithmic axis has ticks at powers of ten, and at twice and five times them where those would be few; a linear one has as
# many as have room for their unit in a small panel. (gnuplot reads no comments in a block.)
do for [p = 1:panels] {
	reach = greater(most[p], -least[p])
	logarithmic = reach > 4 * linear[p]
	do for [axis in axes] {
		eval sprintf("set %stics ('0' 0)", axis)
		if (logarithmic) {
			l = linear[p]
			margin = 0.04 * (asinh(most[p] / l) - asinh(least[p] / l))
			eval sprintf("set nonlinear %s via asinh(%s/%.9g) inverse %.9g*sinh(%s)", axis, axis, l, l, axis)
			eval sprintf("set %srange [%.9g:%.9g]", axis, l * sinh(asinh(least[p] / l) - margin), l * sinh(asinh(most[p] / l) + margin))
			digits = log10(reach / l) < 2.2 ? "1 2 5" : "1"
			do for [exponent = int(floor(log10(l))):int(floor(log10(reach)))] {
				do for [digit in digits] {
					at = digit * 10.0**exponent
					if (at > 0.8 * l && at <= most[p]) { eval sprintf("set %stics add ('%s' %.9g)", axis, time_text(at), at) }
					if (at > 0.8 * l && at <= -least[p]) { eval sprintf("set %stics add ('%s' %.9g)", axis, time_text(-at), -at) }
				}
			}
		} else {
			margin = 0.06 * (most[p] - least[p])
			eval sprintf("set %srange [%.9g:%.9g]", axis, least[p] - margin, most[p] + margin)
			room = 0.21 * (most[p] - least[p])
			step = 10.0**floor(log10(room))
			turn = 0
			while (step < room) {
				step = step * (turn % 3 == 1 ? 2.5 : 2)
				turn = turn + 1
			}
			do for [i = 1:int(reach * 1.001 / step)] {
				at = i * step
				if (at <= most[p]) { eval sprintf("set %stics add ('%s' %.9g)", axis, time_text(at), at) }
				if (at <= -least[p]) { eval sprintf("set %stics add ('%s' %.9g)", axis, time_text(-at), -at) }
			}
		}
	}
	set title kind eq "zooms" || logarithmic ? captions[p] . "\n" . second_lines[p] : captions[p]
	unset object
	if (kind eq "pairs") {
		set object 1 rectangle from low[p],low[p] to high[p],high[p] behind fc rgb "#dce9f7" fs solid border lc rgb "#5580b0"
	}
	if (kind eq "samples") {
		set object 1 rectangle from graph 0,first low[p] to graph 1,first high[p] behind fc rgb "#dce9f7" fs solid noborder
	}
	if (kind eq "zooms" && low[p] <= high[p]) {
		set object 1 rectangle from low[p],low[p] to high[p],high[p] front fs empty border lc rgb "#5580b0"
	}
	plot for [i = 1:n_causes] $points index i - 1 using 1:2 with points pt marks[causes[i]] ps (causes[i] == 1 ? 0.6 : 1.3) \
			lc rgb word(colours, causes[i]) title names[i], \
		NaN with boxes fc rgb "#dce9f7" fs solid noborder title kind eq "zooms" ? "" : "bounds of the central cluster"
}

# The key of the zooms has a panel of its own.
if (kind eq "zooms") {
	unset object
	unset title
	unset border
	unset tics
	unset grid
	set xrange [0:1]
	set yrange [0:1]
	set key center center reverse Left title "pairs (number)"
	plot for [i = 1:n_causes] NaN with points pt marks[causes[i]] ps (causes[i] == 1 ? 0.6 : 1.3) \
		lc rgb word(colours, causes[i]) title names[i]
	unset multiplot
}
