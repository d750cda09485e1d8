/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What shares the CPU that programs are timed on: the other thread of its core, interrupts, control groups, and how it
 * idles: see check_rows.h. */
#include "setup/audit/check_rows.h"

#include "lib/base/text.h"
#include "lib/host/cpu/cpu_list.h"

#include <inttypes.h>
#include <string.h>

void check_cpus_latency(const struct facts *f, struct finding *ret)
{
	if (f->system_state.idle_states > 1)
		finding_set(ret, CHECK_OFF, "CPU 0 has %" PRId64 " idle states", f->system_state.idle_states);
	else if (f->machine.virtual)
		finding_set(ret, CHECK_BY_HOST, "the host decides; not visible in a virtual machine");
	else
		finding_set(ret, CHECK_ABSENT, "the kernel has no idle states to choose from");
}

/* True where no CPU is set apart for timing; the finding is made then. */
static bool no_cpu(const struct facts *f, struct finding *ret)
{
	if (f->cpus.cpu < 0)
		finding_set(ret, CHECK_ABSENT, "no CPU is set apart for timing; --cpu names one");
	return f->cpus.cpu < 0;
}

static bool has_idle_threads(const struct cpu_state *c)
{
	for (size_t i = 0; i < c->n_threads; i++)
		if (c->threads[i] != c->cpu && cpu_list_has(c->online, c->threads[i]) &&
			!cpu_list_has(c->isolated, c->threads[i]))
			return false;
	return c->cpu >= 0;
}

void check_cpus_smt(const struct facts *f, struct finding *ret)
{
	const char *smt = f->system_state.smt;

	if (!smt)
		finding_set(ret, CHECK_ABSENT, "the kernel has no SMT switch");
	else if (list_has("off forceoff notsupported", ' ', smt))
		finding_set(ret, CHECK_OK, "%s", !strcmp(smt, "notsupported") ? "not supported" : smt);
	else if (f->system_state.smt_active == 0)
		finding_set(ret, CHECK_OK, "no core runs two threads");
	else if (has_idle_threads(&f->cpus))
		finding_set(ret, CHECK_OK, "on; CPU %d has its core for itself", f->cpus.cpu);
	else
		finding_set(ret, CHECK_OFF, "on: each core runs two threads or more");
}

/* The largest value that does not stop a program is as many CPUs as there are. */
void check_cpus_quota(const struct facts *f, struct finding *ret)
{
	const struct cgroup_limits *l = &f->cpus.limits;
	char percent[TEXT_TIME_SIZE];

	if (f->cpus.limits_error)
		finding_set(ret, CHECK_ABSENT, "no cpu controller of control groups");
	else if (l->quota_of)
		finding_set(
			ret, CHECK_OFF, "%s of one CPU: %s", text_percent(percent, l->quota), l->quota_of);
	else
		finding_set(ret, CHECK_OK, "no quota");
}

void check_cpus_weight(const struct facts *f, struct finding *ret)
{
	const struct cgroup_limits *l = &f->cpus.limits;

	if (f->cpus.limits_error || l->weight < 0)
		finding_set(ret, CHECK_ABSENT, "no weights of control groups");
	else if (l->weight_of)
		finding_set(ret, CHECK_OFF, "%" PRId64 " %% of the usual: %s", l->weight, l->weight_of);
	else
		finding_set(ret, CHECK_OK, "%" PRId64 " %%", l->weight);
}

void check_cpus_isolated(const struct facts *f, struct finding *ret)
{
	const struct cpu_state *c = &f->cpus;

	if (!c->isolated)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (c->cpu >= 0 && cpu_list_has(c->isolated, c->cpu))
		finding_set(ret, CHECK_OK, "CPU %d is isolated (isolated: %s)", c->cpu, c->isolated);
	else
		finding_set(ret, CHECK_OFF, "%s", *c->isolated ? c->isolated : "none");
}

void check_cpus_nohz(const struct facts *f, struct finding *ret)
{
	const struct cpu_state *c = &f->cpus;

	if (!c->nohz_full)
		finding_set(ret, CHECK_ABSENT, "this kernel cannot stop the tick of a busy CPU");
	else if (c->cpu >= 0 && cpu_list_has(c->nohz_full, c->cpu))
		finding_set(ret, CHECK_OK, "CPU %d has no tick while one task runs on it", c->cpu);
	else
		finding_set(ret, CHECK_OFF, "%s", *c->nohz_full ? c->nohz_full : "none");
}

void check_cpus_balancer(const struct facts *f, struct finding *ret)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (!strcmp(f->processes[i].name, "irqbalance")) {
			finding_set(ret, CHECK_OFF, "irqbalance runs");
			return;
		}
	finding_set(ret, CHECK_OK, "irqbalance does not run");
}

/* Interrupts that may be handled on the core that programs are timed on. */
static size_t count_interrupts(const struct facts *f, const struct setting_files *files)
{
	size_t n = 0;

	for (size_t i = 0; i < files->n; i++) {
		const char *list = files->items[i].value;
		_cleanup_(freep) char *want = list ? cpu_state_irq_list(&f->cpus, list) : NULL;

		n += want && strcmp(want, list) != 0;
	}
	return n;
}

void check_cpus_interrupts(const struct facts *f, struct finding *ret)
{
	const struct setting_files *files = check_rows_files(f, "irq.each");
	size_t n;

	if (no_cpu(f, ret))
		return;
	n = files ? count_interrupts(f, files) : 0;
	if (!files || files->n == 0)
		finding_set(ret, CHECK_ABSENT, "the kernel lists no interrupts");
	else if (n > 0)
		finding_set(ret, CHECK_OFF, "%zu of %zu may be handled on CPU %d", n, files->n, f->cpus.cpu);
	else
		finding_set(ret, CHECK_OK, "none of %zu on CPU %d", files->n, f->cpus.cpu);
}

void check_cpus_new_interrupts(const struct facts *f, struct finding *ret)
{
	const struct setting_files *files = check_rows_files(f, "irq.default");
	const char *mask = files && files->n ? files->items[0].value : NULL;
	_cleanup_(freep) char *want = mask ? cpu_state_irq_mask(&f->cpus, mask) : NULL;

	if (no_cpu(f, ret))
		return;
	if (!mask)
		finding_set(ret, CHECK_ABSENT, "the kernel has no such mask");
	else
		finding_set(ret, want && !strcmp(want, mask) ? CHECK_OK : CHECK_OFF, "mask %s", mask);
}

char *check_cpus_interrupt_list(const struct facts *f, const char *path)
{
	const struct setting_files *files = check_rows_files(f, "irq.each");

	for (size_t i = 0; files && i < files->n; i++)
		if (!strcmp(files->items[i].path, path) && files->items[i].value)
			return cpu_state_irq_list(&f->cpus, files->items[i].value);
	return NULL;
}

char *check_cpus_interrupt_mask(const struct facts *f, const char *path)
{
	const struct setting_files *files = check_rows_files(f, "irq.default");

	return files && files->n && files->items[0].value
		       ? cpu_state_irq_mask(&f->cpus, files->items[0].value)
		       : NULL;
}
