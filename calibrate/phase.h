/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One half of a calibration: the short or the long run. */
#pragma once

#include "calibrate/calibration.h"

/* SHORT_PHASE or LONG_PHASE, from where it is to its end. */
int phase_do(struct calibration *calibration, int which, struct error *err);
