# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze study -o: what a study shows by length or size: a panel or two of curves with 95 % intervals.
#
# heading, x_title; x_low, x_high, x_ticks, x_unit
# panels     how many, and of each: captions, y_titles, y_low, y_high, y_ticks, y_unit
# key_lines  entries of the key, which is below the last panel
# n_curves   and of each: names (nothing: no points), panel (from 1), looks (1 to 8), lines (1: a line without points, which is
#            a fit or a paper's); $curves index 0, 1...: x, y, and the interval

array marks[8] = [7, 5, 9, 11, 13, 4, 6, 8]

set multiplot layout panels,1 title heading
set lmargin 10
set rmargin 2
set logscale x
set logscale y
set xrange [x_low:x_high]
eval "set xtics " . x_ticks
set xlabel with_unit(x_title, x_unit)

do for [p = 1:panels] {
	set yrange [y_low[p]:y_high[p]]
	eval "set ytics " . y_ticks[p]
	set ylabel with_unit(y_titles[p], y_unit[p])
	set title captions[p]
	set tmargin captions[p] eq "" ? 1 : 2
	set bmargin below(p == panels ? key_lines : 0)
	set key maxrows key_lines
	plot for [i = 1:n_curves] $curves index i - 1 using (panel[i] == p && !lines[i] ? $1 : NaN):2:3:4 \
			with yerrorbars pt 0 lw 0.8 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves] $curves index i - 1 using (panel[i] == p && !lines[i] ? $1 : NaN):2 \
			with linespoints pt marks[looks[i]] ps 0.5 lw 1 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves] $curves index i - 1 using (panel[i] == p && lines[i] ? $1 : NaN):2 \
			with lines dt 2 lw 1.2 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves * (p == panels)] NaN with linespoints pt (lines[i] ? 0 : marks[looks[i]]) \
			ps 0.5 lw 1 dt (lines[i] ? 2 : 1) lc rgb word(colours, looks[i]) \
			title (panel[i] == 1 ? names[i] : "")
}
unset multiplot
