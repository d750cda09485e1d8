/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes of a neighbour in made-up readings: whether they are found where they are, and how often
 * the intervals have the true values. */
#include "lib/neighbour/episodes.h"

#include "tests/unit/check.h"

/* One CPU that is read for a while. */
struct made_up {
	struct neighbour_series series;
	struct neighbour_account account;
	uint64_t random;
	size_t capacity;
};

static void clear(struct made_up *m)
{
	neighbour_series_clear(&m->series);
	neighbour_account_clear(&m->account);
}

static void put_reading(struct made_up *m, int64_t at_ns, double cycle_ps, double share)
{
	struct neighbour_reading reading = {
		.at_ns = at_ns, .turn_ps = cycle_ps * (1 + share), .cycle_ps = cycle_ps};

	reading.for_ns = neighbour_uninterrupted_ns(&reading);
	*array_add_reused(m->series.readings, m->series.n, m->capacity) = reading;
}

static int64_t next_reading(struct made_up *m, int64_t at_ns)
{
	return at_ns + (int64_t)(5e6 * (0.5 + random_unit(&m->random)));
}

static double within(struct made_up *m, double low, double high)
{
	return exp(log(low) + random_unit(&m->random) * log(high / low));
}

static void conclude(struct made_up *m)
{
	size_t n = m->series.n;

	neighbour_account_make(&m->account, &m->series, 0, n ? m->series.readings[n - 1].at_ns : 0);
}

/* Readings with (`state`) or without a neighbour until `to_ns`. */
static int64_t put_spell(struct made_up *m, int64_t at_ns, int64_t to_ns, bool state)
{
	for (; at_ns < to_ns; at_ns = next_reading(m, at_ns))
		put_reading(m, at_ns, 271 * (1 + 0.002 * random_unit(&m->random)), state ? 0.9 : 0);
	return at_ns;
}

TEST(episodes_are_found_where_they_are)
{
	enum { CASES = 300, MOST = 20, NEAR_NS = 7500000 };

	for (uint64_t seed = 0; seed < CASES; seed++) {
		_cleanup_(clear) struct made_up m = {.random = seed};
		size_t n = (size_t)(random_unit(&m.random) * MOST);
		int64_t from[MOST], to[MOST], end = 0, at = 0;
		int64_t total_ns = 0;

		for (size_t i = 0; i < n; i++) {
			from[i] = end + (int64_t)(1e9 * within(&m, 0.02, 5));
			end = to[i] = from[i] + (int64_t)(1e9 * within(&m, 0.02, 5));
			total_ns += to[i] - from[i];
			at = put_spell(&m, at, from[i], false);
			at = put_spell(&m, at, to[i], true);
		}
		put_spell(&m, at, end + NS_PER_S, false);
		conclude(&m);

		assert_int_equal(m.account.n_episodes, n);
		for (size_t i = 0; i < n; i++) {
			const struct neighbour_episode *e = &m.account.episodes[i];

			assert_close((double)e->at_ns, (double)from[i], NEAR_NS / 2.0);
			assert_close(
				(double)(e->at_ns + e->length_ns), (double)to[i], NEAR_NS / 2.0);
			assert_true(e->whole);
		}
		assert_close(m.account.share.value * (double)m.account.observed_ns,
			0.9 * (double)total_ns, (double)n * NEAR_NS);
	}
}

/* How long times with or without a neighbour are. */
enum lengths { EXPONENTIAL, LOG_NORMAL, SHORT_AND_LONG, N_LENGTHS };

static const char *const names[N_LENGTHS] = {"exponential", "log-normal", "short and long"};

/* In ns, about `mean` in the mean, but long enough for a reading. */
static double draw(struct made_up *m, enum lengths lengths, double mean)
{
	const double least = 8e6;
	double exponential = -log(1 - random_unit(&m->random)), normal = -6, length = exponential;

	for (int i = 0; i < 12; i++)
		normal += random_unit(&m->random);
	if (lengths == SHORT_AND_LONG)
		length *= random_unit(&m->random) < 0.3 ? 3 : 1.0 / 7;
	if (lengths == LOG_NORMAL)
		length = exp(normal - 0.5);
	return fmax(least, mean * length);
}

