/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's results for people. PT stands first: it is what the protocol calls execution time. */
#include "measure/show.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Off the CPU for more than this share of its ET, a program deserves a word. */
static const double WAITS = 0.05;

/* Of samples that were discarded for their times alone, so many get a line each. */
enum { TOLD = 10 };

/* In the unit asked for, else the one that fits, with the digits that a spread of sd_ns calls for (0: four
 * digits). */
static char *precise_text(char buffer[TEXT_TIME_SIZE], double ns, double sd_ns)
{
	const char *unit = measure_options.unit;

	if (!unit)
		return text_precise(buffer, ns, sd_ns);
	snprintf(buffer, TEXT_TIME_SIZE, "%.*f %s", strcmp(unit, "s") ? 3 : 6,
		ns / (!strcmp(unit, "s")           ? 1e9
			     : !strcmp(unit, "ms") ? 1e6
						   : 1e3),
		unit);
	return buffer;
}

static char *time_text(char buffer[TEXT_TIME_SIZE], double ns)
{
	return precise_text(buffer, ns, 0);
}

/* As the papers write it: "8.5e-5". */
static char *relative_error(char buffer[16], double value)
{
	char *e;

	snprintf(buffer, 16, "%.1e", value);
	e = strchr(buffer, 'e');
	if (e && e[2] == '0')
		memmove(e + 2, e + 3, strlen(e + 3) + 1);
	return buffer;
}

static void show_summary(const char *label, const struct summary *s)
{
	char mean[TEXT_TIME_SIZE], sd[TEXT_TIME_SIZE], min[TEXT_TIME_SIZE], max[TEXT_TIME_SIZE], error[16];

	if (s->n == 0) {
		printf("  %-18s no sample is left\n", label);
		return;
	}
	printf("  %-18s %s%s%s", label, terminal_mark(stdout, MARK_STRONG),
		precise_text(mean, s->mean_ns, s->sd_ns), terminal_mark(stdout, MARK_END));
	if (s->n > 1)
		printf(", sd %s, relative error %s", time_text(sd, s->sd_ns),
			relative_error(error, s->relative_error));
	printf("; %s to %s in %zu sample%s\n", precise_text(min, (double)s->min_ns, s->sd_ns),
		precise_text(max, (double)s->max_ns, s->sd_ns), s->n, s->n == 1 ? "" : "s");
}

static void show_interval(const struct summary *s)
{
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];
	double half;

	if (s->n < 2)
		return;
	half = summary_interval(s, 0.95);
	printf("  %-18s %s to %s (95 %% confidence)\n", "its mean lies in",
		precise_text(low, s->mean_ns - half, s->sd_ns),
		precise_text(high, s->mean_ns + half, s->sd_ns));
}

static void show_user_system(const struct result *r)
{
	struct result_means means = result_means(r);
	char user[TEXT_TIME_SIZE], system[TEXT_TIME_SIZE];

	printf("  %-18s %s user, %s system (means of all samples)\n", "of it", time_text(user, means.user_ns),
		time_text(system, means.system_ns));
}

static void show_reasons(const struct result *r)
{
	const struct discarding *d = &r->run.discarding;
	char pt[TEXT_TIME_SIZE], cutoff[TEXT_TIME_SIZE];

	for (size_t i = 0; i < d->n_over; i++) {
		const struct over_cutoff *over = &d->over[i];

		printf("  sample %u: %s%s%s%s took %s, its cutoff is %s\n", over->sample, over->daemon,
			over->unit ? " (" : "", over->unit ?: "", over->unit ? ")" : "",
			time_text(pt, (double)over->pt_ns), time_text(cutoff, (double)over->cutoff_ns));
	}
	for (size_t i = 0; i < d->n_incomplete; i++)
		printf("  sample %u: incomplete, records of processes that ended were lost\n",
			d->incomplete[i]);
	for (size_t i = 0; i < d->pt.n_by_two_sd && i < TOLD; i++)
		printf("  sample %u: its PT, %s, is more than 2 sd from the mean of the others\n",
			d->pt.by_two_sd[i],
			time_text(pt, (double)r->run.samples[d->pt.by_two_sd[i] - 1].pt_ns));
	if (d->pt.n_by_two_sd > TOLD)
		printf("  %zu more by their PT (--json has their numbers)\n", d->pt.n_by_two_sd - TOLD);
	for (size_t i = 0; i < d->et.n_by_two_sd && i < TOLD; i++)
		printf("  sample %u: left out of ET only: %s is more than 2 sd from the mean of the others\n",
			d->et.by_two_sd[i],
			time_text(pt, (double)r->run.samples[d->et.by_two_sd[i] - 1].et_ns));
	if (d->et.n_by_two_sd > TOLD)
		printf("  %zu more left out of ET only\n", d->et.n_by_two_sd - TOLD);
}

static void show_discards(const struct result *r)
{
	const struct discarding *d = &r->run.discarding;
	size_t gone = d->pt.raw.n - d->pt.clean.n;

	if (gone == 0)
		printf("  discarded          none of %zu sample%s\n", d->pt.raw.n,
			d->pt.raw.n == 1 ? "" : "s");
	else
		printf("  discarded          %zu of %zu sample%s\n", gone, d->pt.raw.n,
			d->pt.raw.n == 1 ? "" : "s");
	show_reasons(r);
	if (gone > 0)
		show_summary("PT, none discarded", &d->pt.raw);
}

