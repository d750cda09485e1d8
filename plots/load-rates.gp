# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze load -o: the rate of work of each run, a panel for all work and one for each script, of one load or of two.
#
# heading
# loads      1 or 2
# number_low, number_high, number_ticks  of the runs of a load
# panels     and of each of them: captions, rate_low, rate_high, rate_ticks, and per: seconds of the unit in which rates are shown
# names, means, ci_low, ci_high   of each load of each panel; low above high: no interval
# $rates     index 0, 1... likewise: the run, and its rate per second

array marks[2] = [7, 8]
array interval_titles[2] = ['mean (line), 95 % interval', 'means (lines), 95 % intervals']

set multiplot layout panels,1 title heading
set lmargin 9
set rmargin 2
set xrange [number_low:number_high]
eval "set xtics " . number_ticks
set tmargin 2.5
set bmargin below(loads + 1)
set key maxrows loads + 1
set xlabel "run of the load"

do for [p = 1:panels] {
	set yrange [rate_low[p]:rate_high[p]]
	eval "set ytics " . rate_ticks[p]
	set title captions[p]
	unset object
	unset arrow
	first = (p - 1) * loads
	any = 0
	do for [i = 1:loads] {
		k = first + i
		if (ci_low[k] <= ci_high[k]) {
			any = 1
			set object rectangle from graph 0,first ci_low[k] to graph 1,first ci_high[k] \
				behind fc rgb word(colours, i) fs transparent solid 0.18 noborder
		}
		set arrow from graph 0,first means[k] to graph 1,first means[k] nohead dt i lw 1.5 \
			lc rgb word(colours, i)
	}
	plot for [i = 1:loads] $rates index first + i - 1 using 1:($2 * per[p]) with points \
		pt marks[i] ps 0.5 \
			lc rgb word(colours, i) title names[first + i], \
		NaN with boxes fs transparent solid (any ? 0.18 : 0) noborder \
			fc rgb (loads == 1 ? word(colours, 1) : '#808080') \
			title any ? interval_titles[loads] : ""
}
unset multiplot
