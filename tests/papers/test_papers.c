/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The papers' own calibration through the whole protocol: Tables VI to XIX of EMP, Table 1 of
 * SEDONA; and the policy that repeats its Table XXVII. The two runs are not the papers', which were
 * not published: data/reconstruct.py rebuilt them from the tables. What the tables give to the last
 * number must come out so. */
#include "tests/papers/csv.h"
#include "tests/unit/check.h"

#include "lib/host/system/policy.h"
#include "lib/record/profile.h"
#include "lib/report/run_result.h"
#include "lib/protocol/sample_size.h"
#include "lib/document/document.h"

#include <math.h>

struct papers {
	char *directory;
	struct book *book;
	int64_t short_run, long_run;
	struct new_profile made;
};

static int64_t import(struct book *book, const char *name)
{
	_cleanup_(freep) char *path = text_format(
		"%s/%s", getenv("EMP_PAPERS") ?: "tests/papers/data", name);
	_cleanup_(document_stream_freep) struct document_stream *document = NULL;
	struct error err = {};
	int64_t run = 0;

	assert_int_equal(document_stream_open(&document, path, &err), 0);
	if (document_import(book, document, &run, &err) < 0)
		fail_msg("%s", err.text);
	return run;
}

static int calibrate(void **state)
{
	struct papers *p = calloc(1, sizeof(*p));
	_cleanup_(freep) char *path = NULL;
	struct error err = {};
	struct profile_request request = {.name = "paper-rhel6.4"};

	p->directory = strdup("/tmp/emp-papers-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	path = text_format("%s/emp.db", p->directory);
	assert_int_equal(book_open(&p->book, path, BOOK_WRITE, &err), 0);
	p->short_run = import(p->book, "emp-run-inc128.json");
	p->long_run = import(p->book, "emp-run-inc16384.json");
	request.runs[0] = p->short_run;
	request.runs[1] = p->long_run;
	if (profile_from_runs(p->book, &request, &p->made, &err) != 0)
		fail_msg("%s", err.text);
	*state = p;
	return 0;
}

static int leave(void **state)
{
	struct papers *p = *state;
	_cleanup_(freep) char *command = text_format("rm -r %s", p->directory);

	new_profile_clear(&p->made);
	book_free(p->book);
	assert_int_equal(system(command), 0);
	free(p->directory);
	free(p);
	return 0;
}

static int64_t ms(double value)
{
	return isnan(value) ? -1 : llround(value * 1e6);
}

static const struct daemon_statistics *habit_of(
	const struct analysis *analysis, const struct csv *csv, size_t row)
{
	const struct daemon_statistics *daemon = analysis_daemon(
		analysis, csv_text(csv, row, "daemon"));

	if (!daemon)
		fail_msg("%s was not seen", csv_text(csv, row, "daemon"));
	return daemon;
}

/* The maximum to the last number, the sd to 10 %, and no daemon more. */
static void check_central(const struct analysis *analysis, const char *table)
{
	struct csv csv = csv_read(table);
	size_t in_central = 0;

	for (size_t i = 0; i < csv.n_rows; i++) {
		const struct daemon_statistics *daemon = habit_of(analysis, &csv, i);
		double sd = csv_number(&csv, i, "sd_ms");

		assert_int_equal(daemon->central_max_ns, ms(csv_number(&csv, i, "max_ms")));
		assert_true(fabs(daemon->central_sd_ns / 1e6 - sd) <= fmax(0.1 * sd, 0.05));
	}
	for (size_t i = 0; i < analysis->n_statistics; i++)
		in_central += analysis->statistics[i].n_central > 0;
	assert_int_equal(in_central, csv.n_rows);
	csv_clear(&csv);
}

/* The L-samples are those of the table, and each daemon has as many executions in them. */
static void check_l_samples(const struct analysis *analysis, const char *table)
{
	struct csv csv = csv_read(table);
	size_t n = 0, executions = 0;

	for (size_t i = 0; i < csv.n_rows; i++) {
		uint32_t sample = (uint32_t)csv_number(&csv, i, "sample");

		if (n > 0 && analysis->l_samples[n - 1] == sample)
			continue;
		assert_in_range(n, 0, analysis->n_l_samples - 1);
		assert_int_equal(analysis->l_samples[n++], sample);
	}
	assert_int_equal(n, analysis->n_l_samples);
	assert_int_equal(analysis->n_unexplained, 0);
	for (size_t i = 0; i < analysis->n_statistics; i++)
		executions += analysis->statistics[i].seen[ZONE_ABOVE].n;
	assert_int_equal(executions, csv.n_rows);
	csv_clear(&csv);
}

static void the_eye_sees_an_l_in_both_runs(void **state)
{
	struct papers *p = *state;

	assert_int_equal(p->made.analyses[0].verdict, VERDICT_L);
	assert_int_equal(p->made.analyses[0].central.n_central, 784);
	assert_int_equal(p->made.analyses[0].central.high_ns, ms(128256));
	assert_int_equal(p->made.analyses[1].verdict, VERDICT_L);
	assert_int_equal(p->made.analyses[1].central.low_ns, ms(16416454));
	assert_int_equal(p->made.analyses[1].central.high_ns, ms(16417410));
}

static void tables_8_and_12_central_daemons(void **state)
{
	struct papers *p = *state;

	check_central(&p->made.analyses[0], "emp-table-08-central-inc128.csv");
	check_central(&p->made.analyses[1], "emp-table-12-central-inc16384.csv");
}

static void tables_9_and_13_l_samples(void **state)
{
	struct papers *p = *state;

	check_l_samples(&p->made.analyses[0], "emp-table-09-lsamples-inc128.csv");
	check_l_samples(&p->made.analyses[1], "emp-table-13-lsamples-inc16384.csv");
}

static void table_10_long_executions_of_central_daemons(void **state)
{
	struct papers *p = *state;
	struct csv csv = csv_read("emp-table-10-longrunning-inc128.csv");
	size_t long_executions = 0;

	for (size_t i = 0; i < csv.n_rows; i++) {
		const struct daemon_statistics *daemon = habit_of(&p->made.analyses[0], &csv, i);
		bool found = false;

		for (size_t j = 0; j < daemon->n_long_executions; j++)
			found |= daemon->long_executions[j].sample ==
					 (uint32_t)csv_number(&csv, i, "sample") &&
				 daemon->long_executions[j].pt_ns ==
					 ms(csv_number(&csv, i, "pt_ms"));
		assert_true(found);
	}
	for (size_t i = 0; i < p->made.analyses[0].n_statistics; i++)
		if (p->made.analyses[0].statistics[i].n_central > 0)
			long_executions += p->made.analyses[0].statistics[i].n_long_executions;
	assert_int_equal(long_executions, csv.n_rows);
	csv_clear(&csv);
}

/* periods: whether the table's come from this run (the long run's are the short one's). */
static void check_infrequent(const struct analysis *analysis, const char *table, bool periods)
{
	struct csv csv = csv_read(table);
	size_t infrequent = 0;

	for (size_t i = 0; i < csv.n_rows; i++) {
		const struct daemon_statistics *daemon = habit_of(analysis, &csv, i);
		double hours = csv_number(&csv, i, "period_h");

		assert_int_equal(daemon->central_max_ns, ms(csv_number(&csv, i, "central_max_ms")));
		assert_int_equal(daemon->long_min_ns, ms(csv_number(&csv, i, "l_min_ms")));
		if (!periods || isnan(hours))
			assert_true(daemon->period.samples == 0);
		else
			assert_int_equal(
				lround(daemon->period.samples * analysis->spacing_ns / 3.6e12),
				(long)hours);
	}
	for (size_t i = 0; i < analysis->n_statistics; i++)
		infrequent += analysis->statistics[i].long_min_ns >= 0;
	assert_int_equal(infrequent, csv.n_rows);
	csv_clear(&csv);
}

static void tables_11_and_15_infrequent_daemons_and_their_periods(void **state)
{
	struct papers *p = *state;

	check_infrequent(&p->made.analyses[0], "emp-table-11-infrequent-inc128.csv", true);
	check_infrequent(&p->made.analyses[1], "emp-table-15-infrequent-inc16384.csv", false);
	assert_true(analysis_daemon(&p->made.analyses[0], "rhn_check")->period.firm);
	assert_false(analysis_daemon(&p->made.analyses[0], "flush-9:0")->period.firm);
}

static void table_16_cutoffs(void **state)
{
	struct papers *p = *state;
	struct csv csv = csv_read("emp-table-16-cutoffs.csv");

	assert_int_equal(p->made.profile.resolution_ns, NS_PER_MS);
	assert_int_equal(p->made.profile.n_cutoffs, csv.n_rows);
	for (size_t i = 0; i < csv.n_rows; i++) {
		const struct cutoff *c = &p->made.profile.cutoffs[i];
		double task_time = csv_number(&csv, i, "task_time_s");

		assert_string_equal(c->daemon, csv_text(&csv, i, "daemon"));
		assert_int_equal(c->short_ns, ms(csv_number(&csv, i, "cutoff_inc128_ms")));
		assert_int_equal(c->long_ns, ms(csv_number(&csv, i, "cutoff_inc16384_ms")));
		assert_int_equal(c->below_ns, ms(csv_number(&csv, i, "below_ms")));
		assert_int_equal(c->atleast_ns, ms(csv_number(&csv, i, "atleast_ms")));
		if (isnan(task_time))
			assert_int_equal(c->task_time_ns, 0);
		else /* the table has 5 % of whole hours */
			assert_true(fabs((double)c->task_time_ns / 1e9 / task_time - 1) < 0.005);
	}
	csv_clear(&csv);
}

/* What each explains, which the papers do not tell. */
static void delete_shares(json_t *cutoffs)
{
	json_t *cutoff;
	size_t i;

	json_array_foreach (cutoffs, i, cutoff) {
		json_object_del(cutoff, "short_share_ppm");
		json_object_del(cutoff, "long_share_ppm");
	}
}

static void the_profile_that_ships_is_this_one(void **state)
{
	struct papers *p = *state;
	_cleanup_(freep) char *path = text_format("%s/../../../profiles/paper-rhel6.4.json",
		getenv("EMP_PAPERS") ?: "tests/papers/data");
	json_t *shipped = NULL, *made = NULL;
	struct error err = {};

	assert_int_equal(json_read(&shipped, path, &err), 0);
	assert_int_equal(document_make_profile(&p->made.profile, &made, &err), 0);
	json_object_del(made, "made_ns");
	json_object_del(made, "made");
	delete_shares(json_object_get(made, "cutoffs"));
	assert_true(json_equal(shipped, made));
	json_decref(shipped);
	json_decref(made);
}

static struct run_result result_of(struct papers *p, int64_t run)
{
	const struct discard_rules rules = {.profile = &p->made.profile};
	struct run_result result;
	struct error err = {};

	assert_int_equal(run_result_read(p->book, run, &rules, 0, &result, &err), 0);
	return result;
}

static void table_17_discarded_samples(void **state)
{
	struct papers *p = *state;
	struct csv csv = csv_read("emp-table-17-removed.csv");
	_cleanup_(run_result_clear) struct run_result a = result_of(p, p->short_run),
						      b = result_of(p, p->long_run);
	size_t in_short = 0, in_long = 0;

	for (size_t i = 0; i < csv.n_rows; i++) {
		bool is_short = !strcmp(csv_text(&csv, i, "run"), "INC128");
		uint32_t got = is_short ? a.discarding.by_cutoff[in_short++]
					: b.discarding.by_cutoff[in_long++];

		assert_int_equal(got, (uint32_t)csv_number(&csv, i, "sample"));
	}
	assert_int_equal(a.discarding.n_by_cutoff, in_short);
	assert_int_equal(b.discarding.n_by_cutoff, in_long);
	csv_clear(&csv);
}

/* Times to 1 ms. sd_off: by how much the sd may be off, as a share. */
static void check_times(const struct csv *csv, size_t row, const struct summary *s, double sd_off)
{
	double sd = csv_number(csv, row, "sd_ms");

	assert_close((double)s->min_ns / 1e6, csv_number(csv, row, "min_ms"), 1);
	assert_close((double)s->max_ns / 1e6, csv_number(csv, row, "max_ms"), 1);
	assert_close(s->mean_ns / 1e6, csv_number(csv, row, "mean_ms"), 1.2);
	assert_close(s->sd_ns / 1e6, sd, sd_off * sd);
}

static void check_statistics(
	const struct csv *csv, size_t row, const struct summary *s, double sd_off)
{
	assert_int_equal(
		s->n, (size_t)(csv_number(csv, row, "samples") - csv_number(csv, row, "by_cutoff") -
			       csv_number(csv, row, "by_two_sd")));
	check_times(csv, row, s, sd_off);
}

/* The runs are rebuilt so that these figures come out: times to 1 ms and the sd to 15 %, counts
 * exactly. */
static void tables_7_and_18_statistics_of_the_short_run(void **state)
{
	struct papers *p = *state;
	struct csv csv = csv_read("emp-table-07-18-statistics.csv");
	_cleanup_(run_result_clear) struct run_result result = result_of(p, p->short_run);
	const struct discarding *d = &result.discarding;

	check_statistics(&csv, 0, &d->et.raw, 0.15);
	check_statistics(&csv, 1, &d->pt.raw, 0.15);
	check_statistics(&csv, 2, &d->et.papers, 0.15);
	check_statistics(&csv, 3, &d->pt.papers, 0.15);
	assert_int_equal(d->et.n_by_two_sd, 1);
	assert_int_equal(d->et.by_two_sd[0], 451);
	csv_clear(&csv);
}

/* The row of INC16384. Those of shorter ones, also INC128, are of other runs. */
static size_t row_of_long_run(const struct csv *csv)
{
	size_t row = 0;

	while (row < csv->n_rows && csv_number(csv, row, "inc") < 16384)
		row++;
	assert_in_range(row, 0, csv->n_rows - 1);
	return row;
}

/* Table VI has the PT of all samples, Table XIX that after both checks. */
static void tables_6_18_and_19_statistics_of_the_long_run(void **state)
{
	struct papers *p = *state;
	struct csv both = csv_read("emp-table-07-18-statistics.csv"),
		   before = csv_read("emp-table-06-pt-empv4.csv"),
		   after = csv_read("emp-table-19-pt-empv5.csv");
	_cleanup_(run_result_clear) struct run_result result = result_of(p, p->long_run);
	const struct discarding *d = &result.discarding;

	check_statistics(&both, 4, &d->et.papers, 0.03);
	check_statistics(&both, 5, &d->pt.papers, 0.03);
	check_times(&before, row_of_long_run(&before), &d->pt.raw, 0.03);
	check_times(&after, row_of_long_run(&after), &d->pt.papers, 0.03);
	assert_int_equal(d->n_by_cutoff + d->pt.n_by_two_sd,
		(size_t)csv_number(&after, row_of_long_run(&after), "outliers"));
	csv_clear(&both);
	csv_clear(&before);
	csv_clear(&after);
}

/* Stopped, or on the list of what is not stopped unasked today. */
static void table_27_daemons_are_in_the_policy(void **state)
{
	_cleanup_(freep) char *profiles = text_format(
		"%s/../../../profiles", getenv("EMP_PAPERS") ?: "tests/papers/data");
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct csv csv = csv_read("emp-table-27-noncritical-daemons.csv");
	struct error err = {};
	size_t stopped = 0;

	if (policy_load(&policy, (const char *const[]){profiles, NULL}, "paper-rhel6",
		    &(struct machine){}, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < csv.n_rows; i++) {
		const char *unit = text_brief("%s.service", csv_text(&csv, i, "daemon"));

		stopped += policy_stop(policy, unit) != NULL;
		if (!policy_stop(policy, unit) && !policy_protects(policy, unit))
			fail_msg("%s is in no list", unit);
	}
	assert_int_equal(stopped, 7);
	csv_clear(&csv);
}

/* The tables count more samples over cutoffs in the first 200, 100 and 40 than Table IX has
 * L-samples there, so they are of other samples of the run. Only what holds for any half, quarter,
 * ... of it can be asked: as many L-samples as the tables have, to one and a half, and an sd within
 * 25 %. */
static void check_sizes(const struct sample_sizes *sizes, const char *clock)
{
	struct csv csv = csv_read("emp-table-20-21-samplesize-inc128.csv");
	size_t seen = 0;

	for (size_t i = 0; i < csv.n_rows; i++)
		for (size_t j = 0; j < sizes->n; j++) {
			const struct sample_size *s = &sizes->rows[j];

			if (strcmp(csv_text(&csv, i, "clock"), clock) ||
				s->n != (size_t)csv_number(&csv, i, "n"))
				continue;
			seen++;
			assert_true(fabs((double)s->by_cutoff - csv_number(&csv, i, "by_cutoff")) <=
				    1.5);
			assert_true(
				fabs(s->sd_ns / 1e6 / csv_number(&csv, i, "sd_ms") - 1) <= 0.25);
		}
	assert_int_equal(seen, 8);
	assert_int_equal(sizes->n, 8);
	csv_clear(&csv);
}

static void tables_20_and_21_sample_sizes(void **state)
{
	struct papers *p = *state;
	_cleanup_(run_result_clear) struct run_result r = result_of(p, p->short_run);
	struct sample_sizes pt, et;
	struct error err = {};

	assert_int_equal(
		sample_sizes_find(&pt, &r.discarding, r.samples, r.n_samples, false, &err), 0);
	assert_int_equal(
		sample_sizes_find(&et, &r.discarding, r.samples, r.n_samples, true, &err), 0);
	check_sizes(&pt, "PT");
	check_sizes(&et, "ET");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_eye_sees_an_l_in_both_runs),
		cmocka_unit_test(tables_8_and_12_central_daemons),
		cmocka_unit_test(tables_9_and_13_l_samples),
		cmocka_unit_test(table_10_long_executions_of_central_daemons),
		cmocka_unit_test(tables_11_and_15_infrequent_daemons_and_their_periods),
		cmocka_unit_test(table_16_cutoffs),
		cmocka_unit_test(the_profile_that_ships_is_this_one),
		cmocka_unit_test(table_17_discarded_samples),
		cmocka_unit_test(tables_20_and_21_sample_sizes),
		cmocka_unit_test(tables_7_and_18_statistics_of_the_short_run),
		cmocka_unit_test(tables_6_18_and_19_statistics_of_the_long_run),
		cmocka_unit_test(table_27_daemons_are_in_the_policy),
	};

	return cmocka_run_group_tests(tests, calibrate, leave);
}
