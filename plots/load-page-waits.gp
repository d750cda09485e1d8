# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze load --page-waits: the page waits of a load's workers, and the transfers of block devices, by their length: how
# many, and the time that they took together.
#
# heading
# first, last  the bars between edges; edges: their texts, the first of them edges[first + 1]
# count_low, count_high, count_ticks  of the numbers; total_high, total_ticks, total_unit  of the time in seconds
# n_kinds      and of each of them: kinds (page waits, reads, writes), and $bars index 0, 1...: bar, number, seconds

titles = "'page waits of slaves' 'block reads' 'block writes'"
bar_colours = blue . " " . orange . " " . dark

# The bars of the kinds stand beside each other.
width = 0.86 / n_kinds
left(bar, kind) = bar + 0.07 + width * (kind - 1)

set multiplot layout 2,1 title heading
set xrange [first:last]
set xtics ("" -9)
do for [i = first:last] { set xtics add (edges[i + 1] i) }
set lmargin 9
set xtics rotate by -50 font ",6"

set key bmargin maxrows n_kinds
set bmargin below(n_kinds)
set ylabel "number"
set logscale y
set yrange [count_low:count_high]
eval "set ytics " . count_ticks
plot for [k = 1:n_kinds] $bars index k - 1 \
	using (left($1, k) + width / 2):2:(left($1, k)):(left($1, k) + width):(0.5):2 \
	with boxxyerror fs solid 0.9 noborder lc rgb word(bar_colours, kinds[k]) \
		title word(titles, kinds[k])

unset logscale y
unset key
set bmargin below(0)
set yrange [0:total_high]
eval "set ytics " . total_ticks
set ylabel with_unit("total time", total_unit)
set xlabel "length of a wait or transfer (ms)"
plot for [k = 1:n_kinds] $bars index k - 1 \
	using (left($1, k) + width / 2):3:(left($1, k)):(left($1, k) + width):(0):3 \
	with boxxyerror fs solid 0.9 noborder lc rgb word(bar_colours, kinds[k]) notitle
unset multiplot
