/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of how fast the processor runs: governor, frequency limits, turbo and SpeedStep
 * (EMPv3). See checks.h.
 *
 * On a machine without a cpufreq driver either the firmware controls the frequency, or, in a
 * virtual machine, the host does. The first may be good or bad; the second cannot be audited
 * from inside. */
#include "setup/audit/checks.h"

DECIDER(check_frequency_driver)
{
	const struct frequency *q = &f->frequency;

	finding_set(ret, CHECK_OK, "%s%s%s%s", q->policies[0].driver ?: "unnamed driver",
		q->pstate_status ? " (" : "", q->pstate_status ?: "", q->pstate_status ? ")" : "");
}

DECIDER(check_frequency_governor)
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
		finding_set(ret, CHECK_OFF, "%s on %zu of %zu policies", other->governor, n,
			q->n_policies);
}

/* The base frequency, or the highest that the hardware allows if that is lower; -1: not known. */
static int64_t reachable_base(const struct frequency_policy *p)
{
	if (p->hardware_max_khz > 0 && p->hardware_max_khz < p->base_khz)
		return p->hardware_max_khz;
	return p->base_khz;
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

/* "3600 MHz", or where policies differ "3200 MHz (CPU 0-7), 2400 MHz (CPU 8-15)"; the caller
 * frees it. */
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
				same < n ? " (CPU " : "", same < n ? cpus : "",
				same < n ? ")" : "");
	}
	return text ?: xstrdup("");
}

/* Whether a policy's clock may fall below its base frequency, or, if that is not known, change
 * at all. */
static bool may_fall(const struct frequency_policy *p)
{
	return p->base_khz > 0 ? p->min_khz < reachable_base(p) : p->min_khz != p->max_khz;
}

/* The remedy where apply does not know which frequency to set. */
static void set_limits_by_hand(struct finding *ret)
{
	ret->how = xstrdup("set both limits to one frequency: cpupower frequency-set -d F -u F");
	ret->undo = "set them back in the same way";
}

DECIDER(check_frequency_min)
{
	const struct frequency_policy *p = f->frequency.policies,
				      *end = p + f->frequency.n_policies;
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
			"%" PRId64 " MHz, highest %" PRId64
			" MHz (policy %d; base frequency not known)",
			p->min_khz / 1000, p->max_khz / 1000, p->number);
		set_limits_by_hand(ret);
	}
}

enum turbo {
	TURBO_OFF,
	TURBO_ON,
	/* there is none of any kind, on a processor that has turbo or may have it */
	TURBO_NO_SWITCH,
	TURBO_NO_DRIVER, /* likewise, because there is no frequency driver */
};

/* Judges by all switches; else by the processor's register, else by its flags. */
static enum turbo find_turbo(const struct facts *f)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies;
	const char *vendor = f->machine.cpu_vendor ?: "";
	bool x86 = text_has_word("GenuineIntel AuthenticAMD HygonGenuine", vendor),
	     has_flag = text_has_word(f->machine.flags, "cpb") ||
			text_has_word(f->machine.flags, "ida");
	int64_t boost = q->boost;

	for (size_t i = 0; i < q->n_policies; i++)
		boost = boost > p[i].boost ? boost : p[i].boost;
	if (q->no_turbo == 0 || boost > 0)
		return TURBO_ON;
	if (q->no_turbo > 0 || boost == 0 || q->msr_turbo_off > 0)
		return TURBO_OFF;
	if (q->n_policies == 0)
		return x86 && f->machine.flags && !has_flag ? TURBO_OFF : TURBO_NO_DRIVER;
	if (p->base_khz <= 0 || p->hardware_max_khz > p->base_khz || has_flag)
		return TURBO_NO_SWITCH;
	return TURBO_OFF;
}

/* Whether the upper limit is not the base frequency (or the highest one that the hardware allows);
 * or, where that is not known, whether the limits differ. */
static bool has_other_maximum(const struct frequency_policy *p, bool turbo)
{
	const bool fixed = p->min_khz == p->max_khz;

	if (p->base_khz <= 0)
		return !fixed;
	if (p->max_khz < reachable_base(p))
		return true;
	return p->max_khz > p->base_khz && (turbo || !fixed);
}

DECIDER(check_frequency_max)
{
	const struct frequency_policy *p = f->frequency.policies,
				      *end = p + f->frequency.n_policies;
	_cleanup_(freep) char *limits = policies_text(f, upper_limit);
	const bool turbo = find_turbo(f) != TURBO_OFF;

	while (p < end && !has_other_maximum(p, turbo))
		p++;
	if (p < end && p->base_khz > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz, base %" PRId64 " MHz (policy %d)",
			p->max_khz / 1000, p->base_khz / 1000, p->number);
	else if (p < end) {
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz (policy %d)", p->max_khz / 1000,
			p->number);
		set_limits_by_hand(ret);
	} else
		finding_set(ret, CHECK_OK, "%s", limits);
}

