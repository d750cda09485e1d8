/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes before the first sample: the machine is checked and its fingerprint taken, the observer opened, and the
 * constant of INC found. */
#pragma once

#include "calibrate/calibration.h"

/* 0, or STATUS_NOT_FIT with a sentence where the audit says not fit and is not to be ignored. */
int prepare_machine(struct calibration *calibration, struct error *err);

/* The constant of the environment that the calibration began in (0: it begins in today's). */
int prepare_constant(struct calibration *calibration, int64_t environment, struct error *err);
