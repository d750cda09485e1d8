/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC as a calibration starts it, and as the book describes its runs. */
#pragma once

#include "calibrate/calibration.h"

/* Points into itself: not to be copied. */
struct inc_program {
	int64_t length_ns;
	char iterations[32];
	char *argv[4];
	struct spawn spawn;
};

/* INC that runs for `length_ns`, by the calibration's constant. */
void inc_program_make(struct inc_program *ret, const struct calibration *calibration, int64_t length_ns);

/* A new run of it; run_clear frees what is in it, also after a failure. */
int inc_program_describe(const struct inc_program *program, const struct calibration *calibration,
	enum run_kind kind, struct run *ret, struct error *err);
