/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Screen and document: see observation_show.h. */
#include "lib/neighbour/observation_show.h"

#include "lib/base/table.h"

#include <math.h>

/* Of a processor that changes its frequency, 98 % of the readings differ by more. */
static const double STEADY = 1.05;

static bool frequency_steady(const struct neighbour_account *a)
{
	return !(a->cycle_high_ps > STEADY * a->cycle_low_ps);
}

/* Percent with two significant digits of it, or of what is missing to 100: "0.78", "2.1", "98.8",
 * "99.982". */
static const char *share_number(double share)
{
	double digits = 1 - floor(log10(fmax(1e-6, 100 * fmin(share, 1 - share))));

	if (share < 5e-6 || share > 1 - 5e-6)
		return share < 0.5 ? "0" : "100";
	return text_brief("%.*f", (int)fmin(3, fmax(0, digits)), 100 * share);
}

/* "97.3 % (96.1 … 98.2)"; at the ends "0 % (below 0.5 %)", "100 % (at least 99.5 %)". */
static const char *estimate_text(const struct neighbour_estimate *e)
{
	if (isnan(e->value))
		return NULL;
	if (e->value <= 0)
		return text_brief("0 %% (below %s %%)", share_number(e->high));
	if (e->value >= 1)
		return text_brief("100 %% (at least %s %%)", share_number(e->low));
	return text_brief("%s %% (%s … %s)", share_number(e->value), share_number(e->low),
		share_number(e->high));
}

/* What was done, and the share of each CPU that it took. */
static void print_heading(const struct neighbour_observation *o)
{
	const struct neighbour_account *first = &o->cpus[0].account;
	int64_t each_ns = first->n_readings ? first->read_ns / (int64_t)first->n_readings : 0;
	/* The account's every_ns is a median, by which the share of the time would not follow. */
	int64_t every_ns = first->n_readings ? o->took_ns / (int64_t)first->n_readings : 0;

	terminal_say(stdout, 2, "%s for %s%s: a reading of %s%s, %s of each CPU's time.",
		text_moment(o->made_ns), text_duration(o->took_ns),
		o->interrupted ? " (interrupted)" : "", text_duration(each_ns),
		first->n_readings > 1 ? text_brief(" every %s", text_duration(every_ns)) : "",
		text_percent((double)first->read_ns / (double)o->took_ns));
	putchar('\n');
}

/* The time of day, or with the date where the observation is longer than a day. */
static const char *observed_at(const struct neighbour_observation *o, int64_t at_ns)
{
	const int64_t day_ns = 86400 * NS_PER_S;
	const char *moment = text_moment(o->made_ns + at_ns - o->began_ns);

	return o->took_ns < day_ns ? moment + strlen("2026-11-21 ") : moment;
}

/* "10 s", "1 min", "2 h": whole ones. */
static const char *part_text(int64_t part_ns)
{
	int64_t s = part_ns / NS_PER_S;

	if (s >= 3600)
		return text_brief("%" PRId64 " h", s / 3600);
	if (s >= 60)
		return text_brief("%" PRId64 " min", s / 60);
	return text_brief("%" PRId64 " s", s);
}

/* "3.69", or what 98 % of the readings have. */
static const char *gigahertz_text(const struct neighbour_account *a)
{
	if (isnan(a->cycle_ps))
		return NULL;
	if (frequency_steady(a))
		return text_brief("%.2f", 1000 / a->cycle_ps);
	return text_brief("%.2f … %.2f", 1000 / a->cycle_high_ps, 1000 / a->cycle_low_ps);
}

static const char *longest_text(
	const struct neighbour_observation *o, const struct neighbour_account *a)
{
	const struct neighbour_episode *longest = NULL;

	for (size_t i = 0; i < a->n_episodes; i++)
		if (!longest || a->episodes[i].length_ns > longest->length_ns)
			longest = &a->episodes[i];
	if (!longest)
		return NULL;
	return text_brief("%s%s at %s", longest->whole ? "" : "> ",
		text_duration(longest->length_ns), observed_at(o, longest->at_ns));
}

