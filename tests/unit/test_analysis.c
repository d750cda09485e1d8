/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the protocol reads in one run, on runs small enough to be checked by hand. */
#include "tests/unit/check.h"

#include "lib/protocol/analysis.h"

enum { N = 30, SPIKE = 12 };

static struct source who[] = {
	{1, (char *)"kworker/0:1", NULL, NULL, SOURCE_KERNEL},
	{2, (char *)"kworker/1:0", NULL, NULL, SOURCE_KERNEL},
	{3, (char *)"backup", NULL, (char *)"backup.service", SOURCE_PROCESS},
	{4, (char *)"backup", NULL, (char *)"other.service", SOURCE_PROCESS},
	{5, (char *)"unseen", NULL, NULL, SOURCE_PROCESS},
};
static const struct sources daemons = {who, ELEMENTS(who)};

static const struct analysis_options default_options = {.patterns = names_default},
				     options_by_wait = {.patterns = names_default, .by_wait = true};

/* Numbered, a second apart, of unknown waiting time. */
static struct sample *make_samples(uint32_t n)
{
	struct sample *samples = calloc(n, sizeof(*samples));

	for (uint32_t i = 0; i < n; i++)
		samples[i] = (struct sample){.n = i + 1, .start_ns = i * NS_PER_S, .wait_ns = -1};
	return samples;
}

static struct analysis_feed *feed;
static struct analysis analysis;

static int clear(void **state)
{
	analysis_feed_free(TAKE(feed));
	analysis_clear(&analysis);
	return 0;
}

#define TEST_OF_RUN(name) TEST_WITH(name, NULL, clear)

/* Of a run of these samples, which the reader has then. */
static void begin(enum run_kind kind, struct sample *samples, size_t n,
	const struct sources *sources, const struct analysis_options *options)
{
	struct run run = {.id = 3, .kind = kind, .program = strdup("INC0.1"), .resolution_ns = 1};
	struct error err = {};

	clear(NULL);
	assert_int_equal(analysis_feed_new(&feed, &run, samples, n, sources, options, &err), 0);
	assert_null(run.program); /* the reader has it now */
}

/* 30 samples of about 1 s; the 12th takes 2 s. */
static void start(const struct analysis_options *options)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].start_ns *= 2;
		samples[i].et_ns = i + 1 == SPIKE ? 2 * NS_PER_S : NS_PER_S + i * 7 % N * NS_PER_US;
		samples[i].pt_ns = NS_PER_S;
	}
	begin(RUN_IMPORT, samples, N, &daemons, options);
}

static void add(uint32_t sample, uint32_t daemon, int64_t pt_ns)
{
	const struct execution e = {
		.sample = sample, .source = daemon, .pt_ns = pt_ns, .same_cpu_ns = -1};
	struct error err = {};

	assert_int_equal(analysis_feed_add(feed, &e, &err), 0);
}

static struct analysis finished(void)
{
	struct analysis ret = analysis_feed_finish(feed);

	analysis_feed_free(TAKE(feed));
	return ret;
}

TEST_OF_RUN(executions_of_one_group_count_as_one_daemon_and_are_not_added_up)
{
	const struct daemon_statistics *kworker;

	start(&default_options);
	add(1, 1, 100);
	add(1, 2, 300);
	add(2, 1, 200);
	analysis = finished();
	kworker = analysis_daemon(&analysis, "kworker");
	assert_non_null(kworker);
	assert_int_equal(kworker->n_central, 3);
	assert_int_equal(kworker->central_max_ns, 300);
	assert_true(kworker->central_sd_ns == 100);
	assert_null(analysis_daemon(&analysis, "unseen"));
}

/* EMP, step 5: over maximum and two sd for a daemon of the central cluster, every one for
 * another. */
