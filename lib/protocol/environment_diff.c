/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two fingerprints, and what their differences mean for a profile: see
 * environment_diff.h. */
#include "lib/protocol/environment_diff.h"

#include <fnmatch.h>

static bool holds_only(const json_t *array, json_type type)
{
	size_t i;
	json_t *item;

	json_array_foreach (array, i, item)
		if (json_typeof(item) != type)
			return false;
	return json_is_array(array);
}

/* Of a list of texts: "a, b, c and 27 more". */
static char *json_value_text(const json_t *value)
{
	enum { MOST = 10 };
	size_t i, n = json_array_size(value);
	char *list = NULL;
	json_t *item;

	if (!value || json_is_null(value))
		return xstrdup("nothing");
	if (json_is_string(value))
		return text_format("'%s'", json_string_value(value));
	if (n == 0 || !holds_only(value, JSON_STRING))
		return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	json_array_foreach (value, i, item)
		if (i < MOST)
			text_append(&list, ", ", "%s", json_string_value(item));
	if (n > MOST)
		text_append(&list, " ", "and %zu more", n - MOST);
	return list;
}

/* Takes the texts over. */
static void add_texts(struct differences *d, char *what, char *before, char *now)
{
	*array_add(d->items, d->n) = (struct difference){false, what, before, now};
}

static bool is_tree(const json_t *value)
{
	return json_is_object(value) && json_object_size(value) > 0;
}

/* One difference for each text of a set that another does not have: "units.cron.service". */
static void compare_text_sets(struct differences *d, const char *name, const json_t *set,
	const json_t *other, const char *before, const char *now)
{
	size_t i, k;
	json_t *item, *same;

	json_array_foreach (set, i, item) {
		bool both = false;

		json_array_foreach (other, k, same)
			both |= json_equal(item, same);
		if (!both)
			add_texts(d, text_format("%s.%s", name, json_string_value(item)),
				xstrdup(before), xstrdup(now));
	}
}

/* The entry for a number: it has the numbers from "first" to "last", else its index. *ret_end
 * becomes the last number up to which that does not change, if it is lower. */
static json_t *entry_for(const json_t *array, json_int_t number, json_int_t *ret_end)
{
	json_t *entry, *found = NULL;
	size_t i;

	json_array_foreach (array, i, entry) {
		const json_t *of_first = json_object_get(entry, "first"),
			     *of_last = json_object_get(entry, "last");
		json_int_t first = of_first ? json_integer_value(of_first) : (json_int_t)i;
		json_int_t last = of_last ? json_integer_value(of_last) : first;

		if (first > number && first - 1 < *ret_end)
			*ret_end = first - 1;
		if (first > number || last < number)
			continue;
		found = entry;
		*ret_end = last < *ret_end ? last : *ret_end;
	}
	return found;
}

static void compare_trees(struct differences *d, const char *prefix, json_t *before, json_t *now);

/* The members of two lists of entries, for each range of numbers in which neither list changes. */
static void compare_entries(
	struct differences *d, const char *list, const json_t *before, const json_t *now)
{
	for (json_int_t first = 0, last;; first = last + 1) {
		_cleanup_(freep) char *name = NULL;
		json_t *old, *fresh;

		last = INT64_MAX;
		old = entry_for(before, first, &last);
		fresh = entry_for(now, first, &last);
		if (last == INT64_MAX)
			break;
		name = first == last ? text_format("%s.%d", list, (int)first)
				     : text_format("%s.%d-%d", list, (int)first, (int)last);
		if (old && fresh)
			compare_trees(d, name, old, fresh);
		else if (old || fresh)
			add_texts(d, TAKE(name), json_value_text(old), json_value_text(fresh));
	}
}

/* Whether a tree is compared with another one, or with none: what a machine does not have is null,
 * which may stand for a whole tree. */
static bool are_trees(const json_t *old, const json_t *fresh)
{
	if (is_tree(old))
		return is_tree(fresh) || json_is_null(fresh);
	return is_tree(fresh) && json_is_null(old);
}

/* Two different values of one name. */
static void compare_values(struct differences *d, const char *name, json_t *old, json_t *fresh)
{
	if (are_trees(old, fresh)) {
		compare_trees(d, name, old, fresh);
	} else if (holds_only(old, JSON_STRING) && holds_only(fresh, JSON_STRING)) {
		compare_text_sets(d, name, old, fresh, "present", "gone");
		compare_text_sets(d, name, fresh, old, "absent", "present");
	} else if (holds_only(old, JSON_OBJECT) && holds_only(fresh, JSON_OBJECT)) {
		compare_entries(d, name, old, fresh);
	} else {
		add_texts(d, xstrdup(name), json_value_text(old), json_value_text(fresh));
	}
}

/* A member that only one of them has is no difference: versions of EMP record more or less. "first"
 * and "last" are the range of an entry. */
