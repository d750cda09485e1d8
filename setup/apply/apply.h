/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying settings and putting them back: the report of what became of each change, the plan, its execution, the state before it, and the
 * command of --for. */
#pragma once

#include "lib/base/cleanup.h"
#include "setup/apply/journal.h"
#include "setup/audit/audit.h"
#include "lib/host/systemd/units.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdio.h>
#include <stddef.h>

enum outcome {
	OUTCOME_WILL_CHANGE, /* of a plan */
	OUTCOME_STAYS,       /* of a plan: it is as wanted */
	OUTCOME_CHANGED,
	OUTCOME_ALREADY, /* it was as wanted before */
	OUTCOME_ABSENT,  /* this machine has no such thing */
	OUTCOME_REFUSED, /* by the kernel, by systemd, or by the policy */
	OUTCOME_CLAMPED, /* accepted, but the kernel set another value */
	OUTCOME_RESTORED,
	OUTCOME_LEFT_ALONE, /* somebody else has changed it since */
	OUTCOME_FAILED,     /* it could not be restored */
	OUTCOME_FORGOTTEN,  /* either of the two with --forget: it is of no journal any more */
	OUTCOME_DIFFERENT,  /* after a restore: not as it was before the first apply */
};

struct report;

struct report *report_new(void);
void report_free(struct report *report);
DEFINE_FREEP(report)

/* before and now may be NULL; note is NULL or says why. */
void report_add(struct report *report, const char *id, const char *name, enum outcome outcome,
	const char *before, const char *now, const char *note);
/* The same for an entry, the values of a setting with their units. */
void report_entry(struct report *report, const struct entry *entry, enum outcome outcome, const char *before,
	const char *now, const char *note);

/* Whether a row of this name says that it was left alone or failed, or has a note. */
bool report_explains(const struct report *report, const char *name);

size_t report_count(const struct report *report, enum outcome outcome);

/* Files of one kind with equal results share a row; what is as wanted or does not exist is left out unless
 * `all`. True if anything was printed. */
bool report_print(const struct report *report, FILE *file, bool all);
json_t *report_json(const struct report *report); /* an array; NULL: no memory */

/* What apply will change, in this order: made out of what an audit gathered, before anything is changed. */

/* Which checks an apply is to make. */
struct request {
	const char *only; /* comma-separated ids; NULL: all of levels A and B that can surely be restored */
	const char *skip; /* likewise; NULL: none */
	bool isolate;     /* the core of facts->cpus gets a partition of its own, and no interrupts */
	bool persistent;  /* services and timers stay stopped after a reboot */
};

/* -EINVAL if a name in the lists is no check that can be applied. */
int request_validate(const struct request *request, struct error *err);
bool request_takes(const struct request *request, const struct check *check);

/* What a plan is made of. */
struct planning {
	const struct facts *facts;
	const struct request *request;
	struct units *units;   /* NULL: systemd does not answer */
	struct report *report; /* gets what will not be done */
};

struct plan {
	struct journal journal; /* what was open before, and the new entries behind it */
	size_t *order;          /* entries to carry out, by index */
	size_t n_order;
};

/* The entry to carry out at place i. */
static inline struct entry *plan_entry(const struct plan *plan, size_t i)
{
	return &plan->journal.entries[plan->order[i]];
}

/* `open`: the journal of what is applied already (empty if nothing is), taken over. */
int plan_make(struct plan *ret, struct journal *open, const struct planning *from, struct error *err);
void plan_clear(struct plan *plan);

/* Takes `entry` over. If the journal has one of this name, that keeps its old value and gets the new wish. */
void plan_add(struct plan *plan, struct entry *entry);

/* Carries out a plan, and restores what the journal holds. After a stop at any crash point, what the journal holds can
 * be restored. */

/* Carries out plan->order and reports what became of it. Only a failure to write the journal is
 * an error, and -EINTR: the caller undoes it. */
int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err);

/* Restores all entries but the `first` ones, and shows the result; the caller holds the host's lock. A status of
 * tool.h. */
int change_restore_locked(size_t first, struct error *err);

/* Keeps a unit from being started by anybody, as entry->block says, or ends that. A failure is reported. */
void change_block(struct units *units, const struct entry *entry, bool blocked, struct report *report);
/* Whether it is so now. */
bool change_is_blocked(const struct entry *entry);
/* Needed after it. */
void change_reload(struct units *units, enum outcome failed, struct report *report);

/* For tests: kills the process at a chosen one of its crash points, which follow each change that the outside can
 * see. So a test can try all moments at which a power cut may come. */
void crash_point_kill_after(int n); /* 0: never */
void crash_point(void);

/* What a restore must leave as it was: the states of all units and of their files, masks and drop-ins, and the files of
 * cpufreq, SMT and CPUs. It is taken before the first change, and compared at the end of a restore. It is only for the
 * report: what restore does is in the journal. */

/* Takes one and writes it beside the journal. `list`: NULL where systemd does not answer. */
int snapshot_save(const struct unit_list *list, struct error *err);

/* Reports everything that is not as it was, with OUTCOME_DIFFERENT; nothing if there is no snapshot of this boot.
 * Names that the report has explained are left out, and so are units that come and go by themselves. */
int snapshot_compare(struct units *units, struct report *report, struct error *err);

/* The command of apply --for, and the restore after it, which nothing but a kill -9 prevents. */

/* Finds the file of a command; the caller frees it. Positive with a sentence: it cannot be executed, and this is the
 * status that a shell would give (127: it does not exist, 126). */
int run_for_find(const char *name, char **ret_path, struct error *err);

/* Runs it, then restores all entries but the `first` ones. Meanwhile CPUs stay out of deep idle states, where the
 * kernel allows to ask for that. The caller holds no lock: the command may audit, or apply more. The exit status of
 * the command, or of the restore if that is not STATUS_DONE. */
int run_for(char *const *argv, const char *path, size_t first, struct error *err);

/* Shows on standard error which unit apply or restore waits for, and for how long: on a terminal one line that counts,
 * elsewhere a line now and then. */

struct waiting {
	bool interruptible; /* INT, TERM and HUP end the wait with -EINTR, see signals.h */
	bool drawn;
	int64_t next_ns; /* when the next line is due */
};

/* For units_set_waiting; data is a struct waiting. */
units_waiting waiting_step;

/* Clears the line, so that the next one takes its place. */
void waiting_end(struct waiting *waiting);