TEST_OF_RUN(long_is_over_maximum_and_two_sd_or_not_seen_in_the_centre)
{
	const struct daemon_statistics *kworker, *backup;

	start(&default_options);
	add(1, 1, 100);
	add(2, 1, 200);
	add(3, 1, 300); /* so: maximum 300, sd 100 */
	add(SPIKE, 1, 500);
	add(SPIKE, 1, 501);
	add(SPIKE, 3, 7);
	add(SPIKE, 5, 600 * NS_PER_MS); /* which explains most of it */
	analysis = finished();
	kworker = analysis_daemon(&analysis, "kworker");
	backup = analysis_daemon(&analysis, "backup");
	assert_int_equal(kworker->n_long_executions, 1);
	assert_int_equal(kworker->long_min_ns, 501);
	assert_int_equal(kworker->seen[ZONE_ABOVE].n, 2);
	assert_int_equal(kworker->cutoff_ns, 401); /* (300 + 501) / 2, half up */
	assert_int_equal(backup->long_min_ns, 7);
	assert_int_equal(backup->central_max_ns, -1);
	assert_int_equal(backup->cutoff_ns, 4);
	assert_int_equal(analysis.verdict, VERDICT_L);
	assert_int_equal(analysis.n_l_samples, 1);
	assert_int_equal(analysis.l_samples[0], SPIKE);
}

TEST_OF_RUN(no_share_of_samples_that_took_no_time_is_told)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){.n = i + 1, .wait_ns = NS_PER_S};
	begin(RUN_IMPORT, samples, N, &daemons, &default_options);
	analysis = finished();
	assert_null(strstr(analysis.why, "inf"));
	assert_int_equal(analysis.verdict, VERDICT_CLEAN);
}

TEST_OF_RUN(a_run_that_a_quota_held_back_gives_no_cutoffs)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].et_ns = NS_PER_S;
		samples[i].pt_ns = NS_PER_S / 2;
		samples[i].held_back_ns = NS_PER_S / 2;
	}
	begin(RUN_IMPORT, samples, N, &daemons, &default_options);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_BUSY);
	assert_false(analysis_gives_cutoffs(&analysis));
	assert_non_null(strstr(analysis.why, "held back for 50 % of its time by a control group"));
}

TEST_OF_RUN(a_long_sample_without_a_daemon_that_ran_long_is_no_l_sample)
{
	start(&default_options);
	for (uint32_t i = 1; i <= N; i++)
		add(i, 1, 1000);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_CLEAN);
	assert_int_equal(analysis.n_l_samples, 0);
	assert_int_equal(analysis.n_unexplained, 1);
	assert_int_equal(analysis.unexplained[0], SPIKE);
	assert_non_null(strstr(analysis.why, "1 beyond it is long, and no daemons explain it"));
}

TEST_OF_RUN(times_are_rounded_half_up_to_the_resolution)
{
	start(&(struct analysis_options){.resolution_ns = NS_PER_MS, .patterns = names_default});
	add(1, 1, 1499999);
	add(1, 3, 499999); /* did not run, as far as this resolution sees */
	add(SPIKE, 1, 2500000);
	add(SPIKE, 5, 600 * NS_PER_MS);
	analysis = finished();
	assert_int_equal(analysis.resolution_ns, NS_PER_MS);
	assert_int_equal(analysis_daemon(&analysis, "kworker")->central_max_ns, NS_PER_MS);
	assert_int_equal(analysis_daemon(&analysis, "kworker")->long_min_ns, 3 * NS_PER_MS);
	assert_int_equal(analysis_daemon(&analysis, "kworker")->cutoff_ns, 2 * NS_PER_MS);
	assert_null(analysis_daemon(&analysis, "backup"));
}

TEST_OF_RUN(the_unit_is_that_of_the_longest_execution)
{
	start(&default_options);
	add(1, 3, 10);
	add(2, 4, 20);
	add(3, 3, 15);
	analysis = finished();
	assert_string_equal(analysis_daemon(&analysis, "backup")->unit, "other.service");
}

TEST_OF_RUN(samples_are_spaced_by_their_time_and_the_usual_pause)
{
	start(&default_options);
	analysis = finished();
	assert_true(analysis.spacing_ns > 1.9e9 && analysis.spacing_ns < 2.1e9);
}

TEST_OF_RUN(executions_behind_the_last_sample_belong_to_a_run_that_goes_on)
{
	start(&default_options);
	add(N + 1, 3, 10);
	analysis = finished();
	assert_null(analysis_daemon(&analysis, "backup"));
}

