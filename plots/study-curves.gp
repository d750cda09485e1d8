# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze study -o: what a study shows by length or size: a panel or two of curves with 95 % intervals.
#
# heading, x_title; x_low, x_high, x_ticks, x_unit
# panels     how many, and of each: captions, y_titles, y_low, y_high, y_ticks, y_unit
# heading_share, panel_share  of the height of the picture; the rest is below the last panel
# key_lines  entries of the key
# n_curves   and of each: names (nothing: no points), panel (from 1), looks (1 to 8), kinds (0: points joined by a line;
#            1: a line without points, which is a fit or a paper's; 2: points); $curves index 0, 1...: x, y, and the interval

array marks[8] = [7, 5, 9, 11, 13, 4, 6, 8]
points(i, p) = panel[i] == p && kinds[i] != 1
joined(i, p) = panel[i] == p && kinds[i] == 0
line(i, p) = panel[i] == p && kinds[i] == 1

set multiplot
set lmargin 10.5
set rmargin 3
set logscale x
set logscale y
set xrange [x_low:x_high]
eval "set xtics " . x_ticks
set label 1 heading

do for [p = 1:panels] {
	top = 1 - heading_share - (p - 1) * panel_share
	bottom = p == panels ? 0 : top - panel_share
	set origin 0,bottom
	set size 1,top - bottom
	set yrange [y_low[p]:y_high[p]]
	eval "set ytics " . y_ticks[p]
	set ylabel with_unit(y_titles[p], y_unit[p])
	set title captions[p]
	set tmargin captions[p] eq "" ? 1 : 1.8
	if (p == panels) {
		set bmargin below(key_lines)
		set xlabel with_unit(x_title, x_unit)
	} else {
		set bmargin 1.8
		set xlabel ""
	}
	set key maxrows key_lines
	plot for [i = 1:n_curves] $curves index i - 1 using (points(i, p) ? $1 : NaN):2:3:4 \
			with yerrorbars pt 0 ps 0.6 lw 0.8 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves] $curves index i - 1 using (joined(i, p) ? $1 : NaN):2 \
			with lines lw 1 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves] $curves index i - 1 using (line(i, p) ? $1 : NaN):2 \
			with lines dt 2 lw 1.2 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves] $curves index i - 1 using (points(i, p) ? $1 : NaN):2 \
			with points pt marks[looks[i]] ps 0.5 lc rgb word(colours, looks[i]) notitle, \
		for [i = 1:n_curves * (p == panels)] NaN with linespoints pt (kinds[i] == 1 ? 0 : marks[looks[i]]) \
			ps 0.5 lw (kinds[i] == 2 ? 0 : 1) dt 1 + (kinds[i] == 1) lc rgb word(colours, looks[i]) \
			title (panel[i] == 1 ? names[i] : "")
	unset label 1
}
unset multiplot
