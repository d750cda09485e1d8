/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a calibration: from two complete runs to the profile, or the reason why there is none. */
#pragma once

#include "calibrate/calibration.h"

/* 0: the profile is in the book; STATUS_NOT_FIT with a sentence if a run is neither L nor clean, or a failure. */
int conclude(struct calibration *calibration, struct error *err);
