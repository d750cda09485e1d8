/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a profile still holds, by its fingerprint: see environment_validity.h. */
#include "lib/protocol/environment_validity.h"

#include <string.h>

/* The first row that matches counts. */
static const struct difference_rule rules[] = {
	{true, "cpu.microcode", VALIDITY_REPEAT_SHORT, true, "microcode changes the cost of instructions"},
	{true, "firmware.version", VALIDITY_REPEAT_SHORT, true, "firmware sets power limits and clocks"},
	{true, "kernel.", VALIDITY_REPEAT_SHORT, true,
		"a new kernel has other workers and another scheduler"},
	{true, "system.name", VALIDITY_HOLDS, true, "only a name"},
	{true, "system.", VALIDITY_REPEAT_SHORT, true, "a new system has other daemons"},
	{true, "", VALIDITY_REPEAT_ALL, false, "this is another machine"},
	{false, "frequency.", VALIDITY_REPEAT_ALL, true, "times change with clock frequency"},
	{false, "clock.source", VALIDITY_REPEAT_SHORT, true, "the cost of reading the clock changes"},
	{false, "boot.command_line", VALIDITY_REPEAT_SHORT, true, "kernel options change what runs where"},
	{false, "cpus.", VALIDITY_REPEAT_SHORT, true, "daemons and program share the CPUs differently"},
	{false, "idle.", VALIDITY_REPEAT_SHORT, true, "idle wake-up latency changes"},
	{false, "kernel_options.", VALIDITY_REPEAT_SHORT, true,
		"the kernel accounts or schedules differently"},
	{false, "vulnerabilities.", VALIDITY_REPEAT_SHORT, true,
		"mitigations cost time at every kernel entry"},
	{false, "memory.thp", VALIDITY_REPEAT_SHORT, true, "huge pages change the cost of memory accesses"},
	{false, "units", VALIDITY_REPEAT_SHORT, true, "daemons were added or removed"},
	{false, "", VALIDITY_HOLDS, true, "hardly affects compute-bound programs"},
};

const char *validity_name(enum validity validity)
{
	static const char *const names[] = {
		[VALIDITY_HOLDS] = "holds",
		[VALIDITY_REPEAT_CHECK] = "repeat-check",
		[VALIDITY_REPEAT_SHORT] = "repeat-short",
		[VALIDITY_REPEAT_ALL] = "repeat-all",
	};

	return names[validity];
}

const struct difference_rule *difference_rule(const struct difference *d)
{
	const struct difference_rule *rule = rules;

	while (rule->identity != d->identity || strncmp(d->what, rule->begins, strlen(rule->begins)) != 0)
		rule++; /* a rule with an empty prefix ends the search */
	return rule;
}

void differences_keep_demanding(struct differences *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (difference_rule(&d->items[i])->demand > VALIDITY_HOLDS)
			d->items[n++] = d->items[i];
		else
			difference_clear(&d->items[i]);
	d->n = n;
}

enum validity differences_validity(const struct differences *d)
{
	enum validity most = VALIDITY_HOLDS;

	for (size_t i = 0; i < d->n; i++) {
		enum validity demand = difference_rule(&d->items[i])->demand;

		most = demand > most ? demand : most;
	}
	return most;
}