/* 90 samples of 1 s whose ET spreads by 30 %. In every 30th a daemon takes a fifth of a second, and
 * a bystander runs for as long on another CPU. */
struct noisy {
	const char *source; /* of its waiting times */
	uint32_t unknown;   /* of every so many samples it is not known; 0: it is known of all */
	int64_t step_ns;    /* by which the second half is longer */
};

static int start_noisy(
	const struct noisy *noisy, const struct analysis_options *options, struct error *err)
{
	enum { N_NOISY = 90 };
	struct run run = {.id = 4,
		.program = strdup("INC1"),
		.resolution_ns = 1,
		.wait_source = text_copy(noisy->source)};
	struct sample *samples = make_samples(N_NOISY);

	for (uint32_t i = 0; i < N_NOISY; i++) {
		int64_t wait_ns = (20 + i * 11 % 7) * NS_PER_US + (i % 30 == 17) * NS_PER_S / 5;

		samples[i].start_ns *= 2;
		samples[i].et_ns = NS_PER_S + i * 37 % 61 * 10 * NS_PER_MS + wait_ns +
				   (i >= N_NOISY / 2 ? noisy->step_ns : 0);
		if (noisy->unknown == 0 || i % noisy->unknown > 0)
			samples[i].wait_ns = wait_ns;
	}
	clear(NULL);
	if (analysis_feed_new(&feed, &run, samples, N_NOISY, &daemons, options, err) < 0) {
		run_clear(&run);
		free(samples);
		return -1;
	}
	for (uint32_t i = 1; i <= N_NOISY; i++) {
		const struct execution e[] = {{.sample = i,
						      .source = 1,
						      .pt_ns = 20 * NS_PER_US,
						      .same_cpu_ns = 15 * NS_PER_US},
			{.sample = i,
				.source = 3,
				.pt_ns = NS_PER_S / 5,
				.same_cpu_ns = NS_PER_S / 5},
			{.sample = i, .source = 5, .pt_ns = NS_PER_S / 5}};

		for (size_t k = 0; k < (i % 30 == 18 ? ELEMENTS(e) : 1); k++)
			assert_int_equal(analysis_feed_add(feed, &e[k], err), 0);
	}
	return 0;
}

static struct analysis analyse_noisy(struct noisy noisy, struct analysis_options options)
{
	struct error err = {};

	options.patterns = names_default;
	assert_int_equal(start_noisy(&noisy, &options, &err), 0);
	return finished();
}

TEST(what_et_hides_is_found_by_the_waiting_time)
{
	_cleanup_(analysis_clear) struct analysis all = analyse_noisy(
		(struct noisy){}, (struct analysis_options){.by_wait = true, .other_cpus = true});

	for (int by_wait = 0; by_wait < 2; by_wait++) {
		_cleanup_(analysis_clear) struct analysis a = analyse_noisy(
			(struct noisy){}, (struct analysis_options){.by_wait = by_wait});

		assert_int_equal(a.verdict, by_wait ? VERDICT_L : VERDICT_CLEAN);
		assert_int_equal(a.n_l_samples, by_wait ? 3 : 0);
		assert_null(analysis_daemon(&a, "unseen")); /* on another CPU */
		if (by_wait) {
			assert_int_equal(analysis_daemon(&a, "backup")->cutoff_ns, NS_PER_S / 10);
			assert_true(analysis_daemon(&a, "backup")->share > 0.99);
		}
	}
	assert_int_equal(analysis_daemon(&all, "unseen")->n_long_executions, 3);
}

/* 30 samples of 100 ms, in each of which others take `taken_ns` of the CPU; PT varies by
 * `varying_ns`. */
static struct analysis calibrated(int64_t taken_ns, int64_t varying_ns)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].pt_ns = 100 * NS_PER_MS + i * 7 % N * varying_ns / N;
		samples[i].et_ns = samples[i].pt_ns + taken_ns + i % 3;
		samples[i].wait_ns = taken_ns;
	}
	begin(RUN_SHORT, samples, N, &daemons, &default_options);
	for (uint32_t i = 1; i <= N && taken_ns > 0; i++)
		add(i, 3, taken_ns);
	return finished();
}

