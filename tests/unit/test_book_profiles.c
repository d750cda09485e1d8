/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles, environments and the constant of INC in the book. */
#include "tests/unit/scratch.h"
#include "lib/record/profile.h"

#include <errno.h>

static struct profile make(const char *name)
{
	struct profile p = {
		.name = strdup(name), .resolution_ns = 1000000, .made_ns = 1700000000000000000};

	p.environment_digest = strdup("d1");
	p.short_run = (struct profile_run){
		.program = strdup("INC128"), .samples = 800, .n_l_samples = 2};
	p.short_run.l_samples = calloc(2, sizeof(uint32_t));
	p.short_run.l_samples[0] = 75;
	p.short_run.l_samples[1] = 104;
	p.long_run = (struct profile_run){.program = strdup("INC16384"), .samples = 40};
	p.n_cutoffs = 2;
	p.cutoffs = calloc(2, sizeof(*p.cutoffs));
	p.cutoffs[0] = (struct cutoff){.daemon = strdup("bash"),
		.short_ns = 1000000,
		.long_ns = -1,
		.below_ns = 1000000,
		.atleast_ns = 0};
	p.cutoffs[1] = (struct cutoff){.daemon = strdup("rhn_check"),
		.unit = strdup("rhnsd.service"),
		.short_ns = 281000000,
		.long_ns = 12828000000,
		.period_ns = 14374400000000,
		.firm = true,
		.task_time_ns = 718700000000,
		.below_ns = 281000000,
		.atleast_ns = 12828000000};
	return p;
}

TEST_IN_BOOK(a_profile_comes_back_as_it_was_stored)
{
	_cleanup_(profile_clear) struct profile p = make("quiet"), back = {};

	assert_done(s, book_put_profile(s->book, &p, false, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "quiet", &back, &s->err));
	p.id = back.id;
	assert_same_fields(&profile_table, &back, &p);
	assert_same_fields(&profile_run_table, &back.short_run, &p.short_run);
	assert_same_fields(&profile_run_table, &back.long_run, &p.long_run);
	assert_int_equal(back.short_run.n_l_samples, 2);
	assert_memory_equal(back.short_run.l_samples, p.short_run.l_samples, 2 * sizeof(uint32_t));
	assert_int_equal(back.long_run.n_l_samples, 0);
	assert_int_equal(back.n_cutoffs, 2);
	for (size_t i = 0; i < 2; i++)
		assert_same_fields(&cutoff_table, &back.cutoffs[i], &p.cutoffs[i]);
}

TEST_IN_BOOK(a_profile_is_replaced_only_when_asked)
{
	_cleanup_(profile_clear) struct profile p = make("quiet"), back = {};

	assert_done(s, book_put_profile(s->book, &p, false, &s->err));
	p.cutoffs[0].below_ns = 5000000;
	assert_int_equal(book_put_profile(s->book, &p, false, &s->err), -EEXIST);
	assert_says(s, "has a profile 'quiet' already");
	assert_done(s, book_put_profile(s->book, &p, true, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "quiet", &back, &s->err));
	assert_int_equal(back.cutoffs[0].below_ns, 5000000);
	assert_int_equal(back.n_cutoffs, 2);
}

TEST_IN_BOOK(a_profile_that_is_not_there_is_answered_with_those_that_are)
{
	_cleanup_(profile_clear) struct profile a = make("noisy"), b = make("calm"), back = {};

	assert_int_equal(book_get_profile(s->book, 0, "quiet", &back, &s->err), -ENOENT);
	assert_says(s, "which has no profiles");
	assert_done(s, book_put_profile(s->book, &a, false, &s->err));
	assert_done(s, book_put_profile(s->book, &b, false, &s->err));
	assert_int_equal(book_get_profile(s->book, 0, "quiet", &back, &s->err), -ENOENT);
	assert_says(s, "it has 'calm', 'noisy'");
	assert_int_equal(book_remove_profile(s->book, "quiet", &s->err), -ENOENT);
}

TEST_IN_BOOK(profiles_are_listed_by_name_and_removed)
{
	_cleanup_(profile_clear) struct profile a = make("noisy"), b = make("calm");
	struct profile *all = NULL;
	size_t n;

	assert_done(s, book_profiles(s->book, NULL, &all, &n, &s->err));
	assert_int_equal(n, 0);
	free(all);
	assert_done(s, book_put_profile(s->book, &a, false, &s->err));
	assert_done(s, book_put_profile(s->book, &b, true, &s->err));
	assert_done(s, book_profiles(s->book, NULL, &all, &n, &s->err));
	assert_int_equal(n, 2);
	assert_string_equal(all[0].name, "calm");
	assert_int_equal(all[1].n_cutoffs, 2);
	profile_clear(&all[0]);
	profile_clear(&all[1]);
	free(all);
	assert_done(s, book_remove_profile(s->book, "noisy", &s->err));
	assert_done(s, book_profiles(s->book, NULL, &all, &n, &s->err));
	assert_int_equal(n, 1);
	profile_clear(&all[0]);
	free(all);
}

