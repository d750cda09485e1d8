# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter --by-source: what each source took of the time in a run and in an earlier one, a row for each source.
#
# before, after  the runs
# least          of the shares in percent; what is 0 is drawn there; percent_low, percent_high, percent_ticks of the axis
# n_rows         and of each row: names, ratios, and in $rows its number, the share before and after, and the interval of the
#                latter

set label 1 sprintf("What interrupted the CPU: run %d, then run %d", before, after)

if (n_rows == 0) {
	set xrange [0:1]
	set yrange [0:1]
	plot 0 notitle
} else {
	set ytics ("" -9)
	do for [i = 1:n_rows] {
		set ytics add (names[i] i - 1)
		set label ratios[i] at graph 1.01,first i - 1 left font ",6"
	}
	set tics font ",6"
	set label "ratio (95 % CI)" at graph 1.01,first -0.8 left font ",6"
	set logscale x
	set xrange [percent_low:percent_high]
	eval "set xtics " . percent_ticks
	set yrange [n_rows:-1.3]
	set xlabel "share of the sampled time (%)"
	set rmargin 18.5
	set bmargin below(3)
	set grid ytics
	set key maxrows 3
	zero = least * 10 / 9
	plot $rows using 4:1:($5-$4):(0) with vectors nohead lw 5 lc rgb pale \
		title "after: 95 % CI", \
		$rows using 2:1:($3-$2):(0) with vectors filled lw 1 lc rgb grey notitle, \
		$rows using ($2>zero?$2:NaN):1 with points pt 6 ps 0.7 lc rgb blue title "before", \
		$rows using ($3>zero?$3:NaN):1 with points pt 7 ps 0.5 lc rgb red title "after"
}
