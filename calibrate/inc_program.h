/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC: how a calibration starts it, and how the book describes its runs. */
#pragma once

#include "calibrate/calibration.h"

/* Contains pointers into itself: do not copy it. */
struct inc_program {
	int64_t length_ns;
	char iterations[32];
	char *argv[4];
	struct spawn spawn;
};

/* INC that runs for `length_ns`, by the calibration's constant. */
void inc_program_make(struct inc_program *ret, const struct calibration *calibration, int64_t length_ns);

/* A new run of INC. run_clear frees its contents, also after a failure. */
int inc_program_describe(const struct inc_program *program, const struct calibration *calibration,
	enum run_kind kind, struct run *ret, struct error *err);
