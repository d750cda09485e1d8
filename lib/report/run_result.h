/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run in the book, judged: the rules by which emp-measure discarded samples, so that the stored
 * run is judged by the same; its result under such rules, from one walk over its executions; how
 * much separate runs vary; its analysis; and profiles made of runs. */
#pragma once

#include "lib/book/book.h"
#include "lib/protocol/disturbances.h"
#include "lib/protocol/sample_size.h"
#include "lib/record/profile.h"

/* Whether the run is from the machine of this id (struct machine). The run's environment names it;
 * without one (an import) the machine is unknown, and the answer no. */
int run_is_from(struct book *book, const struct run *run, const char *machine, bool *ret,
	struct error *err);

/* "Run 3 was interrupted after 16 samples"; nothing if it is done. */
void run_state_print(FILE *file, const struct run *run);

struct run_rules {
	/* without a profile if the run has none, or if the book no longer has it */
	struct discard_rules rules;
	struct names names;     /* today's */
	struct profile profile; /* rules.profile points to it: do not copy the struct */
	bool missing;           /* the run's profile is no longer in the book */
};

/* profile: the name of one to use instead of the run's own, and it must be in the book (-ENOENT);
 * NULL: the run's own, as it was when the run was measured. `today`: the profile of that name and
 * the correlation that the book has now. */
int run_rules_load(struct book *book, const struct run *run, const char *profile, bool today,
	struct run_rules *ret, struct error *err);
/* Prints a line for each input of the run's result that today's rules change. */
void run_rules_print_changes(FILE *file, const struct run *run, const struct run_rules *today);
/* "--other-cpus --discard-unprofiled 5% --neighbour discard=5%": the rules beside the profile, as
 * options of emp-measure; "": its defaults. */
const char *run_rules_options(const struct run *run);
void run_rules_clear(struct run_rules *rules);

struct run_result {
	struct discarding discarding;
	struct sample *samples; /* all, in order */
	size_t n_samples;
	struct counters *counters; /* of each sample */
	size_t n_counters;
	struct disturbances disturbances;
};

/* What takes more time to read. */
enum result_parts {
	/* background processes; they are there, too, if the rules discard by name */
	RESULT_OTHERS = 1,
	/* and the disturbances, to which the median ET is the usual length of samples */
	RESULT_COUNTERS = 2,
	RESULT_ALL = 3,
};

/* Of all samples so far. rules->patterns NULL: those that the run was measured with
 * (names_load). */
int run_result_read(struct book *book, int64_t run, const struct discard_rules *rules,
	enum result_parts parts, struct run_result *ret, struct error *err);
/* {"ns", "share", "by", "unmeasurable"}: how long control groups held the program back, and which
 * ones; null: none did. */
json_t *held_back_as_json(const struct run_result *result);
/* Of all samples, by the limit of the run. */
struct neighbour_time run_neighbour_time(const struct run_result *result);
/* {"share", "samples", "probed", "limit_ppm", "rule", "done"}: how much of the time there was a
 * neighbour, in how many samples for more than the limit, and what was done about it; null: no
 * sample was probed. */
json_t *neighbour_as_json(const struct run_result *result);
void run_result_clear(struct run_result *result);

/* Whether what differs between separate runs belongs to the result: a run of emp-measure, with an
 * interval, that is no duet. */
static inline bool discarding_may_have_between(const struct discarding *d)
{
	return d->run.kind == RUN_MEASURE && d->pt.kept.n > 1;
}

/* Fills in the intervals between runs, if the book shows how much the earlier runs of the command
 * vary that were measured alike: pinned or not, without neighbours or not. all_others: also by
 * later runs. The result must be that of a run in the book. */
int run_result_add_between(
	struct book *book, struct run_result *result, bool all_others, struct error *err);

/* How much separate runs of two programs vary, as far as the book shows it, in ET or PT. ret->df 0:
 * it has too few runs of them. */
int run_variation_load(struct book *book, int64_t run_a, int64_t run_b, bool et,
	struct run_variation *ret, struct error *err);

/* How much a neighbour slows the program of a run down, by the earlier runs of its command in the
 * book: sets neighbour_slope_ppm and its error; 0: they do not tell. The run need not be in the
 * book; what it is of must be known. */
int neighbour_slope_load(struct book *book, struct run *run, struct error *err);

/* By one walk over its executions, too. options->patterns NULL: those of names_load. */
int analysis_load(struct book *book, int64_t run, const struct analysis_options *options,
	struct analysis *ret, struct error *err);

enum { PROFILE_REFUSED = 1 }; /* a run is neither an L nor clean: the error says what it shows */

struct profile_request {
	const char *name;                /* NULL: "unnamed" */
	int64_t runs[2];                 /* the short one and the long one */
	int64_t central_max_ns[2];       /* of each, set by hand; 0: not */
	struct analysis_options options; /* of both; resolution_ns 0: the coarser of their own */
	/* see cutoffs_make; -1: the default, which keeps all of imported runs */
	int64_t least_share_ppm;
	bool force; /* whatever the shapes */
};

struct new_profile {
	struct analysis analyses[2]; /* of both runs, also if the profile is refused */
	struct profile profile;
	struct cutoffs left_out; /* by least_share_ppm */
};

void new_profile_clear(struct new_profile *made);

/* 0, PROFILE_REFUSED with a sentence, or a failure. The profile is not stored: book_put_profile
 * does that. */
int profile_from_runs(struct book *book, const struct profile_request *request,
	struct new_profile *ret, struct error *err);

/* Marks a profile that was made of these runs: if one of them is noisy, with the greater time that
 * they hide, and the cause: "steal 3.2 %, PSI 41 %" of its time; "speed varies" (frequency, SMT
 * sibling, a neighbour) if nothing that was counted explains it. If one gives no cutoffs and the
 * profile was forced, with "busy, forced" (its verdict). */
int noise_mark(struct book *book, const struct analysis runs[2], struct profile *profile,
	struct error *err);

/* "Profile 'lab1' is noisy: blind to daemons below 16 ms (steal 3.2 %)"; noise NULL: without the
 * reason; blind_ns 0: "Profile 'lab1' is unreliable (busy, forced)". Shorter where that makes it
 * fit a line. NULL: it has no mark. The caller frees it. */
char *noise_text(const char *profile, const struct profile_mark *mark);

/* The same as a line, if the profile has a mark; else nothing. */
void noise_print(FILE *file, const char *profile, const struct profile_mark *mark);
