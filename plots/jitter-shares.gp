# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze jitter --by-source: what each source took of the time in a run and in an earlier one, a row for each source.
#
# before, after  the runs
# least, most    of the shares in percent; what is 0 is drawn at least
# n_rows         and of each row: names, ratios, and in $rows its number, the share before and after, and the interval of the
#                latter

set title sprintf("What interrupted the CPU in run %d, and after it in run %d", before, after)

if (n_rows == 0) {
	set xrange [0:1]
	set yrange [0:1]
	plot 0 notitle
} else {
	set ytics ("" -9)
	do for [i = 1:n_rows] {
		set ytics add (names[i] i - 1)
		set label ratios[i] at graph 1.01,first i - 1 left font ",9"
	}
	set label "ratio (95 % CI)" at graph 1.01,first -0.8 left font ",9"
	set logscale x
	set xrange [least:most]
	set yrange [n_rows:-1.3]
	set format x "%g %%"
	set xlabel "share of the sampled time"
	set rmargin 26
	set grid ytics
	set key outside top center horizontal
	zero = least * 10 / 9
	plot $rows using 4:1:($5-$4):(0) with vectors nohead lw 6 lc rgb "#f2c4c4" title "after: 95 % CI", \
		$rows using 2:1:($3-$2):(0) with vectors filled lw 1 lc rgb "#808080" notitle, \
		$rows using ($2>zero?$2:NaN):1 with points pt 6 ps 1.2 lc rgb "#3366a0" title "before", \
		$rows using ($3>zero?$3:NaN):1 with points pt 7 ps 1.1 lc rgb "#d62728" title "after"
}
