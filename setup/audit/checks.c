/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of an audit, and of what apply sets; and the checks of the processor: governor, frequency limits, turbo and SpeedStep
 * (EMPv3); and what shares the CPU that programs are timed on: the other thread of its core, interrupts, control groups, and how
 * it idles. See audit.h.
 *
 * On a machine without a cpufreq driver either the firmware controls the frequency, or, in a virtual machine,
 * the host does. The first may be good or bad; the second cannot be audited from inside. */
#include "setup/audit/audit.h"

#include "lib/host/cpu/cpupower.h"
#include "lib/host/process/cgroup.h"
#include "lib/protocol/environment_diff.h"

#define CPU "/sys/devices/system/cpu/"
#define NO_CPU "no CPU is set apart for timing; --cpu names one"

static void check_frequency_driver(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	finding_set(ret, CHECK_OK, "%s%s%s%s", q->policies[0].driver ?: "unnamed driver",
		q->pstate_status ? " (" : "", q->pstate_status ?: "", q->pstate_status ? ")" : "");
}

static void check_frequency_governor(const struct facts *f, struct finding *ret)
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

/* The base frequency, or the highest that the hardware allows if that is lower; -1: not known. */
static int64_t reachable_base(const struct frequency_policy *p)
{
	return p->hardware_max_khz > 0 && p->hardware_max_khz < p->base_khz ? p->hardware_max_khz
									    : p->base_khz;
}

/* Of each policy. */
typedef int64_t policy_frequency(const struct facts *f, const struct frequency_policy *p);

static int64_t lower_limit(const struct facts *f, const struct frequency_policy *p)
{
	return p->min_khz;
}

static int64_t upper_limit(const struct facts *f, const struct frequency_policy *p)
{
	return p->max_khz;
}

/* The CPUs of the policies with this frequency; the caller frees it. */
static char *cpus_with(const struct facts *f, policy_frequency *of, int64_t khz)
{
	_cleanup_(freep) char *cpus = NULL;

	for (size_t i = 0; i < f->frequency.n_policies; i++)
		if (of(f, &f->frequency.policies[i]) == khz)
			text_append(&cpus, ",", "%s", f->frequency.policies[i].cpus ?: "");
	return cpu_list_join(cpus ?: "", "") ?: xstrdup("?");
}

/* "3600 MHz", or where policies differ "3200 MHz (CPU 0-7), 2400 MHz (CPU 8-15)"; the caller frees it. */
static char *policies_text(const struct facts *f, policy_frequency *of)
{
	const struct frequency_policy *all = f->frequency.policies;
	size_t n = f->frequency.n_policies, same = 0;
	char *text = NULL;

	for (size_t i = 0; i < n; i++)
		same += of(f, &all[i]) == of(f, &all[0]);
	for (size_t i = 0, before; i < n; i++) {
		int64_t khz = of(f, &all[i]);
		_cleanup_(freep) char *cpus = cpus_with(f, of, khz);

		for (before = 0; of(f, &all[before]) != khz;)
			before++;
		if (before == i) /* the first with it */
			text_append(&text, ", ", "%" PRId64 " MHz%s%s%s", khz / 1000,
				same < n ? " (CPU " : "", same < n ? cpus : "", same < n ? ")" : "");
	}
	return text ?: xstrdup("");
}

/* Whether a policy's clock may fall below its base frequency, or, if that is not known, change at all. */
static bool may_fall(const struct frequency_policy *p)
{
	return p->base_khz > 0 ? p->min_khz < reachable_base(p) : p->min_khz != p->max_khz;
}

static void check_frequency_min(const struct facts *f, struct finding *ret)
{
	const struct frequency_policy *p = f->frequency.policies, *end = p + f->frequency.n_policies;
	_cleanup_(freep) char *limits = policies_text(f, lower_limit);

	while (p < end && !may_fall(p))
		p++;
	if (p == end)
		finding_set(ret, CHECK_OK, "%s", limits);
	else if (p->base_khz > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz, base %" PRId64 " MHz (policy %d)",
			p->min_khz / 1000, p->base_khz / 1000, p->number);
	else {
		finding_set(ret, CHECK_OFF,
			"%" PRId64 " MHz, highest %" PRId64 " MHz (policy %d; base frequency not known)",
			p->min_khz / 1000, p->max_khz / 1000, p->number);
		ret->how = xstrdup("set both limits to one frequency: cpupower frequency-set -d F -u F");
		ret->undo = "set them back in the same way";
	}
}

enum turbo {
	TURBO_OFF,
	TURBO_ON,
	TURBO_NO_SWITCH, /* there is none of any kind, on a processor that has turbo or may have it */
	TURBO_NO_DRIVER, /* likewise, because there is no frequency driver */
};

/* By all switches; else by the processor's register, else by its flags. */
static enum turbo find_turbo(const struct facts *f)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies;
	const char *vendor = f->machine.cpu_vendor ?: "";
	bool x86 = text_has_word("GenuineIntel AuthenticAMD HygonGenuine", vendor),
	     has_flag = text_has_word(f->machine.flags, "cpb") || text_has_word(f->machine.flags, "ida");
	int64_t boost = q->boost;

	for (size_t i = 0; i < q->n_policies; i++)
		boost = boost > p[i].boost ? boost : p[i].boost;
	if (q->no_turbo == 0 || boost > 0)
		return TURBO_ON;
	if (q->no_turbo > 0 || boost == 0 || q->msr_turbo_off > 0)
		return TURBO_OFF;
	if (q->n_policies == 0)
		return x86 && f->machine.flags && !has_flag ? TURBO_OFF : TURBO_NO_DRIVER;
	return p->base_khz <= 0 || p->hardware_max_khz > p->base_khz || has_flag ? TURBO_NO_SWITCH
										 : TURBO_OFF;
}