static void print_shares(const struct neighbour_observation *o)
{
	static const struct column columns[] = {{"CPU", COLUMN_NUMBER}, {"TIME WITH A NEIGHBOUR"},
		{"EPISODES", COLUMN_NUMBER}, {"MEDIAN", COLUMN_NUMBER}, {"LONGEST"}, {"GHZ"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < o->n_cpus; i++) {
		const struct neighbour_account *a = &o->cpus[i].account;

		table_row(table, columns, NUMBER(a->cpu), TEXT(estimate_text(&a->share)),
			NUMBER(a->n_episodes),
			TIME(isnan(a->median_ns) ? -1 : llround(a->median_ns)),
			TEXT(longest_text(o, a)), TEXT(gigahertz_text(a)));
	}
	table_print(table, stdout);
}

/* What the shares of CPUs without an episode rest on. */
static void print_none_seen(const struct neighbour_observation *o)
{
	size_t none = 0;

	for (size_t i = 0; i < o->n_cpus; i++) {
		const struct neighbour_account *a = &o->cpus[i].account;

		if (a->n_episodes > 0 || a->observed_ns == 0)
			continue;
		if (none++ == 0)
			putchar('\n');
		terminal_say(stdout, 2,
			"CPU %d: no neighbour seen in %zu readings. There is less than one "
			"episode in %s (95 %%); the share holds if they last a second.",
			a->cpu, a->n_readings - a->n_unclear,
			text_duration((int64_t)(1e9 / a->most_a_second)));
	}
}

static void print_stays(const struct neighbour_observation *o)
{
	static const struct column columns[] = {
		{"CPU", COLUMN_NUMBER}, {"10 ms"}, {"0.1 s"}, {"1 s"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	bool any = false;

	for (size_t i = 0; i < o->n_cpus; i++) {
		const struct neighbour_stay *stays = o->cpus[i].account.stays;

		any |= !isnan(stays[0].share.value);
		table_row(table, columns, NUMBER(o->cpus[i].account.cpu),
			TEXT(estimate_text(&stays[0].share)), TEXT(estimate_text(&stays[1].share)),
			TEXT(estimate_text(&stays[2].share)));
	}
	if (!any)
		return;
	putchar('\n');
	terminal_say(stdout, 2,
		"A sample of this length that begins without a neighbour stays without one:");
	table_print(table, stdout);
}

static void print_lengths(const struct neighbour_observation *o)
{
	static const struct column columns[] = {{"CPU", COLUMN_NUMBER}, {"< 10 ms", COLUMN_NUMBER},
		{"< 0.1 s", COLUMN_NUMBER}, {"< 1 s", COLUMN_NUMBER}, {"< 10 s", COLUMN_NUMBER},
		{"< 1 min", COLUMN_NUMBER}, {"longer", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	bool any = false;

	for (size_t i = 0; i < o->n_cpus; i++) {
		const struct neighbour_account *a = &o->cpus[i].account;

		if (a->n_episodes == 0)
			continue;
		any = true;
		table_begin_row(table);
		table_add(table, NUMBER(a->cpu));
		for (size_t k = 0; k < N_NEIGHBOUR_LENGTHS; k++)
			table_add(table, NUMBER(a->lengths[k].n));
	}
	if (!any)
		return;
	printf("\nEpisodes by length:\n");
	table_print(table, stdout);
}

/* A row for each part of the time, a column for each CPU. */
static void print_parts(const struct neighbour_observation *o)
{
	const struct neighbour_account *first = &o->cpus[0].account;
	_cleanup_(freep) struct column *columns = xcalloc(o->n_cpus + 2, sizeof(*columns));
	_cleanup_(table_freep) struct table *table = NULL;

	if (first->n_parts < 2)
		return;
	columns[0] = (struct column){"FROM"};
	for (size_t i = 0; i < o->n_cpus; i++)
		columns[i + 1] = (struct column){
			text_brief("CPU %d", o->cpus[i].account.cpu), COLUMN_NUMBER};
	table = table_new(columns);
	for (size_t part = 0; part < first->n_parts; part++) {
		table_begin_row(table);
		table_add(table, TEXT(observed_at(o, first->parts[part].at_ns)));
		for (size_t i = 0; i < o->n_cpus; i++)
			table_add(
				table, REAL("%.1f %%", 100 * o->cpus[i].account.parts[part].share));
	}
	printf("\nTime with a neighbour, in each %s:\n", part_text(first->part_ns));
	table_print(table, stdout);
}

/* Readings that say nothing, or that something else than a neighbour made slower. */
static void print_unclear(const struct neighbour_observation *o)
{
	size_t readings = 0, unclear = 0, slower = 0;

	for (size_t i = 0; i < o->n_cpus; i++) {
		readings += o->cpus[i].account.n_readings;
		unclear += o->cpus[i].account.n_unclear;
		slower += o->cpus[i].account.n_slower;
	}
	if (slower > 0)
		terminal_say(stdout, 2,
			"No neighbour, but the whole CPU was slower in %zu of %zu readings (%s): "
			"its frequency, or the host.",
			slower, readings, text_percent((double)slower / (double)readings));
	if (unclear > 0)
		terminal_say(stdout, 2,
			"Unclear, and not counted: %zu of %zu readings (%s), which were "
			"interrupted or do not fit together.",
			unclear, readings, text_percent((double)unclear / (double)readings));
}

static void print_siblings(const struct neighbour_observation *o)
{
	static const struct column columns[] = {{"CPU", COLUMN_NUMBER},
		{"OTHER THREAD", COLUMN_NUMBER}, {"BUSY", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	size_t n = 0;

	for (size_t i = 0; i < o->n_cpus; i++)
		for (size_t k = 0; k < o->cpus[i].n_siblings; k++, n++)
			table_row(table, columns, NUMBER(o->cpus[i].account.cpu),
				NUMBER(o->cpus[i].siblings[k].cpu),
				REAL("%.1f %%", 100 * o->cpus[i].siblings[k].busy));
	if (n == 0)
		return;
	printf("\nThreads of the same cores that this machine sees:\n");
	table_print(table, stdout);
}

/* Where another program of a higher priority had the CPU, or this one was stopped. */
static void print_unobserved(const struct neighbour_observation *o)
{
	static const double WORTH_SAYING = 0.1;

	for (size_t i = 0; i < o->n_cpus; i++) {
		const struct neighbour_account *a = &o->cpus[i].account;
		int64_t missing_ns = o->took_ns - a->observed_ns;

		if ((double)missing_ns > WORTH_SAYING * (double)o->took_ns && a->every_ns > 0)
			terminal_say(stdout, 2,
				"Nothing is known of %s of the time on CPU %d: emp-calibrate could "
				"not run there.",
				text_duration(missing_ns), a->cpu);
	}
}

/* What this machine knows itself. */
static void print_remarks(const struct neighbour_observation *o)
{
	size_t unexplained = 0;

	for (size_t i = 0; i < o->n_cpus; i++) {
		const struct observed_cpu *cpu = &o->cpus[i];

		unexplained += cpu->n_siblings == 0 && cpu->account.n_episodes > 0;
		if (!frequency_steady(&cpu->account))
			terminal_say(stdout, 2,
				"The frequency of CPU %d changed, or the host held it back. That "
				"is no neighbour.",
				cpu->account.cpu);
		if (cpu->stolen > 0.005)
			terminal_say(stdout, 2, "The host took CPU %d away for %s of the time.",
				cpu->account.cpu, text_percent(cpu->stolen));
	}
	print_unobserved(o);
	print_unclear(o);
	if (unexplained > 0 && o->virtual)
		terminal_say(stdout, 2,
			"Only the host of this virtual machine knows who the neighbour is.");
	else if (unexplained > 0)
		terminal_say(stdout, 2,
			"This machine sees no other threads of these cores: what slowed the loop "
			"down is not known.");
	print_siblings(o);
}

void neighbour_observation_print(const struct neighbour_observation *o)
{
	print_heading(o);
	print_shares(o);
	print_none_seen(o);
	print_stays(o);
	print_lengths(o);
	print_parts(o);
	putchar('\n');
	print_remarks(o);
}

static json_t *estimate_json(const struct neighbour_estimate *e)
{
	return JSON_OBJECT({"share", json_real_or_null(e->value)},
		{"interval", json_interval(e->low, e->high)});
}

static json_t *lengths_json(const struct neighbour_account *a)
{
	json_t *array = json_array();

	for (size_t k = 0; k < N_NEIGHBOUR_LENGTHS; k++) {
		const struct neighbour_length *l = &a->lengths[k];

		json_array_append_new(
			array, JSON_OBJECT({"from_ns", json_integer(l->from_ns)},
				       {"to_ns", json_int_if(l->to_ns != INT64_MAX, l->to_ns)},
				       {"count", json_integer((json_int_t)l->n)},
				       {"total_ns", json_integer(l->total_ns)}));
	}
	return array;
}

static json_t *stays_json(const struct neighbour_account *a)
{
	json_t *array = json_array();

	for (size_t i = 0; i < N_NEIGHBOUR_STAYS; i++) {
		json_t *stay = estimate_json(&a->stays[i].share);

		json_object_set_new(stay, "for_ns", json_integer(a->stays[i].for_ns));
		json_array_append_new(array, stay);
	}
	return array;
}

/* since_ns: what is to be added to CLOCK_MONOTONIC. */
static json_t *episodes_json(const struct neighbour_account *a, int64_t since_ns)
{
	json_t *array = json_array();

	for (size_t i = 0; i < a->n_episodes; i++)
		json_array_append_new(
			array, JSON_OBJECT({"at_ns", json_integer(since_ns + a->episodes[i].at_ns)},
				       {"length_ns", json_integer(a->episodes[i].length_ns)},
				       {"whole", json_boolean(a->episodes[i].whole)}));
	return array;
}

static json_t *parts_json(const struct neighbour_account *a, int64_t since_ns)
{
	json_t *array = json_array();

	for (size_t i = 0; i < a->n_parts; i++)
		json_array_append_new(array,
			JSON_OBJECT({"at_ns", json_integer(since_ns + a->parts[i].at_ns)},
				{"share", json_real_or_null(a->parts[i].share)},
				{"readings", json_integer((json_int_t)a->parts[i].readings)}));
	return array;
}

static json_t *cpu_json(const struct observed_cpu *cpu, int64_t since_ns)
{
	const struct neighbour_account *a = &cpu->account;
	json_t *siblings = json_array();

	for (size_t i = 0; i < cpu->n_siblings; i++)
		json_array_append_new(
			siblings, JSON_OBJECT({"sibling", json_integer(cpu->siblings[i].cpu)},
					  {"busy", json_real_or_null(cpu->siblings[i].busy)}));
	return JSON_OBJECT({"cpu", json_integer(a->cpu)},
		{"readings", json_integer((json_int_t)a->n_readings)},
		{"unclear", json_integer((json_int_t)a->n_unclear)},
		{"slower", json_integer((json_int_t)a->n_slower)},
		{"with_neighbour", json_integer((json_int_t)a->n_with)},
		{"read_ns", json_integer(a->read_ns)}, {"every_ns", json_integer(a->every_ns)},
		{"observed_ns", json_integer(a->observed_ns)},
		{"neighbour", estimate_json(&a->share)},
		{"most_episodes_a_second", json_real_or_null(a->most_a_second)},
		{"median_ns", json_real_or_null(a->median_ns)},
		{"longest_ns", json_real_or_null(a->longest_ns)}, {"lengths", lengths_json(a)},
		{"stays", stays_json(a)}, {"cycle_ps", json_real_or_null(a->cycle_ps)},
		{"cycle_interval_ps", json_interval(a->cycle_low_ps, a->cycle_high_ps)},
		{"stolen", json_real_or_null(cpu->stolen)}, {"siblings", siblings},
		{"parts", parts_json(a, since_ns)}, {"episodes", episodes_json(a, since_ns)});
}

json_t *neighbour_observation_json(const struct neighbour_observation *o)
{
	json_t *cpus = json_array();

	for (size_t i = 0; i < o->n_cpus; i++)
		json_array_append_new(cpus, cpu_json(&o->cpus[i], o->made_ns - o->began_ns));
	return JSON_OBJECT({"made_ns", json_integer(o->made_ns)},
		{"made", json_text(text_rfc3339(o->made_ns))},
		{"took_ns", json_integer(o->took_ns)},
		{"interrupted", json_boolean(o->interrupted)}, {"cpus", cpus});
}
