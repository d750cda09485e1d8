/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loads compared, on the screen and as a document: see load_comparison.h. */
#include "lib/load/load_comparison.h"

#include "lib/report/comparison_report.h"

static int64_t run_of(const struct load_report *p)
{
	return p->result.discarding.run.id;
}

static bool same_load(const struct load_row *a, const struct load_row *b)
{
	return a->coordination == b->coordination && !strcmp(a->cpus ?: "", b->cpus ?: "") &&
	       !strcmp(a->file, b->file);
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* "'slaves = 4'", shortened; "nothing" at the end of the file. The caller frees it. */
static char *quoted_line(const char *line)
{
	enum { MOST_COLUMNS = 40 };
	size_t n = strcspn(line, "\n"), fit;
	_cleanup_(freep) char *copy = NULL;

	if (!*line)
		return xstrdup("nothing");
	copy = xstrndup(line, n);
	fit = terminal_text_fit(copy, MOST_COLUMNS);
	return text_format("'%.*s%s'", (int)fit, line, fit < n ? "…" : "");
}

/* The first line that differs. */
static void write_line_change(FILE *text, const char *a, const char *b)
{
	_cleanup_(freep) char *before = NULL, *now = NULL;
	size_t line = 1;

	for (; *a && *b; line++, a = next_line(a), b = next_line(b)) {
		size_t n = strcspn(a, "\n");

		if (n != strcspn(b, "\n") || strncmp(a, b, n) != 0)
			break;
	}
	before = quoted_line(a);
	now = quoted_line(b);
	fprintf(text, "line %zu of the file was %s, is %s%s", line, before, now,
		strcmp(next_line(a), next_line(b)) != 0 ? "; lines after it differ too" : "");
}

char *load_changes(const struct load_row *before, const struct load_row *now)
{
	char *changes = NULL;
	size_t size;
	FILE *text;

	if (same_load(before, now))
		return NULL;
	text = xopen_memstream(&changes, &size);
	if (before->coordination != now->coordination)
		fprintf(text, "coordination was %s, is %s",
			coordination_names[before->coordination],
			coordination_names[now->coordination]);
	if (strcmp(before->cpus ?: "", now->cpus ?: ""))
		fprintf(text, "%scpus was %s, is %s", ftell(text) > 0 ? "; " : "",
			before->cpus ?: "all", now->cpus ?: "all");
	if (strcmp(before->file, now->file)) {
		fputs(ftell(text) > 0 ? "; " : "", text);
		write_line_change(text, before->file, now->file);
	}
	return text_stream_close(text, &changes);
}

/* Other runs of a load, to see how much their rates vary. */
struct same_loads {
	struct run_means means; /* when they were, and how many samples count */
	struct load_report *reports;
};

static void same_loads_clear(struct same_loads *loads)
{
	for (size_t i = 0; i < loads->means.n; i++)
		load_report_clear(&loads->reports[i]);
	free(loads->means.items);
	free(loads->reports);
}

/* Whether both have the same workers. */
static bool same_workers(const struct load_work *a, const struct load_work *b)
{
	if (a->n_programs != b->n_programs)
		return false;
	for (size_t i = 0; i < a->n_programs; i++)
		if (strcmp(a->programs[i].name, b->programs[i].name) != 0)
			return false;
	return true;
}

/* Reads the report of a run, if it is one of the same load. 1: it is; 0: it is not. */
static int read_if_same_load(struct book *book, int64_t run, const struct load_report *as,
	struct load_report *ret, struct error *err)
{
	struct load_row row = {};
	bool same;
	int r = book_get_load(book, run, &row, err);

	same = r > 0 && same_load(&row, &as->load);
	fields_clear(&load_table, &row);
	if (!same)
		return r < 0 ? r : 0;
	r = load_report_read(book, run, ret, err);
	return r < 0 ? r : same_workers(&ret->work, &as->work);
}

/* Those with a result, and with that load itself. */
static int read_same_loads(
	struct book *book, const struct load_report *as, struct same_loads *ret, struct error *err)
{
	struct run_means all = {};
	int r = book_run_means(book, run_of(as), true, &all, err);

	ret->means.items = xcalloc(all.n + 1, sizeof(*ret->means.items));
	ret->reports = xcalloc(all.n + 1, sizeof(*ret->reports));
	for (size_t i = 0; r >= 0 && i < all.n; i++) {
		_cleanup_(load_report_clear) struct load_report report = {};

		r = read_if_same_load(book, all.items[i].run, as, &report, err);
		if (r <= 0)
			continue;
		ret->means.items[ret->means.n] = all.items[i];
		ret->means.items[ret->means.n].n_samples = (int64_t)report.n_kept;
		ret->reports[ret->means.n++] = TAKE_STRUCT(report);
	}
	free(all.items);
	return r < 0 ? r : 0;
}

/* script NULL: of all. */
static struct load_rate *rate_of(const struct load_rates *rates, const char *script)
{
	return script ? load_rates_find(rates, script) : &rates->items[0];
}

/* Sets the means to those of the script. The one of that run; NULL: it is not among them. */
static const struct run_mean *set_means(struct same_loads *loads, const char *script, int64_t run)
{
	const struct run_mean *found = NULL;

	for (size_t i = 0; i < loads->means.n; i++) {
		struct run_mean *mean = &loads->means.items[i];

		mean->mean_ns = rate_of(&loads->reports[i].rates, script)->summary.mean_ns;
		if (mean->run == run)
			found = mean;
	}
	return found;
}

/* How much the rates of scripts vary from run to run, without these two. */
static int find_load_variations(struct load_comparison *c, struct book *book, struct error *err)
{
	_cleanup_(same_loads_clear) struct same_loads of_a = {}, of_b = {};
	int r = read_same_loads(book, c->a, &of_a, err);

	if (r == 0)
		r = read_same_loads(book, c->b, &of_b, err);
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		const char *script = c->items[i].a->script;
		const struct run_mean *a = set_means(&of_a, script, run_of(c->a));
		const struct run_mean *b = set_means(&of_b, script, run_of(c->b));
		bool one_load = set_means(&of_a, script, run_of(c->b));

		if (a && b) /* not from an unknown environment */
			c->items[i].variation = run_variation_find(&of_a.means,
				one_load ? NULL : &of_b.means, (struct run_mean[]){*a, *b}, 2);
	}
	return r;
}

