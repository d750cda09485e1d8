# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter --timeline: when the longest interruptions of a run were, how long, and by whom.
#
# run, n     the run, and how many interruptions
# low, high  of their lengths in seconds
# n_looks    and of each of them: looks (a colour), names, and $longest index 0, 1...: start and length in seconds

# Six sources; the others; those that no event explains.
colours = "#d62728 #e6a000 #2ca02c #9467bd #8c564b #1f77b4 #808080 #202020"

set title sprintf("The %d longest interruptions of run %d", n, run)
set xlabel "seconds since the start of the run"
set ylabel "length"
set key outside right top reverse Left

if (n == 0) {
	set xrange [0:1]
	set yrange [0:1]
	plot 0 notitle
} else {
	set logscale y
	set yrange [low:high]
	set ytics ("" 1e9)
	do for [exponent = -9:2] {
		do for [digit in "1 2 5"] {
			at = digit * 10.0**exponent
			if (at >= low && at <= high) { set ytics add (time_text(at) at) }
		}
	}
	plot for [i = 1:n_looks] $longest index i - 1 with impulses lw 1 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_looks] $longest index i - 1 with points pt 7 ps 0.6 lc rgb word(colours, looks[i]) title names[i]
}
