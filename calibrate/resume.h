/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resuming a calibration from the book. */
#pragma once

#include "calibrate/calibration.h"

/* Prepares for the rest of calibration->plan: the environment must be that of the last sample, unless
 * --ignore-changes is given. 0, STATUS_NOT_FIT with a sentence, or a failure. */
int resume_prepare(struct calibration *calibration, struct error *err);
