/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first screen of a run: at most 5 lines, as wide as the terminal (terminal_columns), of which
 * the last has PT. run_details.h has what -v shows below it, run_notes.h the notes, and
 * program_rows.h the screen of several programs. */
#pragma once

#include "lib/record/peak_memory.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

enum { SCREEN_LINES = 5, SCREEN_OTHERS = 3 };

#define NEIGHBOUR_REASON "neighbour"

/* Why samples were discarded: a daemon's name, NEIGHBOUR_REASON, or "lost records". */
struct screen_reason {
	const char *name;
	uint32_t *samples;
	size_t n;
};

struct screen {
	const struct discarding *result;
	const char *name;          /* of the command */
	const char *unit;          /* of all times; NULL: what fits */
	char inc_units[128];       /* PT in units of INC; "": not known */
	double user_ns, system_ns; /* means of the samples kept; NAN: not known */
	bool approximate;          /* user and system were counted in ticks */
	/* PT / ET, all samples that are whole (run.h); NAN: there are none */
	double on_cpu;
	double taken;          /* W / ET, likewise; NAN: not known */
	struct held_time held; /* by control groups, in all samples */
	struct neighbour_time neighbour;
	struct peak_memory memory;
	struct screen_reason *reasons;
	size_t n_reasons;
	/* background processes that disturbed the program, the first of the result's, as are
	 * shown */
	size_t n_others;
	/* the share of W (or of ET − PT) that others can have taken; NAN: nothing to explain */
	double explained;
	struct notes notes;
	bool by_all_runs;        /* it is not earlier runs alone that show how runs differ */
	bool verbose;            /* all lines, also peak memory and what the machine can resolve */
	bool all_notes;          /* in full, however many lines they need */
	char mdd[MDD_TEXT_SIZE]; /* what the machine can resolve; "": not known */
};

/* The step for text_interval and text_precise: a minimum and a maximum are values, not estimates,
 * and keep four digits however large the sd is. */
double range_step(const struct summary *summary);

/* Two parts, so that details can come between them: the name with the run and the CPU, and the
 * rest. */
void screen_print_name(FILE *file, const struct screen *screen);
void screen_print(FILE *file, const struct screen *screen);

/* Whether ET differs from PT. Not in a duet, where it is that of all programs. */
bool screen_shows_et(const struct screen *screen);

/* "backupd #7 #8, outlier #4"; if that does not fit, "backupd in 100, outlier in 4, …": as many as
 * fit, and the first in any case. "" if nothing was discarded. The caller frees it. */
char *screen_discards(const struct screen *screen, size_t columns);

/* Whether a note on a result is left to -v, because it does not change how the result is read. */
bool screen_note_is_detail(const struct note *note, const struct clock_discarding *pt);

/* Whether it is what --perf counted, or that a shell ran the command line, which are always
 * shown. */
bool screen_note_is_asked(const struct note *note);

/* "  Disturbed by    backupd 228 ms, …": who took the most from one program or several, and what
 * that explains of one. */
void screen_print_others(FILE *file, const struct screen *const *screens, size_t n);

/* "  Neighbour on the core's other thread in 34 % of the time (12 of 20 samples)", of one program
 * or several; nothing if it was less than 1 %. */
void screen_print_neighbour(FILE *file, const struct screen *const *screens, size_t n);

/* Whether PT is more than ET by that much although the program was on one CPU: PT includes the work
 * before exec. */
bool screen_pt_includes_start(const struct discarding *discarding, double least_ns);

/* "~" if the time is a part of what several daemons took together, who used more CPU time than
 * that; else "". */
const char *screen_disturbed_about(const struct daemon_statistics *daemon);

/* Adds a sample to those that are discarded for this reason. It counts once, however often it is
 * added. */
void screen_add_reason(struct screen *screen, const char *name, uint32_t sample);

/* The reason for most samples comes first. */
void screen_sort_reasons(struct screen *screen);

/* Frees what is allocated: the reasons' samples and the notes. */
void screen_clear(struct screen *screen);

/* The mean of an int64_t of struct sample, in the samples kept; NAN: none is, or it is not known of
 * one of them. */
double mean_of_kept(const struct run_result *result, size_t offset);

/* Everything but the name, the unit, the notes and whether user and system are approximate. The
 * result must outlive it. */
struct screen run_screen_fill(const struct run_result *result);