TEST(others_that_take_a_part_of_every_sample_are_named_with_their_share)
{
	_cleanup_(analysis_clear) struct analysis busy = calibrated(3 * NS_PER_MS, NS_PER_US);
	_cleanup_(analysis_clear) struct analysis quiet = calibrated(NS_PER_MS, NS_PER_US);

	assert_int_equal(busy.verdict, VERDICT_BUSY);
	assert_false(verdict_gives_cutoffs(busy.verdict));
	assert_string_equal(busy.why,
		"a busy CPU: other processes took 2.9 % of the time of the central samples "
		"(backup 2.9 %)");
	assert_int_equal(quiet.verdict, VERDICT_CLEAN);
	assert_false(quiet.noise.noisy);
}

/* What took 16 % of every sample keeps the CPU busy, also where W is not known: of an INC's run. */
static struct analysis imported(const char *program, enum run_kind kind, int64_t recorded_ns)
{
	const struct analysis_options options = {.patterns = names_default};
	struct run run = {.id = 3, .kind = kind, .program = strdup(program), .resolution_ns = 1};
	struct sample *samples = make_samples(N);
	struct error err = {};

	for (uint32_t i = 0; i < N; i++) {
		samples[i].pt_ns = 840 * NS_PER_MS + i * 7 % N * NS_PER_US;
		samples[i].et_ns = samples[i].pt_ns + 160 * NS_PER_MS;
	}
	clear(NULL);
	assert_int_equal(analysis_feed_new(&feed, &run, samples, N, &daemons, &options, &err), 0);
	for (uint32_t i = 1; i <= N; i++)
		add(i, 3, recorded_ns);
	return finished();
}

TEST(an_imported_run_of_an_inc_is_judged_as_one_of_a_calibration)
{
	static const struct {
		const char *program;
		enum run_kind kind;
		int64_t recorded_ms;
		enum verdict verdict;
	} rows[] = {
		{"INC1", RUN_SHORT, 160, VERDICT_BUSY},
		{"INC1", RUN_IMPORT, 160, VERDICT_BUSY},
		{"inc", RUN_IMPORT, 160, VERDICT_BUSY},
		{"INC 0.5", RUN_IMPORT, 160, VERDICT_BUSY},
		{"INC1", RUN_IMPORT, 1, VERDICT_CLEAN},     /* nobody is known who took it */
		{"incron", RUN_IMPORT, 160, VERDICT_CLEAN}, /* it may have waited for anything */
		{"sort", RUN_IMPORT, 160, VERDICT_CLEAN},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		_cleanup_(analysis_clear) struct analysis a = imported(
			rows[i].program, rows[i].kind, rows[i].recorded_ms * NS_PER_MS);

		assert_int_equal(a.verdict, rows[i].verdict);
		if (rows[i].verdict == VERDICT_BUSY)
			assert_non_null(strstr(a.why, "(backup 16 %)"));
	}
}

/* Four in five samples lose 3 ms, the others 9 ms: 4.2 ms on average. */
TEST_OF_RUN(the_shares_of_those_who_keep_the_cpu_busy_add_up_and_are_sorted)
{
	const struct analysis_options options = {
		.patterns = names_default, .central_max_ns = NS_PER_S};
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].wait_ns = (i % 5 == 2 ? 9 : 3) * NS_PER_MS;
		samples[i].pt_ns = 100 * NS_PER_MS;
		samples[i].et_ns = samples[i].pt_ns + samples[i].wait_ns;
	}
	begin(RUN_SHORT, samples, N, &daemons, &options);
	for (uint32_t i = 1; i <= N; i++) {
		add(i, 3, NS_PER_MS);
		add(i, 5, (i % 5 == 3 ? 8 : 2) * NS_PER_MS);
	}
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_BUSY);
	assert_non_null(strstr(analysis.why,
		"other processes took 4.0 % of the time of the central samples (unseen 3.1 %, "
		"backup 0.96 %); noisy"));
}

