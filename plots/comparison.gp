# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze compare -o, emp-measure --plot: the samples of each program in the order of time, those
# that were discarded among them, the means, and the ratios to the first program.
#
# heading, second_line   the latter may be empty
# height, title_mm       of the picture and of its title, in mm
# n          programs; first, last: the numbers of the samples of an only one
# many       whether there are so many points that they must be small
# causes     why samples were discarded, for the key: ": backupd, neighbour"; may be empty
# n_panels   of samples, one a clock; of each of them:
#   clocks, panel_mm     "PT" or "ET"; its height in mm
#   time_low, time_high, time_ticks, time_unit, logarithmic   of the y axis
#   mean_titles          what the line and the area of the means are; empty: there are none
#   first_kinds, last_kinds   of its points; of each kind there are: kinds (1 to 6: marks), counts, and
#                        $samples index 0, 1...: x and seconds. x is the number of the sample of an
#                        only program, else from 0 to 1 for the first one, from 1 to 2 for the second
#   $means               index 0, 1...: from x to x, mean, and its interval
# n_rows     of ratios, and of each of them: rows (its name), ratios, verdicts; row_mm: its height
# $intervals row, ratio, from, to, kind (0: the reference; 1: without an interval; 2: with it), whether
#            the lower and the upper end go on
# ratio_low, ratio_high, ratio_ticks, ratio_logarithmic   of the x axis
# bounded, without   whether a ratio has an interval, and whether one has none
# margin     within which times are equal; 0: not shown

array marks[6] = [7, 2, 9, 8, 11, 10]
array mark_titles[6] = ['kept', 'discarded', 'kept, above the picture', \
	'discarded, above the picture', 'kept, below the picture', 'discarded, below the picture']
mark_colour(kind) = kind % 2 ? blue : red
mark_size(kind) = kind > 2 ? 0.7 : many ? 0.2 : kind == 2 ? 0.7 : 0.45
band = "#eeeeee"

set multiplot
set label 1 heading . (second_line eq "" ? "" : "\n" . second_line)
top = height - title_mm

do for [p = 1:n_panels] {
	set origin 0,(top - panel_mm[p]) / height
	set size 1,panel_mm[p] / height
	top = top - panel_mm[p]
	lines = last_kinds[p] - first_kinds[p] + (mean_titles[p] eq "" ? 1 : 2)
	set lmargin 12
	set rmargin 2
	set tmargin 1
	set bmargin below(lines)
	set key maxrows lines
	if (logarithmic[p]) { set logscale y } else { unset logscale y }
	set yrange [time_low[p]:time_high[p]]
	eval "set ytics " . time_ticks[p]
	set ylabel with_unit(clocks[p], time_unit[p])
	if (n == 1) {
		set xrange [first - 0.5:last + 0.5]
		if (last - first < 10) { set xtics 1 } else { set xtics autofreq }
		set format x "%g"
		set xlabel "sample"
	} else {
		set xrange [0:n]
		set xtics ("" -9) scale 0
		do for [i = 1:n:(n + 14) / 15] { set xtics add (sprintf("%d", i) i - 0.5) }
		do for [i = 1:n - 1] {
			set arrow i from first i,graph 0 to first i,graph 1 nohead \
				lc rgb "#c0c0c0" back
		}
		set grid noxtics
		set xlabel "programs, with their samples in the order of time"
	}
	plot $means index p - 1 using 1:4:1:2:4:5 with boxxyerror fs solid noborder fc rgb pale, \
		for [i = first_kinds[p]:last_kinds[p]] $samples index i - 1 using 1:2 with points \
			pt marks[kinds[i]] ps mark_size(kinds[i]) lc rgb mark_colour(kinds[i]) \
			title sprintf("%s (%d)", mark_titles[kinds[i]], counts[i]) . (kinds[i] == 2 ? causes : ""), \
		$means index p - 1 using 1:3:($2-$1):(0) with vectors nohead lw 1.5 lc rgb dark \
			title mean_titles[p]
	unset label 1
	unset arrow
}

if (n_rows > 0) {
	set origin 0,0
	set size 1,top / height
	set lmargin at screen 0.36
	set tmargin 1
	set bmargin below(2 + without)
	set rmargin at screen 0.765
	set key maxrows 2 + without
	unset logscale
	set grid xtics noytics
	if (ratio_logarithmic) { set logscale x }
	set xrange [ratio_low:ratio_high]
	eval "set xtics scale 0.5 " . ratio_ticks
	set yrange [n_rows + 0.5:0.5]
	set ytics ("" -9) scale 0 font ",6"
	do for [i = 1:n_rows] {
		two = row_mm > 6 && ratios[i] ne ""
		set ytics add (rows[i] i)
		set label verdicts[i] at graph 1,first i left offset 0.5,(two ? -0.5 : 0)
		if (two) { set label ratios[i] at graph 1,first i left offset 0.5,0.5 }
	}
	set xlabel "ratio to the first (1: equal; below it: faster)"
	unset ylabel
	set arrow from 1,graph 0 to 1,graph 1 nohead dt 2 lc rgb dark
	if (margin > 0) {
		set object rectangle from 1 - margin,graph 0 to 1 + margin,graph 1 behind \
			fc rgb band fs solid noborder
	}
	set style arrow 1 nohead lw 2.5 lc rgb blue
	set style arrow 2 head filled size screen 0.025,20 lw 1.5 lc rgb blue
	plot $intervals using ($5==2?$3:NaN):1:($4-$3):(0) with vectors as 1 \
		title bounded ? "95 % interval" : "", \
		$intervals using ($6==1?$2:NaN):1:($3-$2):(0) with vectors as 2, \
		$intervals using ($7==1?$2:NaN):1:($4-$2):(0) with vectors as 2, \
		$intervals using ($5==0?$2:NaN):1 with points pt 7 ps 0.5 lc rgb dark, \
		$intervals using ($5==1?$2:NaN):1 with points pt 6 ps 0.6 lc rgb blue \
			title without ? "interval not known" : "", \
		$intervals using ($5==2?$2:NaN):1 with points pt 7 ps 0.6 lc rgb blue, \
		for [i = 1:(margin > 0 ? 1 : 0)] NaN with boxes fs solid noborder fc rgb band \
			title sprintf("equal: within %g %%", 100 * margin)
}
unset multiplot
