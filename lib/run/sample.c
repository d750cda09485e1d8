/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of the sampling loop: see sample.h. */
#include "lib/run/sample.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/book/book.h"
#include "lib/run/book_duet.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sys/resource.h>

enum { MOST_LINES = 5 };

/* Adds the last lines that the program wrote to standard error, if that is a file. Returns `r`. */
static int add_last_lines(int r, int fd, struct error *err)
{
	const ssize_t most = sizeof(err->lines) - 1;
	char *lines = err->lines;
	struct stat st = {};
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		n = pread(fd, lines, (size_t)most, st.st_size > most ? st.st_size - most : 0);
	while (n > 0 && lines[n - 1] == '\n')
		n--;
	lines[n > 0 ? n : 0] = '\0';
	for (ssize_t i = n - 1, found = 0; i >= 0; i--) {
		lines[i] = lines[i] ?: '?';
		if (lines[i] == '\n' && ++found == MOST_LINES) {
			memmove(lines, lines + i + 1, (size_t)(n - i));
			break;
		}
	}
	return r;
}

/* 0 if the sample counts, otherwise a failure with a sentence. */
int sample_check(const struct sampling *s, const struct spawned *spawned, struct error *err)
{
	const char *hint = s->ignored_status ? "; -i measures it anyway, --show-output shows what it prints" : "";
	const char *command = s->command ?: s->run->program;
	int status = spawned->wait_status, r;
	char which[32], how[PROCESS_END_SIZE], text[TEXT_TIME_SIZE];

	snprintf(which, sizeof(which), "%s %u",
		s->warm_up ? "warm-up"
		: s->alone ? "a run alone before sample"
			   : "sample",
		s->warm_up ? (unsigned)s->warm_up : s->run->n_samples + 1);
	if (spawned->end == SPAWN_TIMED_OUT)
		r = error_say(err, -ETIMEDOUT, "'%.400s' ran longer than %s in %s and was killed, with all it started",
			command, text_duration(text, s->spawn->timeout_ns), which);
	else if (spawned->end == SPAWN_STOPPED || spawned->end == SPAWN_FROZEN)
		r = error_say(err, -ECANCELED, "'%.400s' %s in %s and was killed: %s", command,
			spawned->end == SPAWN_STOPPED ? "stopped itself" : "froze its own cgroup", which,
			spawned->end == SPAWN_STOPPED ? "there was nothing to resume it" : "nothing thawed it");
	else if (status == 0)
		return 0;
	else if (interrupt_pending()) /* ^C goes to the program too, and may end it before this process reads it */
		return -EINTR;
	else if (s->ignored_status && s->ignored_status[process_exit_status(status)])
		return 0;
	else
		r = error_say(err, -ECANCELED, "'%.400s' %s in %s%s", command, process_end_text(how, status), which,
			hint);
	return add_last_lines(r, s->spawn->stderr_fd, err);
}

int sample_again(const struct sampling *s, int tries, struct error *err)
{
	enum { MOST_TRIES = 10 };

	if (tries < MOST_TRIES)
		return 0;
	return error_say(err, -ECANCELED,
		"this process was stopped in each of %d tries of %s %u: '%.400s' seems to stop its parent (SIGSTOP, SIGTSTP)",
		tries, s->warm_up ? "warm-up" : "sample",
		s->warm_up ? (unsigned)s->warm_up : s->run->n_samples + 1, s->command ?: s->run->program);
}

static enum source_kind kind_of(const struct usage *u)
{
	return u->kernel ? SOURCE_KERNEL : SOURCE_PROCESS;
}

/* Sources that the book may not have yet are 0. Returns how many. */
static size_t make_executions(
	struct book *book, const struct usages *usages, struct execution *executions, uint32_t n)
{
	size_t unknown = 0;

	for (size_t i = 0; i < usages->n; i++) {
		const struct usage *u = &usages->items[i];

		executions[i] = (struct execution){
			.sample = n,
			.pid = u->pid,
			.pt_ns = u->pt_ns,
			.tick_ns = u->tick_ns,
			.cpu = u->cpu,
			.same_cpu_ns = u->same_cpu_ns,
			.source = book_known_source(book, u->name, u->exe, u->unit, kind_of(u)),
		};
		unknown += executions[i].source == 0;
	}
	return unknown;
}

static int add_rows(struct book *book, int64_t run, const struct observation *o, const struct sample *sample,
	struct execution *executions, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->usages.n; i++) {
		const struct usage *u = &o->usages.items[i];

		r = book_source(book, u->name, u->exe, u->unit, kind_of(u), &executions[i].source, err);
	}
	if (r == 0)
		r = book_add_sample(book, run, sample, executions, o->usages.n, err);
	return r == 0 ? book_add_counters(book, run, sample->n, &o->changes, err) : r;
}

