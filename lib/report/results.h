/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol, one form for every tool: as members of JSON documents, and as tables for
 * people. */
#pragma once

#include "lib/book/book.h"
#include "lib/protocol/comparison.h"
#include "lib/base/table.h"

/* null: what too few samples do not say. */
json_t *summary_as_json(const struct summary *summary);

/* Of the samples kept, with the interval of their mean. */
json_t *kept_as_json(const struct clock_discarding *clock);

/* Other processes that used the CPU; or only those that are not in the profile and used 1 % of a
 * sample or more at least once. */
json_t *others_as_json(const struct daemons *others, bool unprofiled);

/* Adds profile_blind_ns and profile_noise, if the profile has such a mark. */
void noise_add_json(json_t *object, const struct profile_mark *mark);

/* by_cutoff, by_unprofiled, by_two_sd (of PT), incomplete, and of a duet by_duet; pt and et:
 * summaries after both checks, as in the papers, and of the samples kept, with the interval. */
json_t *discarding_as_json(const struct discarding *discarding);

/* The shape, the zooms and the samples outside the central cluster. */
json_t *analysis_as_json(const struct analysis *analysis);

/* A row for each daemon. `details`: the cutoffs as they are applied to programs below and above the
 * task time. */
void cutoffs_print(const struct profile *profile, bool details, FILE *file);

/* Who has no cutoff: "  kworker (3.2 %), sshd (0.8 %)", those that were left out (NULL: not known)
 * and what they explain; and which executions, if the profile has a floor. */
void cutoffs_print_omitted(
	const struct profile *profile, const struct cutoffs *left_out, FILE *file);

/* "backupd (backup.service)", "j-* (51 names)": a daemon or a family (names > 0), and its unit
 * (NULL: none or unknown). */
void daemon_print(FILE *file, const char *name, uint32_t names, const char *unit);

/* The daemons that made samples of one run or several long: for each, its executions in each run,
 * what starts it, and how to stop it. The last two come from this machine (systemd, the policy of
 * emp-setup), and are omitted for runs of another. */
int daemon_causes_print(struct book *book, const struct analysis *analyses, size_t n, FILE *file,
	struct error *err);

struct verdict_line {
	const char *reference, *name; /* of a and b */
	bool several;                 /* there are other comparisons: which one it is, is said */
	bool both;                    /* PT and ET are compared, and this is one of them */
};

/* The last line on the screen: "Verdict: equal (within 2 %)"; "Verdict on 'b': cannot tell; could
 * have shown 59 %; 12 more samples should tell". Wrapped where a long name leaves no room. */
void comparison_verdict_print(
	FILE *file, const struct verdict_line *line, const struct comparison *comparison);

/* "sort -n is 1.18 times faster than sort in CPU time", then "  (95 % CI 1.15 … 1.21, p = 0.0003)"
 * in the same line if it has at most 80 columns, else in the next: `name` against `reference`. */
void comparison_line(
	FILE *file, const char *reference, const char *name, const struct comparison *comparison);

/* "Not taken in turn: separate runs vary by 0.1 % (sd of 4 runs)", or from the least to the
 * greatest; nothing if none of them was judged by that. */
void comparisons_between_line(FILE *file, const struct comparison *comparisons, size_t n);

/* The option --compare: pt, et or both, into an unsigned; see comparison_clocks. */
int comparison_clocks_option(const char *value, const char *name, void *into, struct error *err);

/* The rows of a table of comparisons. */
extern const struct column comparison_columns[];
void comparison_list_add(struct table *list, const char *reference, const char *name,
	const struct comparison *comparison);
/* Also prints what the columns mean; `several`: p and the intervals were adjusted for the number of
 * comparisons. */
void comparison_list_print(struct table *list, bool several, FILE *file);

/* "1.021 to 1.134"; "from 1.021" if high is INFINITY; NULL if there is none. As text_brief. */
const char *ratio_interval_text(double low, double high, int decimals, const char *to);

/* "faster", "cannot tell". */
const char *comparison_verdict_text(const struct comparison *comparison);
/* "1.18", with as many digits as its interval deserves; NULL: not known. As text_brief. */
const char *comparison_ratio_text(const struct comparison *comparison);

json_t *comparison_as_json(
	const char *reference, const char *name, const struct comparison *comparison);
