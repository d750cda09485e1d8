/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of the processor: governor, frequency limits, turbo and SpeedStep (EMPv3); and what shares the CPU that programs are
 * timed on: the other thread of its core, interrupts, control groups, and how it idles. See audit.h.
 *
 * On a machine without a cpufreq driver either the firmware controls the frequency, or, in a virtual machine,
 * the host does. The first may be good or bad; the second cannot be audited from inside. */
#include "setup/audit/audit.h"

#include "lib/base/text.h"
#include "lib/host/cpu/cpus.h"

#include <inttypes.h>
#include <string.h>

/* True where there is no policy to look at; the finding is made then. */
static bool no_policy(const struct facts *f, struct finding *ret)
{
	if (f->frequency.n_policies > 0)
		return false;
	finding_set_absent(ret, f, "no frequency driver for this processor");
	return true;
}

void check_frequency_driver(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	if (no_policy(f, ret))
		return;
	finding_set(ret, CHECK_OK, "%s%s%s%s", q->policies[0].driver ?: "unnamed driver",
		q->pstate_status ? " (" : "", q->pstate_status ?: "", q->pstate_status ? ")" : "");
}

void check_frequency_governor(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *other = NULL;
	size_t n = 0;

	if (no_policy(f, ret))
		return;
	for (size_t i = 0; i < q->n_policies; i++)
		if (!q->policies[i].governor || strcmp(q->policies[i].governor, "performance")) {
			other = other ?: &q->policies[i];
			n++;
		}
	if (!other)
		finding_set(ret, CHECK_OK, "performance");
	else if (!other->governor)
		finding_set(ret, CHECK_UNKNOWN, "the kernel does not report the governor of CPU %s",
			other->cpus ?: "?");
	else
		finding_set(ret, CHECK_OFF, "%s on %zu of %zu policies", other->governor, n, q->n_policies);
}

/* Whether a policy's clock may fall below its base frequency, or, if that is not known, change at all. */
static bool may_fall(const struct frequency_policy *p)
{
	if (p->min_khz == p->max_khz)
		return false;
	return p->base_khz <= 0 || p->min_khz < p->base_khz;
}

static bool may_exceed(const struct frequency_policy *p)
{
	return p->min_khz != p->max_khz && (p->base_khz <= 0 || p->max_khz > p->base_khz);
}

static const struct frequency_policy *find_policy(
	const struct frequency *q, bool (*matches)(const struct frequency_policy *))
{
	for (size_t i = 0; i < q->n_policies; i++)
		if (matches(&q->policies[i]))
			return &q->policies[i];
	return NULL;
}

void check_frequency_min(const struct facts *f, struct finding *ret)
{
	const struct frequency_policy *p = find_policy(&f->frequency, may_fall);

	if (no_policy(f, ret))
		return;
	if (!p)
		finding_set(ret, CHECK_OK, "%" PRId64 " MHz", f->frequency.policies[0].min_khz / 1000);
	else if (p->base_khz > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz, base %" PRId64 " MHz (policy %d)",
			p->min_khz / 1000, p->base_khz / 1000, p->number);
	else
		finding_set(ret, CHECK_OFF,
			"%" PRId64 " MHz, highest %" PRId64 " MHz (policy %d; base frequency not known)",
			p->min_khz / 1000, p->max_khz / 1000, p->number);
}

void check_frequency_max(const struct facts *f, struct finding *ret)
{
	const struct frequency_policy *p = find_policy(&f->frequency, may_exceed);

	if (no_policy(f, ret))
		return;
	if (p)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz (policy %d)", p->max_khz / 1000, p->number);
	else
		finding_set(ret, CHECK_OK, "%" PRId64 " MHz", f->frequency.policies[0].max_khz / 1000);
}

char *check_frequency_limits(const struct facts *f, const char *path)
{
	const char *number = strstr(path, "/policy");

	for (size_t i = 0; number && i < f->frequency.n_policies; i++) {
		const struct frequency_policy *p = &f->frequency.policies[i];

		if (p->number == atoi(number + strlen("/policy")) && p->base_khz > 0)
			return text_format("%" PRId64 " %" PRId64, p->base_khz, p->base_khz);
	}
	return NULL;
}

void check_frequency_percent(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	if (q->max_perf_pct <= 0)
		finding_set_absent(ret, f, "this machine does not use intel_pstate");
	else
		finding_set(ret, q->max_perf_pct < 100 ? CHECK_OFF : CHECK_OK,
			"max_perf_pct = %" PRId64 ", min_perf_pct = %" PRId64, q->max_perf_pct,
			q->min_perf_pct);
}

static void check_turbo(const struct facts *f, struct finding *ret, const char *name, int64_t value, bool on,
	const char *absent)
{
	if (value < 0)
		finding_set_absent(ret, f, absent);
	else
		finding_set(ret, on ? CHECK_OFF : CHECK_OK, "%s = %d%s", name, (int)value,
			on ? ": turbo is on" : "");
}

void check_frequency_turbo_intel(const struct facts *f, struct finding *ret)
{
	check_turbo(f, ret, "no_turbo", f->frequency.no_turbo, f->frequency.no_turbo == 0,
		"this machine does not use intel_pstate");
}

void check_frequency_turbo_boost(const struct facts *f, struct finding *ret)
{
	check_turbo(f, ret, "boost", f->frequency.boost, f->frequency.boost > 0,
		"this machine has no global turbo switch");
}

/* Of all switches: 1 on, 0 off, -1 there is none. */
static int64_t any_boost(const struct frequency *q)
{
	int64_t boost = q->boost;

	for (size_t i = 0; i < q->n_policies; i++)
		boost = boost > q->policies[i].boost ? boost : q->policies[i].boost;
	return boost;
}