static void show_warnings(const struct result *r)
{
	double off = result_off_cpu(r);

	if (off > WAITS)
		printf("  Warning: it was on a CPU for only %.0f %% of its elapsed time. Either it waits, and is not compute-bound\n"
		       "  (PT tells nothing of the waiting), or others took its CPU from it.\n",
			100 * (1 - off));
	for (size_t i = 0; i < r->run.disturbances.n; i++) {
		_cleanup_(freep) char *words = disturbance_description(
			&r->run.disturbances, &r->run.disturbances.items[i]);

		printf("  Warning: %s\n", words ?: "a sentinel moved");
	}
	if (r->failures > 0)
		printf("  Warning: the program failed in %d of %zu samples.\n", r->failures,
			r->run.n_samples);
	if (r->again > 0)
		printf("  Note: %d sample%s stopped meanwhile (^Z), and taken again.\n", r->again,
			r->again == 1 ? " was" : "s were");
	if (r->lost > 0)
		printf("  Warning: %lld records of processes that ended were lost.\n", (long long)r->lost);
	if (r->left_behind > 0)
		printf("  Note: it left %d process%s behind, over all samples; %d had to be ended after --linger.\n",
			r->left_behind, r->left_behind == 1 ? "" : "es", r->killed);
}

static void show_result(const struct result *r)
{
	const struct discarding *d = &r->run.discarding;

	printf("%s (run %lld)\n", r->name, (long long)d->run.id);
	show_summary("process time (PT)", &d->pt.clean);
	show_interval(&d->pt.clean);
	show_user_system(r);
	show_summary("elapsed time (ET)", &d->et.clean);
	show_discards(r);
	show_warnings(r);
}

static void show_session_notes(const struct session *s)
{
	const struct observer *o = &s->observer;
	const char *why = o->accounting ? accounting_why(o->accounting) : o->no_accounting.text;
	char cost[TEXT_TIME_SIZE];
	int64_t cost_ns = 0;

	for (size_t i = 0; i < s->n; i++)
		cost_ns = s->tasks[i].result.observer_ns > cost_ns ? s->tasks[i].result.observer_ns : cost_ns;
	printf("Observer: %s, %s of CPU time a sample", observer_backend_name(o),
		time_text(cost, (double)cost_ns));
	printf(why ? " (%s)\n" : "\n", why);
	if (!o->accounting)
		printf("  Other processes were not seen: nothing could be discarded for a named cause.\n");
	else if (!s->options->profile)
		printf("  No profile: nothing could be discarded for a named cause (--profile NAME; 'emp-calibrate run' makes one).\n");
	if (!o->cgroup)
		printf("  PT is partial: it is that of the processes that were waited for (%s).\n",
			o->no_cgroup.text);
	if (s->profile.environment_digest && strcmp(s->profile.environment_digest, s->environment_digest))
		printf("Warning: profile '%s' was made in another environment, and its cutoffs may not hold: %s.\n",
			s->options->profile, s->environment_changes ?: "what it was is not in this book");
}

bool comparable(const struct result *a, const struct result *b)
{
	return a->run.discarding.pt.clean.n > 0 && b->run.discarding.pt.clean.n > 0;
}

int compare_results(const struct result *a, const struct result *b, struct comparison *ret, struct error *err)
{
	_cleanup_(freep) int64_t *of_a = NULL, *of_b = NULL;
	size_t n_a, n_b;

	if (comparison_times(
		    &a->run.discarding, a->run.samples, a->run.n_samples, COMPARISON_PT, &of_a, &n_a) < 0 ||
		comparison_times(
			&b->run.discarding, b->run.samples, b->run.n_samples, COMPARISON_PT, &of_b, &n_b) < 0)
		return error_os(err, -ENOMEM, "cannot compare");
	return compare(of_a, n_a, of_b, n_b, ret, err);
}

/* STATUS_NOT_FIT with a sentence: some are slower than --fail-if-slower allows. */
static int fill_comparisons(const struct session *s, struct table *table, struct error *err)
{
	int outcome = 0;

	for (size_t i = 1; i < s->n; i++) {
		const struct comparison_limit limit = {
			s->options->fail_if_slower, s->tasks[0].name, s->tasks[i].name};
		struct comparison c;
		int r;

		if (!comparable(&s->tasks[0].result, &s->tasks[i].result))
			continue;
		r = compare_results(&s->tasks[0].result, &s->tasks[i].result, &c, err);
		if (r < 0)
			return r;
		comparison_row(table, s->tasks[i].name, &c);
		if (comparison_judge(&c, &limit, err) == COMPARISON_SLOWER)
			outcome = STATUS_NOT_FIT;
	}
	return outcome;
}

static int show_comparisons(const struct session *s, bool print, struct error *err)
{
	_cleanup_(table_freep) struct table *table = NULL;
	struct error second = {};
	bool any = false;
	int outcome, r;

	for (size_t i = 1; i < s->n; i++)
		any |= comparable(&s->tasks[0].result, &s->tasks[i].result);
	if (!any)
		return 0;
	r = comparison_table_new(&table, err);
	if (r < 0)
		return r;
	outcome = fill_comparisons(s, table, err);
	if (!print || outcome < 0)
		return outcome;
	printf("Process times beside '%s':\n", s->tasks[0].name);
	r = comparison_table_print(table, &second);
	return outcome ?: r;
}

int show_session(const struct session *s, struct error *err)
{
	bool print = !s->options->json && !s->options->silent, any = false;

	for (size_t i = 0; print && i < s->n; i++)
		if (s->tasks[i].result.run.n_samples > 0) {
			show_result(&s->tasks[i].result);
			any = true;
		}
	if (any)
		show_session_notes(s);
	return show_comparisons(s, print, err);
}
