/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much a difference between two fingerprints matters: see difference_weight.h. */
#include "setup/fingerprint/difference_weight.h"

#include "lib/base/cleanup.h"

#include <string.h>

/* The first row that fits counts. */
static const struct {
	bool identity;
	const char *begins; /* the name of what differs */
	enum weight weight;
	const char *why;
} RULES[] = {
	{true, "cpu.microcode", WEIGHT_SHORT, "microcode changes what instructions cost"},
	{true, "firmware.version", WEIGHT_SHORT, "firmware sets power and clocks"},
	{true, "kernel.", WEIGHT_SHORT, "another kernel has other workers, and schedules otherwise"},
	{true, "system.name", WEIGHT_NONE, "a name"},
	{true, "system.", WEIGHT_SHORT, "another system has other daemons"},
	{true, "", WEIGHT_ALL, "it is another machine"},
	{false, "frequency.", WEIGHT_ALL, "at another clock rate every time is another"},
	{false, "clock.source", WEIGHT_SHORT, "clocks are read with another effort"},
	{false, "boot.command_line", WEIGHT_SHORT, "options of the kernel change what runs where"},
	{false, "cpus.", WEIGHT_SHORT, "daemons and program share the CPUs otherwise"},
	{false, "idle.", WEIGHT_SHORT, "CPUs wake up otherwise"},
	{false, "kernel_options.", WEIGHT_SHORT, "the kernel counts or schedules otherwise"},
	{false, "vulnerabilities.", WEIGHT_SHORT, "what protects the kernel costs time at every entry"},
	{false, "units", WEIGHT_SHORT, "daemons came or went"},
	{false, "", WEIGHT_NONE, "little to a program that computes"},
};

enum weight difference_weigh(const struct difference *d, const char **ret_why)
{
	size_t i = 0;

	while (RULES[i].identity != d->identity ||
		strncmp(d->what, RULES[i].begins, strlen(RULES[i].begins)) != 0)
		i++; /* an empty beginning of either kind ends it */
	*ret_why = RULES[i].why;
	return RULES[i].weight;
}
