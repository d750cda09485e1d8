# SPDX-License-Identifier: GPL-2.0-or-later
# What all pictures begin with: their look. See README in this folder.
#
# Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart. Kinds of points also differ by
# their marks, and lines by their dashes, so that a picture can be printed in grey.
blue = "#0072b2"
red = "#d55e00"
green = "#009e73"
orange = "#e69f00"
purple = "#cc79a7"
sky = "#56b4e9"
dark = "#303030"
grey = "#808080"
pale = "#d3e4f1" # areas: intervals, and the central cluster
colours = blue . " " . red . " " . green . " " . orange . " " . purple . " " . sky . " " . dark \
	. " " . grey

set border 3 lc rgb "#404040" lw 1
set tics nomirror out scale 0.5 textcolor rgb "#202020"
set grid lt 1 lc rgb "#e0e0e0" lw 0.7
set title offset 0,-0.5
set xlabel offset 0,0.4
set key bmargin left vertical noautotitle reverse Left samplen 1.6 spacing 1.05 width -2

# Below the axis: its ticks, its title, and so many lines of the key, one entry in each.
below(lines) = 3.6 + 1.07 * lines

# The heading, in the middle of the picture; one of two lines has "\n" in it.
set label 1 "" at screen 0.5,screen 1 offset 0,-0.8 center
set tmargin 2

smaller(a, b) = a < b ? a : b
greater(a, b) = a > b ? a : b

# "PT (ms)": what an axis shows, and its unit, if it has one.
with_unit(what, unit) = unit eq "" ? what : what . " (" . unit . ")"
