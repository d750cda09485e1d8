/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of --plot: the samples of the programs, and their ratios to the first. */
#pragma once

#include "measure/session.h"

/* Nothing without --plot. Programs without samples are omitted. */
int export_picture(const struct session *session, struct error *err);
