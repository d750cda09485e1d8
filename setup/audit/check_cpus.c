/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of the processor: governor, frequency limits, turbo and SpeedStep (EMPv3); and what shares the CPU that programs are
 * timed on: the other thread of its core, interrupts, control groups, and how it idles. See audit.h.
 *
 * On a machine without a cpufreq driver either the firmware controls the frequency, or, in a virtual machine,
 * the host does. The first may be good or bad; the second cannot be audited from inside. */
#include "setup/audit/audit.h"

#include "lib/host/process/cgroup.h"

#define CPU "/sys/devices/system/cpu/"
#define NO_CPU "no CPU is set apart for timing; --cpu names one"

void check_frequency_driver(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	finding_set(ret, CHECK_OK, "%s%s%s%s", q->policies[0].driver ?: "unnamed driver",
		q->pstate_status ? " (" : "", q->pstate_status ?: "", q->pstate_status ? ")" : "");
}

void check_frequency_governor(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *other = NULL;
	size_t n = 0;

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
	return p->min_khz != p->max_khz && (p->base_khz <= 0 || p->min_khz < p->base_khz);
}

void check_frequency_min(const struct facts *f, struct finding *ret)
{
	const struct frequency_policy *p = f->frequency.policies, *end = p + f->frequency.n_policies;

	while (p < end && !may_fall(p))
		p++;
	if (p == end)
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
	const struct frequency_policy *p = f->frequency.policies, *end = p + f->frequency.n_policies;

	while (p < end && (p->min_khz == p->max_khz || (p->base_khz > 0 && p->max_khz <= p->base_khz)))
		p++;
	if (p < end)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz (policy %d)", p->max_khz / 1000, p->number);
	else
		finding_set(ret, CHECK_OK, "%" PRId64 " MHz", f->frequency.policies[0].max_khz / 1000);
}

char *check_frequency_limits(const struct facts *f, const struct setting_file *file)
{
	const char *number = strstr(file->path, "/policy");

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

/* By all switches. TURBO_NO_SWITCH: there is none of any kind, on a processor that has turbo or may have it. */
enum turbo { TURBO_OFF, TURBO_ON, TURBO_NO_SWITCH };

static enum turbo find_turbo(const struct facts *f)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies;
	int64_t boost = q->boost;

	for (size_t i = 0; i < q->n_policies; i++)
		boost = boost > p[i].boost ? boost : p[i].boost;
	if (q->no_turbo == 0 || boost > 0)
		return TURBO_ON;
	if (q->no_turbo > 0 || boost == 0 || q->n_policies == 0)
		return TURBO_OFF;
	return p->base_khz <= 0 || p->hardware_max_khz > p->base_khz ||
			       text_has_word(f->machine.flags, "cpb") ||
			       text_has_word(f->machine.flags, "ida")
		       ? TURBO_NO_SWITCH
		       : TURBO_OFF;
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
	else if (find_turbo(f) == TURBO_NO_SWITCH)
		finding_set(ret, CHECK_UNKNOWN, "the driver %s has no turbo switch",
			q->policies[0].driver ?: "in use");
	else
		finding_set_absent(ret, f, "the policies have no turbo switch");
}

void check_frequency_speedstep(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies, *end = p + q->n_policies;
	enum turbo turbo = find_turbo(f);
	bool intel = f->machine.cpu_vendor && !strcmp(f->machine.cpu_vendor, "GenuineIntel");

	/* Where the firmware did not switch SpeedStep off, a fixed clock is as good. */
	while (p < end && p->governor && !strcmp(p->governor, "performance") && !may_fall(p) &&
		(p->base_khz <= 0 || p->max_khz <= p->base_khz || turbo != TURBO_ON))
		p++;
	if (p < end)
		finding_set(ret, CHECK_OFF, "the clock varies between %" PRId64 " and %" PRId64 " MHz",
			p->min_khz / 1000, p->max_khz / 1000);
	else if (q->n_policies == 0 && f->machine.virtual)
		finding_set_absent(ret, f, "");
	else if (q->n_policies == 0 && intel && !text_has_word(f->machine.flags, "est"))
		finding_set(ret, CHECK_OK, "off in firmware");
	else if (q->n_policies == 0)
		finding_set(ret, CHECK_UNKNOWN, "no frequency driver: off in firmware, or driver missing");
	else if (turbo == TURBO_ON)
		finding_set(ret, CHECK_OFF, "the clock is fixed, but turbo is on");
	else if (q->max_perf_pct > 0 && q->max_perf_pct < 100)
		finding_set(ret, CHECK_OFF, "the clock is capped at %" PRId64 " %% (max_perf_pct)",
			q->max_perf_pct);
	else if (turbo == TURBO_NO_SWITCH)
		finding_set(ret, CHECK_UNKNOWN, "the clock is fixed, but turbo cannot be controlled");
	else
		finding_set(ret, CHECK_OK, "equivalent: the clock is fixed at %" PRId64 " MHz",
			q->policies[0].min_khz / 1000);
}