static void compare_trees(struct differences *d, const char *prefix, json_t *before, json_t *now)
{
	const char *key;
	json_t *value;

	json_object_foreach (is_tree(before) ? before : now, key, value) {
		_cleanup_(freep) char *name = text_format(
			"%s%s%s", prefix, *prefix ? "." : "", key);
		json_t *old = json_is_null(before) ? before : json_object_get(before, key);
		json_t *fresh = json_is_null(now) ? now : json_object_get(now, key);

		if (!strcmp(key, "first") || !strcmp(key, "last"))
			continue;
		if (old && fresh && !json_equal(old, fresh))
			compare_values(d, name, old, fresh);
	}
}

struct differences environment_diff(const json_t *before, const json_t *now)
{
	struct differences d = {};

	compare_trees(
		&d, "", json_object_get(before, "identity"), json_object_get(now, "identity"));
	for (size_t i = 0; i < d.n; i++)
		d.items[i].identity = true;
	compare_trees(
		&d, "", json_object_get(before, "settings"), json_object_get(now, "settings"));
	return d;
}

void differences_clear(struct differences *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].what);
		free(d->items[i].before);
		free(d->items[i].now);
	}
	free(d->items);
	*d = (struct differences){};
}

#define TURBO_WHY "how long turbo lasts depends on temperature and on the other CPUs"
#define PREFERENCE_WHY "other values let the processor save energy by itself"
#define POLICIES "frequency.policies.*."

// clang-format off
/* The first row that matches counts. What the audit advises (levels A and B) matters; what it
 * has as optional may not. */
