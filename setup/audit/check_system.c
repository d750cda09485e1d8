/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else may disturb a run: unknown services, timers that are due, load, swap, tracers; see check.h. */
#include "setup/audit/check.h"

#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void append(char **text, const char *more)
{
	char *longer = text_format("%s%s%s", *text ?: "", *text ? ", " : "", more);

	free(*text);
	*text = longer;
}

void check_strangers(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = NULL;

	for (size_t i = 0; i < f->n_strangers; i++) {
		const struct stranger *s = &f->strangers[i];
		_cleanup_(freep) char *one = NULL;
		char time[TEXT_TIME_SIZE];

		finding_add_item(ret, s->unit);
		one = text_format("%s (%s)", s->unit,
			s->cpu_ns < 0 ? "CPU time not accounted" : text_duration(time, s->cpu_ns));
		append(&list, one ?: s->unit);
	}
	if (!f->has_units)
		finding_set(ret, f->machine.systemd ? CHECK_UNKNOWN : CHECK_ABSENT, "%s",
			f->units_why ?: "systemd was not asked");
	else if (f->n_strangers == 0)
		finding_set(ret, CHECK_OK, "every one is");
	else
		finding_set(ret, CHECK_UNKNOWN, "CPU time so far: %s", list ?: "");
}

void check_due(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = NULL;
	char window[TEXT_TIME_SIZE];

	for (size_t i = 0; i < f->n_due; i++) {
		_cleanup_(freep) char *one = NULL;
		char moment[TEXT_TIME_SIZE];

		finding_add_item(ret, f->due[i].unit);
		one = text_format("%s at %s", f->due[i].unit, text_moment(moment, f->due[i].next_ns));
		append(&list, one ?: f->due[i].unit);
	}
	if (!f->has_units)
		finding_set(ret, f->machine.systemd ? CHECK_UNKNOWN : CHECK_ABSENT, "%s",
			f->units_why ?: "systemd was not asked");
	else if (f->n_due == 0)
		finding_set(ret, CHECK_OK, "none within %s", text_duration(window, f->within_ns));
	else
		finding_set(ret, CHECK_OFF, "%s", list ?: "");
}

void check_packagers(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;

	if (s->locked)
		finding_set(ret, CHECK_OFF, "somebody holds %s", s->locked);
	else if (s->shutdown)
		finding_set(ret, CHECK_OFF, "a shutdown is scheduled");
	else if (s->lock_error)
		finding_set(ret, CHECK_REFUSED, "only root may look at the package manager's locks");
	else
		finding_set(ret, CHECK_OK, "none");
}

void check_load(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	double load;

	if (!s->load || sscanf(s->load, "%lf", &load) != 1 || f->machine.n_cpus <= 0)
		finding_set(ret, CHECK_UNKNOWN, "the kernel does not tell");
	else
		finding_set(ret, load < 0.1 * (double)f->machine.n_cpus ? CHECK_OK : CHECK_OFF,
			"%.2f on %" PRId64 " CPUs in the last minute%s", load, f->machine.n_cpus,
			f->machine.container ? " (the host's)" : "");
}

void check_clocksource(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	bool constant = machine_flag(&f->machine, "constant_tsc") && machine_flag(&f->machine, "nonstop_tsc");

	if (!s->clocksource)
		finding_set(ret, CHECK_UNKNOWN, "the kernel does not tell");
	else if (!strcmp(s->clocksource, "tsc") || !constant)
		finding_set(ret, CHECK_OK, "%s", s->clocksource);
	else if (f->machine.virtual || f->machine.container)
		finding_set(ret, CHECK_ABSENT, "%s; the host decides", s->clocksource);
	else
		finding_set(ret, CHECK_OFF, "%s, though the processor's TSC is constant", s->clocksource);
}

/* Lines of /proc/swaps: name, kind, size, used (KiB), priority. */
void check_swap(const struct facts *f, struct finding *ret)
{
	const char *line = f->system_state.swaps;
	int64_t total = 0;
	int areas = 0;

	if (!line) {
		finding_set(ret, CHECK_UNKNOWN, "the kernel does not tell");
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
		finding_set(ret, CHECK_OK, "this system has no swap");
	else
		finding_set(ret, total ? CHECK_OFF : CHECK_OK, "%" PRId64 " MiB in %d area%s",
			(total + 1023) / 1024, areas, areas == 1 ? "" : "s");
}

void check_tracer(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;

	if (s->tracer)
		finding_set(ret, strcmp(s->tracer, "nop") ? CHECK_OFF : CHECK_OK, "%s", s->tracer);
	else if (s->tracer_error == -ENOENT)
		finding_set(ret, CHECK_ABSENT, "/sys/kernel/tracing is not there");
	else
		finding_set(ret,
			s->tracer_error == -EACCES || s->tracer_error == -EPERM ? CHECK_REFUSED
										: CHECK_UNKNOWN,
			"only root may look into /sys/kernel/tracing");
}

void check_mains(const struct facts *f, struct finding *ret)
{
	if (f->system_state.mains < 0)
		finding_set(ret, CHECK_ABSENT, "this machine has no battery and no adapter that tells");
	else
		finding_set(ret, f->system_state.mains ? CHECK_OK : CHECK_OFF, "%s",
			f->system_state.mains ? "plugged in" : "on battery");
}

void check_latency(const struct facts *f, struct finding *ret)
{
	if (f->system_state.idle_states > 1)
		finding_set(ret, CHECK_OFF, "CPU 0 has %" PRId64 " idle states", f->system_state.idle_states);
	else if (f->machine.virtual)
		finding_set(
			ret, CHECK_ABSENT, "the host decides, and it cannot be seen from a virtual machine");
	else
		finding_set(ret, CHECK_ABSENT, "the kernel has no idle states to choose from");
}

void check_smt(const struct facts *f, struct finding *ret)
{
	const char *smt = f->system_state.smt;

	if (!smt)
		finding_set(ret, CHECK_ABSENT, "the kernel has no such switch");
	else if (!strcmp(smt, "on"))
		finding_set(ret, CHECK_OFF, "on: every core runs two threads or more");
	else
		finding_set(ret, CHECK_OK, "%s", smt);
}
