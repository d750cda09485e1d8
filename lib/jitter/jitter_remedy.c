/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a source from interrupting a CPU: see jitter_remedy.h. The checks of emp-setup are those of emp-setup(1). */
#include "lib/jitter/jitter_remedy.h"

#include "lib/base/cleanup.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const remedy_kind_names[N_REMEDY_KINDS] = {
	[REMEDY_NONE] = "none",
	[REMEDY_POLICY] = "policy",
	[REMEDY_UNIT] = "unit",
	[REMEDY_ISOLATE] = "isolate",
	[REMEDY_IRQ] = "irq-affinity",
	[REMEDY_SETTING] = "setting",
	[REMEDY_BOOT] = "boot",
	[REMEDY_PROGRAM] = "program",
};

#define STOP "emp-setup apply --only svc.units,svc.timers"
#define ISOLATE "emp-setup apply --isolate %s"
#define MOVE_INTERRUPTS "emp-setup apply --cpu %s --only irq.default,irq.each"
#define TICKLESS "boot with nohz_full=%s isolcpus=%s"
#define CALLBACKS "boot with rcu_nocbs=%s"
#define OTHERS_ASK "nothing: other CPUs ask for it, less often if fewer programs run"

/* By kind and name, the first that matches; %s is the CPU. */
static const struct rule {
	enum source_kind kind;
	const char *pattern;
	enum remedy_kind remedy;
	const char *how;
} rules[] = {
	{SOURCE_KERNEL, "ksoftirqd*", REMEDY_IRQ, MOVE_INTERRUPTS},
	{SOURCE_KERNEL, "irq/*", REMEDY_IRQ, MOVE_INTERRUPTS},
	{SOURCE_KERNEL, "rcu*", REMEDY_BOOT, CALLBACKS},
	{SOURCE_KERNEL, "kworker:vmstat_*", REMEDY_SETTING, "emp-setup apply --only vmstat"},
	{SOURCE_KERNEL, "ksmd", REMEDY_SETTING, "emp-setup apply --only ksm"},
	{SOURCE_KERNEL, "khugepaged", REMEDY_SETTING, "emp-setup apply --only thp"},
	{SOURCE_KERNEL, "khungtaskd", REMEDY_SETTING, "emp-setup apply --only hung"},
	{SOURCE_KERNEL, "watchdog*", REMEDY_SETTING, "emp-setup apply --only nmi"},
	{SOURCE_KERNEL, "kworker/u*", REMEDY_ISOLATE, ISOLATE},
	{SOURCE_KERNEL, "kworker*", REMEDY_NONE, "nothing: it does work that was begun on this CPU"},
	{SOURCE_KERNEL, "migration*", REMEDY_NONE, "nothing: it moves tasks to and from this CPU"},
	{SOURCE_KERNEL, "*", REMEDY_BOOT, TICKLESS},
	{SOURCE_IRQ, "*", REMEDY_IRQ, MOVE_INTERRUPTS},
	{SOURCE_SOFTIRQ, "*:SCHED", REMEDY_ISOLATE, ISOLATE},
	{SOURCE_SOFTIRQ, "*:RCU", REMEDY_BOOT, CALLBACKS},
	{SOURCE_SOFTIRQ, "*TIMER", REMEDY_BOOT, TICKLESS},
	{SOURCE_SOFTIRQ, "*", REMEDY_IRQ, MOVE_INTERRUPTS},
	{SOURCE_VECTOR, "local_timer*", REMEDY_BOOT, TICKLESS},
	{SOURCE_VECTOR, "reschedule*", REMEDY_ISOLATE, ISOLATE},
	{SOURCE_VECTOR, "*", REMEDY_NONE, OTHERS_ASK},
	{SOURCE_NMI, "*", REMEDY_SETTING, "emp-setup apply --only nmi"},
	{SOURCE_FAULT, "*", REMEDY_PROGRAM, "touch the memory before, and lock it (mlockall)"},
	{SOURCE_COMBINATION, "*", REMEDY_NONE, "see its parts"},
	{SOURCE_OUTSIDE, "*", REMEDY_NONE, "nothing from inside this machine"},
};

__attribute__((format(printf, 3, 4))) static struct remedy say(
	struct remedy *remedy, enum remedy_kind kind, const char *format, ...)
{
	va_list list;

	remedy->kind = kind;
	va_start(list, format);
	vsnprintf(remedy->how, sizeof(remedy->how), format, list);
	va_end(list);
	return *remedy;
}

static bool is_service(const char *unit)
{
	return unit && fnmatch("*.service", unit, 0) == 0 && fnmatch("user@*", unit, 0) != 0;
}

/* A login, a command, or a service that has to run, can still run elsewhere. */
static struct remedy of_process(const struct remedy_facts *facts, const char *cpu)
{
	const char *unit = facts->source->unit;
	struct remedy remedy = {};

	if (!is_service(unit) || facts->never)
		return say(&remedy, REMEDY_ISOLATE, ISOLATE, cpu);
	if (facts->listed)
		return say(&remedy, REMEDY_POLICY, STOP);
	return say(&remedy, REMEDY_UNIT, "systemctl stop %s", unit);
}

struct remedy jitter_remedy(const struct remedy_facts *facts)
{
	const struct source *source = facts->source;
	struct remedy remedy = {};
	char cpu[16] = "N";

	if (facts->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", facts->cpu);
	if (source->kind == SOURCE_PROCESS)
		return of_process(facts, cpu);
	for (const struct rule *rule = rules; rule < rules + ELEMENTS(rules); rule++) {
		if (rule->kind != source->kind || fnmatch(rule->pattern, source->name, 0) != 0)
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		return say(&remedy, rule->remedy, rule->how, cpu, cpu);
#pragma GCC diagnostic pop
	}
	return say(&remedy, REMEDY_NONE, "nothing");
}
