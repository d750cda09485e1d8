/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two runs of a calibration, from where they are to their end, and then the profile. */
#pragma once

#include "calibrate/calibration.h"

/* A longer calibration is begun only after a question, and says if sleep and shutdown are not
 * blocked meanwhile. */
#define CALIBRATION_LONG_NS (3600 * NS_PER_S)

/* Takes both runs, then makes the profile. Returns the exit status, or a failure; unless it is 0,
 * the calibration can be resumed. */
int calibration_run(struct calibration *calibration, struct error *err);
