/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a plan out of what an audit gathered. */
#pragma once

#include "setup/apply/plan.h"
#include "setup/apply/report.h"
#include "setup/apply/request.h"

/* `open`: the journal of what is applied already (empty if nothing is), taken over. `files`: of
 * check_rows_read. What will not be done goes into `report`. `units` may be NULL. */
int plan_make(struct plan *ret, struct journal *open, const struct facts *facts,
	const struct setting_files *files, const struct request *request, struct units *units,
	struct report *report, struct error *err);
