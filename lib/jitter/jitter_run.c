/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of a stored jitter run, remedies, and changes since a baseline: see jitter_run.h. The
 * remedies name the checks of emp-setup(1). */
#include "lib/jitter/jitter_run.h"

#include "lib/jitter/jitter_internal.h"

#include <fnmatch.h>
#include <math.h>

/* Adds to the row of a source. While a table is made, its rows are those of all sources by id, and
 * those with a count of 0 are not in it. -EBADMSG, with a sentence: there is no such source. */
static int add_to_row(struct jitter_table *table, const struct sources *sources,
	const struct jitter_source *more, struct error *err)
{
	struct jitter_row *row;

	if (more->source == 0 || more->source > sources->n)
		return error_say(err, -EBADMSG, "the lab book is damaged: it has no source %u",
			more->source);
	row = &table->rows[more->source - 1];
	row->source = &sources->items[more->source - 1];
	row->min_ns = row->count == 0 || more->min_ns < row->min_ns ? more->min_ns : row->min_ns;
	row->max_ns = more->max_ns > row->max_ns ? more->max_ns : row->max_ns;
	row->count = saturate_add(row->count, more->count);
	row->total_ns = saturate_add(row->total_ns, more->total_ns);
	row->squares_ns2 += more->squares_ns2;
	row->period_ns = row->period_ns > more->period_ns ? row->period_ns : more->period_ns;
	row->rounds += (double)more->rounds;
	row->round_squares_ns2 += more->round_squares_ns2;
	row->round_steps_ns2 += more->round_steps_ns2;
	return 0;
}

static int by_total_and_name(const void *x, const void *y)
{
	const struct jitter_row *a = x, *b = y;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return strcmp(a->source->name, b->source->name);
}

/* Leaves the rows that have something, in order, with what follows from their sums. Shares are of
 * all rows but those of the kind left out. */
static void finish_rows(struct jitter_table *table, size_t n_sources, enum source_kind left_out)
{
	for (size_t i = 0; i < n_sources; i++) {
		struct jitter_row *row = &table->rows[i];
		double n = (double)row->count;

		if (row->count == 0)
			continue;
		row->mean_ns = (double)row->total_ns / n;
		if (n > 1)
			row->sd_ns = sqrt(
				fmax(row->squares_ns2 - n * row->mean_ns * row->mean_ns, 0) /
				(n - 1));
		if (row->source->kind != left_out)
			table->total_ns = saturate_add(table->total_ns, row->total_ns);
		table->rows[table->n++] = *row;
	}
	for (size_t i = 0; i < table->n && table->total_ns > 0; i++)
		if (table->rows[i].source->kind != left_out)
			table->rows[i].share = (double)table->rows[i].total_ns /
					       (double)table->total_ns;
	qsort(table->rows, table->n, sizeof(*table->rows), by_total_and_name);
}

int jitter_table_make(struct jitter_table *ret, const struct jitter *jitter,
	enum jitter_level level, const struct sources *sources, struct error *err)
{
	_cleanup_(jitter_table_clear) struct jitter_table table = {
		.rows = xcalloc(sources->n, sizeof(*table.rows))};
	int r = 0;

	for (size_t i = 0; r == 0 && i < jitter->n_sources; i++)
		if (jitter->sources[i].level == level)
			r = add_to_row(&table, sources, &jitter->sources[i], err);
	if (r < 0)
		return r;
	finish_rows(&table, sources->n, SOURCE_OUTSIDE);
	*ret = TAKE_STRUCT(table);
	return 0;
}

int jitter_peak_make(struct jitter_peak *ret, const struct jitter *jitter, int64_t low_ns,
	int64_t high_ns, const struct sources *sources, struct error *err)
{
	_cleanup_(jitter_table_clear) struct jitter_table table = {
		.rows = xcalloc(sources->n, sizeof(*table.rows))};
	struct jitter_peak peak = {.low_ns = low_ns, .high_ns = high_ns};
	int r = 0;

	for (size_t i = 0; r == 0 && i < jitter->n_buckets; i++) {
		const struct jitter_bucket *b = &jitter->buckets[i];
		const struct jitter_source more = {.source = b->source,
			.count = b->count,
			.total_ns = b->total_ns,
			.min_ns = b->low_ns,
			.max_ns = b->high_ns};

		if (b->high_ns <= low_ns || b->low_ns > high_ns ||
			(b->level != JITTER_TIME && b->level != JITTER_USER))
			continue;
		peak.low_ns = b->low_ns < peak.low_ns ? b->low_ns : peak.low_ns;
		peak.high_ns = b->high_ns > peak.high_ns ? b->high_ns : peak.high_ns;
		if (b->level == JITTER_TIME) {
			r = add_to_row(&table, sources, &more, err);
			continue;
		}
		peak.gaps = saturate_add(peak.gaps, b->count);
		peak.gaps_ns = saturate_add(peak.gaps_ns, b->total_ns);
	}
	if (r < 0)
		return r;
	finish_rows(&table, sources->n, N_SOURCE_KINDS);
	peak.table = TAKE_STRUCT(table);
	*ret = peak;
	return 0;
}

void jitter_table_clear(struct jitter_table *table)
{
	free(table->rows);
	*table = (struct jitter_table){};
}

struct jitter_cpu jitter_all_cpus(const struct jitter *jitter)
{
	const struct field *end = jitter_cpu_table.fields + jitter_cpu_table.n;
	struct jitter_cpu all;

