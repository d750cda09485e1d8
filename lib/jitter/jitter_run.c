/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a stored jitter run says: see jitter_run.h. The remedies name the checks of emp-setup(1). */
#include "lib/jitter/jitter_run.h"

#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/base/xalloc.h"
#include "lib/host/system/policy.h"
#include "lib/report/run_result.h"
#include "lib/jitter/jitter_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Rows by the id of their source; those with a count of 0 are not in the table. */
struct row_sums {
	struct jitter_row *rows;
	double *squares;
	const struct sources *sources;
};

static void row_sums_clear(struct row_sums *sums)
{
	free(sums->rows);
	free(sums->squares);
}

static struct row_sums row_sums_begin(const struct sources *sources)
{
	return (struct row_sums){
		xcalloc(sources->n, sizeof(struct jitter_row)), xcalloc(sources->n, sizeof(double)), sources};
}

/* Adds to the row of a source. NULL with a sentence: there is no such source. */
static struct jitter_row *row_sums_add(
	struct row_sums *sums, uint32_t source, const struct jitter_row *more, struct error *err)
{
	struct jitter_row *row;

	if (source == 0 || source > sums->sources->n) {
		error_say(err, -EBADMSG, "the lab book is damaged: it has no source %u", source);
		return NULL;
	}
	row = &sums->rows[source - 1];
	row->source = &sums->sources->items[source - 1];
	row->min_ns = row->count == 0 || more->min_ns < row->min_ns ? more->min_ns : row->min_ns;
	row->max_ns = more->max_ns > row->max_ns ? more->max_ns : row->max_ns;
	row->count = saturate_add(row->count, more->count);
	row->total_ns = saturate_add(row->total_ns, more->total_ns);
	return row;
}

static int by_total_and_name(const void *x, const void *y)
{
	const struct jitter_row *a = x, *b = y;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return strcmp(a->source->name, b->source->name);
}

/* The rows that have something, in order, with what follows from their sums. Shares are of all rows but those of the kind left out. */
static struct jitter_table row_sums_table(struct row_sums *sums, enum source_kind left_out)
{
	struct jitter_table table = {};

	for (size_t i = 0; i < sums->sources->n; i++) {
		struct jitter_row *row = &sums->rows[i];
		double n = (double)row->count;

		if (row->count == 0)
			continue;
		row->mean_ns = (double)row->total_ns / n;
		row->sd_ns = n > 1 ? sqrt(fmax(sums->squares[i] - n * row->mean_ns * row->mean_ns, 0) /
					     (n - 1))
				   : 0;
		if (row->source->kind != left_out)
			table.total_ns = saturate_add(table.total_ns, row->total_ns);
		sums->rows[table.n++] = *row;
	}
	table.rows = TAKE(sums->rows);
	for (size_t i = 0; i < table.n && table.total_ns > 0; i++)
		if (table.rows[i].source->kind != left_out)
			table.rows[i].share = (double)table.rows[i].total_ns / (double)table.total_ns;
	qsort(table.rows, table.n, sizeof(*table.rows), by_total_and_name);
	return table;
}

int jitter_table_make(struct jitter_table *ret, const struct jitter *jitter, enum jitter_level level,
	const struct sources *sources, struct error *err)
{
	_cleanup_(row_sums_clear) struct row_sums sums = row_sums_begin(sources);

	for (size_t i = 0; i < jitter->n_sources; i++) {
		const struct jitter_source *s = &jitter->sources[i];
		const struct jitter_row more = {
			.count = s->count, .total_ns = s->total_ns, .min_ns = s->min_ns, .max_ns = s->max_ns};
		struct jitter_row *row;

		if (s->level != level)
			continue;
		row = row_sums_add(&sums, s->source, &more, err);
		if (!row)
			return -EBADMSG;
		row->period_ns = row->period_ns > s->period_ns ? row->period_ns : s->period_ns;
		row->rounds += (double)s->rounds;
		row->round_squares_ns2 += s->round_squares_ns2;
		row->round_steps_ns2 += s->round_steps_ns2;
		sums.squares[s->source - 1] += s->squares_ns2;
	}
	*ret = row_sums_table(&sums, SOURCE_OUTSIDE);
	return 0;
}

