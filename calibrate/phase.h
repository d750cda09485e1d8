/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A phase of a calibration: the short or the long run. */
#pragma once

#include "calibrate/calibration.h"

/* Takes the rest of SHORT_PHASE or LONG_PHASE. */
int phase_do(struct calibration *calibration, int which, struct error *err);
