-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 7: the neighbour, who uses the other hardware thread of the program's core; what a program of a duet touches.

-- The share of a sample's time with one, and the standard error of that; the CPU time of the probes that found it.
ALTER TABLE sample ADD COLUMN neighbour_ppm INTEGER CHECK(neighbour_ppm BETWEEN 0 AND 1000000);
ALTER TABLE sample ADD COLUMN neighbour_error_ppm INTEGER CHECK(neighbour_error_ppm BETWEEN 0 AND 1000000);
ALTER TABLE sample ADD COLUMN probe_ns INTEGER CHECK(probe_ns >= 0);

-- What is done about it: the limit above which a sample is discarded; and how much a neighbour slows the program down, by
-- earlier runs of it, as it was known when this one began, and the standard error of that; NULL: not known.
ALTER TABLE run ADD COLUMN neighbour_rule TEXT NOT NULL DEFAULT 'off'
  CHECK(neighbour_rule IN ('off', 'discard', 'adjust', 'auto'));
ALTER TABLE run ADD COLUMN neighbour_limit_ppm INTEGER CHECK(neighbour_limit_ppm BETWEEN 1 AND 1000000);
ALTER TABLE run ADD COLUMN neighbour_slope_ppm INTEGER CHECK(neighbour_slope_ppm BETWEEN 0 AND 10000000);
ALTER TABLE run ADD COLUMN neighbour_slope_error_ppm INTEGER CHECK(neighbour_slope_error_ppm BETWEEN 1 AND 10000000);

-- Bytes that the program touches in a slice, by its warm-ups; NULL: not known.
ALTER TABLE duet ADD COLUMN working_set INTEGER CHECK(working_set BETWEEN 0 AND 1125899906842624);
-- How many CPUs the programs shared, each with all of its threads in its turn; NULL: one. Slices by signals to their process groups.
ALTER TABLE duet ADD COLUMN cpus INTEGER CHECK(cpus BETWEEN 2 AND 2147483647);
ALTER TABLE duet ADD COLUMN signalled INTEGER NOT NULL DEFAULT 0 CHECK(signalled IN (0, 1));
