/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is printed of a jitter run: see jitter.h. */
#include "calibrate/jitter/jitter.h"

#include "calibrate/calibrate.h"

#include "lib/base/text.h"
#include "lib/report/listing.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 10 };

static const struct listing_column columns[] = {
	{"SOURCE", "source", COLUMN_WRAP},
	{"KIND", "kind", COLUMN_TEXT},
	{"UNIT", "unit", COLUMN_WRAP},
	{NULL, "cpu", COLUMN_NUMBER},
	{"COUNT", "count", COLUMN_NUMBER},
	{"MIN", "min_ns", COLUMN_NUMBER},
	{"MEAN", "mean_ns", COLUMN_NUMBER},
	{"MAX", "max_ns", COLUMN_NUMBER},
	{"TOTAL", "total_ns", COLUMN_NUMBER},
	{"SHARE", NULL, COLUMN_NUMBER},
	{"PERIOD", "period_ns", COLUMN_NUMBER},
	{},
};

static int by_total(const void *a, const void *b)
{
	const struct jitter_source *x = *(void *const *)a, *y = *(void *const *)b;

	return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

/* Those of a CPU in the frequency domain, largest first; NULL: no memory. */
static const struct jitter_source **largest(const struct jitter *jitter, int cpu, size_t *ret_n)
{
	const struct jitter_source **rows = calloc(jitter->n_sources + 1, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; rows && i < jitter->n_sources; i++)
		if (jitter->sources[i].cpu == cpu && jitter->sources[i].level == JITTER_FREQUENCY)
			rows[n++] = &jitter->sources[i];
	if (rows)
		qsort(rows, n, sizeof(*rows), by_total);
	*ret_n = n;
	return rows;
}

static void add_row(
	struct listing *list, const struct jitter_source *row, const struct sources *sources, int64_t all_ns)
{
	const struct source *source = row->source <= sources->n ? &sources->items[row->source - 1] : NULL;
	char share[TEXT_TIME_SIZE];

	listing_row(list);
	listing_text(list, source ? source->name : NULL);
	listing_text(list, source ? source_kind_names[source->kind] : NULL);
	listing_text(list, source ? source->unit : NULL);
	listing_int(list, row->cpu);
	listing_int(list, row->count);
	listing_duration(list, row->min_ns);
	listing_duration(list, row->total_ns / row->count);
	listing_duration(list, row->max_ns);
	listing_duration(list, row->total_ns);
	listing_cell(list, NULL, text_percent(share, (double)row->total_ns / (double)(all_ns ?: 1)));
	listing_duration(list, row->period_ns ?: -1);
}

static int make_list(struct listing **ret, const struct jitter_screen *screen, int cpu, size_t most,
	size_t *ret_more, struct error *err)
{
	size_t n;
	_cleanup_(freep) const struct jitter_source **rows = largest(screen->jitter, cpu, &n);
	int64_t all_ns = 0;
	int r;

	if (!rows)
		return error_oom(err);
	r = listing_new(ret, columns, calibrate_options.json, err);
	for (size_t i = 0; i < n; i++)
		all_ns += rows[i]->total_ns;
	for (size_t i = 0; r == 0 && i < n && i < most; i++)
		add_row(*ret, rows[i], screen->sources, all_ns);
	*ret_more = n > most ? n - most : 0;
	return r;
}

static double share_of(int64_t ns, const struct jitter_cpu *cpu)
{
	return (double)ns / (double)(cpu->sampled_ns ?: 1);
}

static void print_part(
	const char *what, int64_t count, int64_t ns, const struct jitter_cpu *cpu, const char *more)
{
	char share[TEXT_TIME_SIZE];

	printf("  %-12s %7s of the time, %" PRId64 " gaps%s\n", what, text_percent(share, share_of(ns, cpu)),
		count, more);
}

static void print_gaps(const struct jitter_cpu *cpu)
{
	char share[TEXT_TIME_SIZE], threshold[TEXT_TIME_SIZE], smallest[TEXT_TIME_SIZE], more[96] = "";

	printf("  Gaps over %s (smallest: %s): %" PRId64 ", %s of the time\n",
		text_duration(threshold, cpu->threshold_ns), text_duration(smallest, cpu->smallest_gap_ns),
		cpu->gaps, text_percent(share, share_of(cpu->gaps_ns, cpu)));
	snprintf(more, sizeof(more), " (by chance %s, %" PRId64 ")",
		text_percent(share, share_of(cpu->chance_ns, cpu)), cpu->chance);
	print_part("explained", cpu->explained, cpu->explained_ns, cpu, more);
	if (cpu->period_ns) {
		snprintf(more, sizeof(more), ", every %s", text_duration(share, cpu->period_ns));
		print_part("periodic", cpu->periodic, cpu->periodic_ns, cpu, more);
	}
	print_part("unexplained", cpu->unexplained, cpu->unexplained_ns, cpu, "");
}

/* What a reader must know before relying on it. */
static void print_limits(const struct jitter_cpu *cpu)
{
	char cost[TEXT_TIME_SIZE], share[TEXT_TIME_SIZE];

	if (cpu->lost > 0)
		printf("  Warning: %" PRId64
		       " events were lost, so gaps may lack their names; use a larger --buffer\n",
			cpu->lost);
	if (cpu->broken > 0)
		printf("  Warning: the trace lacks switches of tasks in %" PRId64
		       " places (\"unknown task\")\n",
			cpu->broken);
	if (cpu->outside > 0)
		printf("  Note: %" PRId64 " of the trace's intervals lie in no gap\n", cpu->outside);
	if (cpu->event_cost_ns > 0)
		printf("  Tracing took about %s of the time (%s an event)\n",
			text_percent(share, share_of(cpu->events * cpu->event_cost_ns, cpu)),
			text_duration(cost, cpu->event_cost_ns));
}

static int print_cpu(const struct jitter_screen *screen, const struct jitter_cpu *cpu, struct error *err)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	char wall[TEXT_TIME_SIZE], share[TEXT_TIME_SIZE];
	size_t more = 0;
	int r = make_list(&list, screen, cpu->cpu, calibrate_options.verbose ? SIZE_MAX : SHOWN, &more, err);

	if (r < 0)
		return r;
	printf("CPU %d, %s: %s of the time sampled, %" PRId64 " of %" PRId64 " events lost\n", cpu->cpu,
		text_duration(wall, cpu->wall_ns),
		text_percent(share, (double)cpu->sampled_ns / (double)(cpu->wall_ns ?: 1)), cpu->lost,
		cpu->events + cpu->lost);
	print_gaps(cpu);
	print_limits(cpu);
	r = listing_print(list, stdout, err);
	if (r == 0 && more > 0)
		printf("and %zu more (-v)\n", more);
	return r;
}