void check_cpus_throttling(const struct facts *f, struct finding *ret)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(
		f->root_fd, CPU "cpu[0-9]*/thermal_throttle/*_throttle_count");
	int64_t n = -1; /* the sum over all CPUs, of their own and of the package's */

	for (size_t i = 0; i < paths.n; i++) {
		int64_t count = path_int(f->root_fd, "%s", paths.items[i]);

		if (count >= 0)
			n = (n < 0 ? 0 : n) + count;
	}
	if (n < 0)
		finding_set_absent(ret, f, "the processor does not count it");
	else if (n > 0)
		finding_set(ret, CHECK_OFF, "%s since the machine was started", text_count(n, "time"));
	else
		finding_set(ret, CHECK_OK, "never since the machine was started");
}

/* The sustained limit (RAPL) is the constraint called "long_term"; its most is what the processor is made for. Parts of a package
 * ("intel-rapl:0:1") have none of their own. */
void check_cpus_power(const struct facts *f, struct finding *ret)
{
	enum { CONSTRAINTS = 3, UW_PER_W = 1000000 };
	_cleanup_(paths_clear) struct paths zones = paths_expand(
		f->root_fd, "/sys/class/powercap/intel-rapl:[0-9]*");
	_cleanup_(freep) char *low = NULL;
	bool known = false;

	for (size_t i = 0; i < zones.n * CONSTRAINTS; i++) {
		const char *zone = zones.items[i / CONSTRAINTS];
		int k = (int)(i % CONSTRAINTS);
		_cleanup_(freep) char *name = path_text(f->root_fd, "%s/name", zone),
				      *kind = path_text(f->root_fd, "%s/constraint_%d_name", zone, k);
		int64_t limit = path_int(f->root_fd, "%s/constraint_%d_power_limit_uw", zone, k),
			most = path_int(f->root_fd, "%s/constraint_%d_max_power_uw", zone, k);

		if (strchr(strchr(zone, ':') + 1, ':') || !kind || strcmp(kind, "long_term") != 0 ||
			limit <= 0 || most <= 0)
			continue;
		known = true;
		if (limit < most)
			text_append(&low, ", ", "%s %" PRId64 " W of %" PRId64 " W", name ?: "?",
				limit / UW_PER_W, most / UW_PER_W);
	}
	if (!known)
		finding_set_absent(ret, f, "the kernel does not report the processor's power");
	else
		finding_set(ret, low ? CHECK_OFF : CHECK_OK, "%s", low ?: "as the processor is made for");
}

void check_cpus_latency(const struct facts *f, struct finding *ret)
{
	size_t n = paths_count(f->root_fd, CPU "cpu0/cpuidle/state*"); /* polling is one of them */

	if (n > 1)
		finding_set(ret, CHECK_OFF, "CPU 0 has %zu idle states", n);
	else
		finding_set_absent(ret, f, "the kernel has no idle states to choose from");
}

void check_cpus_smt(const struct facts *f, struct finding *ret)
{
	/* "on", "off", "notsupported"…, or how many threads a core runs */
	_cleanup_(freep) char *smt = path_text(f->root_fd, CPU "smt/control");
	bool alone = f->cpu >= 0; /* nothing runs on the other threads of its core */

	for (size_t i = 0; i < f->n_threads; i++)
		alone = alone && (f->threads[i] == f->cpu || !cpu_list_has(f->online, f->threads[i]) ||
					 cpu_list_has(f->isolated, f->threads[i]));
	if (!smt)
		finding_set(ret, CHECK_ABSENT, "the kernel has no SMT switch");
	else if (text_has_word("off forceoff notsupported", smt))
		finding_set(ret, CHECK_OK, "%s", !strcmp(smt, "notsupported") ? "not supported" : smt);
	else if (path_int(f->root_fd, CPU "smt/active") == 0)
		finding_set(ret, CHECK_OK, "no core runs two threads");
	else if (alone)
		finding_set(ret, CHECK_OK, "on; CPU %d has its core for itself", f->cpu);
	else
		finding_set(ret, CHECK_OFF, "on: each core runs two threads or more");
}