static void check_frequency_max(const struct facts *f, struct finding *ret)
{
	const struct frequency_policy *p = f->frequency.policies, *end = p + f->frequency.n_policies;
	_cleanup_(freep) char *limits = policies_text(f, upper_limit);
	bool turbo = find_turbo(f) != TURBO_OFF;

	for (; p < end; p++) {
		bool fixed = p->min_khz == p->max_khz,
		     low = p->base_khz > 0 && p->max_khz<reachable_base(p), high = p->base_khz> 0
				   ? p->max_khz > p->base_khz && (turbo || !fixed)
				   : !fixed;

		if (low || high)
			break;
	}
	if (p < end && p->base_khz > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz, base %" PRId64 " MHz (policy %d)",
			p->max_khz / 1000, p->base_khz / 1000, p->number);
	else if (p < end)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz (policy %d)", p->max_khz / 1000, p->number);
	else
		finding_set(ret, CHECK_OK, "%s", limits);
}

static char *check_frequency_limits(const struct facts *f, const struct setting_file *file)
{
	const char *number = strstr(file->path, "/policy");

	for (size_t i = 0; number && i < f->frequency.n_policies; i++) {
		const struct frequency_policy *p = &f->frequency.policies[i];

		if (p->number == atoi(number + strlen("/policy")) && p->base_khz > 0)
			return text_format("%" PRId64 " %" PRId64, p->base_khz, p->base_khz);
	}
	return NULL;
}

static void check_frequency_percent(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	if (q->max_perf_pct <= 0)
		finding_set_absent(ret, f, "this machine does not use intel_pstate");
	else
		finding_set(ret, q->max_perf_pct < 100 ? CHECK_OFF : CHECK_OK,
			"max_perf_pct = %" PRId64 ", min_perf_pct = %" PRId64, q->max_perf_pct,
			q->min_perf_pct);
}

static void check_frequency_turbo_policy(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;
	size_t on = 0, switches = 0;
	enum turbo turbo = find_turbo(f);

	for (size_t i = 0; i < q->n_policies; i++) {
		on += q->policies[i].boost > 0;
		switches += q->policies[i].boost >= 0;
	}
	if (on > 0)
		finding_set(ret, CHECK_OFF, "boost = 1 in %zu of %zu policies", on, q->n_policies);
	else if (switches > 0)
		finding_set(ret, CHECK_OK, "boost = 0");
	else if (turbo == TURBO_NO_SWITCH || (turbo == TURBO_NO_DRIVER && !f->machine.virtual)) {
		finding_set(ret, CHECK_UNKNOWN, "%s%s has no turbo switch",
			q->n_policies ? "the driver " : "without a frequency driver this machine",
			q->n_policies ? q->policies[0].driver ?: "in use" : "");
		ret->how = xstrdup(q->n_policies ? "switch turbo off in the firmware setup"
						 : "switch turbo off in the firmware setup, or load a "
						   "frequency driver (intel_pstate, acpi-cpufreq…)");
		ret->undo = "the firmware setup";
	} else if (turbo == TURBO_OFF && q->n_policies == 0 && !f->machine.virtual)
		finding_set(ret, CHECK_OK, "the processor has no turbo, or the firmware switched it off");
	else
		finding_set_absent(ret, f, "the policies have no turbo switch");
}

/* At which the clock runs if both limits are the same: what is above the base frequency is turbo. */
static int64_t fixed_clock(const struct facts *f, const struct frequency_policy *p)
{
	return p->base_khz > 0 && p->min_khz > p->base_khz && find_turbo(f) == TURBO_OFF ? p->base_khz
											 : p->min_khz;
}

/* Whether it can change by the limits, the governor or, above the base frequency, turbo. */
static bool may_vary(const struct frequency_policy *p, enum turbo turbo)
{
	int64_t most = p->base_khz > 0 && p->base_khz < p->max_khz && turbo == TURBO_OFF ? p->base_khz
											 : p->max_khz;

	return !p->governor || strcmp(p->governor, "performance") != 0 || p->min_khz < most ||
	       (p->base_khz > 0 && p->max_khz > p->base_khz && turbo == TURBO_ON);
}

static void check_frequency_speedstep(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies, *end = p + q->n_policies;
	enum turbo turbo = find_turbo(f);
	bool intel = f->machine.cpu_vendor && !strcmp(f->machine.cpu_vendor, "GenuineIntel");
	_cleanup_(freep) char *fixed = policies_text(f, fixed_clock);

	/* Where the firmware did not switch SpeedStep off, a fixed clock is as good. */
	while (p < end && !may_vary(p, turbo))
		p++;
	if (p < end && p->min_khz == p->max_khz && turbo == TURBO_ON)
		finding_set(
			ret, CHECK_OFF, "the limits are %" PRId64 " MHz, but turbo is on", p->min_khz / 1000);
	else if (p < end && p->min_khz == p->max_khz)
		finding_set(ret, CHECK_OFF, "the governor %s changes the clock", p->governor ?: "in use");
	else if (p < end)
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
		finding_set(ret, CHECK_OK, "equivalent: the clock is fixed at %s", fixed);
}

