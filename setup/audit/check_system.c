/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else may disturb a run: see check_rows.h. */
#include "setup/audit/check_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void check_system_packagers(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;

	if (s->locked)
		finding_set(ret, CHECK_OFF, "%s is locked", s->locked);
	else if (s->shutdown)
		finding_set(ret, CHECK_OFF, "a shutdown is scheduled");
	else if (s->lock_error)
		finding_set(ret, CHECK_REFUSED, "only root can read the package manager's locks");
	else
		finding_set(ret, CHECK_OK, "none");
}

void check_system_load(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	double load;

	if (!s->load || sscanf(s->load, "%lf", &load) != 1 || f->machine.n_cpus <= 0)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else
		finding_set(ret, load < 0.1 * (double)f->machine.n_cpus ? CHECK_OK : CHECK_OFF,
			"%.2f on %" PRId64 " CPUs%s", load, f->machine.n_cpus,
			f->machine.container ? " (the host's)" : "");
}

void check_system_clocksource(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	bool constant = machine_flag(&f->machine, "constant_tsc") && machine_flag(&f->machine, "nonstop_tsc");

	if (!s->clocksource)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (!strcmp(s->clocksource, "tsc") || !constant)
		finding_set(ret, CHECK_OK, "%s", s->clocksource);
	else if (f->machine.virtual || f->machine.container)
		finding_set(ret, CHECK_BY_HOST, "%s; the host decides", s->clocksource);
	else
		finding_set(ret, CHECK_OFF, "%s, although the TSC is constant", s->clocksource);
}

/* Lines of /proc/swaps: name, kind, size, used (KiB), priority. */
void check_system_swap(const struct facts *f, struct finding *ret)
{
	const char *line = f->system_state.swaps;
	int64_t total = 0;
	int areas = 0;

	if (!line) {
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
		return;
	}
	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		int64_t used;

		if (sscanf(line, "%*s %*s %*s %" SCNd64, &used) != 1)
			continue;
		total += used;
		areas++;
	}
	if (areas == 0)
		finding_set(ret, CHECK_OK, "no swap");
	else
		finding_set(ret, total ? CHECK_OFF : CHECK_OK, "%" PRId64 " MiB in %d area%s",
			(total + 1023) / 1024, areas, areas == 1 ? "" : "s");
}

void check_system_tracer(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;

	if (s->tracer)
		finding_set(ret, strcmp(s->tracer, "nop") ? CHECK_OFF : CHECK_OK, "%s", s->tracer);
	else if (s->tracer_error == -ENOENT)
		finding_set(ret, CHECK_ABSENT, "/sys/kernel/tracing does not exist");
	else
		finding_set(ret,
			s->tracer_error == -EACCES || s->tracer_error == -EPERM ? CHECK_REFUSED
										: CHECK_UNKNOWN,
			"only root can read /sys/kernel/tracing");
}

void check_system_mains(const struct facts *f, struct finding *ret)
{
	if (f->system_state.mains < 0 && f->machine.virtual)
		finding_set(ret, CHECK_BY_HOST, "the host decides; not visible in a virtual machine");
	else if (f->system_state.mains < 0)
		finding_set(ret, CHECK_ABSENT, "no battery or power adapter is reported");
	else
		finding_set(ret, f->system_state.mains ? CHECK_OK : CHECK_OFF, "%s",
			f->system_state.mains ? "plugged in" : "on battery");
}

void check_system_latency(const struct facts *f, struct finding *ret)
{
	if (f->system_state.idle_states > 1)
		finding_set(ret, CHECK_OFF, "CPU 0 has %" PRId64 " idle states", f->system_state.idle_states);
	else if (f->machine.virtual)
		finding_set(ret, CHECK_BY_HOST, "the host decides; not visible in a virtual machine");
	else
		finding_set(ret, CHECK_ABSENT, "the kernel has no idle states to choose from");
}

void check_system_smt(const struct facts *f, struct finding *ret)
{
	const char *smt = f->system_state.smt;

	if (!smt)
		finding_set(ret, CHECK_ABSENT, "the kernel has no SMT switch");
	else if (!strcmp(smt, "on"))
		finding_set(ret, CHECK_OFF, "on: each core runs two threads or more");
	else
		finding_set(ret, CHECK_OK, "%s", !strcmp(smt, "notsupported") ? "not supported" : smt);
}

void check_system_delayacct(const struct facts *f, struct finding *ret)
{
	if (f->delayacct < 0)
		finding_set(ret, CHECK_ABSENT, "this kernel has no kernel.task_delayacct");
	else
		finding_set(ret, CHECK_OK, "%d", (int)f->delayacct);
}
