/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remedies, by kind and name of the source: see jitter_remedy.h. */
#include "lib/jitter/jitter_remedy.h"

#include "lib/base/base.h"

#include <fnmatch.h>

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
static const struct remedy_rule {
	enum source_kind kind;
	const char *pattern;
	enum remedy_kind remedy;
	const char *how;
} remedy_rules[] = {
	{SOURCE_KERNEL, "ksoftirqd*", REMEDY_IRQ, MOVE_INTERRUPTS},
	{SOURCE_KERNEL, "irq/*", REMEDY_IRQ, MOVE_INTERRUPTS},
	{SOURCE_KERNEL, "rcu*", REMEDY_BOOT, CALLBACKS},
	{SOURCE_KERNEL, "kworker:vmstat_*", REMEDY_SETTING, "emp-setup apply --only vmstat"},
	{SOURCE_KERNEL, "ksmd", REMEDY_SETTING, "emp-setup apply --only ksm"},
	{SOURCE_KERNEL, "khugepaged", REMEDY_SETTING, "emp-setup apply --only thp"},
	{SOURCE_KERNEL, "khungtaskd", REMEDY_SETTING, "emp-setup apply --only hung"},
	{SOURCE_KERNEL, "watchdog*", REMEDY_SETTING, "emp-setup apply --only nmi"},
	{SOURCE_KERNEL, "kworker/u*", REMEDY_ISOLATE, ISOLATE},
	{SOURCE_KERNEL, "kworker*", REMEDY_NONE,
		"nothing: it does work that was begun on this CPU"},
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

/* `format` may have two %s, both for `what`. */
static struct remedy make_remedy(enum remedy_kind kind, const char *format, const char *what)
{
	struct remedy remedy = {.kind = kind};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(remedy.how, sizeof(remedy.how), format, what, what);
#pragma GCC diagnostic pop
	return remedy;
}

struct remedy jitter_remedy(const struct source *source, int on_cpu, const char *never, bool listed)
{
	char cpu[16] = "N";

	if (on_cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", on_cpu);
	if (source->kind == SOURCE_PROCESS) {
		bool service = source->unit && fnmatch("*.service", source->unit, 0) == 0 &&
			       fnmatch("user@*", source->unit, 0) != 0;

		/* a login, a command, or a service that has to run, can still run elsewhere */
		if (!service || never)
			return make_remedy(REMEDY_ISOLATE, ISOLATE, cpu);
		if (listed)
			return make_remedy(REMEDY_POLICY, STOP, NULL);
		return make_remedy(REMEDY_UNIT, "systemctl stop %s", source->unit);
	}
	for (const struct remedy_rule *rule = remedy_rules;
		rule < remedy_rules + ELEMENTS(remedy_rules); rule++)
		if (rule->kind == source->kind && fnmatch(rule->pattern, source->name, 0) == 0)
			return make_remedy(rule->remedy, rule->how, cpu);
	return make_remedy(REMEDY_NONE, "nothing", NULL);
}
