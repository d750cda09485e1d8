/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv3: governor, lowest frequency, turbo, SpeedStep; see check.h.
 *
 * A machine without a cpufreq driver is one whose firmware keeps the frequency to itself, or a virtual one
 * whose host decides; the first is not known to be good, the second cannot be audited from inside. */
#include "setup/audit/check.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `words` are true of a real machine only: in a virtual one the host has what we do not see. */
static void absent(const struct facts *f, struct finding *ret, const char *words)
{
	finding_set(ret, CHECK_ABSENT, "%s",
		f->machine.virtual && f->frequency.n_policies == 0
			? "the host decides, and it cannot be seen from a virtual machine"
			: words);
}

/* True where there is no policy to look at; the finding is made then. */
static bool no_policy(const struct facts *f, struct finding *ret)
{
	if (f->frequency.n_policies > 0)
		return false;
	absent(f, ret, "the kernel has no frequency driver for this processor");
	return true;
}

void check_frequency_driver(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	if (no_policy(f, ret))
		return;
	finding_set(ret, CHECK_OK, "%s%s%s%s", q->policies[0].driver ?: "a driver without a name",
		q->pstate_status ? " (" : "", q->pstate_status ?: "", q->pstate_status ? ")" : "");
}

void check_governor(const struct facts *f, struct finding *ret)
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
		finding_set(ret, CHECK_UNKNOWN, "the kernel does not tell the governor of CPU %s",
			other->cpus ?: "?");
	else
		finding_set(ret, CHECK_OFF, "%s on %zu of %zu policies", other->governor, n, q->n_policies);
}

/* Whether a policy's clock may fall below its base, or, where that is not known, move at all. */
static bool may_fall(const struct frequency_policy *p)
{
	if (p->min_khz == p->max_khz)
		return false;
	return p->base_khz <= 0 || p->min_khz < p->base_khz;
}

void check_min_frequency(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	if (no_policy(f, ret))
		return;
	for (size_t i = 0; i < q->n_policies; i++) {
		const struct frequency_policy *p = &q->policies[i];

		if (!may_fall(p))
			continue;
		if (p->base_khz > 0)
			finding_set(ret, CHECK_OFF, "%" PRId64 " MHz, base %" PRId64 " MHz (policy %d)",
				p->min_khz / 1000, p->base_khz / 1000, p->number);
		else
			finding_set(ret, CHECK_OFF,
				"%" PRId64 " MHz, highest %" PRId64 " MHz (policy %d; no base is told)",
				p->min_khz / 1000, p->max_khz / 1000, p->number);
		return;
	}
	finding_set(ret, CHECK_OK, "%" PRId64 " MHz", q->policies[0].min_khz / 1000);
}

void check_max_frequency(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	if (no_policy(f, ret))
		return;
	for (size_t i = 0; i < q->n_policies; i++) {
		const struct frequency_policy *p = &q->policies[i];

		if (p->min_khz == p->max_khz || (p->base_khz > 0 && p->max_khz <= p->base_khz))
			continue;
		finding_set(ret, CHECK_OFF, "%" PRId64 " MHz (policy %d)", p->max_khz / 1000, p->number);
		return;
	}
	finding_set(ret, CHECK_OK, "%" PRId64 " MHz", q->policies[0].max_khz / 1000);
}

char *frequency_limits_wanted(const struct facts *f, const char *path)
{
	const char *number = strstr(path, "/policy");

	for (size_t i = 0; number && i < f->frequency.n_policies; i++) {
		const struct frequency_policy *p = &f->frequency.policies[i];

		if (p->number == atoi(number + strlen("/policy")) && p->base_khz > 0)
			return text_format("%" PRId64 " %" PRId64, p->base_khz, p->base_khz);
	}
	return NULL;
}

void check_turbo_intel(const struct facts *f, struct finding *ret)
{
	if (f->frequency.no_turbo < 0)
		absent(f, ret, "this machine does not use intel_pstate");
	else if (f->frequency.no_turbo == 0)
		finding_set(ret, CHECK_OFF, "no_turbo = 0: turbo is allowed");
	else
		finding_set(ret, CHECK_OK, "no_turbo = 1");
}

void check_turbo_boost(const struct facts *f, struct finding *ret)
{
	if (f->frequency.boost < 0)
		absent(f, ret, "this machine has no common switch for boost");
	else if (f->frequency.boost > 0)
		finding_set(ret, CHECK_OFF, "boost = 1: turbo is allowed");
	else
		finding_set(ret, CHECK_OK, "boost = 0");
}

static bool has_turbo_switch(const struct frequency *q)
{
	bool has = q->no_turbo >= 0 || q->boost >= 0;

	for (size_t i = 0; i < q->n_policies; i++)
		has = has || q->policies[i].boost >= 0;
	return has;
}

/* No switch of any kind, and a processor that is known to have turbo, or not known to have none. */
static bool turbo_out_of_reach(const struct facts *f)
{
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *p = q->policies;

	if (q->n_policies == 0 || has_turbo_switch(q))
		return false;
	return p->base_khz <= 0 || p->hardware_max_khz > p->base_khz || machine_flag(&f->machine, "cpb") ||
	       machine_flag(&f->machine, "ida");
}

void check_turbo_policy(const struct facts *f, struct finding *ret)
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
	else if (turbo_out_of_reach(f))
		finding_set(ret, CHECK_UNKNOWN,
			"the driver %s has no switch for turbo: it cannot be controlled",
			q->policies[0].driver ?: "of this machine");
	else
		absent(f, ret, "no policy has a switch of its own");
}

static bool turbo_is_on(const struct frequency *q)
{
	bool on = q->no_turbo == 0 || q->boost > 0;

	for (size_t i = 0; i < q->n_policies; i++)
		on = on || q->policies[i].boost > 0;
	return on;
}

/* Where firmware did not switch it off, a clock that cannot move is as good. */
static void check_fixed(const struct facts *f, struct finding *ret)
{
	const struct frequency *q = &f->frequency;

	for (size_t i = 0; i < q->n_policies; i++) {
		const struct frequency_policy *p = &q->policies[i];

		if (!p->governor || strcmp(p->governor, "performance") || may_fall(p) ||
			(p->base_khz > 0 && p->max_khz > p->base_khz && turbo_is_on(q))) {
			finding_set(ret, CHECK_OFF, "the clock moves between %" PRId64 " and %" PRId64 " MHz",
				p->min_khz / 1000, p->max_khz / 1000);
			return;
		}
	}
	if (turbo_is_on(q))
		finding_set(ret, CHECK_OFF, "the clock is fixed, but turbo is on");
	else if (turbo_out_of_reach(f))
		finding_set(ret, CHECK_UNKNOWN, "the clock is fixed, but turbo cannot be controlled");
	else
		finding_set(ret, CHECK_OK, "equivalent: the clock is fixed at %" PRId64 " MHz",
			q->policies[0].min_khz / 1000);
}

void check_speedstep(const struct facts *f, struct finding *ret)
{
	if (f->frequency.n_policies > 0)
		check_fixed(f, ret);
	else if (f->machine.virtual)
		no_policy(f, ret);
	else if (f->machine.cpu_vendor && !strcmp(f->machine.cpu_vendor, "GenuineIntel") &&
		 !machine_flag(&f->machine, "est"))
		finding_set(ret, CHECK_OK, "off in firmware: the processor does not offer it");
	else
		finding_set(ret, CHECK_UNKNOWN,
			"the kernel has no frequency driver: off in firmware, or the driver is missing");
}