/* The mean of min(length, most), of many. */
static double mean_cut(struct made_up *m, enum lengths lengths, double mean, double most)
{
	enum { DRAWN = 20000 };
	double sum = 0;

	for (int i = 0; i < DRAWN; i++)
		sum += fmin(draw(m, lengths, mean), most);
	return sum / DRAWN;
}

struct covered {
	size_t n, share, n_stays, stays;
};

/* A minute of a CPU that has had a neighbour now and then for long, before it, too: 3 to 200 times
 * a minute, in which he is there with a share of 0.9. */
static void count_covered(
	uint64_t seed, enum lengths with, enum lengths without, struct covered *ret)
{
	_cleanup_(clear) struct made_up m = {.random = seed};
	const int64_t for_ns = 60 * NS_PER_S;
	double away = 60e9 / within(&m, 3, 200), there = away * within(&m, 0.02, 1.5);
	double start = 20 * (away + there) * (1 + random_unit(&m.random)), at = 0;
	double mean_away = mean_cut(&m, without, away, INFINITY);
	double mean_there = mean_cut(&m, with, there, INFINITY);
	double share = 0.9 * mean_there / (mean_away + mean_there);
	const struct neighbour_account *a = &m.account;
	int64_t read_ns = 0;

	for (bool state = false; at < start + (double)for_ns; state = !state) {
		at += state ? draw(&m, with, there) : draw(&m, without, away);
		if (at > start)
			read_ns = put_spell(
				&m, read_ns, (int64_t)fmin(at - start, (double)for_ns), state);
	}
	conclude(&m);

	ret->n++;
	ret->share += a->share.low <= share && share <= a->share.high;
	for (size_t i = 0; i < N_NEIGHBOUR_STAYS; i++) {
		const struct neighbour_estimate *stays = &a->stays[i].share;
		double most = (double)a->stays[i].for_ns;
		double stay = 1 - mean_cut(&m, without, away, most) / mean_away;

		if (isnan(stays->value))
			continue;
		ret->n_stays++;
		ret->stays += stays->low <= stay && stay <= stays->high;
	}
}

TEST(intervals_have_the_true_value_in_93_to_98_percent_of_cases)
{
	enum { CASES = 120 };
	struct covered all = {};
	uint64_t seed = check_seed(5000);

	for (enum lengths with = 0; with < N_LENGTHS; with++)
		for (enum lengths without = 0; without < N_LENGTHS; without++) {
			struct covered c = {};

			for (int i = 0; i < CASES; i++)
				count_covered(seed++, with, without, &c);
			printf("%s, away %s: share %.1f %%, stays %.1f %%\n", names[with],
				names[without], 100.0 * (double)c.share / (double)c.n,
				100.0 * (double)c.stays / (double)c.n_stays);
			all.n += c.n;
			all.share += c.share;
			all.n_stays += c.n_stays;
			all.stays += c.stays;
		}
	printf("all: share %.1f %%, stays %.1f %%\n", 100.0 * (double)all.share / (double)all.n,
		100.0 * (double)all.stays / (double)all.n_stays);
	assert_in_range(1000 * all.share / all.n, 930, 980);
	assert_in_range(1000 * all.stays / all.n_stays, 930, 980);
}

/* A phase of about `mean`, from `at` on, in which the neighbour comes for some 30 ms, so far apart;
 * readings are put if `start` has come. Returns its end. *with grows by the time with him. */
static double phase(struct made_up *m, double at, double mean, double apart, double start,
	int64_t *read_ns, double *with)
{
	double end = at + draw(m, EXPONENTIAL, mean), next;

	for (bool state = true; at < end; state = !state, at = next) {
		next = fmin(end, at + draw(m, EXPONENTIAL, state ? 30e6 : apart));
		*with += state ? next - at : 0;
		if (next > start)
			*read_ns = put_spell(m, *read_ns, (int64_t)fmin(next - start, 60e9), state);
	}
	return end;
}

