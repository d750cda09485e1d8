/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loads compared: see load_comparison.h. */
#include "lib/load/load_comparison.h"
#include "lib/load/book_load.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/book/book.h"
#include "lib/report/notes.h"
#include "lib/load/load_changes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const double KNOWN = 1e6; /* degrees of freedom of what the user says */

/* Other runs of a load, to see how much their rates vary. */
struct same_loads {
	struct run_mean *means; /* of them: when they were, and how many samples count */
	struct load_report *reports;
	size_t n;
};

static void same_loads_clear(struct same_loads *o)
{
	for (size_t i = 0; o->reports && i < o->n; i++)
		load_report_clear(&o->reports[i]);
	free(o->means);
	free(o->reports);
}

char *load_report_name(const struct load_report *p)
{
	const struct run *run = &p->result.discarding.run;

	return text_format("run %" PRId64 " (%s)", run->id, run->program);
}

static bool same_slaves(const struct load_report *a, const struct load_report *b)
{
	bool same = a->n_programs == b->n_programs;

	for (size_t i = 0; same && i < a->n_programs; i++)
		same = !strcmp(a->programs[i].name, b->programs[i].name);
	return same;
}

/* 1: the run is one of the same load, with a result; 0: it is not. */
static int read_if_same(struct book *book, int64_t run, const struct load_report *as, struct load_report *ret,
	struct error *err)
{
	_cleanup_(load_row_clear) struct load_row row = {};
	int r = book_get_load(book, run, &row, err);

	if (r <= 0 || !load_is_same(&row, &as->load))
		return r < 0 ? r : 0;
	r = load_report_read(book, run, ret, err);
	if (r < 0 || same_slaves(ret, as))
		return r < 0 ? r : 1;
	load_report_clear(ret);
	return 0;
}

/* With that load itself. */
static int read_same(
	struct book *book, const struct load_report *as, struct same_loads *ret, struct error *err)
{
	struct run_means all = {};
	int r = book_run_means(book, as->result.discarding.run.id, true, &all, err);

	ret->means = xcalloc(all.n + 1, sizeof(*ret->means));
	ret->reports = xcalloc(all.n + 1, sizeof(*ret->reports));
	if (r == 0 && (!ret->means || !ret->reports))
		r = error_oom(err);
	for (size_t i = 0; r >= 0 && i < all.n; i++) {
		r = read_if_same(book, all.items[i].run, as, &ret->reports[ret->n], err);
		if (r <= 0)
			continue;
		ret->means[ret->n] = all.items[i];
		ret->means[ret->n].n_samples = (int64_t)ret->reports[ret->n].n_kept;
		ret->n++;
	}
	free(all.items);
	return r < 0 ? r : 0;
}

/* script NULL: of all. */
static const struct load_rate *rate_of(const struct load_rates *rates, const char *script)
{
	return script ? load_rates_find(rates, script) : &rates->items[0];
}

static struct run_means means_of(const struct same_loads *o, const char *script)
{
	for (size_t i = 0; i < o->n; i++)
		o->means[i].mean_ns = rate_of(&o->reports[i].rates, script)->summary.mean_ns;
	return (struct run_means){o->means, o->n};
}

static const struct run_mean *find_mean(const struct run_means *means, int64_t run)
{
	for (size_t i = 0; i < means->n; i++)
		if (means->items[i].run == run)
			return &means->items[i];
	return NULL;
}

/* How much the rate of a script varies from run to run, without these two. */
static struct run_variation find_variation(const struct load_comparison *c, const struct same_loads *of_a,
	const struct same_loads *of_b, const char *script)
{
	struct run_means a = means_of(of_a, script), b = means_of(of_b, script);
	int64_t run_a = c->a->result.discarding.run.id, run_b = c->b->result.discarding.run.id;
	const struct run_mean *mean_a = find_mean(&a, run_a), *mean_b = find_mean(&b, run_b);

	if (!mean_a || !mean_b) /* from an unknown environment */
		return (struct run_variation){};
	return run_variation_find(
		&a, find_mean(&a, run_b) ? NULL : &b, (struct run_mean[]){*mean_a, *mean_b}, 2);
}

static int make_side(struct comparison_side *ret, const struct load_report *p, const struct load_rate *rate)
{
	ret->items = xcalloc(p->n_kept + 1, sizeof(*ret->items));
	ret->n = p->n_kept;
	ret->clock = COMPARISON_ET;
	for (size_t i = 0; i < p->n_kept; i++)
		ret->items[i] = (struct comparison_time){p->kept[i].n, p->kept[i].start_ns, rate->nano[i]};
	return 0;
}