/* The environment has those of the latest, whatever is imported after it. */
TEST_IN_BOOK(each_profile_has_the_figures_of_its_own_short_run)
{
	_cleanup_(profile_clear) struct profile first = make("first"), second = make("second"),
						older = make("older"), back = {};
	struct mdd rows[N_MDD];
	struct correlation correlation = {};
	int64_t environment;

	first.mdd[1] = (struct mdd){mdd_sizes[1], 0.01, 0.02};
	first.correlation = (struct correlation){0.25, 400};
	second.mdd[1] = (struct mdd){mdd_sizes[1], 0.03, 0.04};
	second.correlation = (struct correlation){0.75, 800};
	older.mdd[1] = (struct mdd){mdd_sizes[1], 0.05, 0.06};
	older.correlation = (struct correlation){0.5, 400};
	older.made_ns--;
	assert_done(s, book_put_profile(s->book, &first, false, &s->err));
	assert_done(s, book_put_profile(s->book, &second, false, &s->err));
	assert_done(s, book_put_profile(s->book, &older, false, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "first", &back, &s->err));
	assert_true(back.mdd[1].interleaved == 0.01 && back.mdd[1].separate == 0.02);
	assert_int_equal(back.mdd[0].samples, 0);
	assert_true(back.correlation.lag1 == 0.25 && back.correlation.samples == 400);
	assert_done(s, book_put_environment(s->book, "d1", NULL, NULL, &environment, &s->err));
	assert_done(s, book_get_mdd(s->book, environment, NULL, rows, &s->err));
	assert_true(rows[1].interleaved == 0.03);
	assert_done(s, book_get_correlation(s->book, environment, NULL, &correlation, &s->err));
	assert_true(correlation.lag1 == 0.75);
}

/* What an older INC showed of the machine stays with it, and its profile says which calibration to
 * repeat. */
TEST_IN_BOOK(figures_belong_to_the_inc_that_was_measured)
{
	_cleanup_(profile_clear) struct profile old = make("old"), renewed = make("renewed"),
						back = {};
	_cleanup_(freep) char *name = NULL, *none = NULL;
	struct mdd rows[N_MDD];
	struct correlation correlation;
	_cleanup_(run_clear) struct run run = scratch_run("INC128");
	int64_t environment;

	assert_done(s, book_add_run(s->book, &run, &s->err));
	old.short_run.run = run.id;
	old.inc_digest = xstrdup("i0");
	old.correlation = (struct correlation){0.25, 400};
	old.mdd[1] = (struct mdd){mdd_sizes[1], 0.01, 0.02};
	assert_done(s, book_put_profile(s->book, &old, false, &s->err));
	assert_done(s, book_put_environment(s->book, "d1", NULL, NULL, &environment, &s->err));
	assert_done(s, book_get_correlation(s->book, environment, "i1", &correlation, &s->err));
	assert_done(s, book_get_mdd(s->book, environment, "i1", rows, &s->err));
	assert_true(correlation.samples == 0 && rows[1].samples == 0);
	assert_int_equal(book_find_other_inc(s->book, environment, "i1", &name, &s->err), 1);
	assert_string_equal(name, "old");
	assert_int_equal(book_find_other_inc(s->book, environment, "i0", &none, &s->err), 0);

	old.short_run.run = 0; /* an imported one cannot be measured anew */
	assert_done(s, book_put_profile(s->book, &old, true, &s->err));
	assert_int_equal(book_find_other_inc(s->book, environment, "i1", &none, &s->err), 0);

	renewed.inc_digest = xstrdup("i1");
	renewed.correlation = (struct correlation){0.5, 100};
	renewed.made_ns--;
	assert_done(s, book_put_profile(s->book, &renewed, false, &s->err));
	assert_int_equal(book_find_other_inc(s->book, environment, "i1", &none, &s->err), 0);
	assert_done(s, book_get_correlation(s->book, environment, "i1", &correlation, &s->err));
	assert_true(correlation.lag1 == 0.5);
	assert_done(s, book_get_correlation(s->book, environment, "i0", &correlation, &s->err));
	assert_true(correlation.lag1 == 0.25);
	assert_done(s, book_get_profile(s->book, 0, "renewed", &back, &s->err));
	assert_string_equal(back.inc_digest, "i1");
}

/* Its cutoffs stay, and that it was forced. */
TEST_IN_BOOK(a_profile_of_another_inc_loses_what_that_showed)
{
	_cleanup_(profile_clear) struct profile by_et = make("p"), by_wait = make("p"),
						imported = make("p");

	by_et.inc_digest = xstrdup("i0");
	by_et.correlation = (struct correlation){0.25, 400};
	by_et.mark = (struct profile_mark){5000000, xstrdup("busy, forced; steal 3.2 %")};
	profile_for_inc(&by_et, "i0");
	assert_true(!by_et.other_inc && by_et.correlation.samples == 400);
	profile_for_inc(&by_et, "i1");
	assert_true(by_et.other_inc && by_et.correlation.samples == 0 && by_et.n_cutoffs == 2);
	assert_int_equal(by_et.mark.blind_ns, 0);
	assert_string_equal(by_et.mark.noise, "busy, forced; steal 3.2 %");
	by_wait.by_wait = true;
	by_wait.mdd[0] = (struct mdd){mdd_sizes[0], 0.01, 0.02};
	by_wait.mark = (struct profile_mark){5000000, xstrdup("steal 3.2 %")};
	profile_for_inc(&by_wait, "i1");
	assert_true(by_wait.other_inc && by_wait.mdd[0].samples == 0 &&
		    by_wait.mark.blind_ns == 5000000);
	profile_for_inc(&imported, "i1");
	assert_false(imported.other_inc);
}

