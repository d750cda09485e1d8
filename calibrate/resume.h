/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration that is in the book already, taken up again. */
#pragma once

#include "calibrate/calibration.h"

/* Prepares for the rest of calibration->plan: the environment must be that of the last sample, or changes
 * ignored (--ignore-changes). 0, STATUS_NOT_FIT with a sentence, or a failure. */
int resume_prepare(struct calibration *calibration, struct error *err);