static void check_cpus_throttling(const struct facts *f, struct finding *ret)
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
static void check_cpus_power(const struct facts *f, struct finding *ret)
{
	enum { CONSTRAINTS = 3, UW_PER_W = 1000000 };
	_cleanup_(paths_clear) struct paths zones = paths_expand(f->root_fd,
		"/sys/class/powercap/intel-rapl*:[0-9]*"); /* of registers, and of memory (-mmio) */
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

static void check_cpus_latency(const struct facts *f, struct finding *ret)
{
	size_t n = paths_count(f->root_fd, CPU "cpu0/cpuidle/state*"); /* polling is one of them */

	if (n > 1)
		finding_set(ret, CHECK_OFF, "CPU 0 has %zu idle states", n);
	else
		finding_set_absent(ret, f, "the kernel has no idle states to choose from");
}

/* "each core runs two threads", or how many do; the caller frees it. */
static char *threads_text(const struct facts *f)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n_cpus = 0, cores = 0, shared = 0, most = 0;

	if (f->online)
		text_parse_cpu_list(f->online, &cpus, &n_cpus);
	for (size_t i = 0; i < n_cpus; i++) {
		_cleanup_(freep) char *list = path_text(
			f->root_fd, CPU "cpu%d/topology/thread_siblings_list", cpus[i]);
		_cleanup_(freep) int *threads = NULL;
		size_t n = 0;

		if (!list || text_parse_cpu_list(list, &threads, &n) < 0 || n == 0)
			return xstrdup("each core runs two threads or more");
		if (threads[0] != cpus[i]) /* counted by its first thread */
			continue;
		cores++;
		shared += n > 1;
		most = n > most ? n : most;
	}
	if (cores == 0 || most < 2)
		return xstrdup("each core runs two threads or more");
	if (shared < cores)
		return text_format("%zu of %zu cores run %zu threads", shared, cores, most);
	return text_format("each core runs %zu threads", most);
}

static void check_cpus_smt(const struct facts *f, struct finding *ret)
{
	/* "on", "off", "notsupported"…, or how many threads a core runs */
	_cleanup_(freep) char *smt = path_text(f->root_fd, CPU "smt/control"), *threads = threads_text(f);
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
		finding_set(ret, CHECK_OFF, "on: %s", threads);
}

static void check_cpus_type(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *types = core_types_text(&f->cores);
	const struct core_type *type = core_types_of(&f->cores, f->cpu);

	if (f->cores.n == 0)
		finding_set(ret, CHECK_OK, "all cores are alike");
	else if (type)
		finding_set(ret, CHECK_OK, "CPU %d is of type %s: %s", f->cpu, type->name, types);
	else
		finding_set(ret, CHECK_OFF, "%s; no CPU is chosen", types);
}

/* The largest value that does not stop a program is as many CPUs as there are. */
static void check_cpus_quota(const struct facts *f, struct finding *ret)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits l = {};

	if (cgroup_limits_read(&l, f->root_fd) < 0)
		finding_set(ret, CHECK_ABSENT, "no cpu controller of control groups");
	else if (l.quota_of)
		finding_set(ret, CHECK_OFF, "%s of one CPU: %s", text_percent(l.quota), l.quota_of);
	else
		finding_set(ret, CHECK_OK, "no quota");
}

static void check_cpus_weight(const struct facts *f, struct finding *ret)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits l = {};

	if (cgroup_limits_read(&l, f->root_fd) < 0 || l.weight < 0)
		finding_set(ret, CHECK_ABSENT, "no weights of control groups");
	else if (l.weight_of)
		finding_set(ret, CHECK_OFF, "%" PRId64 " %% of the usual: %s", l.weight, l.weight_of);
	else
		finding_set(ret, CHECK_OK, "%" PRId64 " %%", l.weight);
}

static void check_cpus_isolated(const struct facts *f, struct finding *ret)
{
	if (!f->isolated)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (f->cpu >= 0 && cpu_list_has(f->isolated, f->cpu))
		finding_set(ret, CHECK_OK, "CPU %d is isolated (isolated: %s)", f->cpu, f->isolated);
	else
		finding_set(ret, CHECK_OFF, "%s", *f->isolated ? f->isolated : "none");
}

static void check_cpus_nohz(const struct facts *f, struct finding *ret)
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

/* intel_pstate without HWP chooses the clock at the tick, which these CPUs do not have while they are busy; but for one governor. */
static void check_cpus_tickless_clock(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = path_text(f->root_fd, CPU "nohz_full");
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *chooses = NULL;

	if (!list || *list < '0' || *list > '9') {
		finding_set(ret, CHECK_ABSENT, "all CPUs have a tick");
		return;
	}
	for (size_t i = 0; i < q->n_policies; i++) {
		const struct frequency_policy *p = &q->policies[i];
		_cleanup_(freep) int *cpus = NULL;
		size_t n = 0;
		bool tickless = false;

		text_parse_cpu_list(p->cpus ?: "", &cpus, &n);
		for (size_t k = 0; k < n; k++)
			tickless |= cpu_list_has(list, cpus[k]);
		if (tickless && p->driver && !strcmp(p->driver, "intel_pstate") &&
			!(p->governor && !strcmp(p->governor, "performance")))
			chooses = chooses ?: p;
	}
	if (chooses)
		finding_set(ret, CHECK_OFF, "CPU %s has no tick, and intel_pstate with %s needs it",
			chooses->cpus, chooses->governor ?: "its governor");
	else
		finding_set(ret, CHECK_OK, "the clock does not follow the tick on CPU %s", list);
}