/* The largest value that does not stop a program is as many CPUs as there are. */
void check_cpus_quota(const struct facts *f, struct finding *ret)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits l = {};

	if (cgroup_limits_read(&l, f->root_fd) < 0)
		finding_set(ret, CHECK_ABSENT, "no cpu controller of control groups");
	else if (l.quota_of)
		finding_set(ret, CHECK_OFF, "%s of one CPU: %s", text_percent(l.quota), l.quota_of);
	else
		finding_set(ret, CHECK_OK, "no quota");
}

void check_cpus_weight(const struct facts *f, struct finding *ret)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits l = {};

	if (cgroup_limits_read(&l, f->root_fd) < 0 || l.weight < 0)
		finding_set(ret, CHECK_ABSENT, "no weights of control groups");
	else if (l.weight_of)
		finding_set(ret, CHECK_OFF, "%" PRId64 " %% of the usual: %s", l.weight, l.weight_of);
	else
		finding_set(ret, CHECK_OK, "%" PRId64 " %%", l.weight);
}

void check_cpus_isolated(const struct facts *f, struct finding *ret)
{
	if (!f->isolated)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (f->cpu >= 0 && cpu_list_has(f->isolated, f->cpu))
		finding_set(ret, CHECK_OK, "CPU %d is isolated (isolated: %s)", f->cpu, f->isolated);
	else
		finding_set(ret, CHECK_OFF, "%s", *f->isolated ? f->isolated : "none");
}

void check_cpus_nohz(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = path_text(f->root_fd, CPU "nohz_full");
	bool none = list && (!*list || !strcmp(list, "(null)")); /* as some kernels write an empty list */

	if (!list)
		finding_set(ret, CHECK_ABSENT, "this kernel cannot stop the tick of a busy CPU");
	else if (!none && f->cpu >= 0 && cpu_list_has(list, f->cpu))
		finding_set(ret, CHECK_OK, "CPU %d has no tick while one task runs on it", f->cpu);
	else
		finding_set(ret, CHECK_OFF, "%s", none ? "none" : list);
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

char *check_cpus_interrupt_want(const struct facts *f, const struct setting_file *file)
{
	const bool is_list = strstr(file->path, "_list"); /* of one interrupt; else the mask for new ones */
	_cleanup_(freep) char *less = NULL, *others = NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	if (f->cpu < 0 || !file->value)
		return NULL;
	less = is_list ? cpu_list_without(file->value, f->threads, f->n_threads)
		       : cpu_mask(file->value, f->threads, f->n_threads, true);
	if (!less || less[is_list ? 0 : strspn(less, "0,")])
		return TAKE(less);
	/* Nothing would remain: all CPUs but those of the core. The kernel refuses an empty mask. */
	others = f->online ? cpu_list_without(f->online, f->threads, f->n_threads) : NULL;
	if (is_list)
		return TAKE(others);
	return others && text_parse_cpu_list(others, &cpus, &n) >= 0 && n > 0
		       ? cpu_mask(file->value, cpus, n, false)
		       : NULL;
}

void check_cpus_interrupts(const struct facts *f, struct finding *ret)
{
	const struct setting_files *files = check_files(check_rows_find("irq.each"), f);
	size_t n = 0; /* that may be handled on the core */

	for (size_t i = 0; i < files->n; i++)
		n += files->items[i].want && strcmp(files->items[i].want, files->items[i].value) != 0;
	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (files->n == 0)
		finding_set(ret, CHECK_ABSENT, "the kernel lists no interrupts");
	else if (n > 0)
		finding_set(ret, CHECK_OFF, "%zu of %zu may be handled on CPU %d", n, files->n, f->cpu);
	else
		finding_set(ret, CHECK_OK, "none of %zu on CPU %d", files->n, f->cpu);
}

void check_cpus_new_interrupts(const struct facts *f, struct finding *ret)
{
	const struct setting_files *files = check_files(check_rows_find("irq.default"), f);
	const struct setting_file *file = files->n && files->items[0].value ? &files->items[0] : NULL;

	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (!file)
		finding_set(ret, CHECK_ABSENT, "the kernel has no such mask");
	else
		finding_set(ret, file->want && !strcmp(file->want, file->value) ? CHECK_OK : CHECK_OFF,
			"mask %s", file->value);
}
