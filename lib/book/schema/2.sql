-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 2: calibrations that can be resumed, and disturbance counters.

CREATE TABLE calibration(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  profile TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'done', 'refused')),
  owner TEXT,
  started_ns INTEGER NOT NULL,
  short_length_ns INTEGER NOT NULL CHECK(short_length_ns > 0),
  short_samples INTEGER NOT NULL CHECK(short_samples > 0),
  short_central_max_ns INTEGER CHECK(short_central_max_ns > 0),
  short_run INTEGER REFERENCES run ON DELETE CASCADE,
  long_length_ns INTEGER NOT NULL CHECK(long_length_ns > 0),
  long_samples INTEGER NOT NULL CHECK(long_samples > 0),
  long_central_max_ns INTEGER CHECK(long_central_max_ns > 0),
  long_run INTEGER REFERENCES run ON DELETE SET NULL,
  backend TEXT NOT NULL,
  cpu INTEGER CHECK(cpu >= 0),
  anyway INTEGER NOT NULL CHECK(anyway IN (0, 1)),
  force INTEGER NOT NULL CHECK(force IN (0, 1)),
  replace_profile INTEGER NOT NULL CHECK(replace_profile IN (0, 1))) STRICT;

CREATE TABLE seam(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK(n > 1), -- the first sample behind it
  at_ns INTEGER NOT NULL,
  why TEXT NOT NULL,
  environment INTEGER REFERENCES environment,
  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;

CREATE TABLE sentinels(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  steal_ns INTEGER,
  throttles INTEGER,
  swapped_in_pages INTEGER,
  swapped_out_pages INTEGER,
  major_faults INTEGER,
  suspended_ns INTEGER,
  clock_rate_ppb INTEGER,
  cpu_pressure_ns INTEGER,
  voluntary_switches INTEGER,
  involuntary_switches INTEGER,
  PRIMARY KEY(run, sample),
  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;
