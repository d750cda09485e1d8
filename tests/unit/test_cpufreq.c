/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Governor and limits of a cpufreq policy, written into a made-up /sys by a made-up libcpupower. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/cpu/cpupower.h"
#include "lib/host/system/kernel_setting.h"

#include <cpufreq.h>

#define LIMITS "3600000 3600000"

static char policy[96], writes[64]; /* its directory; what was written, in order */
static unsigned int cpu;            /* that was named */
static int fault;                   /* errno of every write; 0: none */

static void put(const char *name, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "policy4/%s", name);
	tree_put(path, value);
}

static int make(void **state)
{
	tree_make(state);
	snprintf(policy, sizeof(policy), "%s/policy4", tree.path);
	put("affected_cpus", "6 7\n");
	put("scaling_min_freq", "800000\n");
	put("scaling_max_freq", "4700000\n");
	put("scaling_governor", "powersave\n");
	writes[0] = '\0';
	fault = 0;
	return 0;
}

/* As the library does: -ENODEV for everything, and the cause in errno. */
static int change(unsigned int of, const char *what, const char *name, const char *value)
{
	cpu = of;
	errno = fault;
	if (fault)
		return -ENODEV;
	strcat(writes, what);
	put(name, value);
	return 0;
}

static int change_limit(unsigned int of, const char *what, const char *name, unsigned long khz)
{
	char value[32];

	snprintf(value, sizeof(value), "%lu\n", khz);
	return change(of, what, name, value);
}

int cpufreq_modify_policy_min(unsigned int of, unsigned long khz)
{
	return change_limit(of, "min ", "scaling_min_freq", khz);
}

int cpufreq_modify_policy_max(unsigned int of, unsigned long khz)
{
	return change_limit(of, "max ", "scaling_max_freq", khz);
}

int cpufreq_modify_policy_governor(unsigned int of, char *governor)
{
	return change(of, "governor ", "scaling_governor", governor);
}

static struct cpufreq_policy held;

struct cpufreq_policy *cpufreq_get_policy(unsigned int of)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/scaling_max_freq", policy);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &held.max), 1);
	fclose(file);
	return &held;
}

void cpufreq_put_policy(struct cpufreq_policy *p)
{
}

#define TEST_ON_POLICY(name) TEST_WITH(name, make, tree_remove)

static void set(const char *value, enum kernel_setting_outcome outcome, const char *order)
{
	struct kernel_setting setting = {.root_fd = AT_FDCWD,
		.path = policy,
		.kind = SETTING_LIMITS,
		.write = cpufreq_write_limits};
	struct kernel_setting_result result;

	result = kernel_setting_set(&setting, value);
	assert_int_equal(result.outcome, outcome);
	assert_string_equal(result.held, value);
	assert_string_equal(writes, order);
	free(result.held);
}

TEST_ON_POLICY(the_limit_that_stays_within_the_other_goes_first)
{
	set(LIMITS, SETTING_CHANGED, "min max ");
	set(LIMITS, SETTING_ALREADY, "min max "); /* nothing more is written */
	writes[0] = '\0';
	set("800000 3000000", SETTING_CHANGED, "min max ");
	writes[0] = '\0';
	set("4000000 4700000", SETTING_CHANGED, "max min ");
}

TEST_ON_POLICY(a_cpu_of_the_policy_that_is_online_is_named)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/scaling_governor", policy);
	assert_int_equal(cpufreq_write_governor(file, "performance"), 0);
	assert_int_equal(cpu, 6);
	assert_string_equal(writes, "governor ");
	put("affected_cpus", "\n"); /* all are offline */
	assert_int_equal(cpufreq_write_governor(file, "powersave"), -EBUSY);
	assert_int_equal(cpufreq_write_limits(policy, LIMITS), -EBUSY);
	assert_int_equal(cpufreq_write_governor("/sys/elsewhere", "powersave"), -EINVAL);
}

TEST_ON_POLICY(a_refusal_has_the_kernels_reason)
{
	fault = EBUSY;
	assert_int_equal(cpufreq_write_limits(policy, LIMITS), -EBUSY);
	assert_int_equal(cpufreq_write_governor(policy, "performance"), -EBUSY);
}
