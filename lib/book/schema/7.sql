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
-- Bytes of the largest cache that the core has for itself; NULL: not known. How often the program got the CPU after another one.
ALTER TABLE duet ADD COLUMN own_cache INTEGER CHECK(own_cache BETWEEN 0 AND 1125899906842624);
ALTER TABLE duet_sample ADD COLUMN turns INTEGER CHECK(turns >= 0);
-- How many CPUs the programs shared, each with all of its threads in its turn; NULL: one. Slices by signals to their process groups.
ALTER TABLE duet ADD COLUMN cpus INTEGER CHECK(cpus BETWEEN 2 AND 2147483647);
ALTER TABLE duet ADD COLUMN signalled INTEGER NOT NULL DEFAULT 0 CHECK(signalled IN (0, 1));

-- Studies (emp-study): blocks of samples in random order. A block is one program, as long or as large as its size says, under
-- one step of settings. Its samples are those of its runs, several if it was interrupted.
CREATE TABLE study(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  night INTEGER REFERENCES study ON DELETE CASCADE, -- the study that it is a part of; NULL: none
  name TEXT NOT NULL,
  what TEXT NOT NULL CHECK(what IN ('lengths', 'samples', 'settings', 'versions', 'clocks', 'algorithms', 'suite', 'clean-room', 'night')),
  file TEXT NOT NULL, -- its whole text
  options TEXT NOT NULL, -- of emp-measure, a JSON array
  seed INTEGER NOT NULL CHECK(seed >= 0),
  notes TEXT, -- on steps that change nothing on its machine
  owner TEXT, -- the process that runs it: boot id, pid, start
  started_ns INTEGER NOT NULL CHECK(started_ns >= 0),
  finished_ns INTEGER CHECK(finished_ns >= 0), -- NULL: it is not
  environment INTEGER REFERENCES environment) STRICT;

CREATE INDEX study_night ON study(night);

CREATE TABLE study_block(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  study INTEGER NOT NULL REFERENCES study ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK(position >= 1), -- in the order of measuring
  round INTEGER NOT NULL CHECK(round >= 1),
  step TEXT, -- of settings; NULL: as the machine was
  subject TEXT NOT NULL,
  size REAL CHECK(size >= 0), -- seconds of INC, or n; NULL: none
  command TEXT NOT NULL, -- a JSON array
  samples INTEGER NOT NULL CHECK(samples >= 1), -- that are to be taken
  started_ns INTEGER CHECK(started_ns >= 0),
  finished_ns INTEGER CHECK(finished_ns >= 0),
  UNIQUE(study, position)) STRICT;

CREATE TABLE study_run(
  run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  block INTEGER NOT NULL REFERENCES study_block ON DELETE CASCADE) STRICT;

CREATE INDEX study_run_block ON study_run(block);

-- Times that no run has: of the study of clocks.
CREATE TABLE study_reading(
  block INTEGER NOT NULL REFERENCES study_block ON DELETE CASCADE,
  clock TEXT NOT NULL,
  sample INTEGER NOT NULL CHECK(sample BETWEEN 1 AND 4294967295),
  ns INTEGER NOT NULL CHECK(ns >= 0),
  PRIMARY KEY(block, clock, sample)) STRICT, WITHOUT ROWID;

-- Of the study clean-room: how a block compared the program with its copy.
CREATE TABLE study_comparison(
  block INTEGER PRIMARY KEY REFERENCES study_block ON DELETE CASCADE,
  copy_first INTEGER NOT NULL CHECK(copy_first IN (0, 1)),
  slowed REAL NOT NULL CHECK(slowed >= 0), -- the share by which the copy was slower
  daemon REAL CHECK(daemon >= 0)) STRICT; -- of the CPU, that the planted daemon took; NULL: there was none

-- What was claimed of the copy, by one rule of the block's tool.
CREATE TABLE study_claim(
  block INTEGER NOT NULL REFERENCES study_comparison ON DELETE CASCADE,
  rule TEXT NOT NULL,
  claim TEXT NOT NULL CHECK(claim IN ('none', 'faster', 'slower')),
  ratio REAL CHECK(ratio >= 0), -- copy / original; NULL: not known
  PRIMARY KEY(block, rule)) STRICT;