int jitter_peak_make(struct jitter_peak *ret, const struct jitter *jitter, int64_t low_ns, int64_t high_ns,
	const struct sources *sources, struct error *err)
{
	_cleanup_(row_sums_clear) struct row_sums sums = row_sums_begin(sources);
	struct jitter_peak peak = {.low_ns = low_ns, .high_ns = high_ns};

	for (size_t i = 0; i < jitter->n_buckets; i++) {
		const struct jitter_bucket *b = &jitter->buckets[i];
		const struct jitter_row more = {.count = b->count,
			.total_ns = b->total_ns,
			.min_ns = b->low_ns,
			.max_ns = b->high_ns};

		if (b->high_ns <= low_ns || b->low_ns > high_ns ||
			(b->level != JITTER_TIME && b->level != JITTER_USER))
			continue;
		peak.low_ns = b->low_ns < peak.low_ns ? b->low_ns : peak.low_ns;
		peak.high_ns = b->high_ns > peak.high_ns ? b->high_ns : peak.high_ns;
		if (b->level == JITTER_USER) {
			peak.gaps = saturate_add(peak.gaps, b->count);
			peak.gaps_ns = saturate_add(peak.gaps_ns, b->total_ns);
		} else if (!row_sums_add(&sums, b->source, &more, err)) {
			return -EBADMSG;
		}
	}
	peak.table = row_sums_table(&sums, N_SOURCE_KINDS);
	*ret = peak;
	return 0;
}

