-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 5: waiting times of several programs, and page waits; interruptions of a CPU; calibrations of the clocks;
-- duets; loads.

DROP VIEW executions_readable;

CREATE TABLE source_5( -- kinds have one more
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  exe TEXT,
  unit TEXT,
  kind TEXT NOT NULL DEFAULT 'process' CHECK(kind IN
  ('process', 'kernel', 'irq', 'softirq', 'vector', 'nmi', 'fault', 'combination', 'outside'))) STRICT;

INSERT INTO source_5 SELECT id, name, exe, unit, kind FROM source;
DROP TABLE source;
ALTER TABLE source_5 RENAME TO source;
CREATE UNIQUE INDEX source_who ON source(name, ifnull(exe, ''), ifnull(unit, ''), kind);

CREATE VIEW executions_readable AS
  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms, cpu,
    round(same_cpu_ns / 1e6, 6) AS same_cpu_ms
  FROM execution JOIN source ON source.id = execution.source;

ALTER TABLE sample_program ADD COLUMN repetitions INTEGER CHECK(repetitions >= 0);
ALTER TABLE sample_program ADD COLUMN finished_ns INTEGER CHECK(finished_ns >= 0);
ALTER TABLE sample_program ADD COLUMN wait_ns INTEGER CHECK(wait_ns >= 0);
ALTER TABLE sample_program ADD COLUMN io_wait_ns INTEGER CHECK(io_wait_ns >= 0);
ALTER TABLE sample_program ADD COLUMN major_faults INTEGER CHECK(major_faults >= 0);

CREATE TABLE page_wait(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('slave', 'read', 'write')),
  count INTEGER NOT NULL CHECK(count >= 0),
  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),
  ready_ns INTEGER CHECK(ready_ns >= 0), -- of total_ns: it waited for a CPU, no longer for the page
  lost INTEGER NOT NULL CHECK(lost >= 0),
  PRIMARY KEY(run, sample, kind),
  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE page_wait_bin(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  kind TEXT NOT NULL,
  low_ns INTEGER NOT NULL CHECK(low_ns >= 0),
  high_ns INTEGER CHECK(high_ns > low_ns), -- the first length of the next bin
  count INTEGER NOT NULL CHECK(count > 0),
  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),
  PRIMARY KEY(run, sample, kind, low_ns),
  FOREIGN KEY(run, sample, kind) REFERENCES page_wait ON DELETE CASCADE) STRICT, WITHOUT ROWID;

DROP TABLE interruption; -- which nothing wrote to

CREATE TABLE interruption(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cpu INTEGER NOT NULL CHECK(cpu >= 0),
  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),
  length_ns INTEGER NOT NULL CHECK(length_ns >= 0),
  source INTEGER REFERENCES source, -- NULL: no event explains it
  PRIMARY KEY(run, cpu, start_ns)) STRICT, WITHOUT ROWID;

