/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab book: machines, environments, runs, samples, executions, calibrations and profiles in one
 * SQLite file. No other folder uses SQL, but for the tables of features (sql.h). Each sample is a
 * transaction. A file that is of a newer version, of another program, read-only, full or damaged
 * has its own error message. */
#pragma once

#include "lib/record/run.h"

struct book;

enum book_mode {
	BOOK_READ,
	BOOK_WRITE, /* created if missing */
	/* BOOK_WRITE that goes on in a copy if the file cannot be written any more: book_open.c */
	BOOK_MEASURE,
};

/* `name` is the file, as --db gives it; NULL: that of EMP_DB, else the user's own
 * (lib/base/paths.h). BOOK_WRITE makes missing directories of the user's own. BOOK_READ of a
 * missing file: -ENOENT. */
int book_open(struct book **ret, const char *name, enum book_mode mode, struct error *err);
const char *book_file(const struct book *book);
/* r; if the book goes on in a copy, the runs first to last are only there: r, or -ENOSPC if that is
 * 0, and the sentence also says how they get into the book. */
int book_say_elsewhere(
	const struct book *book, int64_t first, int64_t last, int r, struct error *err);
/* Whether the caller's transaction, which failed with r, is to be done again, because the book now
 * goes on in a copy. */
bool book_again(struct book *book, int r, struct error *err);
/* Writes the write-ahead log to the file: between runs, never during one. */
int book_checkpoint(struct book *book, struct error *err);
void book_free(struct book *book); /* rolls back what is not committed */
DEFINE_FREEP(book)

/* How long to wait for another writer before -EBUSY; 10 s by default. */
void book_patience(struct book *book, int ms);

/* Waits longer: `go_on` is asked all the while, and after the patience, once, with a sentence that
 * names the book and who keeps it locked (otherwise NULL). false: waiting ends after at most a
 * second. */
typedef bool book_wait(const char *sentence, void *data);
void book_on_wait(struct book *book, book_wait *go_on, void *data);

/* Environments: a fingerprint document (JSON text) under its digest; the first document of a
 * digest is kept. *ret is its id. Each of the three may be NULL if an imported document does not
 * have it. */
int book_put_environment(struct book *book, const char *digest, const char *machine,
	const char *document, int64_t *ret, struct error *err);
/* The caller frees them; each is NULL if it is not known. A pointer may be NULL. -ENOENT; id 0:
 * nothing is known and nothing written. */
int book_get_environment(struct book *book, int64_t id, char **ret_digest, char **ret_machine,
	char **ret_document, struct error *err);
/* The id of the environment with that digest. 1: found; 0: the book does not have it. */
int book_find_environment(struct book *book, const char *digest, int64_t *ret, struct error *err);

/* What INC showed of the machine of an environment. It belongs to the INC of that digest (NULL: an
 * INC that is not known), and is not known of another. */

/* Increments in a second: set once, never changed. get: 1 found, 0 not stored; put: -EEXIST if
 * another is stored. */
int book_get_inc(struct book *book, int64_t environment, const char *inc_digest,
	double *ret_per_second, struct error *err);
int book_put_inc(struct book *book, int64_t environment, const char *inc_digest, double per_second,
	struct error *err);
/* What the machine can resolve, by its last profile: rows by size, .samples 0 where it is not
 * known. */
int book_get_mdd(struct book *book, int64_t environment, const char *inc_digest,
	struct mdd ret[N_MDD], struct error *err);
/* How much its samples are alike, likewise. */
int book_get_correlation(struct book *book, int64_t environment, const char *inc_digest,
	struct correlation *ret, struct error *err);
/* 1: nothing is known of these two, but of another INC it is: *ret_profile is the latest profile
 * that has it, which the caller frees. 0: otherwise. */
int book_find_other_inc(struct book *book, int64_t environment, const char *inc_digest,
	char **ret_profile, struct error *err);

/* All measurements of an environment, also those above: a name and a value each. */
struct measurement {
	char *name;
	double value;
	char *unit;       /* "": a bare number */
	char *inc_digest; /* NULL: not known */
};
extern const struct field_table measurement_table;

/* Runs. begin sets the id, the uid, the owner, state RUN_OPEN, and started_ns if it is 0; and what
 * the book knows of the machine and the profile now. A run that is read is RUN_INTERRUPTED if its
 * owner did not end it and is not alive. */