const struct difference_rule difference_rules[] = {
	{true, "cpu.microcode", VALIDITY_REPEAT_SHORT, true,
		"microcode changes the cost of instructions", NULL},
	{true, "firmware.version", VALIDITY_REPEAT_SHORT, true,
		"firmware sets power limits and clocks", NULL},
	{true, "kernel.*", VALIDITY_REPEAT_SHORT, true,
		"a new kernel has other workers and another scheduler", NULL},
	{true, "system.name", VALIDITY_HOLDS, true, "only a name", NULL},
	{true, "system.*", VALIDITY_REPEAT_SHORT, true, "a new system has other daemons", NULL},
	{true, "*", VALIDITY_REPEAT_ALL, false, "this is another machine", NULL},

	{false, POLICIES "governor", VALIDITY_REPEAT_ALL, true,
		"other governors change the clock frequency with the load", "freq.governor"},
	{false, POLICIES "driver", VALIDITY_REPEAT_ALL, true,
		"the driver decides which of the other switches exist, and what they mean",
		"freq.driver"},
	{false, POLICIES "min_khz", VALIDITY_REPEAT_ALL, true,
		"a clock that may slow down takes time to speed up again", "freq.min"},
	{false, POLICIES "max_khz", VALIDITY_REPEAT_ALL, true,
		"equal lower and upper limits fix the clock", "freq.max"},
	{false, POLICIES "preference", VALIDITY_REPEAT_ALL, true, PREFERENCE_WHY, "epp"},
	{false, POLICIES "boost", VALIDITY_REPEAT_ALL, true, TURBO_WHY, "turbo.policy"},
	{false, "frequency.boost", VALIDITY_REPEAT_ALL, true, TURBO_WHY, "turbo.boost"},
	{false, "frequency.no_turbo", VALIDITY_REPEAT_ALL, true, TURBO_WHY, "turbo.intel"},
	{false, "frequency.max_perf_pct", VALIDITY_REPEAT_ALL, true,
		"it caps the clock below the policies' limits, which do not show it", "pstate.pct"},
	{false, "frequency.*", VALIDITY_REPEAT_ALL, true,
		"times change with clock frequency", NULL},
	{false, "power.platform_profile", VALIDITY_REPEAT_ALL, true,
		"in other profiles the firmware limits the processor's power", "platform"},
	{false, "power.energy_perf_bias*", VALIDITY_REPEAT_ALL, true, PREFERENCE_WHY, "epb"},
	{false, "power.limits*", VALIDITY_REPEAT_ALL, true,
		"a processor at its power limit lowers its clock", "power.limit"},
	{false, "power.uncore*", VALIDITY_REPEAT_ALL, true,
		"the clock of the last cache and of the memory's controller changes with the "
		"load", "uncore"},
	{false, "power.aspm", VALIDITY_HOLDS, true,
		"a PCI Express link takes time to wake up", "aspm"},
	{false, "clock.source", VALIDITY_REPEAT_SHORT, true,
		"other counters take longer to read and are coarser", "clocksource"},
	{false, "boot.command_line", VALIDITY_REPEAT_SHORT, true,
		"kernel options change what runs where", NULL},

	{false, "cpus.smt", VALIDITY_REPEAT_SHORT, true,
		"the other thread of a core uses the same units and caches", "smt"},
	{false, "cpus.types*", VALIDITY_REPEAT_SHORT, true,
		"the same work takes more CPU time on a slow core, up to twice as much",
		"core.type"},
	{false, "cpus.isolated", VALIDITY_REPEAT_SHORT, true,
		"the kernel does not move other tasks to an isolated CPU", "isolated"},
	{false, "cpus.nohz_full", VALIDITY_REPEAT_SHORT, true,
		"the tick interrupts a program 100 to 1000 times a second", "nohz_full"},
	{false, "cpus.rcu_nocbs", VALIDITY_REPEAT_SHORT, true,
		"the kernel frees memory on the CPU where it was last used (RCU callbacks)",
		"rcu_nocbs"},
	{false, "cpus.*", VALIDITY_REPEAT_SHORT, true,
		"daemons and program share the CPUs differently", NULL},
	{false, "idle.*", VALIDITY_REPEAT_SHORT, true, "idle wake-up latency changes", NULL},

	{false, "kernel_options.*", VALIDITY_REPEAT_SHORT, true,
		"the kernel accounts or schedules differently", NULL},
	{false, "vulnerabilities.*", VALIDITY_REPEAT_SHORT, true,
		"mitigations cost time at every kernel entry", NULL},
	{false, "kernel.aslr", VALIDITY_REPEAT_SHORT, true,
		"each address layout has its own cache and branch conflicts: fixed ones hide "
		"them, random ones add to the spread", NULL},
	{false, "kernel.nmi_watchdog", VALIDITY_REPEAT_SHORT, true,
		"the watchdog interrupts every CPU and uses a hardware counter", "nmi"},
	{false, "kernel.watchdog", VALIDITY_REPEAT_SHORT, true,
		"the watchdog wakes up on every CPU every few seconds", NULL},
	{false, "kernel.numa_balancing", VALIDITY_REPEAT_SHORT, true,
		"the kernel unmaps pages now and then to see who uses them", "numa.bal"},
	{false, "kernel.default_irq_affinity", VALIDITY_REPEAT_SHORT, true,
		"new interrupts may be handled on the core that programs are timed on",
		"irq.default"},
	{false, "kernel.workqueue_cpumask", VALIDITY_REPEAT_SHORT, true,
		"the kernel does work of its own on the core that programs are timed on",
		"workqueue"},
	{false, "kernel.perf_cpu_time_max_percent", VALIDITY_REPEAT_SHORT, true,
		"it limits the CPU time of a profiler", NULL},
	{false, "kernel.sched_*", VALIDITY_REPEAT_SHORT, true,
		"how soon another task gets the CPU depends on them", "sched"},
	{false, "kernel.timer_migration", VALIDITY_HOLDS, true,
		"timers of idle CPUs move to busy ones", "timer.mig"},
	{false, "kernel.hung_task_timeout_s", VALIDITY_HOLDS, true,
		"the kernel looks at all processes once in this interval", "hung"},
	{false, "kernel.delayacct", VALIDITY_HOLDS, true,
		"while it is 0, only waiting times (disk, swap, interrupts) are missing",
		"delayacct"},

	{false, "memory.thp*", VALIDITY_REPEAT_SHORT, true,
		"the kernel assembles huge pages in the background", "thp"},
	{false, "memory.mthp*", VALIDITY_REPEAT_SHORT, true,
		"pages of several sizes: memory costs differ from run to run, with how "
		"fragmented it is", "mthp"},
	{false, "memory.hugepages", VALIDITY_REPEAT_SHORT, true,
		"huge pages change the cost of memory accesses", NULL},
	{false, "memory.ksm", VALIDITY_REPEAT_SHORT, true,
		"the kernel scans memory for pages to merge", "ksm"},
	{false, "memory.zswap", VALIDITY_REPEAT_SHORT, true,
		"the kernel compresses pages instead of swapping them", "zswap"},
	{false, "memory.zone_reclaim", VALIDITY_REPEAT_SHORT, true,
		"memory may come from another NUMA node", NULL},
	{false, "memory.compaction", VALIDITY_REPEAT_SHORT, true,
		"the kernel moves pages in the background", NULL},
	{false, "memory.stat_interval_s", VALIDITY_HOLDS, true,
		"every CPU updates its memory statistics once in this interval", "vmstat"},
	{false, "units*", VALIDITY_REPEAT_SHORT, true, "daemons were added or removed", NULL},
	{false, "libc", VALIDITY_REPEAT_SHORT, true,
		"another libc has other code for memory, texts and mathematics", NULL},
	{false, "*", VALIDITY_HOLDS, true, "hardly affects compute-bound programs", NULL},
	{},
};
// clang-format on

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
	const struct difference_rule *rule = difference_rules;

	while (rule->identity != d->identity || fnmatch(rule->pattern, d->what, 0) != 0)
		rule++; /* "*" ends the search */
	return rule;
}

const char *difference_why(const char *check)
{
	for (const struct difference_rule *rule = difference_rules; rule->pattern; rule++)
		if (rule->check && !strcmp(rule->check, check))
			return rule->why;
	return NULL;
}

char *differences_description(const struct differences *d, size_t most, bool demanding)
{
	char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct difference *item = &d->items[i];

		if (demanding && difference_rule(item)->demand == VALIDITY_HOLDS)
			continue;
		if (n++ < most)
			text_append(&text, "; ", "%s was %s, is %s", item->what, item->before,
				item->now);
	}
	if (n > most)
		text_append(&text, "; ", "and %zu more", n - most);
	return text ?: xstrdup("");
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
