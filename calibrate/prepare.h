/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preparation before the first sample: checks the machine and takes its fingerprint, opens the observer, and finds
 * the constant of INC. */
#pragma once

#include "calibrate/calibration.h"

/* 0, or STATUS_NOT_FIT with a sentence if the machine is not fit and --ignore-audit is not given. */
int prepare_machine(struct calibration *calibration, struct error *err);

/* The constant for the environment that the calibration began in (0: it begins in today's). */
int prepare_constant(struct calibration *calibration, int64_t environment, struct error *err);