CREATE TABLE interruption_part(
  run INTEGER NOT NULL,
  cpu INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK(n >= 1),
  offset_ns INTEGER NOT NULL CHECK(offset_ns >= 0),
  length_ns INTEGER NOT NULL CHECK(length_ns >= 0),
  net_ns INTEGER NOT NULL CHECK(net_ns >= 0), -- without those nested in it
  source INTEGER NOT NULL REFERENCES source,
  PRIMARY KEY(run, cpu, start_ns, n),
  FOREIGN KEY(run, cpu, start_ns) REFERENCES interruption ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE combination_part(
  combination INTEGER NOT NULL REFERENCES source,
  n INTEGER NOT NULL CHECK(n >= 1),
  source INTEGER NOT NULL REFERENCES source,
  PRIMARY KEY(combination, n)) STRICT, WITHOUT ROWID;

CREATE TABLE jitter_cpu(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cpu INTEGER NOT NULL CHECK(cpu >= 0),
  rounds INTEGER NOT NULL CHECK(rounds >= 0),
  wall_ns INTEGER NOT NULL CHECK(wall_ns >= 0),
  sampled_ns INTEGER NOT NULL CHECK(sampled_ns >= 0),
  smallest_gap_ns INTEGER NOT NULL CHECK(smallest_gap_ns >= 0),
  threshold_ns INTEGER NOT NULL CHECK(threshold_ns >= 0),
  gaps INTEGER NOT NULL CHECK(gaps >= 0),
  gaps_ns INTEGER NOT NULL CHECK(gaps_ns >= 0),
  explained INTEGER NOT NULL CHECK(explained >= 0),
  explained_ns INTEGER NOT NULL CHECK(explained_ns >= 0),
  chance INTEGER NOT NULL CHECK(chance >= 0), -- by a trace shifted at random
  chance_ns INTEGER NOT NULL CHECK(chance_ns >= 0),
  periodic INTEGER NOT NULL CHECK(periodic >= 0),
  periodic_ns INTEGER NOT NULL CHECK(periodic_ns >= 0),
  outside_kernel INTEGER CHECK(outside_kernel >= 0), -- it did not run, and they have no period
  outside_kernel_ns INTEGER CHECK(outside_kernel_ns >= 0),
  unexplained INTEGER NOT NULL CHECK(unexplained >= 0),
  unexplained_ns INTEGER NOT NULL CHECK(unexplained_ns >= 0),
  steal_ns INTEGER CHECK(steal_ns >= 0),
  smis INTEGER CHECK(smis >= 0), -- interrupts of the firmware
  events INTEGER NOT NULL CHECK(events >= 0),
  lost INTEGER NOT NULL CHECK(lost >= 0), -- events
  broken INTEGER NOT NULL CHECK(broken >= 0), -- places in the chain of sched_switch
  in_no_gap INTEGER NOT NULL CHECK(in_no_gap >= 0), -- intervals
  event_cost_ns INTEGER CHECK(event_cost_ns > 0),
  PRIMARY KEY(run, cpu)) STRICT, WITHOUT ROWID;

CREATE TABLE jitter_period(
  run INTEGER NOT NULL,
  cpu INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK(n >= 1),
  period_ns INTEGER NOT NULL CHECK(period_ns > 0),
  count INTEGER NOT NULL CHECK(count >= 0), -- rests of gaps have a time, and are not counted
  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),
  outside_kernel INTEGER NOT NULL CHECK(outside_kernel IN (0, 1)),
  PRIMARY KEY(run, cpu, n),
  FOREIGN KEY(run, cpu) REFERENCES jitter_cpu ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE jitter_source(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cpu INTEGER NOT NULL CHECK(cpu >= 0),
  level TEXT NOT NULL CHECK(level IN ('time', 'frequency')),
  source INTEGER NOT NULL REFERENCES source,
  count INTEGER NOT NULL CHECK(count > 0),
  min_ns INTEGER NOT NULL CHECK(min_ns >= 0),
  max_ns INTEGER NOT NULL CHECK(max_ns >= min_ns),
  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),
  squares_ns2 REAL NOT NULL CHECK(squares_ns2 >= 0),
  rounds INTEGER NOT NULL CHECK(rounds >= 0),
  round_squares_ns2 REAL NOT NULL CHECK(round_squares_ns2 >= 0),
  round_steps_ns2 REAL NOT NULL CHECK(round_steps_ns2 >= 0),
  period_ns INTEGER CHECK(period_ns > 0),
  PRIMARY KEY(run, cpu, level, source)) STRICT, WITHOUT ROWID;

CREATE TABLE jitter_bucket(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cpu INTEGER NOT NULL CHECK(cpu >= 0),
  level TEXT NOT NULL CHECK(level IN ('user', 'master', 'time', 'frequency')),
  source INTEGER REFERENCES source CHECK((source IS NULL) = (level IN ('user', 'master'))),
  low_ns INTEGER NOT NULL CHECK(low_ns >= 0),
  high_ns INTEGER NOT NULL CHECK(high_ns > low_ns), -- the first length of the next bucket
  count INTEGER NOT NULL CHECK(count > 0),
  total_ns INTEGER NOT NULL CHECK(total_ns >= 0)) STRICT;

CREATE UNIQUE INDEX jitter_bucket_where
  ON jitter_bucket(run, cpu, level, ifnull(source, 0), low_ns);

CREATE TABLE jitter_match(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cpu INTEGER NOT NULL CHECK(cpu >= 0),
  low_ns INTEGER NOT NULL CHECK(low_ns >= 0),
  high_ns INTEGER NOT NULL CHECK(high_ns > low_ns),
  gaps INTEGER NOT NULL CHECK(gaps >= 0),
  matched INTEGER NOT NULL CHECK(matched BETWEEN 0 AND gaps),
  chance INTEGER NOT NULL CHECK(chance BETWEEN 0 AND gaps),
  PRIMARY KEY(run, cpu, low_ns)) STRICT, WITHOUT ROWID;