static int try_to_store(const struct sampling_plan *plan, struct sampling *s, const struct observation *o,
	const struct sample *sample, struct execution *executions, struct error *err)
{
	int r = book_begin_sample(plan->book, err);

	if (r < 0) /* -EBUSY: the wait for another program's lock was interrupted */
		return r == -EBUSY && interrupt_pending() ? -EINTR : r;
	r = add_rows(plan->book, s->run->id, o, sample, executions, err);
	if (r == 0 && s->run->kind == RUN_DUET)
		r = book_add_duet_sample(plan->book, s->run->id,
			&(struct duet_sample){
				sample->n, o->part.position, o->part.repetitions, o->part.together_ns},
			err);
	if (r == 0)
		r = book_commit(plan->book, err);
	if (r < 0)
		book_rollback(plan->book);
	return r;
}

static int store_now(const struct sampling_plan *plan, struct sampling *s, const struct observation *o,
	const struct sample *sample, struct execution *executions, struct error *err)
{
	int r;

	do
		r = try_to_store(plan, s, o, sample, executions, err);
	while (book_again(plan->book, r, err));
	return r;
}

static struct sample make_sample(uint32_t n, const struct observation *o)
{
	const struct spawned *p = &o->spawned;
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return (struct sample){
		.n = n,
		.start_ns = p->start_ns,
		.et_ns = p->et_ns,
		.pt_ns = p->pt_ns,
		.user_ns = p->user_ns,
		.system_ns = p->system_ns,
		.max_rss_bytes = p->max_rss_bytes,
		.max_rss_at_most = p->max_rss_bytes <= own.ru_maxrss * 1024,
		.observer_ns = o->observer_ns,
		.lost = (int64_t)o->usages.lost,
		.exit_status = process_exit_status(p->wait_status),
		.left_behind = p->left_behind,
		.incomplete = o->usages.incomplete,
		.wait_ns = o->wait_ns,
	};
}

int sample_store_rows(
	struct book *book, int64_t run, uint32_t n, const struct observation *o, struct error *err)
{
	_cleanup_(freep) struct execution *executions = xcalloc(o->usages.n + 1, sizeof(*executions));
	struct sample sample = make_sample(n, o);

	make_executions(book, &o->usages, executions, n);
	return add_rows(book, run, o, &sample, executions, err);
}

int sample_store(
	const struct sampling_plan *plan, struct sampling *s, const struct observation *o, struct error *err)
{
	struct sample sample = make_sample(s->run->n_samples + 1, o);
	_cleanup_(freep) struct execution *executions = xcalloc(o->usages.n + 1, sizeof(*executions));
	int r = 0;

	if (make_executions(plan->book, &o->usages, executions, sample.n) > 0 || s->run->kind == RUN_DUET ||
		!book_keep_sample(plan->book, s->run, &sample, executions, o->usages.n, &o->changes))
		r = store_now(plan, s, o, &sample, executions, err);
	if (r < 0)
		return r;
	s->run->n_samples++;
	s->taken++;
	s->pt_ns += sample.pt_ns;
	s->observer_ns += o->observer_ns;
	s->before_ns += o->spawned.before_ns;
	s->lost += sample.lost;
	s->pid = o->spawned.pid;
	s->failures += o->spawned.wait_status != 0;
	s->escaped += o->spawned.escaped;
	if (o->escaped[0])
		memcpy(s->escapee, o->escaped, sizeof(s->escapee));
	s->left_behind += sample.left_behind;
	s->killed += o->spawned.killed;
	return plan->hooks.taken ? plan->hooks.taken(s, &sample, executions, o->usages.n, err) : 0;
}

/* A run without the others of its duet is no sample. */
static int store_alone(const struct sampling_plan *plan, struct sampling *s, const struct spawned *spawned,
	struct error *err)
{
	const struct duet_alone alone = {
		s->n_alone, s->run->n_samples, spawned->start_ns, spawned->et_ns, spawned->pt_ns};

	return book_add_duet_alone(plan->book, s->run->id, &alone, err);
}

/* 1: this process was stopped meanwhile. */
static int observe(
	const struct sampling_plan *plan, struct sampling *s, struct observation *ret, struct error *err)
{
	int r;

	if (interrupt_pending())
		return -EINTR;
	interrupt_was_stopped(); /* forget earlier stops */
	r = observe_sample(s->spawn, plan->counters, ret, err);
	if (r == 0)
		r = sample_check(s, &ret->spawned, err);
	if (r == 0 && interrupt_was_stopped()) {
		s->again++;
		return 1;
	}
	return r;
}

int sample_take(const struct sampling_plan *plan, struct sampling *s, struct error *err)
{
	struct observation observation;
	int r = observe(plan, s, &observation, err);

	if (r == 0)
		s->last_pt_ns = observation.spawned.pt_ns;
	if (r != 0 || !s->alone)
		return r != 0 || s->warm_up ? r : sample_store(plan, s, &observation, err);
	s->n_alone++;
	return store_alone(plan, s, &observation.spawned, err);
}
