/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the lab book, as the steps from an empty file to the newest version. A step that has shipped is never
 * changed: changes are new rows of `steps`.
 *
 * For readers with sqlite3: unknown values are NULL, columns that end in _ns are nanoseconds, and two views show names and
 * milliseconds. */
#include "lib/record/book/query.h"

#include <errno.h>

static const char *const steps[] = {
	/* 1 */
	"CREATE TABLE machine("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE) STRICT;"
	"CREATE TABLE environment("
	"  id INTEGER PRIMARY KEY,"
	"  digest TEXT UNIQUE,"
	"  machine INTEGER REFERENCES machine,"
	"  document TEXT,"
	"  inc_per_second REAL CHECK(inc_per_second > 0)) STRICT;"
	"CREATE TABLE run("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  program TEXT NOT NULL,"
	"  command TEXT,"
	"  purpose TEXT NOT NULL,"
	"  state TEXT NOT NULL CHECK(state IN ('open', 'done', 'interrupted', 'failed')),"
	"  backend TEXT,"
	"  pt_source TEXT,"
	"  profile TEXT,"
	"  notes TEXT,"
	"  task_length_ns INTEGER CHECK(task_length_ns > 0),"
	"  resolution_ns INTEGER NOT NULL CHECK(resolution_ns >= 1),"
	"  started_ns INTEGER NOT NULL CHECK(started_ns >= 0),"
	"  ended_ns INTEGER CHECK(ended_ns >= 0),"
	"  environment INTEGER REFERENCES environment,"
	"  cpu INTEGER CHECK(cpu >= 0)) STRICT;"
	"CREATE TABLE daemon("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL,"
	"  exe TEXT,"
	"  unit TEXT,"
	"  kernel INTEGER NOT NULL CHECK(kernel IN (0, 1))) STRICT;"
	"CREATE UNIQUE INDEX daemon_who ON daemon(name, ifnull(exe, ''), ifnull(unit, ''), kernel);"
	"CREATE TABLE sample("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  n INTEGER NOT NULL CHECK(n BETWEEN 1 AND 4294967295),"
	"  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),"
	"  et_ns INTEGER NOT NULL CHECK(et_ns >= 0),"
	"  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),"
	"  user_ns INTEGER CHECK(user_ns >= 0),"
	"  system_ns INTEGER CHECK(system_ns >= 0),"
	"  max_rss_bytes INTEGER CHECK(max_rss_bytes >= 0),"
	"  observer_ns INTEGER CHECK(observer_ns >= 0),"
	"  lost INTEGER NOT NULL CHECK(lost >= 0),"
	"  exit_status INTEGER CHECK(exit_status BETWEEN 0 AND 255),"
	"  left_behind INTEGER NOT NULL CHECK(left_behind >= 0),"
	"  incomplete INTEGER NOT NULL CHECK(incomplete IN (0, 1)),"
	"  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE execution("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  seq INTEGER NOT NULL,"
	"  daemon INTEGER NOT NULL REFERENCES daemon,"
	"  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),"
	"  pid INTEGER CHECK(pid > 0),"
	"  tick_ns INTEGER CHECK(tick_ns >= 0),"
	"  PRIMARY KEY(run, sample, seq),"
	"  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"CREATE TABLE profile("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE,"
	"  resolution_ns INTEGER NOT NULL CHECK(resolution_ns >= 1),"
	"  made_ns INTEGER CHECK(made_ns > 0),"
	"  environment_digest TEXT) STRICT;"
	"CREATE TABLE profile_run("
	"  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,"
	"  which TEXT NOT NULL CHECK(which IN ('short', 'long')),"
	"  program TEXT NOT NULL,"
	"  run INTEGER REFERENCES run ON DELETE SET NULL,"
	"  samples INTEGER NOT NULL CHECK(samples >= 0),"
	"  PRIMARY KEY(profile, which)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE profile_l_sample("
	"  profile INTEGER NOT NULL,"
	"  which TEXT NOT NULL,"
	"  n INTEGER NOT NULL CHECK(n BETWEEN 1 AND 4294967295),"
	"  PRIMARY KEY(profile, which, n),"
	"  FOREIGN KEY(profile, which) REFERENCES profile_run ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"CREATE TABLE cutoff("
	"  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,"
	"  daemon TEXT NOT NULL,"
	"  unit TEXT,"
	"  short_ns INTEGER CHECK(short_ns >= 0),"
	"  long_ns INTEGER CHECK(long_ns >= 0),"
	"  period_ns INTEGER CHECK(period_ns > 0),"
	"  firm INTEGER NOT NULL CHECK(firm IN (0, 1)),"
	"  task_time_ns INTEGER CHECK(task_time_ns > 0),"
	"  below_ns INTEGER CHECK(below_ns >= 0),"
	"  atleast_ns INTEGER CHECK(atleast_ns >= 0),"
	"  PRIMARY KEY(profile, daemon)) STRICT, WITHOUT ROWID;"
	"CREATE VIEW samples_readable AS"
	"  SELECT run, n AS sample, program, datetime(start_ns / 1000000000, 'unixepoch') AS start_utc,"
	"    round(et_ns / 1e6, 6) AS et_ms, round(pt_ns / 1e6, 6) AS pt_ms, exit_status, incomplete"
	"  FROM sample JOIN run ON run.id = sample.run;"
	"CREATE VIEW executions_readable AS"
	"  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms"
	"  FROM execution JOIN daemon ON daemon.id = execution.daemon;",
	/* 2: calibrations that can be resumed, and disturbance counters */
	"CREATE TABLE calibration("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  profile TEXT NOT NULL,"
	"  state TEXT NOT NULL CHECK(state IN ('open', 'done', 'refused')),"
	"  owner TEXT,"
	"  started_ns INTEGER NOT NULL,"
	"  short_length_ns INTEGER NOT NULL CHECK(short_length_ns > 0),"
	"  short_samples INTEGER NOT NULL CHECK(short_samples > 0),"
	"  short_central_max_ns INTEGER CHECK(short_central_max_ns > 0),"
	"  short_run INTEGER REFERENCES run ON DELETE CASCADE,"
	"  long_length_ns INTEGER NOT NULL CHECK(long_length_ns > 0),"
	"  long_samples INTEGER NOT NULL CHECK(long_samples > 0),"
	"  long_central_max_ns INTEGER CHECK(long_central_max_ns > 0),"
	"  long_run INTEGER REFERENCES run ON DELETE SET NULL,"
	"  backend TEXT NOT NULL,"
	"  cpu INTEGER CHECK(cpu >= 0),"
	"  anyway INTEGER NOT NULL CHECK(anyway IN (0, 1)),"
	"  force INTEGER NOT NULL CHECK(force IN (0, 1)),"
	"  replace_profile INTEGER NOT NULL CHECK(replace_profile IN (0, 1))) STRICT;"
	"CREATE TABLE seam("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  n INTEGER NOT NULL CHECK(n > 1)," /* the first sample behind it */
	"  at_ns INTEGER NOT NULL,"
	"  why TEXT NOT NULL,"
	"  environment INTEGER REFERENCES environment,"
	"  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE sentinels("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  steal_ns INTEGER,"
	"  throttles INTEGER,"
	"  swapped_in_pages INTEGER,"
	"  swapped_out_pages INTEGER,"
	"  major_faults INTEGER,"
	"  suspended_ns INTEGER,"
	"  clock_rate_ppb INTEGER,"
	"  cpu_pressure_ns INTEGER,"
	"  voluntary_switches INTEGER,"
	"  involuntary_switches INTEGER,"
	"  PRIMARY KEY(run, sample),"
	"  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;",
	/* 3: runs and sources have kinds, a run an id for all books; measurements, interruptions, several programs */
	"DROP VIEW samples_readable;"
	"DROP VIEW executions_readable;"
	"CREATE TABLE run_3("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  uid TEXT NOT NULL UNIQUE CHECK(length(uid) = 32 AND uid NOT GLOB '*[^0-9a-f]*'),"
	"  kind TEXT NOT NULL CHECK(kind IN ('import', 'short', 'long', 'revalidate', 'measure',"
	"    'jitter', 'clocks', 'load', 'duet')),"
	"  program TEXT NOT NULL,"
	"  command TEXT,"
	"  state TEXT NOT NULL CHECK(state IN ('open', 'done', 'interrupted', 'failed')),"
	"  backend TEXT,"
	"  pt_source TEXT,"
	"  profile TEXT,"
	"  notes TEXT,"
	"  task_length_ns INTEGER CHECK(task_length_ns > 0),"
	"  resolution_ns INTEGER NOT NULL CHECK(resolution_ns >= 1),"
	"  started_ns INTEGER NOT NULL CHECK(started_ns >= 0),"
	"  ended_ns INTEGER CHECK(ended_ns >= 0),"
	"  environment INTEGER REFERENCES environment,"
	"  cpu INTEGER CHECK(cpu >= 0)) STRICT;"
	"INSERT INTO run_3 SELECT id, lower(hex(randomblob(16))),"
	"    CASE WHEN purpose IN ('short', 'long', 'revalidate', 'measure') THEN purpose ELSE 'import' END,"
	"    program, command, state, backend, pt_source, profile, notes, task_length_ns, resolution_ns,"
	"    started_ns, ended_ns, environment, cpu FROM run;"
	/* an id is not given again, even after its run was removed */
	"DELETE FROM sqlite_sequence WHERE name = 'run_3';"
	"INSERT INTO sqlite_sequence SELECT 'run_3', seq FROM sqlite_sequence WHERE name = 'run';"
	"DROP TABLE run;"
	"ALTER TABLE run_3 RENAME TO run;"
	"DROP INDEX daemon_who;"
	"ALTER TABLE daemon RENAME TO source;"
	"ALTER TABLE source ADD COLUMN kind TEXT NOT NULL DEFAULT 'process' CHECK(kind IN"
	"  ('process', 'kernel', 'irq', 'softirq', 'vector', 'nmi', 'fault', 'combination'));"
	"UPDATE source SET kind = 'kernel' WHERE kernel;"
	"ALTER TABLE source DROP COLUMN kernel;"
	"CREATE UNIQUE INDEX source_who ON source(name, ifnull(exe, ''), ifnull(unit, ''), kind);"
	"ALTER TABLE execution RENAME COLUMN daemon TO source;"
	"ALTER TABLE sentinels RENAME TO counters;"
	"ALTER TABLE seam RENAME TO resume_point;"
	"CREATE TABLE measurement("
	"  environment INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,"
	"  name TEXT NOT NULL,"
	"  value REAL NOT NULL,"
	"  unit TEXT NOT NULL," /* '' for a bare number */
	"  PRIMARY KEY(environment, name),"
	"  CHECK(name <> 'inc_per_second' OR value > 0)) STRICT, WITHOUT ROWID;"
	"INSERT INTO measurement SELECT id, 'inc_per_second', inc_per_second, '1/s' FROM environment"
	"  WHERE inc_per_second IS NOT NULL;"
	"ALTER TABLE environment DROP COLUMN inc_per_second;"
	"ALTER TABLE profile ADD COLUMN cpu INTEGER CHECK(cpu >= 0);"
	"UPDATE profile SET cpu = (SELECT run.cpu FROM profile_run JOIN run ON run.id = profile_run.run"
	"  WHERE profile_run.profile = profile.id AND which = 'short');"
	"CREATE TABLE interruption("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  cpu INTEGER NOT NULL CHECK(cpu >= 0),"
	"  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),"
	"  length_ns INTEGER NOT NULL CHECK(length_ns >= 0),"
	"  source INTEGER NOT NULL REFERENCES source,"
	"  PRIMARY KEY(run, cpu, start_ns, source)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE program("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  n INTEGER NOT NULL CHECK(n >= 1),"
	"  name TEXT NOT NULL,"
	"  command TEXT,"
	"  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE sample_program("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  program INTEGER NOT NULL,"
	"  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),"
	"  et_ns INTEGER NOT NULL CHECK(et_ns >= 0),"
	"  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),"
	"  user_ns INTEGER CHECK(user_ns >= 0),"
	"  system_ns INTEGER CHECK(system_ns >= 0),"
	"  max_rss_bytes INTEGER CHECK(max_rss_bytes >= 0),"
	"  exit_status INTEGER CHECK(exit_status BETWEEN 0 AND 255),"
	"  left_behind INTEGER NOT NULL DEFAULT 0 CHECK(left_behind >= 0),"
	"  PRIMARY KEY(run, sample, program),"
	"  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE,"
	"  FOREIGN KEY(run, program) REFERENCES program ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"CREATE VIEW samples_readable AS"
	"  SELECT run, n AS sample, program, datetime(start_ns / 1000000000, 'unixepoch') AS start_utc,"
	"    round(et_ns / 1e6, 6) AS et_ms, round(pt_ns / 1e6, 6) AS pt_ms, exit_status, incomplete"
	"  FROM sample JOIN run ON run.id = sample.run;"
	"CREATE VIEW executions_readable AS"
	"  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms"
	"  FROM execution JOIN source ON source.id = execution.source;",
	/* 4: what others took from each sample, and where they ran; counters of interrupts and of the processor */
	"ALTER TABLE sample ADD COLUMN wait_ns INTEGER CHECK(wait_ns >= 0);"
	"ALTER TABLE execution ADD COLUMN cpu INTEGER CHECK(cpu >= 0);"
	"ALTER TABLE execution ADD COLUMN same_cpu_ns INTEGER CHECK(same_cpu_ns >= 0);"
	"ALTER TABLE counters ADD COLUMN interrupts_ns INTEGER;"
	"ALTER TABLE counters ADD COLUMN smis INTEGER;"
	"ALTER TABLE counters ADD COLUMN temperature_change_millicelsius INTEGER;"
	"ALTER TABLE counters ADD COLUMN clock_speed_ppm INTEGER;"
	"DROP VIEW samples_readable;"
	"DROP VIEW executions_readable;"
	"CREATE VIEW samples_readable AS"
	"  SELECT run, n AS sample, program, datetime(start_ns / 1000000000, 'unixepoch') AS start_utc,"
	"    round(et_ns / 1e6, 6) AS et_ms, round(pt_ns / 1e6, 6) AS pt_ms,"
	"    round(wait_ns / 1e6, 6) AS wait_ms, exit_status, incomplete"
	"  FROM sample JOIN run ON run.id = sample.run;"
	"CREATE VIEW executions_readable AS"
	"  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms, cpu,"
	"    round(same_cpu_ns / 1e6, 6) AS same_cpu_ms"
	"  FROM execution JOIN source ON source.id = execution.source;",
	/* 5: what each of several programs waited for, and for pages; what interrupted a CPU, in histograms, by source, and the longest
	 * interruptions with their parts; calibrations of the clocks; duets; loads */
	"ALTER TABLE sample_program ADD COLUMN repetitions INTEGER CHECK(repetitions >= 0);"
	"ALTER TABLE sample_program ADD COLUMN finished_ns INTEGER CHECK(finished_ns >= 0);"
	"ALTER TABLE sample_program ADD COLUMN wait_ns INTEGER CHECK(wait_ns >= 0);"
	"ALTER TABLE sample_program ADD COLUMN io_wait_ns INTEGER CHECK(io_wait_ns >= 0);"
	"ALTER TABLE sample_program ADD COLUMN major_faults INTEGER CHECK(major_faults >= 0);"
	"CREATE TABLE page_wait("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  kind TEXT NOT NULL CHECK(kind IN ('slave', 'read', 'write')),"
	"  count INTEGER NOT NULL CHECK(count >= 0),"
	"  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),"
	"  ready_ns INTEGER CHECK(ready_ns >= 0)," /* of total_ns: it waited for a CPU, no longer for the page */
	"  lost INTEGER NOT NULL CHECK(lost >= 0),"
	"  PRIMARY KEY(run, sample, kind),"
	"  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"CREATE TABLE page_wait_bin("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  kind TEXT NOT NULL,"
	"  low_ns INTEGER NOT NULL CHECK(low_ns >= 0),"
	"  high_ns INTEGER CHECK(high_ns > low_ns)," /* the first length of the next bin */
	"  count INTEGER NOT NULL CHECK(count > 0),"
	"  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),"
	"  PRIMARY KEY(run, sample, kind, low_ns),"
	"  FOREIGN KEY(run, sample, kind) REFERENCES page_wait ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"DROP TABLE interruption;" /* which nothing wrote to */
	"CREATE TABLE interruption("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  cpu INTEGER NOT NULL CHECK(cpu >= 0),"
	"  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),"
	"  length_ns INTEGER NOT NULL CHECK(length_ns >= 0),"
	"  source INTEGER REFERENCES source," /* NULL: no event explains it */
	"  PRIMARY KEY(run, cpu, start_ns)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE interruption_part("
	"  run INTEGER NOT NULL,"
	"  cpu INTEGER NOT NULL,"
	"  start_ns INTEGER NOT NULL,"
	"  n INTEGER NOT NULL CHECK(n >= 1),"
	"  offset_ns INTEGER NOT NULL CHECK(offset_ns >= 0),"
	"  length_ns INTEGER NOT NULL CHECK(length_ns >= 0),"
	"  net_ns INTEGER NOT NULL CHECK(net_ns >= 0)," /* without those nested in it */
	"  source INTEGER NOT NULL REFERENCES source,"
	"  PRIMARY KEY(run, cpu, start_ns, n),"
	"  FOREIGN KEY(run, cpu, start_ns) REFERENCES interruption ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"CREATE TABLE combination_part("
	"  combination INTEGER NOT NULL REFERENCES source,"
	"  n INTEGER NOT NULL CHECK(n >= 1),"
	"  source INTEGER NOT NULL REFERENCES source,"
	"  PRIMARY KEY(combination, n)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE jitter_cpu("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  cpu INTEGER NOT NULL CHECK(cpu >= 0),"
	"  rounds INTEGER NOT NULL CHECK(rounds >= 0),"
	"  wall_ns INTEGER NOT NULL CHECK(wall_ns >= 0),"
	"  sampled_ns INTEGER NOT NULL CHECK(sampled_ns >= 0),"
	"  smallest_gap_ns INTEGER NOT NULL CHECK(smallest_gap_ns >= 0),"
	"  threshold_ns INTEGER NOT NULL CHECK(threshold_ns >= 0),"
	"  gaps INTEGER NOT NULL CHECK(gaps >= 0),"
	"  gaps_ns INTEGER NOT NULL CHECK(gaps_ns >= 0),"
	"  explained INTEGER NOT NULL CHECK(explained >= 0),"
	"  explained_ns INTEGER NOT NULL CHECK(explained_ns >= 0),"
	"  chance INTEGER NOT NULL CHECK(chance >= 0)," /* by a trace shifted at random */
	"  chance_ns INTEGER NOT NULL CHECK(chance_ns >= 0),"
	"  periodic INTEGER NOT NULL CHECK(periodic >= 0),"
	"  periodic_ns INTEGER NOT NULL CHECK(periodic_ns >= 0),"
	"  period_ns INTEGER CHECK(period_ns > 0),"
	"  too_short INTEGER NOT NULL CHECK(too_short >= 0)," /* for an interruption by the kernel, */
	"  too_short_ns INTEGER NOT NULL CHECK(too_short_ns >= 0),"
	"  shortest_ns INTEGER CHECK(shortest_ns > 0)," /* which takes so long */
	"  unexplained INTEGER NOT NULL CHECK(unexplained >= 0),"
	"  unexplained_ns INTEGER NOT NULL CHECK(unexplained_ns >= 0),"
	"  steal_ns INTEGER CHECK(steal_ns >= 0),"
	"  smis INTEGER CHECK(smis >= 0)," /* interrupts of the firmware */
	"  events INTEGER NOT NULL CHECK(events >= 0),"
	"  lost INTEGER NOT NULL CHECK(lost >= 0),"       /* events */
	"  broken INTEGER NOT NULL CHECK(broken >= 0),"   /* places in the chain of sched_switch */
	"  outside INTEGER NOT NULL CHECK(outside >= 0)," /* intervals in no gap */
	"  event_cost_ns INTEGER CHECK(event_cost_ns > 0),"
	"  PRIMARY KEY(run, cpu)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE jitter_source("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  cpu INTEGER NOT NULL CHECK(cpu >= 0),"
	"  level TEXT NOT NULL CHECK(level IN ('time', 'frequency')),"
	"  source INTEGER NOT NULL REFERENCES source,"
	"  count INTEGER NOT NULL CHECK(count > 0),"
	"  min_ns INTEGER NOT NULL CHECK(min_ns >= 0),"
	"  max_ns INTEGER NOT NULL CHECK(max_ns >= min_ns),"
	"  total_ns INTEGER NOT NULL CHECK(total_ns >= 0),"
	"  squares_ns2 REAL NOT NULL CHECK(squares_ns2 >= 0),"
	"  rounds INTEGER NOT NULL CHECK(rounds >= 0),"
	"  round_squares_ns2 REAL NOT NULL CHECK(round_squares_ns2 >= 0),"
	"  round_steps_ns2 REAL NOT NULL CHECK(round_steps_ns2 >= 0),"
	"  period_ns INTEGER CHECK(period_ns > 0),"
	"  PRIMARY KEY(run, cpu, level, source)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE jitter_bucket("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  cpu INTEGER NOT NULL CHECK(cpu >= 0),"
	"  level TEXT NOT NULL CHECK(level IN ('user', 'master', 'time', 'frequency')),"
	"  source INTEGER REFERENCES source CHECK((source IS NULL) = (level IN ('user', 'master'))),"
	"  low_ns INTEGER NOT NULL CHECK(low_ns >= 0),"
	"  high_ns INTEGER NOT NULL CHECK(high_ns > low_ns)," /* the first length of the next bucket */
	"  count INTEGER NOT NULL CHECK(count > 0),"
	"  total_ns INTEGER NOT NULL CHECK(total_ns >= 0)) STRICT;"
	"CREATE UNIQUE INDEX jitter_bucket_where"
	"  ON jitter_bucket(run, cpu, level, ifnull(source, 0), low_ns);"
	"CREATE TABLE jitter_match("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  cpu INTEGER NOT NULL CHECK(cpu >= 0),"
	"  low_ns INTEGER NOT NULL CHECK(low_ns >= 0),"
	"  high_ns INTEGER NOT NULL CHECK(high_ns > low_ns),"
	"  gaps INTEGER NOT NULL CHECK(gaps >= 0),"
	"  matched INTEGER NOT NULL CHECK(matched BETWEEN 0 AND gaps),"
	"  chance INTEGER NOT NULL CHECK(chance BETWEEN 0 AND gaps),"
	"  PRIMARY KEY(run, cpu, low_ns)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE clock_calibration("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  environment INTEGER NOT NULL REFERENCES environment,"
	"  made_ns INTEGER NOT NULL CHECK(made_ns >= 0),"
	"  document TEXT NOT NULL) STRICT;" /* emp-clocks */
	/* how W was measured; how L-samples were found; what each cutoff explains, and of how many names */
	"ALTER TABLE run ADD COLUMN wait_source TEXT;"
	"ALTER TABLE run ADD COLUMN name TEXT;" /* that the user gave the command */
	"ALTER TABLE calibration ADD COLUMN by_et INTEGER NOT NULL DEFAULT 0 CHECK(by_et IN (0, 1));"
	"ALTER TABLE calibration ADD COLUMN other_cpus INTEGER NOT NULL DEFAULT 0 CHECK(other_cpus IN (0, 1));"
	"ALTER TABLE calibration ADD COLUMN material_ppm INTEGER NOT NULL DEFAULT 0"
	"  CHECK(material_ppm BETWEEN 0 AND 1000000);"
	"ALTER TABLE profile ADD COLUMN by_wait INTEGER NOT NULL DEFAULT 0 CHECK(by_wait IN (0, 1));"
	"ALTER TABLE profile ADD COLUMN blind_ns INTEGER CHECK(blind_ns > 0);" /* of a noisy one */
	"ALTER TABLE profile ADD COLUMN noise TEXT;"
	"ALTER TABLE cutoff ADD COLUMN names INTEGER CHECK(names > 1);"
	"ALTER TABLE cutoff ADD COLUMN short_share_ppm INTEGER CHECK(short_share_ppm BETWEEN 0 AND 1000000);"
	"ALTER TABLE cutoff ADD COLUMN long_share_ppm INTEGER CHECK(long_share_ppm BETWEEN 0 AND 1000000);"
	/* and programs that ran together, each of them a run */
	"CREATE TABLE duet("
	"  run INTEGER NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,"
	"  reference INTEGER NOT NULL CHECK(reference >= 1)," /* the run of the first program, if not removed */
	"  frozen INTEGER NOT NULL CHECK(frozen IN (0, 1))," /* 0: the scheduler's slices */
	"  slice_ns INTEGER NOT NULL CHECK(slice_ns > 0),"
	"  increments INTEGER CHECK(increments > 0)) STRICT;" /* of INC, each time it runs; NULL: another program */
	"CREATE INDEX duet_reference ON duet(reference);"
	"CREATE TABLE duet_sample("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  position INTEGER NOT NULL CHECK(position >= 1),"
	"  repetitions INTEGER NOT NULL CHECK(repetitions >= 1),"
	"  together_ns INTEGER NOT NULL CHECK(together_ns >= 0),"
	"  PRIMARY KEY(run, sample),"
	"  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
	"CREATE TABLE duet_alone("
	"  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
	"  n INTEGER NOT NULL CHECK(n >= 1),"
	"  after INTEGER NOT NULL CHECK(after >= 0)," /* the last sample before it */
	"  start_ns INTEGER NOT NULL CHECK(start_ns >= 0),"
	"  et_ns INTEGER NOT NULL CHECK(et_ns >= 0),"
	"  pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0),"
	"  PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;"
	/* and loads: each of their runs is a sample, and their slaves are programs */
	"CREATE TABLE load("
	"  run INTEGER NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,"
	"  coordination TEXT NOT NULL CHECK(coordination IN ('constant-load', 'no-teardown', 'before')),"
	"  cpus TEXT," /* NULL: all */
	"  file TEXT NOT NULL,"
	"  no_page_waits TEXT) STRICT;" /* why they were not measured; NULL: they were */
	"CREATE TABLE load_sample("
	"  run INTEGER NOT NULL,"
	"  sample INTEGER NOT NULL,"
	"  release_ns INTEGER NOT NULL CHECK(release_ns >= 0)," /* how long it took to wake all slaves */
	"  driver_ns INTEGER NOT NULL CHECK(driver_ns >= 0)," /* its CPU time */
	"  PRIMARY KEY(run, sample),"
	"  FOREIGN KEY(run, sample) REFERENCES sample ON DELETE CASCADE) STRICT, WITHOUT ROWID;",
};

/* A new step changes it: tests/unit/test_book_schema.c says to what. Until then, opening a book only takes longer. */
const char *const book_schema_newest_digest =
	"147cf1154945d0980036e36f58a65fbb8a5c3a1fdea2b082085af56358c744d5";

int book_schema_newest(void)
{
	return ELEMENTS(steps);
}

int book_schema_version(struct book *book, struct error *err)
{
	int64_t application = 0, version = 0, tables = 0;
	int r;

	/* application_id is read last: another process may be creating the book meanwhile, in one transaction. */
	r = query_value(book, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (r == 0)
		r = query_value(book, "PRAGMA user_version", &version, err);
	if (r == 0)
		r = query_value(book, "PRAGMA application_id", &application, err);
	if (r < 0)
		return r;
	if (application != BOOK_APPLICATION_ID && (application || version || tables))
		return book_foreign(book->path, err);
	if (version < 0 || version > book_schema_newest())
		return error_say(err, -EPROTONOSUPPORT,
			"the lab book '%s' was written by a newer EMP (version %d of the book, this one reads "
			"%d); "
			"use that emp, or name another file with --db or EMP_DB",
			book->path, (int)version, book_schema_newest());
	return (int)version;
}

int book_schema_make(sqlite3 *db, int version)
{
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && i < version; i++)
		rc = sqlite3_exec(db, steps[i], NULL, NULL, NULL);
	return rc;
}

static int run_step(struct book *book, int version, struct error *err)
{
	char stamp[96];
	int rc;

	rc = sqlite3_exec(book->db, steps[version], NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return book_failed(book, rc, err);
	snprintf(stamp, sizeof(stamp), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		BOOK_APPLICATION_ID, version + 1);
	rc = sqlite3_exec(book->db, stamp, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

static int upgrade(struct book *book, struct error *err)
{
	int r;

	r = book_begin(book, err);
	if (r < 0)
		return r;
	r = book_schema_version(book, err); /* again: another program may just have done it */
	if (r > 0) {
		int wrong = book_schema_check(book, r, err);

		r = wrong < 0 ? wrong : r;
	}
	while (r >= 0 && r < book_schema_newest()) {
		int step = run_step(book, r, err);

		r = step < 0 ? step : r + 1;
	}
	if (r < 0) {
		book_rollback(book);
		return r;
	}
	return book_commit(book, err);
}

/* Foreign keys are off, because dropping a table to replace it would delete the rows that refer to it. SQLite does not
 * change that inside a transaction. */
int book_schema_upgrade(struct book *book, struct error *err)
{
	int r;

	sqlite3_exec(book->db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
	r = upgrade(book, err);
	sqlite3_exec(book->db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
	return r;
}