static json_t *cpu_document(const struct jitter_cpu *c, const struct jitter_screen *screen, struct error *err)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	size_t more;

	if (make_list(&list, screen, c->cpu, SIZE_MAX, &more, err) < 0)
		return NULL;
	return json_pack(
		"{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
		"cpu", c->cpu, "rounds", (json_int_t)c->rounds, "wall_ns", (json_int_t)c->wall_ns,
		"sampled_ns", (json_int_t)c->sampled_ns, "smallest_gap_ns", (json_int_t)c->smallest_gap_ns,
		"threshold_ns", (json_int_t)c->threshold_ns, "gaps", (json_int_t)c->gaps, "gaps_ns",
		(json_int_t)c->gaps_ns, "explained", (json_int_t)c->explained, "explained_ns",
		(json_int_t)c->explained_ns, "chance", (json_int_t)c->chance, "chance_ns",
		(json_int_t)c->chance_ns, "periodic", (json_int_t)c->periodic, "periodic_ns",
		(json_int_t)c->periodic_ns, "period_ns", (json_int_t)c->period_ns, "unexplained",
		(json_int_t)c->unexplained, "unexplained_ns", (json_int_t)c->unexplained_ns, "events",
		(json_int_t)c->events, "lost_events", (json_int_t)c->lost, "broken", (json_int_t)c->broken,
		"outside", (json_int_t)c->outside, "event_cost_ns", (json_int_t)c->event_cost_ns, "sources",
		listing_take(list));
}

static int print_document(const struct jitter_screen *screen, struct error *err)
{
	json_t *cpus = json_array();

	for (size_t i = 0; i < screen->jitter->n_cpus; i++)
		json_array_append_new(cpus, cpu_document(&screen->jitter->cpus[i], screen, err));
	return json_print_document("emp-jitter",
		json_pack("{s:I, s:s, s:o}", "run", (json_int_t)screen->run, "state",
			run_state_names[screen->state], "cpus", cpus),
		err);
}

int jitter_show(const struct jitter_screen *screen, struct error *err)
{
	int r = 0;

	if (calibrate_options.json)
		return print_document(screen, err);
	for (size_t i = 0; r == 0 && i < screen->jitter->n_cpus; i++)
		r = print_cpu(screen, &screen->jitter->cpus[i], err);
	if (r == 0 && screen->kept)
		printf("The trace is in '%s': trace-cmd report -i FILE, kernelshark FILE\n", screen->kept);
	if (r == 0)
		printf("Run %" PRId64 "%s. Next: emp-analyze jitter %" PRId64 "\n", screen->run,
			screen->state == RUN_INTERRUPTED ? ", interrupted" : "", screen->run);
	return r;
}
