/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of settings of a study: what emp-setup would do for each on this machine, and how it is
 * asked to do it. */
#pragma once

#include "lib/study/study_file.h"

/* Asks emp-setup for the plan of each step, and marks those as empty that change nothing here.
 * *ret_notes: a line for each of these, for people; NULL: there are none; the caller frees it. */
int study_settings_check(struct study_file *file, int cpu, char **ret_notes, struct error *err);

/* "emp-setup apply … --for --", and then the words of `command`; -1: any CPU. Free with
 * argv_freep(). */
char **study_settings_argv(
	const struct study_file *file, size_t combination, int cpu, char *const *command);

/* Restores what a killed emp-setup has left applied for a study; needs root. */
int study_settings_restore(struct error *err);
