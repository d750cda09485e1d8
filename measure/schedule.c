/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of a session: the hooks around each of them, and when there are enough. The loop itself is in
 * lib/run/sampling.h. */
#include "measure/iteration.h"
#include "measure/session.h"

#include "lib/base/array.h"
#include "lib/base/tool.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ERRORS = 1 << 16 };

/* ^C of the terminal ends the command too, and then interrupts the session. */
static int run_command(const struct task *t, const char *command, const char *what, struct error *err)
{
	const struct measure_options *o = t->session->options;
	int r;

	if (!command)
		return 0;
	if (interrupt_pending())
		return -EINTR;
	r = hook_run(command, o->shell_words, o->show_output, what, err);
	return r < 0 && interrupt_pending() ? -EINTR : r;
}

static int begin(struct sampling *s, struct error *err)
{
	struct task *t = s->data;

	if (t->session->against && t->command == against_command(t->session->against))
		return session_size_inc(t->session, err);
	return run_command(t, t->command->setup, "--setup", err);
}

/* Every sample reads its input from the beginning and writes its output anew. */
static int rewind_files(const struct task *t, struct error *err)
{
	int in = t->spawn.stdin_fd, out = t->spawn.stdout_fd;

	if (in >= 0 && lseek(in, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot rewind the input");
	if (out >= 0 && lseek(out, 0, SEEK_SET) == 0 && ftruncate(out, 0) < 0 && errno != EINVAL)
		return error_os(err, -errno, "cannot empty the output");
	return 0;
}

static int prepare(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int r;

	iteration_set(s->warm_up, s->run->n_samples + 1);
	r = run_command(t, t->command->prepare, "--prepare", err);
	if (r == 0)
		r = rewind_files(t, err);
	if (r == 0 && t->session->perf && !s->warm_up)
		r = perf_counters_start(t->session->perf, err);
	if (r == 0 && t->session->trace)
		r = program_trace_forget(t->session->trace, err);
	return r;
}

/* Standard error of the next run begins anew; it is kept only of programs that write little, since that takes time. */
static int empty_errors(struct task *t, struct error *err)
{
	struct stat st;

	if (t->spawn.stderr_fd < 0 || fstat(t->spawn.stderr_fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (st.st_size > 0 && ftruncate(t->spawn.stderr_fd, 0) < 0)
		return error_os(err, -errno, "cannot empty standard error");
	if (st.st_size > MOST_ERRORS)
		t->spawn.stderr_fd = t->session->null;
	t->spawn.short_stderr = false;
	return 0;
}

static int conclude(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int r = empty_errors(t, err);

	return r < 0 ? r : run_command(t, t->command->conclude, "--conclude", err);
}

static int add_perf(struct task *t, struct error *err)
{
	size_t n = perf_counters_n(t->session->perf), before = t->n_perf;

	for (size_t i = 0; i < n; i++)
		if (!array_add(t->perf, t->n_perf))
			return error_oom(err);
	return n > 0 ? perf_counters_stop(t->session->perf, t->perf + before, err) : 0;
}

static int add_taken(struct task *t, pid_t program, struct error *err)
{
	struct taken_sample *sample;

	if (!t->session->trace)
		return 0;
	sample = array_add(t->taken, t->n_taken);
	return sample ? program_trace_take(t->session->trace, program, sample, err) : error_oom(err);
}

static int taken(struct sampling *s, const struct sample *sample, const struct execution *executions,
	size_t n_executions, struct error *err)
{
	struct task *t = s->data;
	const struct discard_rules rules = session_rules(t->session);
	int r = add_perf(t, err);

	if (r == 0)
		r = add_taken(t, s->pid, err);

	if (r < 0 || !t->session->options->retain)
		return r;
	return clean_samples_add(&t->clean, t->session->book, &rules, sample, executions, n_executions, err);
}

/* --retain: 1 while too few samples are clean. */
static int more(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	const struct measure_options *o = t->session->options;

	if (!o->retain || s->run->n_samples >= (uint32_t)o->max_runs)
		return 0;
	return clean_samples_count(&t->clean) < (size_t)o->retain;
}

static int read_result(struct task *t, struct error *err)
{
	struct session *s = t->session;
	const struct sampling *sums = &s->samplings[t - s->tasks];
	const struct discard_rules rules = session_rules(s);
	int r;

	if (t->run.n_samples == 0)
		return 0;
	t->result.command = t->command;
	t->result.name = t->name;
	t->result.observer_ns = sums->observer_ns / t->run.n_samples;
	t->result.before_ns = sums->before_ns / t->run.n_samples;
	t->result.lost = sums->lost;
	t->result.failures = sums->failures;
	t->result.left_behind = sums->left_behind;
	t->result.killed = sums->killed;
	t->result.again = sums->again;
	t->result.escaped = sums->escaped;
	memcpy(t->result.escapee, sums->escapee, sizeof(t->result.escapee));
	r = run_result_read(s->book, t->run.id, &rules, &t->result.run, err);
	if (r == 0 && s->against)
		r = inc_units_load(s->book, t->run.id, &rules, &t->result.inc, err);
	return r < 0 ? r : session_note_result(s, t, err);
}

/* Also after a failure or an interruption, so that the samples so far can be shown. */
static int end(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct error second = {};
	int cleaned = 0, r;

	if (t->command->cleanup)
		cleaned = hook_run(t->command->cleanup, s->options->shell_words, s->options->show_output,
			"--cleanup", err);
	r = read_result(t, cleaned < 0 ? &second : err);
	if (r == 0 && s->command_done)
		r = s->command_done(s, cleaned < 0 ? &second : err);
	return cleaned < 0 ? cleaned : r;
}

static int take_all(struct session *s, struct error *err)
{
	const struct measure_options *o = s->options;
	const struct sampling_plan plan = {
		.book = s->book,
		.counters = s->observer.counters,
		.items = s->samplings,
		.n = s->n,
		.order = o->order,
		.seed = s->seed,
		.duet = &s->duet.plan,
		.all = &s->duet.all,
		.alone = o->order == ORDER_DUET ? (uint32_t)o->alone : 0,
		.hooks = {begin, prepare, conclude, taken, more, end, session_choose_slice},
		.label = s->n == 1 ? NULL : "emp-measure",
		.quiet = o->quiet || o->silent,
	};

	for (size_t i = 0; i < s->n; i++) {
		s->tasks[i].session = s;
		s->samplings[i] = (struct sampling){
			.run = &s->tasks[i].run,
			.spawn = &s->tasks[i].spawn,
			.command = s->tasks[i].in_messages,
			.warm_ups = o->warm_ups,
			.samples = (uint32_t)o->runs,
			.ignored_status = i < session_n_shown(s) ? o->ignored_status : NULL, /* INC must not fail */
			.data = &s->tasks[i],
		};
	}
	return sampling_run(&plan, err);
}

static int say_interrupted(const struct session *s, uint64_t samples, struct error *err)
{
	long long first = (long long)s->tasks[0].run.id, last = first;
	const char *plural = samples == 1 ? "" : "s";

	for (size_t i = 1; i < s->n && s->tasks[i].run.id > 0;
		i++) /* in a sequence, some may not have begun */
		last = (long long)s->tasks[i].run.id;
	if (first == last)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps the %llu sample%s taken so far", first,
			(unsigned long long)samples, plural);
	return error_say(err, STATUS_INTERRUPTED,
		"interrupted: runs %lld to %lld keep the %llu sample%s taken so far", first, last,
		(unsigned long long)samples, plural);
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
		return say_interrupted(s, samples, err);
	return outcome == -ETIMEDOUT ? STATUS_TIME_OUT : outcome;
}