/* Whether the comparison has a pair for the i-th rate of a: that of all work, if both have the same
 * scripts; that of a script, if b has it, too, and it is not the only one of both, which has the
 * rate of all work. */
static bool pair_is_wanted(const struct load_comparison *c, size_t i)
{
	const struct load_rates *a = &c->a->rates;

	if (i == 0)
		return c->same_scripts;
	return load_rates_find(&c->rates_b, a->items[i].script) && (a->n > 2 || !c->same_scripts);
}

static int list_pairs(struct load_comparison *c, struct error *err)
{
	_cleanup_(freep) char *name_a = load_report_name(c->a), *name_b = load_report_name(c->b);
	const struct load_rates *a = &c->a->rates, *b = &c->rates_b;
	size_t common = 0;

	for (size_t i = 1; i < a->n; i++)
		common += load_rates_find(b, a->items[i].script) != NULL;
	if (common == 0)
		return error_say(
			err, -EINVAL, "%s and %s have no script in common", name_a, name_b);
	c->same_scripts = common == a->n - 1 && common == b->n - 1;
	for (size_t i = 0; i < a->n; i++) {
		struct load_pair *pair;

		if (!pair_is_wanted(c, i))
			continue;
		pair = array_add(c->items, c->n);
		pair->a = &a->items[i];
		pair->b = rate_of(b, a->items[i].script);
	}
	return 0;
}

static struct comparison_side load_side(const struct load_report *p, const struct load_rate *rate)
{
	const struct run_result *result = &p->result;
	const struct run *run = &result->discarding.run;
	struct comparison_side side = {
		.n = p->n_kept,
		.clock = COMPARISON_ET,
		.unmeasurable = comparison_unmeasurable(
			&result->discarding, result->samples, result->n_samples),
		.origin = {.call = run->owner, .machine = p->machine, .cpu = run->cpu},
	};

	side.items = xcalloc(p->n_kept + 1, sizeof(*side.items));
	for (size_t i = 0; i < p->n_kept; i++) {
		const struct sample *sample = &p->kept[i];

		side.items[i] = (struct comparison_time){sample->n, sample->start_ns, rate->nano[i],
			sample->start_ns + sample->et_ns};
	}
	return side;
}

/* Of rates, as one of times, where above 1 is slower. */
static struct comparison as_times(const struct comparison *rates)
{
	struct comparison times = *rates;

	times.of_rates = true;
	times.ratio = 1 / rates->ratio;
	times.ratio_low = 1 / rates->ratio_high;
	times.ratio_high = 1 / rates->ratio_low;
	return times;
}

/* Compares all pairs. The scripts are adjusted among themselves: the rate of all work is the answer
 * to a question of its own. */
