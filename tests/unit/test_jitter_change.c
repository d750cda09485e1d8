/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run against its baseline: how often machines that did not change are said to have. */
#include "lib/jitter/jitter_change.h"

#include "tests/unit/check.h"

#include <math.h>

enum { SOURCES = 20, MACHINES = 400, ROUNDS = 60, SHORT = 20 };

static int n_rounds = ROUNDS;

static double uniform(void)
{
	return ((double)random() + 0.5) / ((double)RAND_MAX + 1);
}

/* How a source behaves: slices of about 10 us, in bursts, some of them over several rounds. */
struct habit {
	double bursts; /* a round */
	double slices; /* in a burst */
	double rounds; /* that a burst lasts */
};

static struct habit draw(void)
{
	return (struct habit){exp(log(0.005) + uniform() * log(2000)), exp(uniform() * log(100)),
		exp(log(0.1) + uniform() * log(40))};
}

static struct jitter_row sum_up(const struct source *source, const double *rounds)
{
	struct jitter_row row = {.source = source};

	for (int i = 0; i < n_rounds; i++) {
		double step = i > 0 ? rounds[i] - rounds[i - 1] : 0;

		row.total_ns += (int64_t)rounds[i];
		row.rounds += rounds[i] > 0;
		row.round_squares_ns2 += rounds[i] * rounds[i];
		row.round_steps_ns2 += step * step;
	}
	row.count = row.total_ns / 10000 + (row.total_ns > 0);
	return row;
}

static struct jitter_row row_of(const struct source *source, const struct habit *h)
{
	double rounds[ROUNDS] = {};

	for (double at = -log(uniform()) / h->bursts; at < n_rounds;
		at -= log(uniform()) / h->bursts) {
		for (double left = h->slices; left > 0; left--) {
			double when = at + uniform() * h->rounds;

			if (when < n_rounds)
				rounds[(int)when] += 10000 * (0.5 + uniform());
		}
	}
	return sum_up(source, rounds);
}

static struct source sources[SOURCES + 1];

static void name_sources(void)
{
	for (int i = 0; i <= SOURCES; i++)
		sources[i] = (struct source){.id = i + 1, .name = (char *)"x"};
}

/* A run of the machine; only sources that occur have a row. */
static struct jitter_table run(const struct habit *habits, size_t n, struct jitter_row *rows)
{
	struct jitter_table table = {.rows = rows};

	for (size_t i = 0; i < n; i++) {
		rows[table.n] = row_of(&sources[i], &habits[i]);
		table.total_ns += rows[table.n].total_ns;
		table.n += rows[table.n].count > 0;
	}
	for (size_t i = 0; i < table.n; i++)
		rows[i].share = (double)rows[i].total_ns / (double)table.total_ns;
	return table;
}

static struct jitter_changes compare(const struct jitter_table *a, const struct jitter_table *b)
{
	const struct jitter_cpu cpus = {
		.rounds = n_rounds, .sampled_ns = n_rounds * INT64_C(1000000000)};

	return jitter_changes_make(a, &cpus, b, &cpus);
}

/* In how many of MACHINES at least one source is said to have changed. */
static int count_wrong(void)
{
	int wrong = 0;

	name_sources();
	for (int i = 0; i < MACHINES; i++) {
		struct jitter_row a_rows[SOURCES], b_rows[SOURCES];
		struct habit habits[SOURCES];
		struct jitter_changes changes;
		bool claims = false;

		for (size_t k = 0; k < SOURCES; k++)
			habits[k] = draw();
		struct jitter_table a = run(habits, SOURCES, a_rows),
				    b = run(habits, SOURCES, b_rows);
		changes = compare(&a, &b);
		for (size_t k = 0; k < changes.n; k++)
			claims |= changes.items[k].kind != CHANGE_NONE &&
				  changes.items[k].kind != CHANGE_UNCLEAR;
		wrong += claims;
		jitter_changes_clear(&changes);
	}
	printf("%d of %d machines, %d rounds\n", wrong, MACHINES, n_rounds);
	return wrong;
}

TEST(machines_that_did_not_change_hardly_ever_show_a_change)
{
	srandom((unsigned)check_seed(21));
	assert_true(count_wrong() < 0.05 * MACHINES);
	n_rounds = SHORT;
	assert_true(count_wrong() < 0.05 * MACHINES);
	n_rounds = ROUNDS;
}

enum daemon_kind { REGULAR, UNEVEN, AT_RANDOM, STARTED_LATE, N_DAEMON_KINDS };