int book_begin_run(struct book *book, struct run *run, struct error *err);
/* The same for a run that was made elsewhere: its state and times are kept, and its correlation. */
int book_add_run(struct book *book, struct run *run, struct error *err);
/* Which control groups held the run back. */
int book_put_held_back(struct book *book, int64_t id, const char *by, struct error *err);
/* What its program consisted of, and what it wrote: see struct run. */
int book_put_program_digest(struct book *book, int64_t id, const char *digest, struct error *err);
int book_put_output_digest(struct book *book, int64_t id, const char *digest, struct error *err);
int book_end_run(
	struct book *book, int64_t id, enum run_state state, const char *notes, struct error *err);
int book_get_run(struct book *book, int64_t id, struct run *ret, struct error *err); /* -ENOENT */
/* The latest run with that name, NULL: of all. Returns how many have it. */
int book_find_run(struct book *book, const char *name, int64_t *ret, struct error *err);
int book_runs(
	/* free each and the array */
	struct book *book, struct run **ret, size_t *ret_n, struct error *err);
/* The means of PT, or of ET, of all runs of the same command and kind as this one, in environments
 * of the same identity, by their start; this one is among them. The caller frees ret->items. */
int book_run_means(
	struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err);
/* The mean PT of its samples; NAN: it has none. */
int book_mean_pt(struct book *book, int64_t run, double *ret_ns, struct error *err);
/* With its samples, in a transaction of the caller. Unless forced, -EBUSY with a sentence if it is
 * a run of a profile (which would keep its cutoffs, but not the run's number) or of a calibration
 * that is not complete (which would be removed as well). */
int book_remove_run(struct book *book, int64_t id, bool force, struct error *err);

/* The notes on its result: replaces those that it has. Their n count from 1. */
int book_put_notes(
	struct book *book, int64_t run, const struct note *notes, size_t n, struct error *err);

/* The rows of a run in a table whose key is `run` and its first field or two: notes, samples, their
 * disturbance counters (which are not in struct sample, because few readers need them), programs,
 * resume points, and tables of features. They are read in the order of the key, into an array whose
 * address is in *ret; fields_free() frees it. Rows of a sample are added in its transaction. */
int book_rows(struct book *book, int64_t run, const struct field_table *table, void *ret,
	size_t *ret_n, struct error *err);
int book_add_rows(struct book *book, int64_t run, const struct field_table *table, const void *rows,
	size_t n, struct error *err);

/* The id of a source, whose own is ignored, added if it is new. Bytes of a name that are not UTF-8
 * are stored as \xNN. */
int book_source(struct book *book, const struct source *who, uint32_t *ret, struct error *err);
/* The same if it is in the file, which is read once; 0: not known. */
uint32_t book_known_source(struct book *book, const struct source *who);
int book_sources(struct book *book, struct sources *ret, struct error *err);

/* A transaction of the caller: the functions below join it, and commit keeps all or nothing. After
 * a failure inside it, call book_rollback(). In a book opened for reading it is a consistent view,
 * whatever a writer does meanwhile. */
int book_begin(struct book *book, struct error *err);

/* The next transaction is of one sample of many: what was committed survives this process, but if
 * the machine loses power, the samples of the last second may be lost. */
void book_sync_by_second(struct book *book);
/* -ESTALE with a sentence: the file was removed or replaced meanwhile. All it held is then saved
 * beside it. */
int book_commit(struct book *book, struct error *err);
void book_rollback(struct book *book);
/* book_commit if r >= 0, otherwise book_rollback. r, or the failure to commit. */
int book_end(struct book *book, int r, struct error *err);

/* One sample and its executions, in one transaction or as a part of the caller's. -EEXIST: the run
 * has a sample of that number. */
int book_add_sample(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err);

/* book_add_sample without a transaction, if the last samples were stored less than a second ago:
 * the sample waits in a file beside the book, which outlives this process. Whatever uses the book
 * next stores it. The ids of its sources must have been committed. false: it was not kept. */
bool book_keep_sample(struct book *book, const struct run *run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, const struct counters *changes);

/* Calls `each` for every execution of a run in the order of samples, in bounded memory; a value
 * other than 0 from it ends the walk and is returned. Sources may have been added since
 * book_sources(), unless both are inside one book_begin(). `each` may read the book, not write to
 * it. */
