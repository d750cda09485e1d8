-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 3: runs and sources have kinds, and a run has an id that is unique in all books; measurements, interruptions,
-- and several programs in one run.

DROP VIEW samples_readable;
DROP VIEW executions_readable;

CREATE TABLE run_3(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE CHECK(length(uid) = 32 AND uid NOT GLOB '*[^0-9a-f]*'),
  kind TEXT NOT NULL CHECK(kind IN ('import', 'short', 'long', 'revalidate', 'measure',
    'jitter', 'clocks', 'load', 'duet')),
  program TEXT NOT NULL,
  command TEXT,
  state TEXT NOT NULL CHECK(state IN ('open', 'done', 'interrupted', 'failed')),
  backend TEXT,
  pt_source TEXT,
  profile TEXT,
  notes TEXT,
  task_length_ns INTEGER CHECK(task_length_ns > 0),
  resolution_ns INTEGER NOT NULL CHECK(resolution_ns >= 1),
  started_ns INTEGER NOT NULL CHECK(started_ns >= 0),
  ended_ns INTEGER CHECK(ended_ns >= 0),
  environment INTEGER REFERENCES environment,
  cpu INTEGER CHECK(cpu >= 0)) STRICT;

-- An older book that is only read is upgraded again each time: a run must get the same uid then.
INSERT INTO run_3 SELECT id, printf('%08x%012x%012x', id & 0xffffffff, started_ns / 1000 & 0xffffffffffff,
      (SELECT ifnull(sum(et_ns), 0) FROM sample WHERE run = run.id) & 0xffffffffffff),
    CASE WHEN purpose IN ('short', 'long', 'revalidate', 'measure') THEN purpose ELSE 'import' END,
    program, command, state, backend, pt_source, profile, notes, task_length_ns, resolution_ns,
    started_ns, ended_ns, environment, cpu FROM run;

-- An id is not given again, even after its run was removed.
DELETE FROM sqlite_sequence WHERE name = 'run_3';
INSERT INTO sqlite_sequence SELECT 'run_3', seq FROM sqlite_sequence WHERE name = 'run';
DROP TABLE run;
ALTER TABLE run_3 RENAME TO run;
DROP INDEX daemon_who;
ALTER TABLE daemon RENAME TO source;
ALTER TABLE source ADD COLUMN kind TEXT NOT NULL DEFAULT 'process' CHECK(kind IN
  ('process', 'kernel', 'irq', 'softirq', 'vector', 'nmi', 'fault', 'combination'));
UPDATE source SET kind = 'kernel' WHERE kernel;
ALTER TABLE source DROP COLUMN kernel;
CREATE UNIQUE INDEX source_who ON source(name, ifnull(exe, ''), ifnull(unit, ''), kind);
ALTER TABLE execution RENAME COLUMN daemon TO source;
ALTER TABLE sentinels RENAME TO counters;
ALTER TABLE seam RENAME TO resume_point;

CREATE TABLE measurement(
  environment INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  unit TEXT NOT NULL, -- '' for a bare number
  PRIMARY KEY(environment, name),
  CHECK(name <> 'inc_per_second' OR value > 0)) STRICT, WITHOUT ROWID;

INSERT INTO measurement SELECT id, 'inc_per_second', inc_per_second, '1/s' FROM environment
  WHERE inc_per_second IS NOT NULL;

ALTER TABLE environment DROP COLUMN inc_per_second;
ALTER TABLE profile ADD COLUMN cpu INTEGER CHECK(cpu >= 0);
UPDATE profile SET cpu = (SELECT run.cpu FROM profile_run JOIN run ON run.id = profile_run.run
  WHERE profile_run.profile = profile.id AND which = 'short');

CREATE TABLE interruption(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cpu INTEGER NOT NULL CHECK(cpu >= 0),
  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),
  length_ns INTEGER NOT NULL CHECK(length_ns >= 0),
  source INTEGER NOT NULL REFERENCES source,
  PRIMARY KEY(run, cpu, start_ns, source)) STRICT, WITHOUT ROWID;

CREATE TABLE program(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK(n >= 1),
  name TEXT NOT NULL,
  command TEXT,
  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;

CREATE TABLE sample_program(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  program INTEGER NOT NULL,
  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),
  et_ns INTEGER NOT NULL CHECK(et_ns >= 0),
  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),
  user_ns INTEGER CHECK(user_ns >= 0),
  system_ns INTEGER CHECK(system_ns >= 0),
  max_rss_bytes INTEGER CHECK(max_rss_bytes >= 0),
  exit_status INTEGER CHECK(exit_status BETWEEN 0 AND 255),
  left_behind INTEGER NOT NULL DEFAULT 0 CHECK(left_behind >= 0),
  PRIMARY KEY(run, sample, program),
  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE,
  FOREIGN KEY(run, program) REFERENCES program ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE VIEW samples_readable AS
  SELECT run, n AS sample, program, datetime(start_ns / 1000000000, 'unixepoch') AS start_utc,
    round(et_ns / 1e6, 6) AS et_ms, round(pt_ns / 1e6, 6) AS pt_ms, exit_status, incomplete
  FROM sample JOIN run ON run.id = sample.run;

CREATE VIEW executions_readable AS
  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms
  FROM execution JOIN source ON source.id = execution.source;