TEST(a_run_is_blind_to_what_its_central_cluster_hides)
{
	_cleanup_(analysis_clear) struct analysis noisy = calibrated(0, 20 * NS_PER_MS);

	assert_int_equal(noisy.verdict, VERDICT_CLEAN);
	assert_true(noisy.noise.noisy);
	assert_true(noisy.noise.blind_ns > 9 * NS_PER_MS && noisy.noise.blind_ns < 11 * NS_PER_MS);
	assert_non_null(strstr(noisy.why, "; noisy: blind to daemons below "));
}

static struct analysis noisy_if_exact(struct noisy noisy)
{
	return analyse_noisy(noisy, (struct analysis_options){.by_wait_if_exact = true});
}

TEST(waiting_times_count_by_themselves_where_they_are_exact)
{
	static const char *const sources[] = {NULL, "schedstat", "taskstats", "bpf"};

	for (size_t i = 0; i < ELEMENTS(sources); i++) {
		_cleanup_(analysis_clear) struct analysis a = noisy_if_exact(
			(struct noisy){.source = sources[i]});

		assert_int_equal(a.by_wait, i == 3);
		assert_int_equal(a.n_l_samples, i == 3 ? 3 : 0);
	}
}

/* They are counted in steps, which make most of them equal. */
TEST(waiting_times_are_shown_as_they_were_measured)
{
	_cleanup_(analysis_clear) struct analysis a = noisy_if_exact(
		(struct noisy){.source = "bpf"});
	const struct cluster *c = &a.central;

	assert_true(a.median_rest_ns > NS_PER_S);
	assert_int_equal(c->low_ns - a.median_rest_ns, 20 * NS_PER_US);
	assert_int_equal(c->high_ns - a.median_rest_ns, 26 * NS_PER_US);
	assert_int_equal(c->median_ns - a.median_rest_ns, 23 * NS_PER_US);
	assert_int_equal(c->zooms[0].high_ns / NS_PER_MS * NS_PER_MS,
		a.median_rest_ns / NS_PER_MS * NS_PER_MS + NS_PER_S / 5);
	assert_int_equal(c->zooms[c->n_zooms - 1].high_ns, c->high_ns);
	assert_int_equal(c->n_central, 87);
	for (size_t i = 0; i < a.n_samples; i++)
		assert_int_equal(a.samples[i].et_ns, a.samples[i].wait_ns + a.median_rest_ns);
	assert_non_null(strstr(
		a.why, "an L: 3 of 90 samples with W over 26.00 us, because daemons ran long"));
}

TEST(a_bound_set_by_hand_below_what_the_program_itself_takes_is_refused)
{
	const struct analysis_options options = {
		.patterns = names_default, .by_wait = true, .central_max_ns = NS_PER_MS};
	struct error err = {};

	assert_int_equal(start_noisy(&(struct noisy){}, &options, &err), -1);
	assert_non_null(strstr(
		err.text, "run 4: the longest central ET must be above the median ET - W, 1.3"));
}

TEST(a_few_samples_without_a_waiting_time_do_not_change_how_the_others_are_seen)
{
	_cleanup_(analysis_clear) struct analysis few = noisy_if_exact((struct noisy){"bpf", 20}),
						  many = noisy_if_exact((struct noisy){"bpf", 5});

	assert_true(few.by_wait);
	assert_int_equal(few.n_by_et, 5);
	assert_int_equal(few.verdict, VERDICT_L);
	assert_int_equal(few.n_l_samples, 3);
	/* no ET of theirs is longer than the program itself takes */
	assert_int_equal(few.n_unexplained, 0);
	assert_int_equal(analysis_daemon(&few, "backup")->cutoff_ns, NS_PER_S / 10);
	assert_false(many.by_wait);
	assert_int_equal(many.n_by_et, 0);
}

