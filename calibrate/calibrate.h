/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: its options and verbs, and what they print. */
#pragma once

#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"
#include "lib/run/constant.h"

struct calibrate_options {
	const char *db;
	bool json;
	bool quiet;
	bool verbose;
	int cpu; /* -1: not pinned */
	enum accounting_backend backend;
	bool ignore_audit;   /* run although the machine is not fit */
	bool ignore_changes; /* resume although the environment has changed */
	bool anyway;         /* both, in 0.1.0 */
};

extern struct calibrate_options calibrate_options;

/* The backends that observe daemons, in the order of enum accounting_backend; ends with NULL. */
extern const char *const calibrate_backends[];
extern const struct option_row run_options[], resume_options[], revalidate_options[],
	profile_options[], jitter_options[], clocks_options[];

/* " --db FILE" for commands that are suggested, as a shell needs it; "" if the option was not
 * given. */
const char *calibrate_db(void);

/* A name for commands that are suggested, as a shell needs it; the next call overwrites it. */
const char *calibrate_quoted(const char *name);

/* An operand RUN|PROFILE (NULL: none given). A number is that of a run, another word the name of a
 * profile, and "last" neither: the latest. */
int calibrate_operand(
	const char *operand, int64_t *ret_run, const char **ret_profile, struct error *err);

/* Standard output; with --json standard error. */
FILE *calibrate_screen(void);
void calibrate_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

verb_function verb_run, verb_resume, verb_revalidate, verb_status, verb_clocks, verb_profile,
	verb_jitter;

/* How long INC runs, and how often: "128x800" */
struct size {
	int64_t length_ns;
	int count;
};

option_parser size_option; /* into struct size */

/* A calibration in progress. 'run' plans one and 'resume' finds one in the book (run.c). Both then
 * prepare the machine, and calibration_run takes the rest of the short and of the long run, with
 * INC as the program, and makes the profile (calibration.c). 'revalidate' takes a run in the same
 * way. */

struct calibration {
	struct run_session base;
	struct calibration_plan plan;
	int inhibitor; /* -1: sleep is not blocked */
	struct inc inc;
	/* for the runs: the result of the audit; NULL: nothing */
	char *notes;
	int phase;                           /* under way */
	int64_t pace_ns[CALIBRATION_PHASES]; /* from one sample to the next, measured; 0: not yet */
};

#define CALIBRATION_NEW                                                        \
	{                                                                      \
		.inhibitor = -1, .base = RUN_SESSION_NEW, .plan = {.cpu = -1 } \
	}
#define CALIBRATION_LONG_NS (3600 * NS_PER_S) /* a longer one is only begun after a question */

void calibration_clear(struct calibration *calibration);

/* Finds INC, opens the book, and takes the host's lock (RUN_LOCK_TAKEN). */
int calibration_open(struct calibration *calibration, enum run_lock lock, struct error *err);

/* Checks the machine and takes its fingerprint, and opens the observer. 0, or STATUS_NOT_FIT with a
 * sentence if the machine is not fit and --ignore-audit is not given. */
int calibration_prepare(struct calibration *calibration, struct error *err);

/* Finds the constant of INC for the environment that the calibration began in (0: it begins in
 * today's). */
int calibration_find_constant(
	struct calibration *calibration, int64_t environment, struct error *err);

/* A new run of INC that runs for `length_ns` by the constant, and INC as it is started for it.
 * run_clear frees the run, also after a failure. */
int calibration_new_run(const struct calibration *calibration, enum run_kind kind,
	int64_t length_ns, struct inc_program *ret_inc, struct run *ret, struct error *err);

/* Adds what a duet can resolve on this machine to rows that are known. INC runs as long as in the
 * short run. -EINTR without a sentence. */
int calibration_duet(struct calibration *calibration, struct mdd rows[N_MDD], struct error *err);

/* Takes both runs, then makes the profile. Returns the exit status, or a failure; unless it is 0,
 * the calibration can be resumed. */
int calibration_run(struct calibration *calibration, struct error *err);
