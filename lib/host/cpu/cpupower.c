/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-setup sets and asks through libcpupower: see cpupower.h. The only file that includes it.
 *
 * The library returns -ENODEV for every write that fails; the cause is in errno, which it does not
 * reset. */
#include "lib/host/cpu/cpupower.h"

#include <cpufreq.h>
#include <cpuidle.h>

/* An online CPU of the policy: the CPU with the number of the policy may be offline. */
static int cpu_of_policy(const char *policy, unsigned int *ret)
{
	_cleanup_(freep) char *cpus = NULL;
	const char *number = strstr(policy, "/policy");
	char *end;
	int r;

	if (!number)
		return -EINVAL;
	number += strlen("/policy");
	r = path_read_text(AT_FDCWD, NULL, &cpus, "%.*s/affected_cpus",
		(int)(number - policy + strspn(number, "0123456789")), policy);
	if (r < 0)
		return r;
	*ret = (unsigned int)strtoul(cpus, &end, 10);
	return end == cpus ? -EBUSY : 0; /* as newer kernels answer */
}

int cpufreq_write_governor(const char *policy, const char *governor)
{
	unsigned int cpu;
	int r = cpu_of_policy(policy, &cpu);

	if (r < 0)
		return r;
	errno = 0;
	r = cpufreq_modify_policy_governor(cpu, (char *)governor);
	return r == -ENODEV && errno ? -errno : r;
}

/* The kernel remembers a lower limit above the upper one, and jumps there when the upper one is
 * raised: so the limit that stays within the other one goes first. */
int cpufreq_write_limits(const char *policy, const char *min_max)
{
	char *middle;
	unsigned long min = strtoul(min_max, &middle, 10), max = strtoul(middle, NULL, 10);
	struct cpufreq_policy *now;
	unsigned int cpu;
	bool max_first;
	int r = cpu_of_policy(policy, &cpu);

	if (r < 0)
		return r;
	errno = 0;
	now = cpufreq_get_policy(cpu);
	if (!now)
		return errno ? -errno : -ENODEV;
	max_first = min > now->max;
	cpufreq_put_policy(now);
	errno = 0;
	r = max_first ? cpufreq_modify_policy_max(cpu, max) : cpufreq_modify_policy_min(cpu, min);
	if (r == 0)
		r = max_first ? cpufreq_modify_policy_min(cpu, min)
			      : cpufreq_modify_policy_max(cpu, max);
	return r == -ENODEV && errno ? -errno : r;
}

/* Who sets a governor, the same one too, sets the limits of now with it (cpufreq_set_policy in
 * the kernel). */
void cpufreq_settle_limits(const char *policy)
{
	struct cpufreq_policy *now;
	unsigned int cpu;

	if (cpu_of_policy(policy, &cpu) < 0)
		return;
	now = cpufreq_get_policy(cpu);
	if (now)
		cpufreq_modify_policy_governor(cpu, now->governor);
	cpufreq_put_policy(now);
}

static int read_limits(unsigned int cpu, int64_t ret[2])
{
	struct cpufreq_policy *now;

	errno = 0;
	now = cpufreq_get_policy(cpu);
	if (!now)
		return errno ? -errno : -EIO;
	ret[0] = (int64_t)now->min;
	ret[1] = (int64_t)now->max;
	cpufreq_put_policy(now);
	return 0;
}

bool cpufreq_shows_limits(const char *policy)
{
	unsigned long min, max;
	int64_t is[2];
	unsigned int cpu;

	return cpu_of_policy(policy, &cpu) == 0 && read_limits(cpu, is) == 0 &&
	       (cpufreq_get_hardware_limits(cpu, &min, &max) != 0 || is[0] != (int64_t)min ||
		       is[1] != (int64_t)max);
}

int cpufreq_lift_limits(const char *policy, struct cpufreq_lifted *ret)
{
	struct cpufreq_lifted l = {};
	int64_t last[2];
	unsigned int cpu;
	int r = cpu_of_policy(policy, &cpu);

	if (r == 0)
		r = read_limits(cpu, l.was);
	memcpy(last, l.was, sizeof(last));
	memcpy(l.open, l.was, sizeof(last));
	if (r == 0 && !cpufreq_shows_limits(policy)) {
		*ret = l;
		return 0;
	}
	for (int i = 0; r == 0 && i < 2; i++) {
		errno = 0;
		r = i == 0 ? cpufreq_modify_policy_min(cpu, CPUFREQ_NO_MIN)
			   : cpufreq_modify_policy_max(cpu, CPUFREQ_NO_MAX);
		if (r < 0)
			return r == -ENODEV && errno ? -errno : r;
		cpufreq_settle_limits(policy);
		r = read_limits(cpu, l.open);
		l.asked[i] = l.open[i] != last[i];
		memcpy(last, l.open, sizeof(last));
	}
	if (r == 0)
		*ret = l;
	return r;
}

/* The first state that is not polling. Names tell them apart: on some machines state 0 is not
 * POLL. */
int32_t idle_latency_us(void)
{
	unsigned int n;

	if (path_int(AT_FDCWD, "/sys/devices/system/cpu/smt/active") <= 0)
		return 0;
	n = cpuidle_state_count(0);
	for (unsigned int state = 0; state < n; state++) {
		_cleanup_(freep) char *name = cpuidle_state_name(0, state);

		if (name && strcmp(name, "POLL") != 0)
			return (int32_t)cpuidle_state_latency(0, state);
	}
	return 0;
}