TEST(by_the_waiting_time_a_machine_with_two_speeds_is_noisy_and_no_more)
{
	_cleanup_(analysis_clear) struct analysis a = noisy_if_exact(
		(struct noisy){"bpf", 0, 5 * NS_PER_S});

	assert_int_equal(a.verdict, VERDICT_L);
	assert_int_equal(a.n_l_samples, 3);
	assert_true(a.noise.noisy);
	assert_non_null(strstr(a.why, "an L: 3 of 90 samples"));
	assert_non_null(strstr(a.why, "; a step between two speeds: "));
	assert_non_null(strstr(a.why, "; noisy: blind to daemons below "));
}

/* One sample in ten takes a tenth longer, and nobody took that from it. So many had a neighbour. */
static void finish_with_long_rests(uint32_t n_beside)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].neighbour_ppm = i % 10 == 7 && i < n_beside * 10 ? PPM : 0;
		samples[i].pt_ns = (i % 10 == 7 ? 110 : 100) * NS_PER_MS +
				   i * 7 % N * 10 * NS_PER_US;
		samples[i].wait_ns = 20 * NS_PER_US + i % 2 * NS_PER_US;
		samples[i].et_ns = samples[i].pt_ns + samples[i].wait_ns;
	}
	begin(RUN_SHORT, samples, N, &daemons, &options_by_wait);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_CLEAN);
}

TEST_OF_RUN(by_the_waiting_time_samples_that_take_long_by_themselves_are_counted_too)
{
	finish_with_long_rests(0);
	assert_non_null(strstr(analysis.why,
		"one clean cluster of 30 samples with W up to 21.00 us; 3 with an "
		"ET - W over 100.2"));
	assert_non_null(strstr(analysis.why, " are long, and no daemons explain it"));
}

TEST_OF_RUN(long_samples_are_not_without_a_reason_if_they_had_a_neighbour)
{
	finish_with_long_rests(3);
	assert_non_null(strstr(analysis.why, " are long because of a neighbour"));
	assert_null(strstr(analysis.why, "no daemons explain"));
}

TEST_OF_RUN(the_neighbour_explains_no_more_samples_than_had_one)
{
	finish_with_long_rests(2);
	assert_non_null(strstr(
		analysis.why, " are long, 2 because of a neighbour; no daemons explain the other"));
}

/* Two samples in five take 1 to 7 % longer, and nobody took that from them: a machine that does so
 * is noisy. */
TEST_OF_RUN(by_the_waiting_time_many_samples_that_take_long_by_themselves_are_noise)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].pt_ns = 100 * NS_PER_MS + i * 7 % N * NS_PER_US;
		if (i % 5 == 1 || i % 5 == 3)
			samples[i].pt_ns += (1 + i * 11 % 7) * NS_PER_MS;
		samples[i].wait_ns = 20 * NS_PER_US + i % 2 * NS_PER_US;
		samples[i].et_ns = samples[i].pt_ns + samples[i].wait_ns;
	}
	begin(RUN_SHORT, samples, N, &daemons, &options_by_wait);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_CLEAN);
	assert_true(analysis.noise.noisy);
	assert_non_null(strstr(analysis.why,
		"; 12 of 30 samples are long and nobody is known to be the cause; noisy"));
	assert_int_equal(analysis.n_unexplained, 12);
	for (uint32_t i = 0, k = 0; i < N; i++)
		if (i % 5 == 1 || i % 5 == 3)
			assert_int_equal(analysis.unexplained[k++], samples[i].n);
}

/* Hardly anything was taken from these samples, so that a daemon of 20 us divides them; but their
 * own time varies by 3 ms. */
TEST_OF_RUN(what_matters_less_than_the_own_time_of_the_program_is_not_frequent)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].pt_ns = 100 * NS_PER_MS + i * 7 % N * 100 * NS_PER_US;
		samples[i].wait_ns = 20 * NS_PER_US + i % 2 * 20 * NS_PER_US;
		samples[i].et_ns = samples[i].pt_ns + samples[i].wait_ns;
	}
	begin(RUN_SHORT, samples, N, &daemons, &options_by_wait);
	for (uint32_t i = 2; i <= N; i += 2)
		add(i, 3, 20 * NS_PER_US);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_CLEAN);
	assert_true(analysis.noise.blind_ns >= NS_PER_MS);
}

