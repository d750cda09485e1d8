-- SPDX-License-Identifier: GPL-2.0-or-later
-- The schema of the lab book: the steps from an empty file to the newest version, this one the first. A step that has
-- shipped is never changed: a change is a new step. EMP 0.1 had version 2, EMP 0.2 version 5.
--
-- For readers with sqlite3: unknown values are NULL, columns that end in _ns are nanoseconds, and two views show names
-- and milliseconds.
--
-- Version 1: runs, samples, daemons and profiles.

CREATE TABLE machine(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE environment(
  id INTEGER PRIMARY KEY,
  digest TEXT UNIQUE,
  machine INTEGER REFERENCES machine,
  document TEXT,
  inc_per_second REAL CHECK(inc_per_second > 0)) STRICT;

CREATE TABLE run(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  program TEXT NOT NULL,
  command TEXT,
  purpose TEXT NOT NULL,
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

CREATE TABLE daemon(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  exe TEXT,
  unit TEXT,
  kernel INTEGER NOT NULL CHECK(kernel IN (0, 1))) STRICT;

CREATE UNIQUE INDEX daemon_who ON daemon(name, ifnull(exe, ''), ifnull(unit, ''), kernel);

CREATE TABLE sample(
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK(n BETWEEN 1 AND 4294967295),
  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),
  et_ns INTEGER NOT NULL CHECK(et_ns >= 0),
  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),
  user_ns INTEGER CHECK(user_ns >= 0),
  system_ns INTEGER CHECK(system_ns >= 0),
  max_rss_bytes INTEGER CHECK(max_rss_bytes >= 0),
  observer_ns INTEGER CHECK(observer_ns >= 0),
  lost INTEGER NOT NULL CHECK(lost >= 0),
  exit_status INTEGER CHECK(exit_status BETWEEN 0 AND 255),
  left_behind INTEGER NOT NULL CHECK(left_behind >= 0),
  incomplete INTEGER NOT NULL CHECK(incomplete IN (0, 1)),
  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;

CREATE TABLE execution(
  run INTEGER NOT NULL,
  sample INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  daemon INTEGER NOT NULL REFERENCES daemon,
  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),
  pid INTEGER CHECK(pid > 0),
  tick_ns INTEGER CHECK(tick_ns >= 0),
  PRIMARY KEY(run, sample, seq),
  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE profile(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  resolution_ns INTEGER NOT NULL CHECK(resolution_ns >= 1),
  made_ns INTEGER CHECK(made_ns > 0),
  environment_digest TEXT) STRICT;

CREATE TABLE profile_run(
  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  which TEXT NOT NULL CHECK(which IN ('short', 'long')),
  program TEXT NOT NULL,
  run INTEGER REFERENCES run ON DELETE SET NULL,
  samples INTEGER NOT NULL CHECK(samples >= 0),
  PRIMARY KEY(profile, which)) STRICT, WITHOUT ROWID;

CREATE TABLE profile_l_sample(
  profile INTEGER NOT NULL,
  which TEXT NOT NULL,
  n INTEGER NOT NULL CHECK(n BETWEEN 1 AND 4294967295),
  PRIMARY KEY(profile, which, n),
  FOREIGN KEY(profile, which) REFERENCES profile_run ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE cutoff(
  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  daemon TEXT NOT NULL,
  unit TEXT,
  short_ns INTEGER CHECK(short_ns >= 0),
  long_ns INTEGER CHECK(long_ns >= 0),
  period_ns INTEGER CHECK(period_ns > 0),
  firm INTEGER NOT NULL CHECK(firm IN (0, 1)),
  task_time_ns INTEGER CHECK(task_time_ns > 0),
  below_ns INTEGER CHECK(below_ns >= 0),
  atleast_ns INTEGER CHECK(atleast_ns >= 0),
  PRIMARY KEY(profile, daemon)) STRICT, WITHOUT ROWID;

CREATE VIEW samples_readable AS
  SELECT run, n AS sample, program, datetime(start_ns / 1000000000, 'unixepoch') AS start_utc,
    round(et_ns / 1e6, 6) AS et_ms, round(pt_ns / 1e6, 6) AS pt_ms, exit_status, incomplete
  FROM sample JOIN run ON run.id = sample.run;

CREATE VIEW executions_readable AS
  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms
  FROM execution JOIN daemon ON daemon.id = execution.daemon;