/* A minute with 4 to 40 phases in which he comes often, and as many in which he comes seldom. */
static bool bursts_are_covered(uint64_t seed)
{
	enum { PHASES = 2000 };
	_cleanup_(clear) struct made_up m = {.random = seed};
	double cycle = 60e9 / within(&m, 4, 40),
	       mean = cycle * (0.1 + 0.4 * random_unit(&m.random));
	double start = 20 * cycle * (1 + random_unit(&m.random)), at = 0, with = 0, all = 0, share;
	double seldom = within(&m, 0.3e9, 10e9);
	int64_t read_ns = 0;

	for (int i = 0; i < PHASES; i++) {
		all += phase(&m, 0, mean, 30e6, INFINITY, &read_ns, &with);
		all += phase(&m, 0, cycle - mean, seldom, INFINITY, &read_ns, &with);
	}
	share = 0.9 * with / all;
	while (at < start + 60e9) {
		at = phase(&m, at, mean, 30e6, start, &read_ns, &with);
		at = phase(&m, at, cycle - mean, seldom, start, &read_ns, &with);
	}
	conclude(&m);
	return m.account.share.low <= share && share <= m.account.share.high;
}

TEST(so_it_is_where_episodes_come_in_bursts)
{
	enum { CASES = 200 };
	uint64_t seed = check_seed(60000);
	int covered = 0;

	for (int i = 0; i < CASES; i++)
		covered += bursts_are_covered(seed++);
	printf("bursts: %.1f %%\n", 100.0 * covered / CASES);
	assert_true(1000 * covered >= 930 * CASES);
}

/* So many readings, 5 ms from one to the next. */
static void put_even(struct made_up *m, size_t n, double cycle_ps, double share)
{
	int64_t at_ns = m->series.n ? m->series.readings[m->series.n - 1].at_ns + 5000000 : 0;

	for (size_t i = 0; i < n; i++)
		put_reading(m, at_ns + (int64_t)i * 5000000, cycle_ps, share);
}

TEST(without_an_episode_upper_bounds_follow_the_rule_of_three)
{
	_cleanup_(clear) struct made_up m = {};
	const struct neighbour_account *a = &m.account;

	put_even(&m, 12001, 271, 0);
	conclude(&m);
	assert_int_equal(a->n_episodes, 0);
	assert_int_equal(a->observed_ns, 60 * NS_PER_S);
	assert_close(a->most_a_second, 3.0 / 60, 1e-9);
	assert_close(a->share.high, 3.0 / 63, 1e-9); /* one second in 21 */
	assert_true(a->share.value == 0 && a->share.low == 0);
	assert_close(a->stays[1].share.low, exp(-3 * 0.1 / 59.9), 1e-9);
	assert_true(a->stays[1].share.value == 1 && a->stays[1].share.high == 1);
	assert_true(isnan(a->median_ns) && isnan(a->longest_ns));
}

TEST(a_neighbour_throughout_leaves_no_quiet_time_to_tell_of)
{
	_cleanup_(clear) struct made_up m = {};

	for (int i = 0; i < 500; i++) /* they do not repeat exactly */
		put_even(&m, 1, 271, 0.8 + 0.1 * (i % 3));
	conclude(&m);
	assert_int_equal(m.account.n_episodes, 1);
	assert_false(m.account.episodes[0].whole);
	assert_close(m.account.share.value, 0.9, 0.01);
	assert_true(isnan(m.account.stays[0].share.value));
	assert_close(m.account.cycle_ps, 271, 0.01);
}

TEST(quiet_times_that_are_all_shorter_say_so)
{
	_cleanup_(clear) struct made_up m = {};

	for (int i = 0; i < 50; i++) {
		put_even(&m, 40, 271, 0);
		put_even(&m, 10, 271, 0.9);
	}
	conclude(&m);
	assert_close(m.account.stays[1].share.value, 0.5, 0.02); /* 0.1 of 0.2 s */
	assert_true(m.account.stays[2].share.value == 0);
	assert_close(m.account.stays[2].share.high, 3.0 / 50, 0.002);
}

