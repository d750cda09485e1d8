# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze clocks -o: how precisely each source times the same computation, by its length (Hines, Wyatt & Chang, Figure 2).
#
# heading
# n_sources  how many; kinds and names of each one; $sds index 0, 1...: the number of primes, and the standard deviation in seconds

# By kind: times, schedstat, getrusage, perf, CLOCK_THREAD_CPUTIME_ID, emp-clock, CLOCK_MONOTONIC, rdtsc, cntvct.
array marks[9] = [9, 11, 7, 5, 13, 15, 4, 6, 6]
colours = "#8c564b #e377c2 #d62728 #e6a000 #2ca02c #9467bd #7f7f7f #1f77b4 #1f77b4"

set title heading
set xlabel "number of primes N"
set ylabel "standard deviation"
set logscale y
set format y "%.0s %cs"
set xrange [0:*]
set key outside right top reverse Left

plot for [i = 1:n_sources] $sds index i - 1 using 1:2 with linespoints pt marks[kinds[i]] lc rgb word(colours, kinds[i]) title names[i]