/* "all", or a list as the kernel takes it */
static bool boot_list_has(const char *list, int cpu)
{
	return list && (!strcmp(list, "all") || cpu_list_has(list, cpu));
}

static void check_cpus_callbacks(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *command_line = path_text(f->root_fd, "/proc/cmdline"),
			      *rcu = kernel_boot_option(command_line, "rcu_nocbs"),
			      *tickless = path_text(f->root_fd, CPU "nohz_full"); /* which implies it */

	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (boot_list_has(rcu, f->cpu) || (tickless && cpu_list_has(tickless, f->cpu)))
		finding_set(ret, CHECK_OK, "CPU %d leaves its RCU callbacks to others", f->cpu);
	else
		finding_set(ret, CHECK_OFF, "CPU %d runs its RCU callbacks itself", f->cpu);
}

static void check_cpus_workqueues(const struct facts *f, struct finding *ret)
{
	const struct setting_files *files = check_files(check_rows_find("workqueue"), f);
	const struct setting_file *file = files->n && files->items[0].value ? &files->items[0] : NULL;

	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (!file)
		finding_set(ret, CHECK_ABSENT, "the kernel has no such mask");
	else
		finding_set(ret, file->want && !strcmp(file->want, file->value) ? CHECK_OK : CHECK_OFF,
			"mask %s", file->value);
}

/* "inherit": as thp. */
static char *check_memory_mthp_want(const struct facts *f, const struct setting_file *file)
{
	return xstrdup(file->value && !strcmp(file->value, "inherit") ? "inherit" : "never");
}

static void check_cpus_balancer(const struct facts *f, struct finding *ret)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (!strcmp(f->processes[i].name, "irqbalance")) {
			finding_set(ret, CHECK_OFF, "irqbalance runs");
			return;
		}
	finding_set(ret, CHECK_OK, "irqbalance does not run");
}

static char *check_cpus_interrupt_want(const struct facts *f, const struct setting_file *file)
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

static void check_cpus_interrupts(const struct facts *f, struct finding *ret)
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

static void check_cpus_new_interrupts(const struct facts *f, struct finding *ret)
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

/* What is better than wanted stays. */
static char *check_no_less(const struct setting_file *file, int64_t least)
{
	int64_t value;

	if (file->value && text_parse_int(file->value, "the file", least, INT64_MAX, &value, NULL) == 0)
		return xstrdup(file->value);
	return text_format("%" PRId64, least);
}

/* 0: it never looks. */
static char *check_kernel_hung_want(const struct facts *f, const struct setting_file *file)
{
	return file->value && !strcmp(file->value, "0") ? xstrdup("0") : check_no_less(file, 600);
}

static char *check_memory_vmstat_want(const struct facts *f, const struct setting_file *file)
{
	return check_no_less(file, 10);
}

/* 2: stopped, and what was merged is apart again. */
static char *check_memory_ksm_want(const struct facts *f, const struct setting_file *file)
{
	return xstrdup(file->value && !strcmp(file->value, "2") ? "2" : "0");
}

/* The best that this machine has. */
static char *check_power_profile_want(const struct facts *f, const struct setting_file *file)
{
	static const char *const best[] = {"performance", "balanced-performance", "balanced"};
	_cleanup_(freep) char *choices = path_text(f->root_fd, "%s_choices", file->path);

	for (size_t i = 0; choices && i < ELEMENTS(best); i++)
		if (text_has_word(choices, best[i]))
			return xstrdup(best[i]);
	return xstrdup(best[0]);
}

/* Order of setting: services first (tuned and others restore their own values when they stop), then limits from
 * the outside in: governor, frequencies, preferences, turbo, perf, the rest. Order of restoring: SMT, since CPUs
 * come back with default values; the governor, since it changes turbo and preferences; turbo, since it limits
 * the frequencies, that of all policies first: while it is off, that of a policy cannot be written; then the rest;
 * services last. */
enum { FIRST, GOVERNOR, TURBO, TURBO_POLICY, LIMITS, PREFERENCE, PERF, REST };

// clang-format off
/* What a governor forgets when another one takes its place, or the last CPU of its policy goes offline: the settings of
 * the governor, for all policies or for each, and the speed chosen by hand. */
#define OF_GOVERNOR \
	CPU "cpufreq/ondemand/*", CPU "cpufreq/conservative/*", CPU "cpufreq/schedutil/*", \
	CPU "cpufreq/policy[0-9]*/ondemand/*", CPU "cpufreq/policy[0-9]*/conservative/*", \
	CPU "cpufreq/policy[0-9]*/schedutil/*", CPU "cpufreq/policy[0-9]*/scaling_setspeed"

static const char *const of_governor[] = {OF_GOVERNOR, NULL},
	/* "on" brings CPUs online that were offline before */
	*const of_smt[] = {OF_GOVERNOR, CPU "cpu[0-9]*/online", NULL};

/* Settings that nothing else depends on. */
#define AT_LAST(path, value) {.pattern = path, .want = value, .order = REST, .restore_order = REST}
#define ON_REQUEST(what, path, value) \
	{.pattern = path, .kind = what, .want = value, .order = REST, .restore_order = REST, .on_request = true}
