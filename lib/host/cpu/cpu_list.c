/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs: see cpu_list.h. */
#include "lib/host/cpu/cpu_list.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <string.h>

static bool has(const int *cpus, size_t n, int cpu)
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

	return list && text_parse_cpu_list(list, &cpus, &n) == 0 && has(cpus, n, cpu);
}

char *cpu_list_text(const int *cpus, size_t n)
{
	char *text = strdup("");

	for (size_t i = 0, last; text && i < n; i = last + 1) {
		_cleanup_(freep) char *before = text;

		for (last = i; last + 1 < n && cpus[last + 1] == cpus[last] + 1;)
			last++;
		text = last == i ? text_format("%s%s%d", before, i ? "," : "", cpus[i])
				 : text_format("%s%s%d-%d", before, i ? "," : "", cpus[i], cpus[last]);
	}
	return text;
}

char *cpu_list_without(const char *list, const int *cpus, size_t n)
{
	_cleanup_(freep) int *all = NULL;
	size_t n_all = 0, kept = 0;

	if (text_parse_cpu_list(list, &all, &n_all) < 0)
		return NULL;
	for (size_t i = 0; i < n_all; i++)
		if (!has(cpus, n, all[i]))
			all[kept++] = all[i];
	return cpu_list_text(all, kept);
}

char *cpu_mask_without(const char *mask, const int *cpus, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *copy = strdup(mask);
	int cpu = 0; /* the lowest of a digit's four */

	for (size_t i = copy ? strlen(copy) : 0; i-- > 0;) {
		const char *digit = strchr(digits, copy[i]);
		size_t bits = digit ? (size_t)(digit - digits) : 0;

		if (copy[i] == ',')
			continue;
		if (!digit) {
			free(copy);
			return NULL;
		}
		for (int bit = 0; bit < 4; bit++)
			bits &= has(cpus, n, cpu + bit) ? ~(1U << bit) : ~0U;
		copy[i] = digits[bits];
		cpu += 4;
	}
	return copy;
}
