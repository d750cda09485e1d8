/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-calibrate: see options.h. */
#include "calibrate/options.h"

#include "lib/host/process/pinning.h"

#include <sched.h>

struct calibrate_options calibrate_options = {.cpu = -1};

const char *const calibrate_backends[] = {"auto", "bpf", "taskstats", NULL};

static void leave_out_repeated(struct calibrate_cpus *cpus)
{
	size_t kept = 0;

	for (size_t i = 0; i < cpus->n; i++) {
		size_t before = 0;

		while (before < kept && cpus->items[before] != cpus->items[i])
			before++;
		if (before == kept)
			cpus->items[kept++] = cpus->items[i];
	}
	cpus->n = kept;
}

int calibrate_cpus_option(const char *value, const char *name, void *into, struct error *err)
{
	struct calibrate_cpus *cpus = into;
	int r = text_parse_cpu_list(value, &cpus->items, &cpus->n);

	if (r < 0 || cpus->n == 0)
		return error_say(err, -EINVAL,
			"%s: '%s' is not a list of CPUs such as 1, 0-3 or 2,5", name, value);
	for (size_t i = 0; r == 0 && i < cpus->n; i++)
		r = pinning_check(cpus->items[i], AT_FDCWD, err);
	leave_out_repeated(cpus);
	return r;
}

int calibrate_cpus_default(struct calibrate_cpus *cpus, struct error *err)
{
	cpu_set_t set;

	if (cpus->items)
		return 0;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return error_os(err, -errno, "cannot read which CPUs exist; name some with --cpu");
	cpus->items = xcalloc(CPU_SETSIZE, sizeof(*cpus->items));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus->items[cpus->n++] = cpu;
	return 0;
}

int calibrate_operand(
	const char *operand, int64_t *ret_run, const char **ret_profile, struct error *err)
{
	*ret_run = 0;
	*ret_profile = NULL;
	if (!operand || !strcmp(operand, "last"))
		return 0;
	if (!operand[strspn(operand, "0123456789")])
		return text_parse_int(operand, "RUN", 1, INT64_MAX, ret_run, err);
	*ret_profile = operand;
	return 0;
}
