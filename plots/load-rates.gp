# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze load -o: the rate of work of each run, a panel for all work and one for each script, of one load or of two.
#
# heading
# loads      1 or 2
# last       the number of the last run of a load
# panels     and of each of them: captions, low, high, and per: seconds of the unit in which rates are shown
# names, means, ci_low, ci_high   of each load of each panel; low above high: no interval
# $rates     index 0, 1... likewise: the run, and its rate per second

colours = "#1f77b4 #d62728"

set multiplot layout panels,1 title heading
set lmargin 11
set rmargin 30
set key at graph 1.02,graph 1 left top Left reverse samplen 1.5
set xrange [0.5:last + 0.5]
if (last <= 12) { set xtics 1 }

do for [p = 1:panels] {
	set yrange [low[p]:high[p]]
	set title captions[p] offset 0,-0.7
	if (p == panels) { set xlabel "run of the load" }
	unset object
	unset arrow
	first = (p - 1) * loads
	do for [i = 1:loads] {
		k = first + i
		if (ci_low[k] <= ci_high[k]) {
			set object rectangle from graph 0,first ci_low[k] to graph 1,first ci_high[k] behind \
				fc rgb word(colours, i) fs transparent solid 0.13 noborder
		}
		set arrow from graph 0,first means[k] to graph 1,first means[k] nohead dt 2 lc rgb word(colours, i)
	}
	plot for [i = 1:loads] $rates index first + i - 1 using 1:($2 * per[p]) with points pt (i == 1 ? 7 : 8) ps 0.8 \
		lc rgb word(colours, i) title names[first + i]
}
unset multiplot