-- What the rules of a run made of its samples, as emp-analyze shows it: only the tools know the rules (families of names,
-- neighbours, intervals). Stored when a run ends; a run that has none here gets them from emp-analyze refresh.
CREATE TABLE result(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  clock TEXT NOT NULL CHECK(clock IN ('pt', 'et')),
  samples INTEGER NOT NULL CHECK(samples >= 0), -- all of them
  kept INTEGER NOT NULL CHECK(kept BETWEEN 0 AND samples),
  adjusted INTEGER NOT NULL CHECK(adjusted IN (0, 1)), -- a neighbour was taken out of the times
  min_ns INTEGER, -- of the samples kept, as all that follows
  max_ns INTEGER,
  mean_ns REAL,
  median_ns REAL,
  sd_ns REAL,
  low_ns REAL, -- the 95 % interval of the mean
  high_ns REAL,
  lag1 REAL,
  effective_n REAL,
  clean_samples INTEGER NOT NULL CHECK(clean_samples >= 0), -- after the check for two standard deviations, too
  clean_mean_ns REAL,
  clean_sd_ns REAL,
  PRIMARY KEY(run, clock)) STRICT, WITHOUT ROWID;

CREATE TABLE discard(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  sample INTEGER NOT NULL CHECK(sample BETWEEN 1 AND 4294967295),
  n INTEGER NOT NULL CHECK(n >= 1),
  rule TEXT NOT NULL CHECK(rule IN ('cutoff', 'unprofiled', 'incomplete', 'neighbour', 'duet', 'two_sd')),
  clock TEXT CHECK(clock IN ('pt', 'et')), -- of two_sd, which discards from clean_* only
  daemon TEXT,
  unit TEXT,
  pt_ns INTEGER CHECK(pt_ns >= 0),
  limit_ns INTEGER CHECK(limit_ns >= 0),
  PRIMARY KEY(run, sample, n)) STRICT, WITHOUT ROWID;

-- For readers with sqlite3, pandas, R or DuckDB. emp-documents(5) describes their columns, which stay; columns may be added.
CREATE VIEW samples AS
  SELECT run.id AS run, ifnull(run.name, run.program) AS name, run.kind, sample.n AS sample, sample.start_ns, sample.et_ns,
    sample.pt_ns, sample.user_ns, sample.system_ns, sample.wait_ns, sample.held_back_ns, sample.max_rss_bytes,
    sample.exit_status, sample.neighbour_ppm, sample.incomplete,
    CASE WHEN EXISTS (SELECT 1 FROM result WHERE result.run = run.id) THEN
      NOT EXISTS (SELECT 1 FROM discard WHERE discard.run = run.id AND discard.sample = sample.n AND rule <> 'two_sd') END AS kept
  FROM sample JOIN run ON run.id = sample.run;

CREATE VIEW executions AS
  SELECT execution.run, execution.sample, source.name AS daemon, source.unit, source.exe, source.kind, execution.pid,
    execution.cpu, execution.pt_ns, execution.same_cpu_ns
  FROM execution JOIN source ON source.id = execution.source;

CREATE VIEW discards AS
  SELECT run, sample, rule, clock, daemon, unit, pt_ns, limit_ns FROM discard
  WHERE EXISTS (SELECT 1 FROM result WHERE result.run = discard.run);

CREATE VIEW results AS
  SELECT run.id AS run, ifnull(run.name, run.program) AS name, run.kind, run.state, run.started_ns, run.profile, run.cpu,
    environment.digest AS environment, result.clock, result.samples, result.kept, result.adjusted, result.min_ns,
    result.max_ns, result.mean_ns, result.median_ns, result.sd_ns, result.low_ns, result.high_ns, result.lag1,
    result.effective_n, result.clean_samples, result.clean_mean_ns, result.clean_sd_ns
  FROM result JOIN run ON run.id = result.run LEFT JOIN environment ON environment.id = run.environment;
