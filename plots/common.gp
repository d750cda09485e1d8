# SPDX-License-Identifier: GPL-2.0-or-later
# What all pictures begin with: their look, and times as ticks show them. See README in this folder.
set border lc rgb '#606060'
set tics nomirror out
set grid lt 1 lc rgb '#e8e8e8' lw 0.8

smaller(a, b) = a < b ? a : b
greater(a, b) = a > b ? a : b

# A time in seconds: "10 ms".
time_text(t) = \
	abs(t) >= 0.999 ? sprintf('%.3g s', t) : \
	abs(t) >= 0.999e-3 ? sprintf('%.3g ms', t * 1e3) : \
	abs(t) >= 0.999e-6 ? sprintf('%.3g us', t * 1e6) : sprintf('%.3g ns', t * 1e9)
