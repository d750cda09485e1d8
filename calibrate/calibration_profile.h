/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two complete runs show: the profile, stored with the end of its calibration, and what 'run'
 * and 'resume' print of it. */
#pragma once

#include "calibrate/calibration.h"

/* From two complete runs to the profile in the book, or the reason why there is none:
 * STATUS_NOT_FIT with a sentence where a run is no L, or a failure. */
int calibration_conclude(struct calibration *calibration, struct error *err);
