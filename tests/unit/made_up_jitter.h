/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run made up for tests of the book and of its readers: one second of CPU 1, with a timer
 * (10 us, every 4 ms), a daemon of the unit backup.service (2.5 ms, every 100 ms), both in a
 * combination twice, and a residue of the host. */
#pragma once

#include "tests/unit/scratch.h"

#include "lib/jitter/jitter.h"

enum { MADE_UP_TIMER = 1, MADE_UP_SOFTIRQ, MADE_UP_BACKUP, MADE_UP_BOTH };

/* Its arrays are static. The sources have the ids above in a book that was empty. */
static inline struct jitter made_up_jitter(void)
{
	static struct jitter_cpu cpus[] = {{.cpu = 1,
		.rounds = 2,
		.wall_ns = 1000000000,
		.sampled_ns = 998000000,
		.smallest_gap_ns = 12,
		.threshold_ns = 120,
		.gaps = 1258,
		.gaps_ns = 37420000,
		.explained = 258,
		.explained_ns = 27520000,
		.chance = 5,
		.chance_ns = 60000,
		.periodic = 990,
		.periodic_ns = 9800000,
		.outside_kernel = 4,
		.outside_kernel_ns = 40000,
		.steal_ns = 0,
		.smis = -1,
		.unexplained = 6,
		.unexplained_ns = 60000,
		.events = 1024,
		.event_cost_ns = 170}};
	static struct jitter_period periods[] = {
		{1, 1, 1000000, 900, 9000000, true}, {1, 2, 4100000, 90, 800000, false}};
	static struct jitter_source sources[] = {
		{1, JITTER_FREQUENCY, MADE_UP_TIMER, 250, 8000, 14000, 2500000, 2.6e10, 2, 3.125e12,
			0, 4000000},
		{1, JITTER_FREQUENCY, MADE_UP_SOFTIRQ, 125, 900, 3000, 250000, 6e8, 2, 3.125e10, 0,
			0},
		{1, JITTER_FREQUENCY, MADE_UP_BACKUP, 10, 2400000, 2600000, 25000000, 6.26e13, 2,
			3.125e14, 0, 100000000},
		{1, JITTER_TIME, MADE_UP_TIMER, 248, 8000, 17000, 2722000, 3.1e10, 2, 3.71e12, 1e9,
			4000000},
		{1, JITTER_TIME, MADE_UP_BACKUP, 8, 2400000, 2600000, 20000000, 5.01e13, 2, 2e14, 0,
			100000000},
		{1, JITTER_TIME, MADE_UP_BOTH, 2, 2510000, 2518000, 5028000, 1.27e13, 1, 2.53e13,
			2.53e13, 0},
	};
	static struct jitter_bucket buckets[] = {
		{1, JITTER_FREQUENCY, MADE_UP_TIMER, 8000, 16000, 250, 2500000},
		{1, JITTER_FREQUENCY, MADE_UP_SOFTIRQ, 500, 1000, 5, 4500},
		{1, JITTER_FREQUENCY, MADE_UP_SOFTIRQ, 1000, 4000, 120, 245500},
		{1, JITTER_FREQUENCY, MADE_UP_BACKUP, 2000000, 3000000, 10, 25000000},
		{1, JITTER_MASTER, 0, 8000, 16000, 240, 2600000},
		{1, JITTER_MASTER, 0, 16000, 32000, 8, 132000},
		{1, JITTER_MASTER, 0, 2000000, 3000000, 10, 25028000},
		{1, JITTER_TIME, MADE_UP_TIMER, 8000, 16000, 240, 2590000},
		{1, JITTER_TIME, MADE_UP_TIMER, 16000, 32000, 8, 132000},
		{1, JITTER_TIME, MADE_UP_BACKUP, 2000000, 3000000, 8, 20000000},
		{1, JITTER_TIME, MADE_UP_BOTH, 2000000, 3000000, 2, 5028000},
		{1, JITTER_USER, 0, 8000, 16000, 1240, 12380000},
		{1, JITTER_USER, 0, 16000, 32000, 8, 140000},
		{1, JITTER_USER, 0, 2000000, 3000000, 10, 25040000},
	};
	static struct jitter_match matches[] = {{1, 8000, 16000, 1240, 240, 4},
		{1, 16000, 32000, 8, 8, 0}, {1, 2000000, 3000000, 10, 10, 1}};
	static struct interruption longest[] = {{1, 1700000000100000000, 2600000, MADE_UP_BACKUP},
		{1, 1700000000200000000, 2518000, MADE_UP_BOTH},
		{1, 1700000000300000000, 15000, 0}};
	static struct interruption_part parts[] = {
		{1, 1700000000100000000, 1, 1000, 2590000, 2590000, MADE_UP_BACKUP},
		{1, 1700000000200000000, 1, 500, 12000, 9000, MADE_UP_TIMER},
		{1, 1700000000200000000, 2, 600, 3000, 3000, MADE_UP_SOFTIRQ},
		{1, 1700000000200000000, 3, 13000, 2504000, 2504000, MADE_UP_BACKUP}};
	static struct combination_part combinations[] = {
		{MADE_UP_BOTH, 1, MADE_UP_TIMER}, {MADE_UP_BOTH, 2, MADE_UP_BACKUP}};

	return (struct jitter){cpus, ELEMENTS(cpus), periods, ELEMENTS(periods), sources,
		ELEMENTS(sources), buckets, ELEMENTS(buckets), matches, ELEMENTS(matches), longest,
		ELEMENTS(longest), parts, ELEMENTS(parts), combinations, ELEMENTS(combinations)};
}

/* Stores it as run 1 of an empty book. */
static inline int64_t made_up_jitter_put(struct scratch *s)
{
	static const struct source sources[] = {
		{MADE_UP_TIMER, (char *)"local_timer", NULL, NULL, SOURCE_VECTOR},
		{MADE_UP_SOFTIRQ, (char *)"softirq:TIMER", NULL, NULL, SOURCE_SOFTIRQ},
		{MADE_UP_BACKUP, (char *)"backupd", NULL, (char *)"backup.service", SOURCE_PROCESS},
		{MADE_UP_BOTH, (char *)"local_timer_backupd", NULL, NULL, SOURCE_COMBINATION},
	};
	_cleanup_(run_clear) struct run run = scratch_run("jitter");
	struct jitter jitter = made_up_jitter();
	uint32_t id;

	run.kind = RUN_JITTER;
	run.task_length_ns = 0;
	run.cpu = 1;
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	for (size_t i = 0; i < ELEMENTS(sources); i++) {
		assert_done(s, book_source(s->book, &sources[i], &id, &s->err));
		assert_int_equal(id, sources[i].id);
	}
	assert_done(s, book_put_jitter(s->book, run.id, &jitter, &s->err));
	return run.id;
}
