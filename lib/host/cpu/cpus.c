/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs: see cpus.h. */
#include "lib/host/cpu/cpus.h"

static bool cpus_is_among(const int *cpus, size_t n, int cpu)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

bool cpu_list_has(const char *list, int cpu)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	return list && text_parse_cpu_list(list, &cpus, &n) == 0 && cpus_is_among(cpus, n, cpu);
}

char *cpu_list_text(const int *cpus, size_t n)
{
	char *text = NULL;

	for (size_t i = 0, last; i < n; i = last + 1) {
		for (last = i; last + 1 < n && cpus[last + 1] == cpus[last] + 1;)
			last++;
		text_append(&text, ",", "%d", cpus[i]);
		if (last > i)
			text_append(&text, "-", "%d", cpus[last]);
	}
	return text ?: xstrdup("");
}

static int cpu_by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

char *cpu_list_join(const char *list, const char *other)
{
	_cleanup_(freep) char *both = text_format(
		"%s%s%s", list, *list && *other ? "," : "", other);
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0, kept = 0;

	if (text_parse_cpu_list(both, &cpus, &n) < 0)
		return NULL;
	if (n > 0)
		qsort(cpus, n, sizeof(*cpus), cpu_by_number);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || cpus[i] != cpus[kept - 1])
			cpus[kept++] = cpus[i];
	return cpu_list_text(cpus, kept);
}

char *cpu_list_without(const char *list, const int *cpus, size_t n)
{
	_cleanup_(freep) int *all = NULL;
	size_t n_all = 0, kept = 0;

	if (text_parse_cpu_list(list, &all, &n_all) < 0)
		return NULL;
	for (size_t i = 0; i < n_all; i++)
		if (!cpus_is_among(cpus, n, all[i]))
			all[kept++] = all[i];
	return cpu_list_text(all, kept);
}

char *cpu_mask(const char *mask, const int *cpus, size_t n, bool without)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_(freep) char *copy = xstrdup(mask);
	int cpu = 0; /* the lowest of a digit's four */

	for (size_t i = strlen(copy); i-- > 0;) {
		const char *digit = strchr(digits, copy[i]);
		size_t bits = digit && without ? (size_t)(digit - digits) : 0;

		if (copy[i] == ',')
			continue;
		if (!digit)
			return NULL;
		for (int bit = 0; bit < 4; bit++)
			if (cpus_is_among(cpus, n, cpu + bit))
				bits = without ? bits & ~((size_t)1 << bit)
					       : bits | (size_t)1 << bit;
		copy[i] = digits[bits];
		cpu += 4;
	}
	return TAKE(copy);
}

void cpu_core_threads(int root_fd, int cpu, int **ret, size_t *ret_n)
{
	_cleanup_(freep) char *list = path_text(
		root_fd, SYS_CPU "cpu%d/topology/thread_siblings_list", cpu);

	*ret = NULL;
	*ret_n = 0;
	if (!cpu_list_has(list, cpu) || text_parse_cpu_list(list, ret, ret_n) < 0)
		*ret_n = 0;
}

int64_t cpu_own_cache(int root_fd, int cpu)
{
	_cleanup_(freep) char *threads = path_text(
		root_fd, SYS_CPU "cpu%d/topology/thread_siblings_list", cpu);
	int64_t most = -1;

	for (int i = 0; threads; i++) {
		_cleanup_(freep) char *shared = path_text(
			root_fd, SYS_CPU "cpu%d/cache/index%d/shared_cpu_list", cpu, i);
		_cleanup_(freep) char *size = path_text(
			root_fd, SYS_CPU "cpu%d/cache/index%d/size", cpu, i);
		_cleanup_(freep) char *type = path_text(
			root_fd, SYS_CPU "cpu%d/cache/index%d/type", cpu, i);
		int64_t level = path_int(root_fd, SYS_CPU "cpu%d/cache/index%d/level", cpu, i);
		long long kib;

		if (!shared || !size)
			break;
		if (level >= 1 && level <= 2 && (!type || strcmp(type, "Instruction") != 0) &&
			!strcmp(shared, threads) && sscanf(size, "%lldK", &kib) == 1 &&
			kib * 1024 > most)
			most = kib * 1024;
	}
	return most;
}

void cpu_siblings(int cpu, int **ret, size_t *ret_n)
{
	size_t n, kept = 0;

	cpu_core_threads(AT_FDCWD, cpu, ret, &n);
	for (size_t i = 0; i < n; i++)
		if ((*ret)[i] != cpu)
			(*ret)[kept++] = (*ret)[i];
	*ret_n = kept;
}
