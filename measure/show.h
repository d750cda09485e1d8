/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results for people, on standard output. */
#pragma once

#include "measure/session.h"

#include "lib/report/comparison_report.h"

/* Every result, then how they compare. STATUS_NOT_FIT with a sentence where --fail-if-slower is exceeded. */
int show_session(const struct session *session, struct error *err);

/* Whether both have samples that both checks leave. */
bool comparable(const struct result *a, const struct result *b);

/* PTs of what both checks leave, b compared with a. */
int compare_results(
	const struct result *a, const struct result *b, struct comparison *ret, struct error *err);
