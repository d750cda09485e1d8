/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv3: governor, frequency limits, turbo, SpeedStep: see check_rows.h.
 *
 * On a machine without a cpufreq driver either the firmware controls the frequency, or, in a virtual machine,
 * the host does. The first may be good or bad; the second cannot be audited from inside. */
#include "setup/audit/check_rows.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <stdio.h>
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

static const struct frequency_policy *find(
	const struct frequency *q, bool (*matches)(const struct frequency_policy *))
{
	for (size_t i = 0; i < q->n_policies; i++)
		if (matches(&q->policies[i]))
			return &q->policies[i];
	return NULL;
}

void check_frequency_min(const struct facts *f, struct finding *ret)
{
	const struct frequency_policy *p = find(&f->frequency, may_fall);

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
	const struct frequency_policy *p = find(&f->frequency, may_exceed);

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
static int64_t boost(const struct frequency *q)
{
	int64_t boost = q->boost;

	for (size_t i = 0; i < q->n_policies; i++)
		boost = boost > q->policies[i].boost ? boost : q->policies[i].boost;
	return boost;
}

static bool turbo_is_on(const struct frequency *q)
{
	return q->no_turbo == 0 || boost(q) > 0;
}

/* No switch of any kind, on a processor that has turbo or may have it. */
static bool turbo_uncontrollable(const struct facts *f)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies;

	if (q->n_policies == 0 || q->no_turbo >= 0 || boost(q) >= 0)
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
