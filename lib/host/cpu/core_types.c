/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which types of cores a processor has: see core_types.h. */
#include "lib/host/cpu/core_types.h"

#include "lib/host/cpu/cpus.h"

/* Intel's processors have one set of counters for each type; only the CPUs that are online are
 * listed. */
static void read_pmus(struct core_types *types, int root_fd)
{
	static const struct {
		const char *pmu, *name;
	} known[] = {{"cpu_core", "P-core"}, {"cpu_atom", "E-core"}, {"cpu_lowpower", "LP E-core"}};

	for (size_t i = 0; i < ELEMENTS(known); i++) {
		_cleanup_(freep) char *cpus = path_text(
			root_fd, "/sys/devices/%s/cpus", known[i].pmu);

		if (cpus && *cpus)
			*array_add(types->items, types->n) = (struct core_type){
				xstrdup(known[i].name), TAKE(cpus), 0};
	}
}

/* One CPU with the number that tells its type. */
struct typed_cpu {
	int cpu;
	int64_t number;
};

static int typed_by_number(const void *a, const void *b)
{
	const struct typed_cpu *one = a, *other = b;

	if (one->number != other->number)
		return one->number > other->number ? -1 : 1;
	return one->cpu - other->cpu;
}

/* CPUs are of one type where the next lower number is at most `tolerance` (a part of 1) lower.
 * `name`: what stands before and after the number. */
static void group_cpus(struct core_types *types, struct typed_cpu *cpus, size_t n,
	const char *const name[2], double tolerance)
{
	if (n > 0)
		qsort(cpus, n, sizeof(*cpus), typed_by_number);
	for (size_t i = 0, last; i < n; i = last + 1) {
		_cleanup_(freep) char *list = NULL;

		for (last = i; last + 1 < n && (double)cpus[last + 1].number >=
						       (1 - tolerance) * (double)cpus[last].number;)
			last++;
		for (size_t k = i; k <= last; k++)
			text_append(&list, ",", "%d", cpus[k].cpu);
		*array_add(types->items, types->n) = (struct core_type){
			text_format("%s%" PRId64 "%s", name[0], cpus[i].number, name[1]),
			cpu_list_join(list, ""), cpus[i].number};
	}
}

static void read_numbers(struct core_types *types, int root_fd, const char *file,
	const char *const name[2], double tolerance)
{
	_cleanup_(paths_clear) struct paths found = paths_expand(root_fd, SYS_CPU "cpu[0-9]*");
	_cleanup_(freep) struct typed_cpu *cpus = NULL;
	size_t n = 0;

	for (size_t i = 0; i < found.n; i++) {
		int64_t number = path_int(root_fd, "%s/%s", found.items[i], file);
		int cpu, end = 0;

		/* one may be offline, but not two: no CPU has it */
		if (number < 0 && n == 0 && i > 0)
			return;
		if (sscanf(found.items[i], SYS_CPU "cpu%d%n", &cpu, &end) == 1 &&
			!found.items[i][end] && number > 0)
			*array_add(cpus, n) = (struct typed_cpu){cpu, number};
	}
	group_cpus(types, cpus, n, name, tolerance);
}

static void read_frequencies(struct core_types *types, int root_fd)
{
	_cleanup_(paths_clear) struct paths policies = paths_expand(
		root_fd, SYS_CPU "cpufreq/policy[0-9]*");
	_cleanup_(freep) struct typed_cpu *cpus = NULL;
	size_t n = 0;

	for (size_t i = 0; i < policies.n; i++) {
		int64_t khz = path_int(root_fd, "%s/base_frequency", policies.items[i]);
		_cleanup_(freep) char *list = NULL;
		_cleanup_(freep) int *of_policy = NULL;
		size_t n_of_policy = 0;

		if (khz <= 0) /* the driver does not report it */
			return;
		list = path_text(root_fd, "%s/related_cpus", policies.items[i]);
		if (list)
			text_parse_cpu_list(list, &of_policy, &n_of_policy);
		for (size_t k = 0; k < n_of_policy; k++)
			*array_add(cpus, n) = (struct typed_cpu){of_policy[k], khz / 1000};
	}
	group_cpus(types, cpus, n, (const char *const[]){"", " MHz"}, 0);
}

void core_types_read(struct core_types *ret, int root_fd)
{
	/* The highest performance of favoured cores of one type is a rank: 166, 171… 236 on some
	 * of AMD's. */
	static const struct {
		const char *file, *name[2];
		double tolerance;
	} numbers[] = {{"cpu_capacity", {"capacity ", ""}, 0},
		{"acpi_cppc/highest_perf", {"performance ", ""}, 0.15},
		{"acpi_cppc/nominal_freq", {"", " MHz"}, 0}};
	struct core_types types = {};

	read_pmus(&types, root_fd);
	for (size_t i = 0; i < ELEMENTS(numbers) && types.n < 2; i++) {
		core_types_clear(&types);
		read_numbers(
			&types, root_fd, numbers[i].file, numbers[i].name, numbers[i].tolerance);
	}
	if (types.n < 2) {
		core_types_clear(&types);
		read_frequencies(&types, root_fd);
	}
	if (types.n < 2)
		core_types_clear(&types);
	*ret = types;
}

void core_types_clear(struct core_types *types)
{
	for (size_t i = 0; i < types->n; i++) {
		free(types->items[i].name);
		free(types->items[i].cpus);
	}
	free(types->items);
	*types = (struct core_types){};
}

const struct core_type *core_types_of(const struct core_types *types, int cpu)
{
	for (size_t i = 0; i < types->n; i++)
		if (cpu_list_has(types->items[i].cpus, cpu))
			return &types->items[i];
	return NULL;
}

char *core_types_text(const struct core_types *types)
{
	char *text = NULL;

	for (size_t i = 0; i < types->n; i++)
		text_append(&text, ", ", "%s (CPU %s)", types->items[i].name, types->items[i].cpus);
	return text ?: xstrdup("");
}