void jitter_table_clear(struct jitter_table *table)
{
	free(table->rows);
	*table = (struct jitter_table){};
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* -1: not known. */
static int64_t sum_known(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : saturate_add(a, b);
}

struct jitter_cpu jitter_all_cpus(const struct jitter *jitter)
{
	struct jitter_cpu all = {.cpu = jitter->n_cpus == 1 ? jitter->cpus[0].cpu : -1,
		.outside_kernel = -1,
		.outside_kernel_ns = -1,
		.steal_ns = -1,
		.smis = -1};

	for (const struct jitter_cpu *c = jitter->cpus; c < jitter->cpus + jitter->n_cpus; c++) {
#define SUM(member) all.member = saturate_add(all.member, c->member)
		SUM(rounds), SUM(wall_ns), SUM(sampled_ns), SUM(gaps), SUM(gaps_ns);
		SUM(explained), SUM(explained_ns), SUM(chance), SUM(chance_ns), SUM(periodic),
			SUM(periodic_ns);
		SUM(unexplained), SUM(unexplained_ns), SUM(events), SUM(lost), SUM(broken), SUM(in_no_gap);
#undef SUM
		all.smallest_gap_ns = greater(all.smallest_gap_ns, c->smallest_gap_ns);
		all.threshold_ns = greater(all.threshold_ns, c->threshold_ns);
		all.outside_kernel = sum_known(all.outside_kernel, c->outside_kernel);
		all.outside_kernel_ns = sum_known(all.outside_kernel_ns, c->outside_kernel_ns);
		all.steal_ns = sum_known(all.steal_ns, c->steal_ns);
		all.smis = sum_known(all.smis, c->smis);
		all.event_cost_ns = greater(all.event_cost_ns, c->event_cost_ns);
	}
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

__attribute__((format(printf, 2, 3))) static struct remedy make_remedy(
	enum remedy_kind kind, const char *format, ...)
{
	struct remedy remedy = {.kind = kind};
	va_list list;

	va_start(list, format);
	vsnprintf(remedy.how, sizeof(remedy.how), format, list);
	va_end(list);
	return remedy;
}

struct remedy jitter_remedy(const struct remedy_facts *facts)
{
	const struct source *source = facts->source;
	char cpu[16] = "N";

	if (facts->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", facts->cpu);
	if (source->kind == SOURCE_PROCESS) {
		bool service = source->unit && fnmatch("*.service", source->unit, 0) == 0 &&
			       fnmatch("user@*", source->unit, 0) != 0;

		/* a login, a command, or a service that has to run, can still run elsewhere */
		if (!service || facts->never)
			return make_remedy(REMEDY_ISOLATE, ISOLATE, cpu);
		if (facts->listed)
			return make_remedy(REMEDY_POLICY, STOP);
		return make_remedy(REMEDY_UNIT, "systemctl stop %s", source->unit);
	}
	for (size_t i = 0; i < ELEMENTS(remedy_rules); i++) {
		const struct remedy_rule *rule = &remedy_rules[i];

		if (rule->kind != source->kind || fnmatch(rule->pattern, source->name, 0) != 0)
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		return make_remedy(rule->remedy, rule->how, cpu, cpu);
#pragma GCC diagnostic pop
	}
	return make_remedy(REMEDY_NONE, "nothing");
}

int jitter_run_load(struct book *book, int64_t id, struct jitter_run *ret, struct error *err)
{
	_cleanup_(jitter_run_clear) struct jitter_run run = {};
	_cleanup_(machine_clear) struct machine machine;
	bool here = false;
	int r;

	machine_read(&machine, AT_FDCWD);
	r = book_get_run(book, id, &run.run, err);
	if (r == 0)
		r = book_get_jitter(book, id, &run.jitter, err);
	if (r == 0)
		r = book_sources(book, &run.sources, err);
	if (r == 0)
		r = jitter_table_make(&run.frequency, &run.jitter, JITTER_FREQUENCY, &run.sources, err);
	if (r == 0)
		r = jitter_table_make(&run.time, &run.jitter, JITTER_TIME, &run.sources, err);
	if (r == 0)
		r = run_is_from(book, &run.run, machine.id, &here, err);
	if (r == 0)
		r = document_make_context(book, run.run.environment, run.run.started_ns, &run.context, err);
	if (r < 0)
		return r;
	/* without a policy, sources have the remedies that every machine has */
	if (here && policy_load(&run.policy, policy_directories(), NULL, &machine, &(struct error){}) < 0)
		run.policy = NULL;
	run.all = jitter_all_cpus(&run.jitter);
	*ret = TAKE_STRUCT(run);
	return 0;
}

void jitter_run_clear(struct jitter_run *run)
{
	run_clear(&run->run);
	jitter_clear(&run->jitter);
	sources_clear(&run->sources);
	jitter_table_clear(&run->frequency);
	jitter_table_clear(&run->time);
	policy_free(run->policy);
	json_decref(run->context);
	*run = (struct jitter_run){};
}

const char *jitter_run_outside(const struct jitter_run *run)
{
	for (size_t i = 0; i < run->frequency.n; i++)
		if (run->frequency.rows[i].source->kind == SOURCE_OUTSIDE)
			return run->frequency.rows[i].source->name;
	return "nothing";
}

struct remedy jitter_run_remedy(const struct jitter_run *run, const struct source *source)
{
	const struct policy *policy = source->unit ? run->policy : NULL;
	const struct remedy_facts facts = {
		.source = source,
		.cpu = run->all.cpu,
		.never = policy ? policy_never(policy, source->unit) : NULL,
		.listed = policy && policy_stop(policy, source->unit),
	};

	return jitter_remedy(&facts);
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
		.before = before,
		.after = after,
		.before_share = a.time_ns > 0 ? a.total_ns / a.time_ns : 0,
		.after_share = b.time_ns > 0 ? b.total_ns / b.time_ns : 0,
		.ratio = rate_ratio(&a, &b),
		.p = fmin(1, 2 * fmin(more, less)),
	};

	rate_ratio_interval(&a, &b, &change.low, &change.high);
	return change;
}

/* Chance is shared out by the time that a source took in both runs, so that many short ones do not hide a long one. */
static double change_weight(const struct jitter_change *c)
{
	return fmax(sqrt(c->before_share + c->after_share), 1e-9);
}

static int by_weighted_p(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = a->p / change_weight(a), of_b = b->p / change_weight(b);

	return (of_a > of_b) - (of_a < of_b);
}

static int by_share_difference(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = fabs(a->after_share - a->before_share), of_b = fabs(b->after_share - b->before_share);

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
	struct jitter_changes changes = {.items = xcalloc(before->n + after->n, sizeof(*changes.items))};

	for (const struct jitter_row *row = after->rows; row < after->rows + after->n; row++)
		changes.items[changes.n++] = compare_rows(
			find_row(before, row->source->id), before_cpus, row, after_cpus);
	for (const struct jitter_row *row = before->rows; row < before->rows + before->n; row++)
		if (!find_row(after, row->source->id))
			changes.items[changes.n++] = compare_rows(row, before_cpus, NULL, after_cpus);

	/* Holm's procedure with weights (1979, section 4): each p is divided by its weight's share in
	 * those that are not smaller, and is not less than those before it. */
	double least = 0, weights = 0;

	qsort(changes.items, changes.n, sizeof(*changes.items), by_weighted_p);
	for (size_t i = 0; i < changes.n; i++)
		weights += change_weight(&changes.items[i]);
	for (size_t i = 0; i < changes.n; i++) {
		struct jitter_change *c = &changes.items[i];

		c->p = least = fmax(least, fmin(1, c->p * fmax(weights / change_weight(c), 1)));
		weights -= change_weight(c);

		bool firm = c->p < SIGNIFICANT;

		if (!c->before)
			c->kind = firm ? CHANGE_NEW : CHANGE_UNCLEAR;
		else if (!c->after)
			c->kind = firm ? CHANGE_GONE : CHANGE_UNCLEAR;
		else if (!firm)
			c->kind = CHANGE_NONE;
		else
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
