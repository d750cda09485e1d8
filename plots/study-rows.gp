# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze study -o: a row for each program, clock or step, with its values and their 95 % intervals.
#
# heading, x_title; x_low, x_high, x_ticks, x_unit; logarithmic
# marked, mark  whether there is a line at a value of x, and where
# n_series  1 or 2, and of each: names, $rows index 0, 1: row, value, and the interval
# n_rows    and of each: labels

array marks[2] = [7, 5]
shift(series) = n_series == 1 ? 0 : 0.3 * (series - 1.5)

set label 1 heading
set xlabel with_unit(x_title, x_unit)
if (logarithmic) { set logscale x }
set xrange [x_low:x_high]
eval "set xtics " . x_ticks
set yrange [n_rows + 0.6:0.4]
set ytics ("" -9) scale 0
do for [i = 1:n_rows] { set ytics add (labels[i] i) }
set lmargin 19
set rmargin 3
set bmargin below(n_series)
set key maxrows n_series
if (marked) { set arrow from mark, graph 0 to mark, graph 1 nohead dt 2 lc rgb grey }

# an interval goes as far as the picture
inside(x) = x < x_low ? x_low : (x > x_high ? x_high : x)

plot for [s = 1:n_series] $rows index s - 1 using (inside($3)):($1 + shift(s)):(inside($4) - inside($3)):(0) \
		with vectors nohead lw 1.5 lc rgb word(colours, s) notitle, \
	for [s = 1:n_series] $rows index s - 1 using 2:($1 + shift(s)) with points pt marks[s] ps 0.6 \
		lc rgb word(colours, s) title names[s] . " (line: 95 % CI)"