TEST(a_slower_processor_is_no_neighbour)
{
	_cleanup_(clear) struct made_up m = {};

	put_even(&m, 1600, 271, 0);
	put_even(&m, 400, 271 * 1.2, 0);
	conclude(&m);
	assert_int_equal(m.account.n_episodes, 0);
	assert_int_equal(m.account.n_slower, 400);
	assert_close(m.account.cycle_ps, 271, 0.01);
	assert_close(m.account.cycle_high_ps, 271 * 1.2, 0.01);
}

TEST(readings_that_are_not_sound_are_neither)
{
	_cleanup_(clear) struct made_up m = {};

	put_even(&m, 200, 271, 0);
	for (size_t i = 10; i < 20; i++) {
		struct neighbour_reading *reading = &m.series.readings[5 * i];

		if (i % 2) /* something stopped it for 3 ms */
			reading->for_ns += 3 * NS_PER_MS;
		else /* the chain alone was slower */
			reading->cycle_ps *= 3;
	}
	conclude(&m);
	assert_int_equal(m.account.n_unclear, 10);
	assert_int_equal(m.account.n_readings, 200);
	assert_int_equal(m.account.n_with, 0);
	assert_int_equal(m.account.n_slower, 0);
	assert_int_equal(m.account.n_episodes, 0);
}

TEST(nothing_is_known_of_a_time_without_readings)
{
	_cleanup_(clear) struct made_up m = {};

	put_even(&m, 201, 271, 0);
	put_even(&m, 100, 271, 0.9);
	put_reading(&m, m.series.readings[300].at_ns + 3600 * NS_PER_S, 271, 0.9);
	put_even(&m, 100, 271, 0.9);
	put_even(&m, 200, 271, 0);
	conclude(&m);
	assert_int_equal(m.account.n_episodes, 2);
	assert_false(m.account.episodes[0].whole || m.account.episodes[1].whole);
	assert_close((double)m.account.observed_ns, 3e9, 1e7);
	assert_close(m.account.longest_ns, 0.5e9, 1e7);
}

TEST(without_a_reading_nothing_is_known)
{
	_cleanup_(clear) struct made_up m = {};

	for (int i = 0; i < 2; i++) {
		conclude(&m);
		assert_true(isnan(m.account.share.value) && isnan(m.account.share.high));
		assert_true(isnan(m.account.stays[0].share.value));
		assert_int_equal(m.account.every_ns, 0);
		neighbour_account_clear(&m.account);
		put_reading(&m, 0, 271, 0);
	}
}

TEST(parts_and_lengths_have_all_of_it)
{
	_cleanup_(clear) struct made_up m = {};
	const struct neighbour_account *a = &m.account;
	size_t episodes = 0, readings = 0;

	for (int i = 0; i < 60; i++) { /* each second: a half with, a tenth of it alone */
		put_even(&m, 80, 271, 0);
		put_even(&m, 20, 271, 1);
		put_even(&m, 20, 271, 0);
		put_even(&m, 80, 271, i < 30);
	}
	conclude(&m);
	assert_int_equal(a->part_ns, 5 * NS_PER_S);
	assert_int_equal(a->n_parts, 12);
	for (size_t i = 0; i < a->n_parts; i++) {
		assert_close(a->parts[i].share, i < 6 ? 0.5 : 0.1, 0.001);
		readings += a->parts[i].readings;
	}
	assert_int_equal(readings, a->n_readings);
	for (size_t k = 0; k < N_NEIGHBOUR_LENGTHS; k++)
		episodes += a->lengths[k].n;
	assert_int_equal(episodes, 90);
	assert_int_equal(a->lengths[2].n, 90); /* 0.1 to 1 s */
	assert_int_equal(a->lengths[2].from_ns, 100 * NS_PER_MS);
	assert_close((double)a->lengths[2].total_ns, 0.3 * 60e9, 1e7);
}