static int compare_pair(const struct load_comparison *c, struct load_pair *pair, struct error *err)
{
	_cleanup_(comparison_side_clear) struct comparison_side a = {}, b = {};

	if (make_side(&a, c->a, pair->a) < 0 || make_side(&b, c->b, pair->b) < 0)
		return error_oom(err);
	return comparison_make(&a, &b, &pair->variation, &pair->comparison, err);
}

static int add_pair(struct load_comparison *c, const char *script, struct error *err)
{
	struct load_pair *pair = array_add(c->items, c->n);

	pair->a = rate_of(&c->a->rates, script);
	pair->b = rate_of(&c->rates_b, script);
	return 0;
}

static int list_pairs(struct load_comparison *c, struct error *err)
{
	const struct load_rates *a = &c->a->rates, *b = &c->rates_b;
	size_t common = 0;
	int r = 0;

	for (size_t i = 1; i < a->n; i++)
		common += load_rates_find(b, a->items[i].script) != NULL;
	if (common == 0)
		return error_say(err, -EINVAL,
			"run %" PRId64 " (%s) and run %" PRId64 " (%s) have no script in common",
			c->a->result.discarding.run.id, c->a->result.discarding.run.program,
			c->b->result.discarding.run.id, c->b->result.discarding.run.program);
	c->same_scripts = common == a->n - 1 && common == b->n - 1;
	if (c->same_scripts)
		r = add_pair(c, NULL, err);
	for (size_t i = 1; r == 0 && i < a->n; i++)
		if (load_rates_find(b, a->items[i].script) && (a->n > 2 || !c->same_scripts))
			r = add_pair(c, a->items[i].script, err);
	return r;
}

static int find_variations(struct load_comparison *c, struct book *book, struct error *err)
{
	_cleanup_(same_loads_clear) struct same_loads a = {}, b = {};
	int r = read_same(book, c->a, &a, err);

	if (r == 0)
		r = read_same(book, c->b, &b, err);
	for (size_t i = 0; r == 0 && i < c->n; i++)
		c->items[i].variation = find_variation(c, &a, &b, c->items[i].a->script);
	return r;
}

/* The scripts among themselves: the rate of all work is the answer to a question of its own. */
static int adjust(struct load_comparison *c, struct error *err)
{
	_cleanup_(freep) struct comparison **scripts = xcalloc(c->n + 1, sizeof(*scripts));
	size_t n = 0;

	for (size_t i = c->same_scripts; i < c->n; i++)
		scripts[n++] = &c->items[i].comparison;
	comparisons_adjust(scripts, n);
	return 0;
}

static int find_environment_changes(struct load_comparison *c, struct book *book, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	int64_t a = c->a->result.discarding.run.environment, b = c->b->result.discarding.run.environment;
	int r = a && b && a != b ? environment_differences(book, a, b, &differences, err) : 0;

	if (r < 0 || differences.n == 0)
		return r;
	c->environment_changes = differences_description(&differences, 3);
	return 0;
}

static int check_counted(const struct load_report *p, struct error *err)
{
	return p->n_kept > 0 ? 0
			     : error_say(err, -ENODATA, "no run of the load in run %" PRId64 " (%s) counts",
				       p->result.discarding.run.id, p->result.discarding.run.program);
}

static int compare_all(struct load_comparison *c, struct book *book, double between, struct error *err)
{
	int r = check_counted(c->a, err);

	if (r == 0)
		r = check_counted(c->b, err);
	if (r == 0)
		r = load_report_rates(c->b, c->b->kept, c->b->n_kept, &c->a->rates, &c->rates_b, err);
	if (r == 0)
		r = list_pairs(c, err);
	if (r == 0 && between < 0)
		r = find_variations(c, book, err);
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		if (between >= 0)
			c->items[i].variation = (struct run_variation){between, KNOWN, 0};
		r = compare_pair(c, &c->items[i], err);
	}
	if (r == 0)
		r = adjust(c, err);
	if (r == 0)
		r = find_environment_changes(c, book, err);
	return r < 0 ? r : load_changes(&c->a->load, &c->b->load, &c->load_changes, err);
}

int load_comparison_make(struct load_comparison *ret, struct book *book, const struct load_report *a,
	const struct load_report *b, double between, struct error *err)
{
	_cleanup_(load_comparison_clear) struct load_comparison c = {.a = a, .b = b};
	int r = compare_all(&c, book, between, err);

	if (r < 0)
		return r;
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

struct comparison load_pair_as_times(const struct load_pair *pair)
{
	struct comparison c = pair->comparison;

	c.ratio = 1 / pair->comparison.ratio;
	c.ratio_low = 1 / pair->comparison.ratio_high;
	c.ratio_high = 1 / pair->comparison.ratio_low;
	return c;
}
