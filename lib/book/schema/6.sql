-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 6: a result keeps the inputs it was computed with, such as a profile that was replaced or removed; notes on
-- results; owners of runs.

CREATE TABLE profile_6(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  resolution_ns INTEGER NOT NULL CHECK(resolution_ns >= 1),
  made_ns INTEGER CHECK(made_ns > 0),
  environment_digest TEXT,
  cpu INTEGER CHECK(cpu >= 0),
  by_wait INTEGER NOT NULL DEFAULT 0 CHECK(by_wait IN (0, 1)),
  blind_ns INTEGER CHECK(blind_ns > 0), -- of a noisy one
  noise TEXT,
  correlation REAL NOT NULL DEFAULT 0 CHECK(correlation >= 0 AND correlation < 1),
  correlation_samples INTEGER CHECK(correlation_samples > 0),
  inc_digest TEXT, -- of the INC that its figures of the machine are of; NULL: not known
  retired_ns INTEGER CHECK(retired_ns > 0)) STRICT; -- when it was replaced or removed

INSERT INTO profile_6 SELECT id, name, resolution_ns, made_ns, environment_digest, cpu, by_wait, blind_ns,
    noise, correlation, correlation_samples, NULL, NULL FROM profile;

DROP TABLE profile;
ALTER TABLE profile_6 RENAME TO profile;
CREATE UNIQUE INDEX profile_name ON profile(name) WHERE retired_ns IS NULL;
ALTER TABLE run ADD COLUMN profile_id INTEGER REFERENCES profile ON DELETE SET NULL;
UPDATE run SET profile_id = (SELECT id FROM profile WHERE name = run.profile);
CREATE INDEX run_profile ON run(profile_id);

-- How much samples of its machine were known to be alike, when it began.
ALTER TABLE run ADD COLUMN correlation REAL NOT NULL DEFAULT 0 CHECK(correlation >= 0 AND correlation < 1);
ALTER TABLE run ADD COLUMN correlation_samples INTEGER CHECK(correlation_samples > 0);
UPDATE run SET correlation = lag1.value, correlation_samples = CAST(samples.value AS INTEGER)
  FROM measurement AS lag1 JOIN measurement AS samples USING(environment)
  WHERE lag1.environment = run.environment
    AND lag1.name = 'correlation_0' AND lag1.value >= 0 AND lag1.value < 1
    AND samples.name = 'correlation_samples_0' AND samples.value BETWEEN 1 AND 4294967295;

-- INC as it was when the run was measured: its SHA-256. What INC showed of a machine is of that INC only.
ALTER TABLE run ADD COLUMN inc_digest TEXT;

CREATE TABLE measurement_6(
  environment INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  unit TEXT NOT NULL, -- '' for a bare number
  inc_digest TEXT, -- of the INC that was measured; NULL: not known
  CHECK(name <> 'inc_per_second' OR value > 0)) STRICT;

INSERT INTO measurement_6 SELECT environment, name, value, unit, NULL FROM measurement;
DROP TABLE measurement;
ALTER TABLE measurement_6 RENAME TO measurement;
CREATE UNIQUE INDEX measurement_what ON measurement(environment, name, ifnull(inc_digest, ''));

-- The patterns by which it groups the names of processes: the text of names.ini; NULL: not known.
ALTER TABLE run ADD COLUMN name_patterns TEXT;

-- The process that takes the samples: boot id, pid, start.
ALTER TABLE run ADD COLUMN owner TEXT;

-- Warnings and remarks on the result, the gravest first.
CREATE TABLE note(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK(n >= 1),
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;

ALTER TABLE profile_run ADD COLUMN floor_ns INTEGER CHECK(floor_ns > 0);
ALTER TABLE profile_resolving ADD COLUMN duet REAL NOT NULL DEFAULT 0.0 CHECK(duet >= 0); -- 0: not known

-- How long the CPUs of a load were idle, and how many they were; NULL: not known.
ALTER TABLE load_sample ADD COLUMN idle_ns INTEGER CHECK(idle_ns >= 0);
ALTER TABLE load_sample ADD COLUMN cpus INTEGER CHECK(cpus >= 1);

-- 1: max_rss_bytes is no more than what EMP itself had when it started the program.
ALTER TABLE sample ADD COLUMN max_rss_at_most INTEGER NOT NULL DEFAULT 0 CHECK(max_rss_at_most IN (0, 1));

-- How much too long et_ns may be, because the end was seen late; NULL: not known.
ALTER TABLE sample ADD COLUMN et_late_ns INTEGER CHECK(et_late_ns >= 0);

-- How long control groups held the program back, which is no part of its W; NULL: not known. Which ones did.
ALTER TABLE sample ADD COLUMN held_back_ns INTEGER CHECK(held_back_ns >= 0);
ALTER TABLE run ADD COLUMN held_back_by TEXT;

-- What the program consisted of, by content, in this call: two runs for which it is equal are of the same program, and so show what
-- noise alone does on their machine. "SHA-256", or "SHA-256 NAME" of a program that may act by its name; NULL: not known.
ALTER TABLE run ADD COLUMN program_digest TEXT;
-- Of what each of its samples wrote; '': they differ, or were refused; NULL: it was not compared.
ALTER TABLE run ADD COLUMN output_digest TEXT;