TEST_IN_BOOK(a_profile_of_no_environment_has_its_figures_too)
{
	_cleanup_(profile_clear) struct profile p = make("p"), back = {};

	free(TAKE(p.environment_digest));
	p.mdd[3] = (struct mdd){mdd_sizes[3], 0, 0.5};
	assert_done(s, book_put_profile(s->book, &p, false, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "p", &back, &s->err));
	assert_true(back.mdd[3].samples == mdd_sizes[3] && back.mdd[3].separate == 0.5);
	assert_int_equal(back.correlation.samples, 0);
}

TEST_IN_BOOK(a_profile_outlives_the_run_it_was_made_of)
{
	_cleanup_(profile_clear) struct profile p = make("quiet"), back = {}, after = {};
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC128");

	p.short_run.run = run.id;
	assert_done(s, book_put_profile(s->book, &p, false, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "quiet", &back, &s->err));
	assert_int_equal(back.short_run.run, run.id);
	assert_done(s, book_remove_run(s->book, run.id, true, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "quiet", &after, &s->err));
	assert_int_equal(after.short_run.run, 0);
	assert_int_equal(after.short_run.n_l_samples, 2);
}

TEST_IN_BOOK(an_environment_is_stored_once_for_its_digest)
{
	_cleanup_(freep) char *digest = NULL, *document = NULL, *machine = NULL;
	int64_t first, again, other, id;

	assert_done(s, book_put_environment(s->book, "d1", "box", "{\"a\":1}", &first, &s->err));
	assert_done(s, book_put_environment(s->book, "d1", "box", "{\"a\":2}", &again, &s->err));
	assert_done(s, book_put_environment(s->book, "d2", "box", "{\"a\":3}", &other, &s->err));
	assert_int_equal(first, again);
	assert_int_not_equal(first, other);
	assert_done(s, book_get_environment(s->book, first, &digest, NULL, &document, &s->err));
	assert_string_equal(digest, "d1");
	assert_string_equal(document, "{\"a\":1}");
	assert_done(s, book_get_environment(s->book, first, NULL, &machine, NULL, &s->err));
	assert_string_equal(machine, "box");
	assert_int_equal(book_get_environment(s->book, 99, NULL, NULL, NULL, &s->err), -ENOENT);
	assert_says(s, "environment 99 is not in the lab book");

	/* foreign ones without a digest are told apart by all they have */
	assert_done(s, book_put_environment(s->book, NULL, "box", NULL, &first, &s->err));
	assert_done(s, book_put_environment(s->book, NULL, "box", NULL, &again, &s->err));
	assert_done(s, book_put_environment(s->book, NULL, "box", "{}", &other, &s->err));
	assert_done(s, book_put_environment(s->book, NULL, NULL, "{}", &id, &s->err));
	assert_int_equal(first, again);
	assert_true(other != first && id != other);
}

TEST_IN_BOOK(an_environment_known_by_its_digest_only_is_completed)
{
	_cleanup_(freep) char *document = NULL, *machine = NULL;
	int64_t first, again;

	assert_done(s, book_put_environment(s->book, "d1", NULL, NULL, &first, &s->err));
	assert_done(s, book_put_environment(s->book, "d1", "box", "{\"a\":1}", &again, &s->err));
	assert_int_equal(first, again);
	assert_done(s, book_put_environment(s->book, "d1", "another", NULL, &again, &s->err));
	assert_int_equal(first, again);
	assert_done(s, book_get_environment(s->book, first, NULL, &machine, &document, &s->err));
	assert_string_equal(machine, "box");
	assert_string_equal(document, "{\"a\":1}");
}

TEST_IN_BOOK(the_constant_of_inc_is_set_once)
{
	int64_t environment;
	double per_second = 0;

	assert_done(s, book_put_environment(s->book, "d1", "box", "{}", &environment, &s->err));
	assert_int_equal(book_get_inc(s->book, environment, "i1", &per_second, &s->err), 0);
	assert_done(s, book_put_inc(s->book, environment, "i1", 123456789.5, &s->err));
	assert_int_equal(book_get_inc(s->book, environment, "i1", &per_second, &s->err), 1);
	assert_true(per_second == 123456789.5);
	assert_int_equal(book_put_inc(s->book, environment, "i1", 2, &s->err), -EEXIST);
	assert_says(s, "already has the constant of INC for this environment "
		       "(123456790 increments a second)");
	assert_int_equal(book_get_inc(s->book, environment, "i1", &per_second, &s->err), 1);
	assert_true(per_second == 123456789.5);
	assert_int_equal(book_put_inc(s->book, 99, "i1", 2, &s->err), -ENOENT);
}
