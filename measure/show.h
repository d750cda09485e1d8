/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as text. */
#pragma once

#include "measure/session.h"

#include "lib/report/comparison_report.h"

/* Prints every result, then the comparisons. STATUS_NOT_FIT with a sentence if --fail-if-slower is exceeded. */
int show_session(const struct session *session, struct error *err);