TEST(a_new_daemon_that_takes_1_percent_is_found_in_20_seconds)
{
	srandom((unsigned)check_seed(26));
	name_sources();
	n_rounds = SHORT;
	for (enum daemon_kind kind = 0; kind < N_DAEMON_KINDS; kind++) {
		int found = 0;

		for (int i = 0; i < MACHINES; i++) {
			struct jitter_row a_rows[SOURCES], b_rows[SOURCES + 1];
			struct habit habits[SOURCES];
			struct jitter_changes changes;

			for (size_t k = 0; k < SOURCES; k++)
				habits[k] = draw();
			struct jitter_table a = run(habits, SOURCES, a_rows),
					    b = run(habits, SOURCES, b_rows);

			/* A daemon that takes 1 to 30 % of the time. It runs at least every 2 s, or
			 * every second on the average, or it starts up to 5 s late. */
			double period = exp(
				log(0.05) + uniform() * log(kind < AT_RANDOM ? 40 : 20));
			double share = exp(log(0.01) + uniform() * log(30));
			double rounds[ROUNDS] = {}, at = uniform() * period;

			at += kind == STARTED_LATE ? uniform() * 5 : 0;
			while (at < n_rounds) {
				rounds[(int)at] += share * period * 1e9;
				if (kind == UNEVEN)
					at += period * (0.7 + 0.6 * uniform());
				else if (kind == AT_RANDOM)
					at += period * -log(uniform());
				else
					at += period;
			}
			b.rows[b.n] = sum_up(&sources[SOURCES], rounds);
			b.total_ns += b.rows[b.n++].total_ns;
			changes = compare(&a, &b);
			for (size_t k = 0; k < changes.n; k++)
				found += changes.items[k].kind == CHANGE_NEW &&
					 changes.items[k].after->source == &sources[SOURCES];
			jitter_changes_clear(&changes);
		}
		printf("kind %d: %d of %d found\n", (int)kind, found, MACHINES);
		assert_true(found >= 0.99 * MACHINES);
	}
	n_rounds = ROUNDS;
}

/* The new source is the last one. */
static int count_found(struct habit added, enum jitter_change_kind kind, double before)
{
	int found = 0;

	for (int i = 0; i < 100; i++) {
		struct jitter_row a_rows[SOURCES + 1], b_rows[SOURCES + 1];
		struct habit habits[SOURCES + 1], less[SOURCES + 1];
		struct jitter_changes changes;

		for (size_t k = 0; k < SOURCES; k++)
			less[k] = habits[k] = draw();
		habits[SOURCES] = less[SOURCES] = added;
		less[SOURCES].bursts *= before;
		struct jitter_table a = run(less, before > 0 ? SOURCES + 1 : SOURCES, a_rows),
				    b = run(habits, SOURCES + 1, b_rows);
		changes = compare(&a, &b);
		for (size_t k = 0; k < changes.n; k++) {
			const struct jitter_change *c = &changes.items[k];

			found += c->kind == kind && c->after &&
				 c->after->source == &sources[SOURCES];
		}
		jitter_changes_clear(&changes);
	}
	return found;
}

TEST(a_new_daemon_that_runs_every_other_second_is_found)
{
	srandom((unsigned)check_seed(22));
	name_sources();
	assert_true(count_found((struct habit){0.5, 10, 0.1}, CHANGE_NEW, 0) >= 95);
}

TEST(a_daemon_that_runs_three_times_as_often_has_grown)
{
	srandom((unsigned)check_seed(23));
	name_sources();
	assert_true(count_found((struct habit){30, 2, 0.1}, CHANGE_GROWN, 1.0 / 3) >= 95);
}

TEST(the_reverse_is_gone_and_shrunk)
{
	struct jitter_row before[2], after[1];
	const struct habit often = {20, 5, 0.1}, rare = {5, 5, 0.1};
	struct jitter_changes changes;

	srandom((unsigned)check_seed(24));
	name_sources();
	before[0] = row_of(&sources[0], &often);
	before[1] = row_of(&sources[1], &often);
	after[0] = row_of(&sources[0], &rare);
	changes = compare(
		&(struct jitter_table){before, 2, 1}, &(struct jitter_table){after, 1, 1});
	assert_int_equal(changes.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(changes.items[i].kind,
			changes.items[i].after ? CHANGE_SHRUNK : CHANGE_GONE);
	jitter_changes_clear(&changes);
}

TEST(the_share_of_new_sources_is_that_of_what_is_surely_new)
{
	struct jitter_row before[1], after[3];
	const struct habit often = {20, 5, 0.1};
	struct jitter_changes changes;

	srandom((unsigned)check_seed(25));
	name_sources();
	before[0] = after[0] = row_of(&sources[0], &often);
	after[1] = row_of(&sources[1], &often);
	after[2] = (struct jitter_row){.source = &sources[2],
		.count = 1,
		.total_ns = 1000,
		.rounds = 1,
		.round_squares_ns2 = 1e6,
		.round_steps_ns2 = 2e6};
	after[0].share = 0.5;
	after[1].share = 0.3;
	after[2].share = 0.2;
	changes = compare(
		&(struct jitter_table){before, 1, 1}, &(struct jitter_table){after, 3, 1});
	assert_true(fabs(changes.new_share - 0.3) < 1e-12);
	jitter_changes_clear(&changes);
}

TEST(runs_that_do_not_know_their_rounds_make_no_claim)
{
	struct jitter_row row = {.source = &sources[0], .count = 1000, .total_ns = 1000000};
	struct jitter_changes changes;

	name_sources();
	changes = compare(&(struct jitter_table){}, &(struct jitter_table){&row, 1, 1000000});
	assert_int_equal(changes.items[0].kind, CHANGE_UNCLEAR);
	jitter_changes_clear(&changes);
}
