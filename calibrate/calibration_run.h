/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two runs of a calibration, from where they are to their end, and then the profile. */
#pragma once

#include "calibrate/calibration.h"

/* Longer ones are begun only after a question, and not without sleep and shutdown being blocked
 * being said. */
#define CALIBRATION_LONG_NS (3600 * NS_PER_S)

/* Takes both runs, then makes the profile. Returns the exit status, or a failure; unless it is 0,
 * the calibration can be resumed. */
int calibration_run(struct calibration *calibration, struct error *err);