DECIDER(check_frequency_percent)
{
	const struct frequency *q = &f->frequency;

	if (q->max_perf_pct <= 0)
		finding_set_absent(ret, f, "this machine does not use intel_pstate");
	else
		finding_set(ret, q->max_perf_pct < 100 ? CHECK_OFF : CHECK_OK,
			"max_perf_pct = %" PRId64 ", min_perf_pct = %" PRId64, q->max_perf_pct,
			q->min_perf_pct);
}

DECIDER(check_frequency_turbo_policy)
{
	const struct frequency *q = &f->frequency;
	size_t on = 0, switches = 0;
	enum turbo turbo = find_turbo(f);
	const char *driver = "";

	if (q->n_policies == 0)
		driver = ", or load a frequency driver (intel_pstate, acpi-cpufreq…)";
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
		ret->how = text_format("switch turbo off in the firmware setup%s", driver);
		ret->undo = "the firmware setup";
	} else if (turbo == TURBO_OFF && q->n_policies == 0 && !f->machine.virtual)
		finding_set(ret, CHECK_OK,
			"the processor has no turbo, or the firmware switched it off");
	else
		finding_set_absent(ret, f, "the policies have no turbo switch");
}

/* The frequency at which the clock runs if both limits are equal. Only turbo goes above the base
 * frequency. */
static int64_t fixed_clock(const struct facts *f, const struct frequency_policy *p)
{
	if (p->base_khz > 0 && p->min_khz > p->base_khz && find_turbo(f) == TURBO_OFF)
		return p->base_khz;
	return p->min_khz;
}

static bool is_below_base(const struct facts *f)
{
	for (size_t i = 0; i < f->frequency.n_policies; i++)
		if (f->frequency.policies[i].base_khz > 0 && may_fall(&f->frequency.policies[i]))
			return true;
	return false;
}

/* Whether the clock can change, by the limits, the governor or, above the base frequency, turbo. */
static bool may_vary(const struct frequency_policy *p, enum turbo turbo)
{
	int64_t most = p->max_khz;

	if (p->base_khz > 0 && p->base_khz < most && turbo == TURBO_OFF)
		most = p->base_khz;
	return !p->governor || strcmp(p->governor, "performance") != 0 || p->min_khz < most ||
	       (p->base_khz > 0 && p->max_khz > p->base_khz && turbo == TURBO_ON);
}

static void say_varying(struct finding *ret, const struct frequency_policy *p, enum turbo turbo)
{
	if (p->min_khz != p->max_khz)
		finding_set(ret, CHECK_OFF,
			"the clock varies between %" PRId64 " and %" PRId64 " MHz",
			p->min_khz / 1000, p->max_khz / 1000);
	else if (turbo == TURBO_ON)
		finding_set(ret, CHECK_OFF, "the limits are %" PRId64 " MHz, but turbo is on",
			p->min_khz / 1000);
	else
		finding_set(ret, CHECK_OFF, "the governor %s changes the clock",
			p->governor ?: "in use");
}

DECIDER(check_frequency_speedstep)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies, *end = p + q->n_policies;
	enum turbo turbo = find_turbo(f);
	bool intel = f->machine.cpu_vendor && !strcmp(f->machine.cpu_vendor, "GenuineIntel");
	_cleanup_(freep) char *fixed = policies_text(f, fixed_clock);

	/* Where the firmware did not switch SpeedStep off, a fixed clock is as good. */
	while (p < end && !may_vary(p, turbo))
		p++;

	if (p < end)
		say_varying(ret, p, turbo);
	else if (q->n_policies == 0 && f->machine.virtual)
		finding_set_absent(ret, f, "");
	else if (q->n_policies == 0 && intel && !text_has_word(f->machine.flags, "est"))
		finding_set(ret, CHECK_OK, "off in firmware");
	else if (q->n_policies == 0)
		finding_set(ret, CHECK_UNKNOWN,
			"no frequency driver: off in firmware, or driver missing");
	else if (turbo == TURBO_ON)
		finding_set(ret, CHECK_OFF, "the clock is fixed, but turbo is on");
	else if (q->max_perf_pct > 0 && q->max_perf_pct < 100)
		finding_set(ret, CHECK_OFF, "the clock is capped at %" PRId64 " %% (max_perf_pct)",
			q->max_perf_pct);
	else if (turbo == TURBO_NO_SWITCH)
		finding_set(
			ret, CHECK_UNKNOWN, "the clock is fixed, but turbo cannot be controlled");
	else
		finding_set(ret, CHECK_OK, "equivalent: the clock is fixed at %s%s", fixed,
			is_below_base(f) ? ", below the base frequency (freq.min)" : "");
}
