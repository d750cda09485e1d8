/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC as a calibration starts it: see inc_program.h. */
#include "calibrate/inc_program.h"

#include "lib/base/xalloc.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/protocol/names.h"

#include <string.h>

void inc_program_make(struct inc_program *p, const struct calibration *c, int64_t length_ns)
{
	*p = (struct inc_program){
		.length_ns = length_ns,
		.argv = {(char *)"inc", (char *)"--iterations", p->iterations},
		.spawn = {.argv = p->argv,
			.path = c->inc,
			.cpu = c->plan.cpu,
			.stdin_fd = -1,
			.stdout_fd = -1,
			.stderr_fd = -1,
			.cgroup = c->observer.cgroup,
			.accounting = c->observer.accounting},
	};
	snprintf(p->iterations, sizeof(p->iterations), "%.0f",
		c->constant.per_second * (double)length_ns / 1e9);
}

int inc_program_describe(const struct inc_program *p, const struct calibration *c, enum run_kind kind,
	struct run *run, struct error *err)
{
	_cleanup_(json_decrefp) json_t *command = json_pack("[sss]", p->argv[0], p->argv[1], p->argv[2]);
	char seconds[TEXT_TIME_SIZE];

	*run = (struct run){
		.program = text_format("INC%s", text_seconds(seconds, p->length_ns)),
		.command = json_dumps(command, JSON_COMPACT),
		.kind = kind,
		.backend = xstrdup(observer_backend_name(&c->observer)),
		.pt_source = xstrdup(observer_pt_source(&c->observer)),
		.wait_source = xstrdup(observer_wait_source(&c->observer)),
		.notes = text_copy(c->notes),
		.task_length_ns = p->length_ns,
		.resolution_ns = 1,
		.environment = c->environment,
		.cpu = c->plan.cpu,
	};
	return run->program && run->command && run->backend && run->pt_source ? names_text(&run->name_patterns, err)
									      : error_oom(err);
}