typedef int book_each(void *data, const struct execution *execution, struct error *err);
int book_each_execution(
	struct book *book, int64_t run, book_each *each, void *data, struct error *err);
/* The same with sample, source, pid, pt_ns and same_cpu_ns only (the others are unknown), in less
 * time. */
int book_each_time(struct book *book, int64_t run, book_each *each, void *data, struct error *err);
/* The executions of one sample; the caller frees the array. */
int book_executions(struct book *book, int64_t run, uint32_t sample, struct execution **ret,
	size_t *ret_n, struct error *err);

/* Profiles. put replaces one of the same name only if `replace`, else -EEXIST. One that was
 * replaced or removed is kept for the runs that were measured with it: only by its id it is
 * found. */
int book_put_profile(
	struct book *book, const struct profile *profile, bool replace, struct error *err);
/* By its id, which struct run has; id 0: by its name. -ENOENT */
int book_get_profile(
	struct book *book, int64_t id, const char *name, struct profile *ret, struct error *err);
/* By name, or, if one is given, all that have or had it, the present one first. Clear each and free
 * the array. */
int book_profiles(struct book *book, const char *name, struct profile **ret, size_t *ret_n,
	struct error *err);
int book_remove_profile(struct book *book, const char *name, struct error *err);

/* Calibrations: which short and which long run belong together and what was requested, so that
 * another process can resume a calibration. */

/* The short or the long run. */
struct calibration_phase {
	int64_t length_ns;      /* of INC */
	uint32_t samples;       /* how many to take */
	int64_t central_max_ns; /* set by hand; 0: detect it */
	int64_t run;            /* 0: not begun */
};

enum { SHORT_PHASE, LONG_PHASE, CALIBRATION_PHASES };

enum calibration_state {
	CALIBRATION_OPEN,
	CALIBRATION_DONE,    /* there is a profile */
	CALIBRATION_REFUSED, /* a run is neither an L nor clean */
	N_CALIBRATION_STATES
};

extern const char *const calibration_state_names[N_CALIBRATION_STATES];

struct calibration_plan {
	int64_t id;    /* in the book; 0: not stored */
	char *profile; /* the name it is made for */
	enum calibration_state state;
	/* the process that runs it, as lib/host/process/process.h writes it; NULL: none */
	char *owner;
	int64_t started_ns;
	struct calibration_phase phases[CALIBRATION_PHASES];
	char *backend; /* as requested: "auto", … */
	int cpu;       /* -1: not pinned */
	bool anyway, force, replace, by_et, other_cpus;
	int64_t material_ppm; /* cutoffs that explain less of the delay are left out */
};

void calibration_plan_clear(struct calibration_plan *calibration);

/* A new one, whose id is 0: sets the id, state CALIBRATION_OPEN, and started_ns if it is 0.
 * Otherwise stores what changes while it runs: state, owner, and the runs. */
int book_put_calibration(
	struct book *book, struct calibration_plan *calibration, struct error *err);
/* The calibration of a run; without a run (0), the latest that can be resumed, for that profile
 * (NULL: any), or, `any`, the latest at all. 1: *ret is filled in; 0: there is none. */
int book_find_calibration(struct book *book, int64_t run, const char *profile, bool any,
	struct calibration_plan *ret, struct error *err);

/* Where a run was interrupted and resumed. */
struct resume_point {
	uint32_t n;          /* the first sample after it */
	int64_t at_ns;       /* since 1970 */
	char *why;           /* "interrupted", "failed", "cut off" */
	int64_t environment; /* in which it was resumed; 0: unknown */
};
extern const struct field_table resume_point_table;

/* Opens a run again, with a resume point after the samples that it has; a run without samples gets
 * none. */
int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err);

/* All else that the book has of a run: rows of tables, for documents. A feature hands its own to
 * the build (features.c). A test sees that no table of the book is forgotten. */
struct run_rows {
	const char *member; /* of a document */
	const struct field_table *table;
	const char *select; /* what follows "SELECT fields FROM table"; NULL: "WHERE run = ?" */
	const char *insert; /* what follows "INSERT INTO table …"; NULL: nothing */
	bool single;        /* there is one row at most */
};
