/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of a session, in the order asked for. Interleaved and shuffled commands take turns, so that
 * what changes slowly (temperature, frequency, neighbours) meets all of them; a sequence finishes one command
 * before the next. */
#include "measure/session.h"

#include "lib/base/progress.h"
#include "lib/base/tool.h"
#include "lib/host/process/hook.h"
#include "lib/host/process/signals.h"

#include <errno.h>
#include <string.h>

/* The tasks that take turns, and how far they are. */
struct turn {
	struct session *session;
	struct task *tasks;
	size_t n;
	struct progress *progress;
	uint64_t *done;
};

/* xorshift64* (Vigna 2016): good enough to order samples by. */
static uint64_t next_random(uint64_t *state)
{
	*state |= *state == 0;
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void order_round(struct session *s, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	if (s->options->order != ORDER_SHUFFLE)
		return;
	for (size_t i = n; i > 1; i--) { /* Fisher and Yates */
		size_t k = next_random(&s->shuffled) % i, other = order[k];

		order[k] = order[i - 1];
		order[i - 1] = other;
	}
}

static int hook(const struct session *s, const char *command, const char *what, struct error *err)
{
	int r;

	if (!command)
		return 0;
	if (interrupt_pending())
		return -EINTR;
	r = hook_run(command, s->options->shell_words, s->options->show_output, what, err);
	return r < 0 && interrupt_pending() ? -EINTR
					    : r; /* a ^C of the terminal ended it, and is for us too */
}

/* Every sample reads its input from the beginning and writes its output anew. */
static int rewind_files(const struct session *s, struct error *err)
{
	if (s->in >= 0 && lseek(s->in, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot rewind the input");
	if (s->out >= 0 && lseek(s->out, 0, SEEK_SET) == 0 && ftruncate(s->out, 0) < 0 && errno != EINVAL)
		return error_os(err, -errno, "cannot empty the output");
	return 0;
}

/* warm_up: its number from 1; 0: a sample. */
static int take(struct turn *turn, struct task *t, int warm_up, struct error *err)
{
	bool stopped;
	int r;

	do {
		r = hook(turn->session, t->command->prepare, "--prepare", err);
		if (r == 0)
			r = rewind_files(turn->session, err);
		if (r == 0)
			r = warm_up ? sampling_warm_up(&t->series, warm_up, err)
				    : sampling_sample(&t->series, err);
		stopped = r > 0;
		if (r >= 0)
			r = hook(turn->session, t->command->conclude, "--conclude", err);
	} while (r == 0 && stopped);
	progress_step(turn->progress, ++*turn->done);
	return r;
}

/* 1: the task needs another sample. With --retain, how many are clean must be looked up once the first are
 * there. */
static int wants_more(struct session *s, struct task *t, struct error *err)
{
	const struct measure_options *o = s->options;
	struct discarding d = {};
	bool enough;
	int r;

	if (t->run.n_samples < (uint32_t)o->runs)
		return 1;
	if (!o->retain || t->run.n_samples >= (uint32_t)o->max_runs)
		return 0;
	r = discard_run(s->book, t->run.id, o->profile ? &s->profile : NULL, &d, err);
	if (r < 0)
		return r;
	enough = d.pt.clean.n >= (size_t)o->retain;
	discarding_clear(&d);
	return !enough;
}

/* One sample of each task that wants one. 1: some did, 0: none. */
static int take_round(struct turn *turn, size_t *order, struct error *err)
{
	int any = 0;

	order_round(turn->session, order, turn->n);
	for (size_t i = 0; i < turn->n; i++) {
		struct task *t = &turn->tasks[order[i]];
		int r = wants_more(turn->session, t, err);

		if (r > 0) {
			any = 1;
			r = take(turn, t, 0, err);
		}
		if (r < 0)
			return r;
	}
	return any;
}

static int begin_tasks(struct turn *turn, struct error *err)
{
	for (size_t i = 0; i < turn->n; i++) {
		struct task *t = &turn->tasks[i];
		int r = hook(turn->session, t->command->setup, "--setup", err);

		if (r == 0)
			r = sampling_begin(&t->series, err);
		for (int k = 1; r == 0 && k <= turn->session->options->warm_ups; k++)
			r = take(turn, t, k, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_rounds(struct turn *turn, struct error *err)
{
	_cleanup_(freep) size_t *order = calloc(turn->n, sizeof(*order));
	int r;

	if (!order)
		return error_os(err, -ENOMEM, "cannot measure");
	r = begin_tasks(turn, err);
	while (r == 0 && (r = take_round(turn, order, err)) > 0)
		r = 0;
	return r;
}

static int clean_up(const struct session *s, const struct task *t, struct error *err)
{
	if (!t->command->cleanup)
		return 0;
	return hook_run(
		t->command->cleanup, s->options->shell_words, s->options->show_output, "--cleanup", err);
}

/* Runs that were begun are ended and cleaned up after in any case; the first failure is the one that counts.
 */
static int end_tasks(struct turn *turn, int outcome, struct error *err)
{
	for (size_t i = 0; i < turn->n; i++) {
		struct task *t = &turn->tasks[i];
		struct error at_end = {}, at_cleanup = {};
		int r, cleaned;

		if (!t->run.id)
			continue;
		r = sampling_end(&t->series, outcome, &at_end);
		cleaned = clean_up(turn->session, t, &at_cleanup);
		if (outcome == 0 && (r < 0 || cleaned < 0)) {
			outcome = r < 0 ? r : cleaned;
			*err = r < 0 ? at_end : at_cleanup;
		}
	}
	return outcome;
}

/* Of the tasks of a turn that have samples: also where it was cut short. */
static int read_results(const struct turn *turn, struct error *err)
{
	struct session *s = turn->session;
	const struct discard_rules rules = session_rules(s);

	for (size_t i = 0; i < turn->n; i++) {
		struct task *t = &turn->tasks[i];
		int r;

		if (t->run.n_samples == 0)
			continue;
		t->result.command = t->command;
		t->result.name = t->name;
		t->result.observer_ns = t->series.observer_ns / t->run.n_samples;
		t->result.lost = t->series.lost;
		t->result.failures = t->series.failures;
		t->result.left_behind = t->series.left_behind;
		t->result.killed = t->series.killed;
		t->result.again = t->series.again;
		r = run_result_read(s->book, t->run.id, &rules, &t->result.run, err);
		if (r < 0)
			return r;
	}
	return s->command_done ? s->command_done(s, err) : 0;
}

static int take_all(struct session *s, struct error *err)
{
	const struct measure_options *o = s->options;
	bool sequence = o->order == ORDER_SEQUENCE;
	_cleanup_(progress_end) struct progress progress;
	uint64_t done = 0;
	int r = 0;

	progress_begin(&progress, s->n == 1 ? s->tasks[0].run.program : "emp-measure",
		s->n * ((uint64_t)o->warm_ups + (uint64_t)o->runs), o->quiet || o->silent);
	for (size_t i = 0; r == 0 && i < s->n; i += sequence ? 1 : s->n) {
		struct turn turn = {s, &s->tasks[i], sequence ? 1 : s->n, &progress, &done};

		struct error second = {};
		int read;

		r = take_rounds(&turn, err);
		r = end_tasks(&turn, r, err);
		read = read_results(&turn, r == 0 ? err : &second);
		r = r ?: read;
	}
	return r;
}

int session_run(struct session *s, struct error *err)
{
	uint64_t samples = 0;
	int outcome = take_all(s, err);

	for (size_t i = 0; i < s->n; i++)
		samples += s->tasks[i].run.n_samples;
	if (outcome == -EINTR && samples == 0)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the first sample was taken");
	if (outcome == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted: run %lld%s the %llu samples before",
			(long long)s->tasks[0].run.id, s->n == 1 ? " keeps" : " and those behind it keep",
			(unsigned long long)samples);
	return outcome == -ETIMEDOUT ? STATUS_TIME_OUT : outcome;
}
