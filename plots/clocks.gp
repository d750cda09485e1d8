# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze clocks -o: how precisely each source times the same computation, by its length (Hines, Wyatt & Chang, Figure 2).
#
# heading; sd_low, sd_high, sd_ticks, sd_unit of the y axis; primes_high, primes_ticks of the x axis
# n_sources  how many; kinds and names of each one; $sds index 0, 1...: the number of primes, and the standard deviation in seconds

# By kind: times, schedstat, getrusage, perf, CLOCK_THREAD_CPUTIME_ID, emp-clock, CLOCK_MONOTONIC, rdtsc, cntvct.
array marks[9] = [9, 11, 7, 5, 13, 15, 4, 6, 6]
kind_colours = dark . " " . purple . " " . red . " " . orange . " " . green . " " . sky . " " \
	. grey . " " . blue . " " . blue

set label 1 heading
set xlabel "number of primes N"
set ylabel with_unit("standard deviation", sd_unit)
set logscale y
set yrange [sd_low:sd_high]
eval "set ytics " . sd_ticks
set xrange [0:primes_high]
eval "set xtics " . primes_ticks
set bmargin below(n_sources)
set key maxrows n_sources

plot for [i = 1:n_sources] $sds index i - 1 using 1:2 with linespoints pt marks[kinds[i]] \
	lc rgb word(kind_colours, kinds[i]) ps 0.6 lw 1.2 title names[i]
