/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs: see cpu_list.h. */
#include "lib/host/cpu/cpu_list.h"

#include "lib/base/cleanup.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <string.h>

static bool has_cpu(const int *cpus, size_t n, int cpu)
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

	return list && text_parse_cpu_list(list, &cpus, &n) == 0 && has_cpu(cpus, n, cpu);
}

char *cpu_list_text(const int *cpus, size_t n)
{
	char *text;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);

	for (size_t i = 0, last; i < n; i = last + 1) {
		for (last = i; last + 1 < n && cpus[last + 1] == cpus[last] + 1;)
			last++;
		fprintf(file, "%s%d", i ? "," : "", cpus[i]);
		if (last > i)
			fprintf(file, "-%d", cpus[last]);
	}
	return text_stream_close(file, &text);
}

static int cpu_by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

char *cpu_list_join(const char *list, const char *other)
{
	_cleanup_(freep) char *both = text_format("%s%s%s", list, *list && *other ? "," : "", other);
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
		if (!has_cpu(cpus, n, all[i]))
			all[kept++] = all[i];
	return cpu_list_text(all, kept);
}

/* A mask of the same length in which a CPU is where both `mask` has it and it is (or is not) one of these. */
static char *mask_filter(const char *mask, const int *cpus, size_t n, bool keep)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_(freep) char *copy = xstrdup(mask);
	int cpu = 0; /* the lowest of a digit's four */

	for (size_t i = strlen(copy); i-- > 0;) {
		const char *digit = strchr(digits, copy[i]);
		size_t bits = digit ? (size_t)(digit - digits) : 0;

		if (copy[i] == ',')
			continue;
		if (!digit)
			return NULL;
		for (int bit = 0; bit < 4; bit++)
			if (has_cpu(cpus, n, cpu + bit) != keep)
				bits &= ~((size_t)1 << bit);
		copy[i] = digits[bits];
		cpu += 4;
	}
	return TAKE(copy);
}

char *cpu_mask_without(const char *mask, const int *cpus, size_t n)
{
	return mask_filter(mask, cpus, n, false);
}

char *cpu_mask_of(const char *mask, const int *cpus, size_t n)
{
	_cleanup_(freep) char *all = xstrdup(mask);

	for (char *p = all; *p; p++)
		*p = *p == ',' ? ',' : 'f';
	return mask_filter(all, cpus, n, true);
}

int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n)
{
	_cleanup_(freep) char *text = path_text(root_fd, "/proc/stat");
	int64_t ticks = 0;

	*ret_n = 0;
	for (const char *line = text; line && *line; line = strchrnul(line, '\n'), line += *line == '\n') {
		long long idle, io_wait;
		int cpu;

		if (sscanf(line, "cpu%d %*d %*d %*d %lld %lld", &cpu, &idle, &io_wait) != 3 || cpu < 0 ||
			cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, cpus))
			continue;
		ticks += idle + io_wait;
		++*ret_n;
	}
	return *ret_n > 0 ? ticks * (NS_PER_S / sysconf(_SC_CLK_TCK)) : -1;
}