CREATE TABLE clock_calibration(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  environment INTEGER NOT NULL REFERENCES environment,
  made_ns INTEGER NOT NULL CHECK(made_ns >= 0),
  document TEXT NOT NULL) STRICT; -- emp-clocks

-- How W was measured; how L-samples were found; what each cutoff explains, and of how many names.
ALTER TABLE run ADD COLUMN wait_source TEXT;
ALTER TABLE run ADD COLUMN name TEXT; -- that the user gave the command

-- The rules that discarded samples of the run.
ALTER TABLE run ADD COLUMN other_cpus INTEGER NOT NULL DEFAULT 0 CHECK(other_cpus IN (0, 1));
ALTER TABLE run ADD COLUMN unprofiled_share_ppm INTEGER CHECK(unprofiled_share_ppm > 0);
ALTER TABLE calibration ADD COLUMN by_et INTEGER NOT NULL DEFAULT 0 CHECK(by_et IN (0, 1));
ALTER TABLE calibration ADD COLUMN other_cpus INTEGER NOT NULL DEFAULT 0 CHECK(other_cpus IN (0, 1));
ALTER TABLE calibration ADD COLUMN material_ppm INTEGER NOT NULL DEFAULT 0
  CHECK(material_ppm BETWEEN 0 AND 1000000);
ALTER TABLE profile ADD COLUMN by_wait INTEGER NOT NULL DEFAULT 0 CHECK(by_wait IN (0, 1));
ALTER TABLE profile ADD COLUMN blind_ns INTEGER CHECK(blind_ns > 0); -- of a noisy one
ALTER TABLE profile ADD COLUMN noise TEXT;

-- What its short run says of the machine: the environment has these figures of its newest profile.
ALTER TABLE profile ADD COLUMN correlation REAL NOT NULL DEFAULT 0
  CHECK(correlation >= 0 AND correlation < 1);
ALTER TABLE profile ADD COLUMN correlation_samples INTEGER CHECK(correlation_samples > 0);

CREATE TABLE profile_resolving(
  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  samples INTEGER NOT NULL CHECK(samples > 0),
  interleaved REAL NOT NULL CHECK(interleaved >= 0),
  separate REAL NOT NULL CHECK(separate >= 0),
  PRIMARY KEY(profile, samples)) STRICT, WITHOUT ROWID;

ALTER TABLE cutoff ADD COLUMN names INTEGER CHECK(names > 1);
ALTER TABLE cutoff ADD COLUMN short_share_ppm INTEGER CHECK(short_share_ppm BETWEEN 0 AND 1000000);
ALTER TABLE cutoff ADD COLUMN long_share_ppm INTEGER CHECK(long_share_ppm BETWEEN 0 AND 1000000);

-- Programs that ran together, each of them a run.
CREATE TABLE duet(
  run INTEGER NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  reference INTEGER NOT NULL CHECK(reference >= 1), -- the run of the first program, if not removed
  frozen INTEGER NOT NULL CHECK(frozen IN (0, 1)), -- 0: the scheduler's slices
  slice_ns INTEGER NOT NULL CHECK(slice_ns > 0),
  increments INTEGER CHECK(increments > 0)) STRICT; -- of INC, each time it runs; NULL: another program

CREATE INDEX duet_reference ON duet(reference);

CREATE TABLE duet_sample(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  position INTEGER NOT NULL CHECK(position >= 1),
  repetitions INTEGER NOT NULL CHECK(repetitions >= 1),
  together_ns INTEGER NOT NULL CHECK(together_ns >= 0),
  PRIMARY KEY(run, sample),
  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE duet_alone(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK(n >= 1),
  after INTEGER NOT NULL CHECK(after >= 0), -- the last sample before it
  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),
  et_ns INTEGER NOT NULL CHECK(et_ns >= 0),
  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),
  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;

-- Loads: each of their runs is a sample, and their slaves are programs.
CREATE TABLE load(
  run INTEGER NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  coordination TEXT NOT NULL CHECK(coordination IN ('constant-load', 'no-teardown', 'before')),
  cpus TEXT, -- NULL: all
  file TEXT NOT NULL,
  no_page_waits TEXT) STRICT; -- why they were not measured; NULL: they were

CREATE TABLE load_sample(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  release_ns INTEGER NOT NULL CHECK(release_ns >= 0), -- how long it took to wake all slaves
  driver_ns INTEGER NOT NULL CHECK(driver_ns >= 0), -- its CPU time
  PRIMARY KEY(run, sample),
  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;