TEST_OF_RUN(by_the_waiting_time_two_speeds_that_hardly_differ_are_not_noisy)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++) {
		samples[i].pt_ns = samples[i].et_ns = (i < N / 2 ? 100 : 101) * NS_PER_MS +
						      i * 7 % N;
		samples[i].wait_ns = 0;
	}
	begin(RUN_SHORT, samples, N, &daemons, &options_by_wait);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_CLEAN);
	assert_false(analysis.noise.noisy);
	assert_non_null(strstr(analysis.why, "; a step between two speeds: "));
}

/* Of 34 long samples "backup" made 8, by 90 ms each, "smalld" 17 by 20 ms, and others the rest. */
TEST_OF_RUN(whoever_made_most_long_samples_is_the_first_cause_of_a_frequent_run)
{
	static struct source many[] = {{1, (char *)"backup", NULL, NULL, SOURCE_PROCESS},
		{2, (char *)"smalld", NULL, NULL, SOURCE_PROCESS},
		{3, (char *)"a", NULL, NULL, SOURCE_PROCESS},
		{4, (char *)"b", NULL, NULL, SOURCE_PROCESS},
		{5, (char *)"c", NULL, NULL, SOURCE_PROCESS}};
	static const struct sources all = {many, ELEMENTS(many)};
	enum { RUN = 150, LONG = 34, BACKUP = 8, SMALLD = 17 };
	struct sample *samples = make_samples(RUN);

	for (uint32_t i = 0; i < RUN; i++) {
		samples[i].pt_ns = 100 * NS_PER_MS;
		samples[i].et_ns = 100 * NS_PER_MS + i * 7 % RUN * NS_PER_US;
		if (i % 4 == 0 && i / 4 < LONG)
			samples[i].et_ns += (i / 4 < BACKUP ? 90 : 20) * NS_PER_MS;
	}
	begin(RUN_SHORT, samples, RUN, &all, &default_options);
	for (uint32_t k = 0; k < LONG; k++) {
		uint32_t source = 3 + k % 3;

		if (k < BACKUP)
			source = 1;
		else if (k < BACKUP + SMALLD)
			source = 2;
		add(4 * k + 1, source, (k < BACKUP ? 90 : 20) * NS_PER_MS);
	}
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_FREQUENT);
	assert_non_null(strstr(analysis.why, "because of smalld, backup"));
}

/* Without the bias of a short series it would be 1.13. */
TEST_OF_RUN(neighbours_are_alike_with_a_correlation_of_at_most_1)
{
	struct sample *samples = make_samples(N);

	for (uint32_t i = 0; i < N; i++)
		samples[i].et_ns = samples[i].pt_ns = (100 + i) * NS_PER_MS;
	begin(RUN_SHORT, samples, N, &daemons, &default_options);
	analysis = finished();
	assert_int_equal(analysis.verdict, VERDICT_DRIFT);
	assert_non_null(strstr(analysis.why, "(correlation 1.00)"));
}

TEST(a_run_without_waiting_times_is_refused_by_the_waiting_time)
{
	struct run run = {.id = 3, .program = (char *)"INC1", .resolution_ns = 1};
	struct sample sample = {.n = 1, .et_ns = NS_PER_S, .wait_ns = -1};
	struct error err = {};

	assert_int_equal(
		analysis_feed_new(&feed, &run, &sample, 1, &daemons, &options_by_wait, &err),
		-ENODATA);
	assert_non_null(strstr(err.text, "the waiting time of sample 1 in run 3 is not known"));
	sample.wait_ns = sample.et_ns + 1; /* of tasks that waited at the same time */
	assert_int_equal(
		analysis_feed_new(&feed, &run, &sample, 1, &daemons, &options_by_wait, &err),
		-ENODATA);
}

TEST_OF_RUN(an_execution_of_nobody_is_refused)
{
	start(&default_options);
	const struct execution e = {.sample = 1, .source = 77, .pt_ns = 1};
	struct error err = {};

	assert_int_equal(analysis_feed_add(feed, &e, &err), -EINVAL);
	assert_non_null(strstr(err.text, "run 3 has an execution in sample 1 by process 77"));
}
