# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter --timeline: when the longest interruptions of a run were, how long, and by whom.
#
# run, n     the run, and how many interruptions
# length_low, length_high, length_ticks, length_unit  of their lengths in seconds; time_high, time_ticks
# n_looks    and of each of them: looks (a colour), names, and $longest index 0, 1...: start and length in seconds

# Six sources; the others; those that no event explains.
look_colours = red . " " . orange . " " . green . " " . purple . " " . sky . " " . blue . " " \
	. grey . " " . dark
array marks[8] = [9, 5, 13, 11, 15, 7, 3, 1]

set label 1 sprintf("The %d longest interruptions of run %d", n, run)
set xlabel "seconds since the start of the run"
set ylabel with_unit("length", length_unit)
set bmargin below(n_looks)
set key maxrows n_looks

if (n == 0) {
	set xrange [0:1]
	set yrange [0:1]
	plot 0 notitle
} else {
	set logscale y
	set yrange [length_low:length_high]
	eval "set ytics " . length_ticks
	set xrange [0:1.02 * time_high]
	eval "set xtics " . time_ticks
	plot for [i = 1:n_looks] $longest index i - 1 with impulses lw 1 \
		lc rgb word(look_colours, looks[i]) notitle, \
		for [i = 1:n_looks] $longest index i - 1 with points pt marks[looks[i]] ps 0.55 \
			lc rgb word(look_colours, looks[i]) title names[i]
}
