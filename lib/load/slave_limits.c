/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of slaves: see slave_limits.h. */
#include "lib/load/slave_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static bool any_has(const struct load *load, size_t offset)
{
	for (size_t i = 0; i < load->n_scripts; i++)
		if (*(const int64_t *)((const char *)&load->scripts[i] + offset))
			return true;
	return false;
}

int slave_limits_begin(struct cgroup_controllers **ret, const struct load *load, struct error *err)
{
	static const char *const lists[][3] = {{NULL}, {"cpu"}, {"memory"}, {"cpu", "memory"}};
	bool cpu = any_has(load, offsetof(struct script, weight)),
	     memory = any_has(load, offsetof(struct script, memory));
	int r;

	*ret = NULL;
	if (!cpu && !memory)
		return 0;
	r = cgroup_controllers_new(ret, lists[cpu + 2 * memory], err);
	return r < 0 ? error_prefix(err, r, "the slaves cannot be limited") : 0;
}

int slave_limits_set(const struct cgroup *slave, const struct script *script, struct error *err)
{
	bool has_weight = faccessat(cgroup_fd(slave), "cpu.weight.nice", F_OK, 0) == 0;
	int r = 0;

	if (script->weight)
		r = cgroup_limit(slave, "cpu.weight", script->weight, err);
	else if (script->nice &&
		 has_weight) /* then the nice values of processes only count within the cgroup */
		r = cgroup_limit(slave, "cpu.weight.nice", script->nice, err);
	return r == 0 && script->memory ? cgroup_limit(slave, "memory.max", script->memory, err) : r;
}

bool slave_limits_exceeded(const struct cgroup *slave, const struct script *script)
{
	return script->memory && cgroup_oom_kills(slave) > 0;
}

char *slave_limits_memory(char buffer[LIMIT_SIZE], const struct script *script)
{
	static const char units[] = "\0KMGT";
	int64_t value = script->memory;
	int unit = 0;

	for (; value % 1024 == 0 && unit < 4; unit++)
		value /= 1024;
	snprintf(buffer, LIMIT_SIZE, "%" PRId64 "%.1s", value, units + unit);
	return buffer;
}