static bool turbo_is_on(const struct frequency *q)
{
	return q->no_turbo == 0 || any_boost(q) > 0;
}

/* No switch of any kind, on a processor that has turbo or may have it. */
static bool turbo_uncontrollable(const struct facts *f)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies;

	if (q->n_policies == 0 || q->no_turbo >= 0 || any_boost(q) >= 0)
		return false;
	return p->base_khz <= 0 || p->hardware_max_khz > p->base_khz || machine_flag(&f->machine, "cpb") ||
	       machine_flag(&f->machine, "ida");
}

void check_frequency_turbo_policy(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;
	size_t on = 0, switches = 0;

	for (size_t i = 0; i < q->n_policies; i++) {
		on += q->policies[i].boost > 0;
		switches += q->policies[i].boost >= 0;
	}
	if (on > 0)
		finding_set(ret, CHECK_OFF, "boost = 1 in %zu of %zu policies", on, q->n_policies);
	else if (switches > 0)
		finding_set(ret, CHECK_OK, "boost = 0");
	else if (turbo_uncontrollable(f))
		finding_set(ret, CHECK_UNKNOWN, "the driver %s has no turbo switch",
			q->policies[0].driver ?: "in use");
	else
		finding_set_absent(ret, f, "the policies have no turbo switch");
}

/* Where the firmware did not switch SpeedStep off, a fixed clock is as good. */
static void check_fixed(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	for (size_t i = 0; i < q->n_policies; i++) {
		const struct frequency_policy *p = &q->policies[i];

		if (!p->governor || strcmp(p->governor, "performance") || may_fall(p) ||
			(p->base_khz > 0 && p->max_khz > p->base_khz && turbo_is_on(q))) {
			finding_set(ret, CHECK_OFF,
				"the clock varies between %" PRId64 " and %" PRId64 " MHz", p->min_khz / 1000,
				p->max_khz / 1000);
			return;
		}
	}
	if (turbo_is_on(q))
		finding_set(ret, CHECK_OFF, "the clock is fixed, but turbo is on");
	else if (q->max_perf_pct > 0 && q->max_perf_pct < 100)
		finding_set(ret, CHECK_OFF, "the clock is capped at %" PRId64 " %% (max_perf_pct)",
			q->max_perf_pct);
	else if (turbo_uncontrollable(f))
		finding_set(ret, CHECK_UNKNOWN, "the clock is fixed, but turbo cannot be controlled");
	else
		finding_set(ret, CHECK_OK, "equivalent: the clock is fixed at %" PRId64 " MHz",
			q->policies[0].min_khz / 1000);
}

void check_frequency_speedstep(const struct facts *f, struct finding *ret)
{
	if (f->frequency.n_policies > 0)
		check_fixed(f, ret);
	else if (f->machine.virtual)
		no_policy(f, ret);
	else if (f->machine.cpu_vendor && !strcmp(f->machine.cpu_vendor, "GenuineIntel") &&
		 !machine_flag(&f->machine, "est"))
		finding_set(ret, CHECK_OK, "off in firmware");
	else
		finding_set(ret, CHECK_UNKNOWN, "no frequency driver: off in firmware, or driver missing");
}

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

	if (f->cpus.limits_error)
		finding_set(ret, CHECK_ABSENT, "no cpu controller of control groups");
	else if (l->quota_of)
		finding_set(ret, CHECK_OFF, "%s of one CPU: %s", text_percent(l->quota), l->quota_of);
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

/* What an interrupt's list of CPUs should be: without the core that programs are timed on; all others where nothing would
 * remain. The caller frees it. NULL: no such CPU is known. */
static char *irq_list(const struct cpu_state *s, const char *list)
{
	char *less = s->cpu < 0 ? NULL : cpu_list_without(list, s->threads, s->n_threads);

	if (!less || *less)
		return less;
	free(less);
	return s->online ? cpu_list_without(s->online, s->threads, s->n_threads) : NULL;
}

/* The same for the mask of new interrupts. */
static char *irq_mask(const struct cpu_state *s, const char *mask)
{
	_cleanup_(freep) char *less = s->cpu < 0 ? NULL : cpu_mask_without(mask, s->threads, s->n_threads);
	_cleanup_(freep) char *rest = less && s->online
					      ? cpu_list_without(s->online, s->threads, s->n_threads)
					      : NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	if (!less || less[strspn(less, "0,")])
		return TAKE(less);
	if (!rest || text_parse_cpu_list(rest, &cpus, &n) < 0 ||
		n == 0) /* the kernel refuses an empty mask */
		return NULL;
	return cpu_mask_of(mask, cpus, n);
}

void check_cpus_interrupts(const struct facts *f, struct finding *ret)
{
	const struct setting_files *files = check_rows_files(f, "irq.each");
	size_t n = 0;

	if (no_cpu(f, ret))
		return;
	for (size_t i = 0; files && i < files->n; i++) { /* those that may be handled on the core */
		const char *list = files->items[i].value;
		_cleanup_(freep) char *want = list ? irq_list(&f->cpus, list) : NULL;

		n += want && strcmp(want, list) != 0;
	}
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
	_cleanup_(freep) char *want = mask ? irq_mask(&f->cpus, mask) : NULL;

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
			return irq_list(&f->cpus, files->items[i].value);
	return NULL;
}

char *check_cpus_interrupt_mask(const struct facts *f, const char *path)
{
	const struct setting_files *files = check_rows_files(f, "irq.default");

	return files && files->n && files->items[0].value ? irq_mask(&f->cpus, files->items[0].value) : NULL;
}