/* Switches of the processor or the firmware. */
#define SWITCH(path, value, back) \
	{.pattern = path, .want = value, .order = PREFERENCE, .restore_order = back, .hardware = true}

/* id, level, step, wanted, why, who */
const struct check check_rows[] = {
	{"svc.units", 'A', "EMPv1 daemons", "no running service of the policy's list",
		"a daemon that wakes up during a sample takes the CPU and its caches",
		"EMP, LLVM, krun, tuned", .decide = check_daemons_services, .applied = true},
	{"svc.timers", 'A', "EMPv1 daemons", "no active timer of the policy's list",
		"a timer starts its service in the middle of a long run", "EMP, krun",
		.decide = check_daemons_timers, .applied = true},
	{"ntp.on", 'A', "EMPv2 time", "one time daemon, synchronised",
		"an undisciplined clock drifts by seconds a day, and jumps when somebody sets it",
		"EMP, BenchExec (krun advises the opposite)",
		.how = "install chrony or another time daemon and give it a server", .decide = check_ntp,
		.applied = true},
	{"freq.driver", 'A', "EMPv3 frequency", "recorded only",
		NULL,
		"pyperf, krun, tuned", .how = "nothing to do",
		.of_policies = true, .decide = check_frequency_driver},
	{"freq.governor", 'A', "EMPv3 frequency", "performance on all CPUs",
		NULL,
		"pyperf, ReBench, krun, temci, tuned, LLVM", .of_policies = true,
		.decide = check_frequency_governor,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*/scaling_governor", .want = "performance",
			.coupled_check = "epp", /* the governor forces it to performance; not all kernels restore it */
			.keeps = of_governor, .write = cpufreq_write_governor, .order = GOVERNOR, .restore_order = GOVERNOR}},
	{"freq.min", 'A', "EMPv3 frequency", "at least the base frequency",
		NULL,
		"pyperf (which uses the turbo maximum)", .of_policies = true,
		.decide = check_frequency_min,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*", .kind = SETTING_LIMITS,
			.want_of = check_frequency_limits, .write = cpufreq_write_limits,
			.order = LIMITS, .restore_order = LIMITS}},
	{"turbo.intel", 'A', "EMPv3 turbo", "no_turbo = 1", NULL,
		"EMP, pyperf, ReBench, temci, LLVM, BenchExec",
		.number = {offsetof(struct facts, frequency.no_turbo),
			{{CHECK_BY_HOST, "this machine does not use intel_pstate"},
				{CHECK_OFF, "no_turbo = 0: turbo is on"}, {CHECK_OK, "no_turbo = 1"}}},
		.setting = {.pattern = CPU "intel_pstate/no_turbo", .want = "1", .order = PREFERENCE,
			.restore_order = TURBO, .hardware = true, .coupled_check = "pstate.pct"}}, /* lowers min_perf_pct */
	{"turbo.boost", 'A', "EMPv3 turbo", "boost = 0", NULL, "EMP, temci, BenchExec",
		.number = {offsetof(struct facts, frequency.boost),
			{{CHECK_BY_HOST, "this machine has no global turbo switch"},
				{CHECK_OK, "boost = 0"}, {CHECK_OFF, "boost = 1: turbo is on"}}},
		.setting = {.pattern = CPU "cpufreq/boost", .want = "0", .hardware = true,
			.coupled_check = "turbo.policy", /* the kernel writes it into every policy */
			.order = PREFERENCE, .restore_order = TURBO}},
	{"turbo.policy", 'A', "EMPv3 turbo", "boost = 0 in every policy",
		NULL, "EMP (tuned's latency-performance switches it on)",
		.how = "switch turbo off in the firmware setup", .decide = check_frequency_turbo_policy,
		.setting = SWITCH(CPU "cpufreq/policy[0-9]*/boost", "0", TURBO_POLICY)},
	{"pstate.pct", 'A', "EMPv3 frequency", "max_perf_pct = 100",
		NULL, "tuned",
		.decide = check_frequency_percent,
		.setting = SWITCH(CPU "intel_pstate/m[ai][xn]_perf_pct", "100", LIMITS)},
	{"speedstep", 'A', "EMPv3 SpeedStep", "off in firmware, or a fixed frequency",
		"with a varying clock frequency, equal work takes different times", "EMP",
		.how = "switch it off in the firmware setup, or apply freq.governor, freq.min, turbo.*, pstate.pct",
		.undo = "the firmware setup, or emp-setup restore", .decide = check_frequency_speedstep},
	{"kernel.version", 'A', "EMPv4 kernel", "the newest of this system",
		"in the paper, one kernel fix reduced the spread of times from 8.7 ms to 1.8 ms", "EMP",
		.how = "install the newest kernel and reboot",
		.undo = "boot the old kernel from the boot menu", .decide = check_kernel_version},
	{"kernel.pending", 'A', "EMPv4 kernel", "no reboot pending",
		"after the next reboot, times are no longer comparable", "EMP",
		.how = "reboot", .decide = check_kernel_pending},
	{"cgroup.quota", 'A', "CPUs", "no quota where programs are started",
		"a quota stops a program for a part of every period", "BenchExec",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT CPUQuota=",
		.decide = check_cpus_quota},
	{"delayacct", 'B', "accounting", "0 or 1: CPU times do not need it",
		NULL, "EMP",
		.how = "sysctl kernel.task_delayacct=1, if waiting times are wanted",
		.undo = "sysctl kernel.task_delayacct=0", 
		.number = {offsetof(struct facts, delayacct),
			{{CHECK_ABSENT, "this kernel has no kernel.task_delayacct"}, {CHECK_OK, "0"}, {CHECK_OK, "1"}}}},
	{"irqtime", 'B', "accounting", "yes: interrupts do not count as process time",
		"without CONFIG_IRQ_TIME_ACCOUNTING, process times contain the interrupts that came meanwhile", "EMP",
		.how = "boot a kernel that has it; or keep interrupts away from the CPU: irq.default, irq.each",
		.undo = "boot the old kernel",
		.number = {offsetof(struct facts, irq_time),
			{{CHECK_UNKNOWN, "the configuration of this kernel is not known"},
				{CHECK_OFF, "no: process time includes interrupts"},
				{CHECK_OK, "yes: interrupts do not count as process time"}}}},
	{"svc.unknown", 'B', "daemons", "no running service that the policy does not list",
		"its CPU time, or a calibration, shows whether a daemon disturbs", "EMP",
		.how = "list them in [stop] or [never] of a policy in /etc/emp/policies",
		.undo = "remove them from the policy", .decide = check_daemons_unknown},
	{"svc.due", 'B', "daemons", "no other timer or job of cron due soon (--within), no desktop session",
		"a timer starts its service in the middle of a long run, as cron does; a desktop works all the time",
		"EMP",
		.how = "list timers in [stop] of a policy; systemctl stop cron; systemctl --user stop, as the user; log out",
		.undo = "systemctl start, systemctl --user start",
		.decide = check_daemons_due},
	{"svc.inhibitors", 'B', "daemons", "nobody holds off a shutdown because work is going on",
		"an update of firmware, a backup or a burning disc takes CPU and memory bandwidth", "EMP",
		.how = "wait until it is done: systemd-inhibit --list", .decide = check_daemons_inhibitors},
	{"svc.packagers", 'B', "daemons", "no package manager running, no shutdown scheduled",
		"an installation replaces and restarts programs", "VirtualClient",
		.how = "wait until it is done; 'shutdown -c' cancels a scheduled shutdown",
		.decide = check_system_packagers},
	{"load", 'B', "daemons", "below 0.1 per CPU in the last minute",
		"other programs take CPU, caches and memory bandwidth", "pyperf, google/benchmark, BenchExec",
		.how = "see what runs: top", .decide = check_system_load},
	{"clocksource", 'B', "time", "tsc, if the processor has a constant one; read without a system call",
		NULL, "tuned",
		.how = "the kernel's log says why it does not trust the TSC: dmesg | grep -i tsc; 'emp-calibrate clocks' measures all clocks",
		.decide = check_system_clocksource},
	{"freq.max", 'B', "frequency", "the base frequency", NULL,
		"nanobench", .how = "emp-setup apply --only freq.min (it sets both limits)",
		.undo = "emp-setup restore",
		.of_policies = true, .decide = check_frequency_max},
	{"epp", 'B', "frequency", "performance",
		NULL, "tuned, Phoronix",
		.setting = SWITCH(CPU "cpufreq/policy[0-9]*/energy_performance_preference", "performance",
			PREFERENCE)},
	{"uncore", 'C', "frequency", "equal limits", NULL, "pepc, tuned", .decide = check_power_uncore,
		.setting = {.pattern = CPU "intel_uncore_frequency/*/min_freq_khz", .want_of = check_power_uncore_want,
			.order = PREFERENCE, .restore_order = PREFERENCE, .on_request = true, .hardware = true}},
	{"nohz.pstate", 'B', "frequency", "no CPU without a tick whose clock follows the tick",
		"intel_pstate chooses the clock at the tick: without one, it stays where it happens to be", "pyperf",
		.how = "emp-setup apply --only freq.governor, or boot without nohz_full or with intel_pstate=disable",
		.undo = "emp-setup restore", .of_policies = true, .decide = check_cpus_tickless_clock},
	{"epb", 'B', "frequency", "0 (performance)", NULL,
		"tuned", .setting = SWITCH(CPU "cpu[0-9]*/power/energy_perf_bias", "0", PREFERENCE)},
	{"pstate.boost", 'B', "frequency", "0",
		"otherwise the driver raises the clock for a while after disk I/O", "tuned",
		.setting = SWITCH(CPU "intel_pstate/hwp_dynamic_boost", "0", TURBO)},
	{"platform", 'B', "frequency", "performance, or the next best that the firmware has",
		NULL, "tuned, Phoronix",
		.setting = {.pattern = "/sys/firmware/acpi/platform_profile", .hardware = true, .want_of = check_power_profile_want,
			.order = PREFERENCE, .restore_order = PREFERENCE}},
	{"power", 'B', "frequency", "plugged in", "on battery the firmware lowers the clock frequency",
		"pyperf", .how = "plug the machine in",
		.decide = check_power_supply},
	{"power.limit", 'B', "frequency", "not below what the processor is made for",
		NULL, "EMP",
		.how = "raise it in the firmware setup, or in /sys/class/powercap", .undo = "set it back",
		.decide = check_cpus_power},
	{"cooling", 'B', "frequency", "no device that slows the processor down is active",
		"a processor that is too hot is slowed down or made to idle", "krun",
		.how = "improve the cooling, or wait until it is cool", .decide = check_power_cooling},
	{"throttling", 'B', "frequency", "none since the machine was started",
		"a processor that is too hot lowers its clock", "BenchExec, krun",
		.how = "improve the cooling; runs list it among the disturbances",
		.decide = check_cpus_throttling},
	{"cstate.qos", 'B', "idle", "no deep idle state during a run",
		"a CPU takes up to some 100 us to wake up from a deep idle state. Where threads share a core, --for lets "
		"CPUs halt in C1 instead of polling, which slows the other thread; EMP does not measure by how much",
		"rtla, tuned, bencher",
		.how = "emp-setup apply --for -- COMMAND (while COMMAND runs)", .undo = "ends with COMMAND",
		.decide = check_cpus_latency},
	{"steal", 'B', "CPUs", "at most 1 % of the CPUs' time",
		"the host gives the CPU to other machines while a program waits; runs count it too", "bencher",
		.how = "ask the host's owner for CPUs of your own, or measure at another time",
		.decide = check_system_steal},
	{"affinity", 'B', "CPUs", "all CPUs that are online and not isolated, or the one that is chosen",
		"programs inherit it from this shell, and share these CPUs with others", "pyperf, BenchExec",
		.how = "taskset -cp 0-N $$ in this shell; of a group: systemctl set-property --runtime UNIT AllowedCPUs=",
		.undo = "leave the shell", .decide = check_session_affinity},
	{"priority", 'B', "CPUs", "SCHED_OTHER, nice 0 or below",
		"programs inherit it from this shell: others go first, or the kernel stops a real-time one for 5 % of each second",
		"krun, ReBench", .how = "renice -n 0 -p $$ and chrt --other -p 0 $$, as root, or a new shell",
		.undo = "leave the shell", .decide = check_session_priority},
	{"cgroup.memory", 'B', "memory", "no limit where programs are started",
		"near its limit a program is stopped while the kernel frees memory", "EMP",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT MemoryHigh=infinity MemoryMax=infinity",
		.undo = "systemctl set-property with the limit found", .decide = check_session_memory},
	{"numa.place", 'B', "memory", "a CPU that is chosen, and memory of its node",
		"memory of another node takes longer to reach; without a chosen CPU, each run may start on another node",
		"BenchExec", .how = "choose a CPU: emp-setup audit --cpu N, emp-measure --cpu N; numactl --localalloc",
		.decide = check_session_numa},
	{"cgroup.weight", 'B', "CPUs", "not below the usual",
		"other groups get more time where they compete", "EMP",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT CPUWeight=100",
		.decide = check_cpus_weight},
	{"irq.balance", 'B', "CPUs", "none runs", "it moves interrupts between CPUs during a run",
		"pyperf, bencher", .how = "systemctl stop irqbalance", .undo = "systemctl start irqbalance",
		.decide = check_cpus_balancer},
	{"irq.default", 'B', "CPUs", "not the core that programs are timed on",
		NULL, "pyperf, bencher",
		.how = "emp-setup apply --isolate N, or --cpu N --only irq.default,irq.each",
		.decide = check_cpus_new_interrupts,
		.setting = {.pattern = "/proc/irq/default_smp_affinity", .want_of = check_cpus_interrupt_want,
			.order = REST, .restore_order = REST, .on_request = true, .isolates = true}},
	{"irq.each", 'B', "CPUs", "not on the core that programs are timed on",
		"an interrupt stops the program, and its time may count as the program's",
		"pyperf, bencher", .how = "emp-setup apply --isolate N, or --cpu N --only irq.default,irq.each",
		.decide = check_cpus_interrupts,
		.setting = {.pattern = "/proc/irq/[0-9]*/smp_affinity_list", .want_of = check_cpus_interrupt_want,
			.write = interrupt_write_list, .order = REST, .restore_order = REST, .on_request = true,
			.isolates = true}},
	{"core.type", 'B', "CPUs", "cores of one type, or a CPU that is chosen",
		NULL,
		"EMP", .how = "choose a CPU: emp-setup audit --cpu N, emp-measure --cpu N",
		.decide = check_cpus_type},
	{"smt", 'B', "CPUs", "off, or the measured CPU's siblings idle",
		NULL,
		"LLVM, temci, BenchExec, bencher", .how = "emp-setup apply --isolate N (keeps them idle), or --only smt",
		.decide = check_cpus_smt,
		.setting = {.pattern = CPU "smt/control", .want = "off", .order = FIRST, .restore_order = FIRST,
			.keeps = of_smt, .on_request = true}}, /* control groups may not get their CPUs back by themselves */
	{"perf.pct", 'B', "kernel", "1",
		"limits the CPU time of a forgotten profiler", "ReBench",
		.setting = {.pattern = "/proc/sys/kernel/perf_cpu_time_max_percent", .want = "1", .order = PERF,
			.restore_order = REST}}, /* while it is 0 or 100 the rate cannot be written */
	{"perf.rate", 'B', "kernel", "1",
		"limits the sampling rate of a forgotten profiler", "pyperf, krun, ReBench",
		.setting = {.pattern = "/proc/sys/kernel/perf_event_max_sample_rate", .want = "1", .order = REST,
			.restore_order = PERF}},
	{"nmi", 'B', "kernel", "0", NULL,
		"tuned, bencher, mmtests", .setting = AT_LAST("/proc/sys/kernel/nmi_watchdog", "0")},
	{"trace", 'B', "kernel", "nop", "a tracer writes a record at every event of the kernel", "EMP",
		.how = "echo nop >/sys/kernel/tracing/current_tracer", .undo = "write back the value found",
		.decide = check_kernel_tracer},
	{"perf.events", 'B', "kernel", "no process that counts or samples on all CPUs",
		"counters are read at every switch of tasks, and samples interrupt programs", "EMP",
		.how = "end these processes", .undo = "start them again", .decide = check_kernel_perf},
	{"debug", 'B', "kernel", "none", "the kernel checks each lock, allocation or access to memory",
		"EMP", .how = "boot a kernel that is not for debugging, or with init_on_alloc=0 init_on_free=0",
		.undo = "boot the old kernel", .decide = check_kernel_debugging},
	{"left", 'B', "kernel", "nothing", "traces, frozen programs and loads that outlive a killed EMP disturb others",
		"EMP", .how = "emp-setup restore", .decide = check_kernel_leftovers},
	{"bpf", 'B', "kernel", "none but EMP's", "a BPF program runs at each event that it is attached to", "EMP",
		.how = "stop what has loaded them: bpftool prog", .undo = "start it again",
		.decide = check_kernel_programs},
	{"audit", 'B', "kernel", "no rules", "with rules, the kernel keeps a record of every system call",
		"EMP", .how = "auditctl -D", .undo = "augenrules --load", .decide = check_kernel_audit},
	{"numa.bal", 'B', "memory", "0", NULL,
		"tuned, bencher", .setting = AT_LAST("/proc/sys/kernel/numa_balancing", "0")},
	{"ksm", 'B', "memory", "0 or 2: it does not run", NULL,
		"bencher, tuned",
		.setting = {.pattern = "/sys/kernel/mm/ksm/run", .want_of = check_memory_ksm_want, .order = REST,
			.restore_order = REST}},
	{"swap", 'B', "memory", "none in use", "reading a page back from disk takes milliseconds",
		"BenchExec", .how = "add memory, or stop what uses it (emp-setup does not switch swap off)",
		.decide = check_system_swap},
	{"isolated", 'C', "CPUs", "the CPU that programs are timed on",
		NULL, "tuned, pyperf, bencher (krun advises against it)",
		.how = "emp-setup apply --isolate N, or boot with isolcpus=N", .undo = "emp-setup restore",
		.decide = check_cpus_isolated},
	{"nohz_full", 'C', "CPUs", "the CPU that programs are timed on",
		NULL, "krun, tuned, pyperf",
		.how = "boot with nohz_full=N", .undo = "boot without it", .decide = check_cpus_nohz},
	{"rcu_nocbs", 'C', "CPUs", "the CPU that programs are timed on", NULL, "tuned, pyperf",
		.how = "boot with rcu_nocbs=N", .undo = "boot without it", .decide = check_cpus_callbacks},
	{"workqueue", 'C', "CPUs", "not the core that programs are timed on", NULL, "tuned, bencher",
		.how = "emp-setup apply --cpu N --only workqueue", .decide = check_cpus_workqueues,
		.setting = {.pattern = "/sys/devices/virtual/workqueue/cpumask", .want_of = check_cpus_interrupt_want,
			.order = REST, .restore_order = REST, .on_request = true}},
	{"sched", 'C', "kernel", "recorded only",
		NULL, "tuned", .how = "nothing to do",
		.decide = check_kernel_scheduler},
	{"timer.mig", 'C', "kernel", "0", NULL, "tuned, bencher",
		.setting = ON_REQUEST(SETTING_PLAIN, "/proc/sys/kernel/timer_migration", "0")},
	{"hung", 'C', "kernel", "at least 600 s, or 0 (off)",
		NULL, "tuned",
		.setting = {.pattern = "/proc/sys/kernel/hung_task_timeout_secs", .want_of = check_kernel_hung_want,
			.order = REST, .restore_order = REST, .on_request = true}},
	{"thp", 'C', "memory", "never",
		NULL,
		"bencher; tuned's network-latency (its hpc profile wants always)",
		.setting = ON_REQUEST(SETTING_BRACKETED, "/sys/kernel/mm/transparent_hugepage/enabled", "never")},
	{"mthp", 'C', "memory", "never, or as thp", NULL, "EMP",
		.setting = {.pattern = "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled", .kind = SETTING_BRACKETED,
			.want_of = check_memory_mthp_want, .order = REST, .restore_order = REST, .on_request = true}},
	{"zswap", 'C', "memory", "N", NULL, "EMP",
		.setting = ON_REQUEST(SETTING_PLAIN, "/sys/module/zswap/parameters/enabled", "N")},
	{"vmstat", 'C', "memory", "at least 10 s",
		NULL, "tuned, pyperf",
		.setting = {.pattern = "/proc/sys/vm/stat_interval", .want_of = check_memory_vmstat_want,
			.order = REST, .restore_order = REST, .on_request = true}},
	{"aspm", 'C', "idle", "performance",
		NULL, "pepc",
		.setting = ON_REQUEST(SETTING_BRACKETED, "/sys/module/pcie_aspm/parameters/policy", "performance")},
	{},
};
// clang-format on

const size_t n_check_rows = sizeof(check_rows) / sizeof(check_rows[0]) - 1;

const struct check *check_rows_find(const char *id)
{
	for (const struct check *c = check_rows; c->id; c++)
		if (!strcmp(c->id, id))
			return c;
	return NULL;
}

const char *check_why(const struct check *check)
{
	return check->why ?: difference_why(check->id);
}

const struct setting_files *check_files(const struct check *check, const struct facts *f)
{
	static const struct setting_files none;

	return f->files ? &f->files[check - check_rows] : &none;
}