static int compare_load_pairs(struct load_comparison *c, struct error *err)
{
	_cleanup_(freep) struct comparison **scripts = xcalloc(c->n + 1, sizeof(*scripts));
	size_t n_scripts = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct load_pair *pair = &c->items[i];
		_cleanup_(comparison_side_clear) struct comparison_side a = load_side(
			c->a, pair->a);
		_cleanup_(comparison_side_clear) struct comparison_side b = load_side(
			c->b, pair->b);
		int r = comparison_make(&a, &b, &pair->variation, &pair->comparison, err);

		if (r < 0)
			return r;
		if (i >= c->same_scripts)
			scripts[n_scripts++] = &pair->comparison;
	}
	comparisons_adjust(scripts, n_scripts);
	for (size_t i = 0; i < c->n; i++)
		c->items[i].times = as_times(&c->items[i].comparison);
	return 0;
}

/* What differs between the environments, in words; *ret stays NULL if nothing does, or if one of
 * them is not known. */
static int describe_environments(
	struct book *book, int64_t before, int64_t now, char **ret, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	int r;

	if (!before || !now || before == now)
		return 0;
	r = environment_differences(book, before, now, &differences, err);
	if (r >= 0 && differences.n > 0)
		*ret = differences_description(&differences, 3, false);
	return r;
}

int load_comparison_make(struct load_comparison *ret, struct book *book,
	const struct load_report *a, const struct load_report *b, double between, struct error *err)
{
	static const double KNOWN = 1e6; /* degrees of freedom of what the user says */
	_cleanup_(load_comparison_clear) struct load_comparison c = {.a = a, .b = b};
	int r;

	c.rates_b = load_rates_of(&b->work, &a->rates, b->kept, b->n_kept);
	r = list_pairs(&c, err);
	for (size_t i = 0; i < c.n; i++)
		if (between >= 0)
			c.items[i].variation = (struct run_variation){.sd = between, .df = KNOWN};
	if (r == 0 && between < 0)
		r = find_load_variations(&c, book, err);
	if (r == 0)
		r = compare_load_pairs(&c, err);
	if (r == 0)
		r = describe_environments(book, a->result.discarding.run.environment,
			b->result.discarding.run.environment, &c.environment_changes, err);
	if (r < 0)
		return r;
	c.load_changes = load_changes(&a->load, &b->load);
	*ret = TAKE_STRUCT(c);
	return 0;
}

void load_comparison_clear(struct load_comparison *c)
{
	load_rates_clear(&c->rates_b);
	free(c->items);
	free(c->environment_changes);
	free(c->load_changes);
	*c = (struct load_comparison){};
}

enum { COMPARED_NAME = 40, COMPARED_SCRIPT = 20 }; /* columns */

/* "run 13 (office.ini), constant-load, 5 runs". */
static void print_load_side(FILE *file, const char *label, const struct load_report *p)
{
	_cleanup_(freep) char *name = terminal_cut(p->result.discarding.run.program, COMPARED_NAME);
	_cleanup_(freep) char *text = text_format("run %" PRId64 " (%s), %s, %s", run_of(p), name,
		coordination_names[p->load.coordination], text_count(p->n_kept, "run"));

	terminal_wrap(file, text, (size_t)fprintf(file, "%-17s", label), 17);
}

/* The scripts that only `p` has. */
static void print_missing_scripts(
	FILE *file, const struct load_report *p, const struct load_report *other)
{
	for (size_t i = 1; i < p->rates.n; i++) {
		const char *script = p->rates.items[i].script;
		_cleanup_(freep) char *name = terminal_cut(script, COMPARED_NAME);

		if (!load_rates_find(&other->rates, script))
			fprintf(file, "Only run %" PRId64 " has the script '%s'.\n", run_of(p),
				name);
	}
}

static struct cell mean_rate_cell(
	const struct load_rate *rate, const struct load_unit *unit, int decimals)
{
	double mean = rate->summary.mean_ns * unit->seconds / 1e9;

	return TEXT(
		rate->summary.n > 0 ? text_brief("%.*f /%s", decimals, mean, unit->name) : NULL);
}

static void add_pair_row(struct table *table, const struct load_pair *pair)
{
	const struct comparison *c = &pair->comparison;
	const struct load_unit *unit = load_unit_for(pair->a->summary.mean_ns);
	_cleanup_(freep) char *script = terminal_cut(pair->a->script ?: "all", COMPARED_SCRIPT);
	int of_a = load_rate_decimals(pair->a, unit), of_b = load_rate_decimals(pair->b, unit);
	int decimals = of_a < of_b ? of_a : of_b;

	table_begin_row(table);
	table_add(table, TEXT(script), mean_rate_cell(pair->a, unit, decimals),
		mean_rate_cell(pair->b, unit, decimals), REAL("%.3f", c->ratio),
		TEXT(ratio_interval_text(c->ratio_low, c->ratio_high, 3, " to ")),
		TEXT(comparison_verdict_text(&pair->times)), REAL("%.2g", c->p_adjusted),
		TEXT(isnan(c->smallest_difference) ? NULL : text_percent(c->smallest_difference)));
}