	fields_init(&jitter_cpu_table, &all);
	for (size_t i = 0; i < jitter->n_cpus; i++)
		for (const struct field *f = jitter_cpu_table.fields; f < end; f++) {
			bool greatest = f->offset == offsetof(struct jitter_cpu, smallest_gap_ns) ||
					f->offset == offsetof(struct jitter_cpu, threshold_ns) ||
					f->offset == offsetof(struct jitter_cpu, event_cost_ns);
			int64_t sum = field_get(f, &all), more = field_get(f, &jitter->cpus[i]);

			if (greatest || sum < 0) /* below 0: not known */
				sum = more > sum ? more : sum;
			else if (more > 0)
				sum = saturate_add(sum, more);
			field_set(f, &all, sum);
		}
	all.cpu = jitter->n_cpus == 1 ? jitter->cpus[0].cpu : -1;
	return all;
}

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

const char *const jitter_change_names[N_CHANGE_KINDS] = {
	[CHANGE_NONE] = "none",
	[CHANGE_NEW] = "new",
	[CHANGE_GONE] = "gone",
	[CHANGE_GROWN] = "grown",
	[CHANGE_SHRUNK] = "shrunk",
	[CHANGE_UNCLEAR] = "unclear",
};

static const double SIGNIFICANT = 0.05;

static struct rate jitter_rate_of(const struct jitter_row *row, const struct jitter_cpu *cpus)
{
	struct rate rate = {.n = (double)cpus->rounds, .time_ns = (double)cpus->sampled_ns};

	if (!row)
		return rate;
	rate.with = row->rounds;
	rate.total_ns = (double)row->total_ns;
	rate.squares = row->round_squares_ns2;
	rate.steps = row->round_steps_ns2;
	return rate;
}

/* p is not adjusted yet; it is two-sided. */
static struct jitter_change compare_rows(const struct jitter_row *before,
	const struct jitter_cpu *before_cpus, const struct jitter_row *after,
	const struct jitter_cpu *after_cpus)
{
	struct rate a = jitter_rate_of(before, before_cpus), b = jitter_rate_of(after, after_cpus);
	double more = rate_more(&a, &b, JITTER_MARGIN), less = rate_more(&b, &a, JITTER_MARGIN);
	struct jitter_change change = {
		.source = after ? after->source : before->source,
		.before = before,
		.after = after,
		.before_share = a.time_ns > 0 ? a.total_ns / a.time_ns : 0,
		.after_share = b.time_ns > 0 ? b.total_ns / b.time_ns : 0,
		.p = fmin(1, 2 * fmin(more, less)),
	};

	change.weight = fmax(sqrt(change.before_share + change.after_share), 1e-9);
	change.ratio = rate_ratio(&a, &b, &change.low, &change.high);
	return change;
}

static int by_weighted_p(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = a->p / a->weight, of_b = b->p / b->weight;

	return (of_a > of_b) - (of_a < of_b);
}

static int by_share_difference(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = fabs(a->after_share - a->before_share),
	       of_b = fabs(b->after_share - b->before_share);

	return (of_a < of_b) - (of_a > of_b);
}

static const struct jitter_row *find_row(const struct jitter_table *table, int64_t source)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i].source->id == source)
			return &table->rows[i];
	return NULL;
}

struct jitter_changes jitter_changes_make(const struct jitter_table *before,
	const struct jitter_cpu *before_cpus, const struct jitter_table *after,
	const struct jitter_cpu *after_cpus)
{
	struct jitter_changes changes = {
		.items = xcalloc(before->n + after->n, sizeof(*changes.items))};
	double least = 0, weights = 0;

	for (size_t i = 0; i < after->n; i++) {
		const struct jitter_row *row = &after->rows[i];

		changes.items[changes.n++] = compare_rows(
			find_row(before, row->source->id), before_cpus, row, after_cpus);
	}
	for (size_t i = 0; i < before->n; i++) {
		const struct jitter_row *row = &before->rows[i];

		if (!find_row(after, row->source->id))
			changes.items[changes.n++] = compare_rows(
				row, before_cpus, NULL, after_cpus);
	}
	/* Holm's procedure with weights (1979, section 4): each p is divided by its weight's share
	 * in those that are not smaller, and is not less than those before it. */
	qsort(changes.items, changes.n, sizeof(*changes.items), by_weighted_p);
	for (size_t i = 0; i < changes.n; i++)
		weights += changes.items[i].weight;
	for (size_t i = 0; i < changes.n; i++) {
		struct jitter_change *c = &changes.items[i];
		bool firm;

		c->p = least = fmax(least, fmin(1, c->p * fmax(weights / c->weight, 1)));
		weights -= c->weight;
		firm = c->p < SIGNIFICANT;
		if (!c->before)
			c->kind = firm ? CHANGE_NEW : CHANGE_UNCLEAR;
		else if (!c->after)
			c->kind = firm ? CHANGE_GONE : CHANGE_UNCLEAR;
		else if (firm)
			c->kind = c->ratio > 1 ? CHANGE_GROWN : CHANGE_SHRUNK;
		if (c->kind == CHANGE_NEW)
			changes.new_share += c->after->share;
	}
	qsort(changes.items, changes.n, sizeof(*changes.items), by_share_difference);
	return changes;
}

void jitter_changes_clear(struct jitter_changes *changes)
{
	free(changes->items);
	*changes = (struct jitter_changes){};
}
