/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results for services that keep figures: --export. */
#pragma once

#include "lib/report/metric_export.h"
#include "measure/session.h"

/* The mean PT (cpu-time) and ET (latency) of the samples kept, with their intervals, and the ratios
 * to the first command, with theirs. In a duet ET is that of all programs, and is left out. */
int export_metrics_write(
	const struct session *session, enum metric_format format, FILE *file, struct error *err);