/* How they were taken, and what that says of their difference. */
static void print_load_design(FILE *file, const struct load_pair *first)
{
	const char *source = "--between-runs";

	switch (first->comparison.design) {
	case DESIGN_PAIRS:
		fprintf(file, "Taken in turn: compared in %zu pairs.\n", first->comparison.a.n);
		break;
	case DESIGN_BETWEEN:
		if (first->variation.n_runs > 0)
			source = text_brief("sd of %zu loads", first->variation.n_runs);
		terminal_say(file, 2,
			"Not taken in turn: the rates of separate loads vary by %s (%s).",
			text_percent(first->variation.sd), source);
		break;
	default:
		terminal_say(file, 2,
			"It is not known how much the rate varies from one call of emp-load to the "
			"next. Three more calls of either load show it; or give --between-runs.");
	}
}

/* What the columns mean. */
static void print_comparison_legend(FILE *file, const struct load_comparison *c)
{
	if (c->same_scripts && load_rates_in_shares(&c->rates_b))
		terminal_say(file, 2,
			"all: the geometric mean of the scripts, in shares of each one's work.");
	terminal_say(file, 2,
		"RATIO: of the mean rates (1 = equal). MDD: minimum detectable difference.");
	if (c->n - c->same_scripts > 1)
		terminal_say(file, 2,
			"P, the intervals and MDD of the scripts are adjusted for their number "
			"(Holm).");
}

/* What differs besides the rates. */
static void print_load_changes(FILE *file, const struct load_comparison *c)
{
	if (c->environment_changes)
		terminal_wrap(file, c->environment_changes,
			(size_t)fprintf(file, "Environments differ:"), 2);
	if (c->load_changes)
		terminal_wrap(file, c->load_changes, (size_t)fprintf(file, "Loads differ:"), 2);
	print_missing_scripts(file, c->a, c->b);
	print_missing_scripts(file, c->b, c->a);
}

void load_comparison_print(FILE *file, const struct load_comparison *c)
{
	const struct load_pair *first = &c->items[0];
	_cleanup_(freep) char *a = text_format("RUN %" PRId64, run_of(c->a));
	_cleanup_(freep) char *b = text_format("RUN %" PRId64, run_of(c->b));
	const struct column columns[] = {{"SCRIPT", COLUMN_WRAP}, {a, COLUMN_NUMBER},
		{b, COLUMN_NUMBER}, {"RATIO", COLUMN_NUMBER}, {"95 % CI", COLUMN_TEXT},
		{"VERDICT", COLUMN_TEXT}, {"P", COLUMN_NUMBER}, {"MDD", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	print_load_side(file, "Rate of work of", c->b);
	print_load_side(file, "compared with", c->a);
	if (!isnan(first->comparison.ratio))
		print_load_design(file, first);
	print_load_changes(file, c);

	for (size_t i = 0; i < c->n; i++)
		add_pair_row(table, &c->items[i]);
	table_print(table, file);
	print_comparison_legend(file, c);
	if (c->same_scripts)
		comparison_verdict_print(file, &(struct verdict_line){}, &first->times);
	else
		fprintf(file, "Verdict: %s; their scripts differ\n",
			comparison_verdict_words[COMPARISON_DIFFERENT_WORK]);
}

/* As emp-comparison has it. The rates are in the documents of the loads. */
static json_t *pair_json(const struct load_comparison *c, const struct load_pair *pair)
{
	_cleanup_(freep) char *a = load_report_name(c->a), *b = load_report_name(c->b);
	json_t *object = comparison_as_json(a, b, &pair->comparison);

	json_object_set_new(object, "verdict", json_string(comparison_verdict_text(&pair->times)));
	if (pair->a->script)
		json_object_set_new(object, "script", json_string(pair->a->script));
	json_object_del(object, "smallest_difference"); /* a former name, which loads never had */
	return object;
}

json_t *load_comparison_as_json(const struct load_comparison *c)
{
	json_t *document = load_report_as_json(c->b), *scripts = json_array();
	json_t *comparison;

	if (c->same_scripts)
		comparison = pair_json(c, &c->items[0]);
	else
		comparison = json_pack(
			"{s:s}", "verdict", comparison_verdict_words[COMPARISON_DIFFERENT_WORK]);
	for (size_t i = c->same_scripts; i < c->n; i++)
		json_array_append_new(scripts, pair_json(c, &c->items[i]));
	json_object_set_new(comparison, "scripts", scripts);
	if (c->environment_changes)
		json_object_set_new(
			comparison, "environment_changes", json_string(c->environment_changes));
	if (c->load_changes)
		json_object_set_new(comparison, "load_changes", json_string(c->load_changes));
	json_object_set_new(document, "reference", load_report_as_json(c->a));
	json_object_set_new(document, "comparison", comparison);
	return document;
}
