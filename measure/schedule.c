/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of a session: what is done around each of them, when there are enough, and what is to be known about the
 * results. The loop itself is in lib/run/sampling.h. */
#include "measure/session.h"

#include "lib/base/tool.h"
#include "lib/host/process/signals.h"
#include "lib/report/screen.h"

#include <sys/stat.h>

enum { MOST_ERRORS = 1 << 16 };

/* ^C of the terminal ends the command too, and then interrupts the session. */
static int run_hook(const struct task *t, const char *command, const char *what, struct error *err)
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

int64_t against_length_ns(int64_t pt_ns)
{
	const int64_t least_ns = 200 * NS_PER_MS, most_ns = 500 * NS_PER_MS;
	int64_t covered_ns = pt_ns / 10 * 9; /* so that the program is rarely started again */
	int64_t parts = covered_ns / most_ns + 1, times = least_ns / (pt_ns > 0 ? pt_ns : 1) + 1;

	if (covered_ns / parts > least_ns)
		return covered_ns / parts;
	return pt_ns > 0 ? pt_ns * times / 20 * 21 : least_ns; /* so that the last of its runs is complete */
}

/* How much INC is to do, by the last warm-up of the program and INC's constant, of the book or measured now. */
static int begin_inc(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct inc *inc = &s->inc->inc;
	int64_t length_ns = against_length_ns(s->samplings[0].last_pt_ns);
	int r = inc_find_constant(inc, &s->base, s->base.environment, err);

	if (r < 0)
		return r;
	sampling->increments = (int64_t)(inc->per_second * (double)length_ns / 1e9) + 1;
	inc_program_make(&s->inc->program, inc, &s->base, (double)sampling->increments);
	free(t->run.command);
	t->run.command = run_command_json(s->inc->program.argv);
	return 0;
}

static int begin_task(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;

	if (t->session->inc && t->command == &t->session->inc->command)
		return begin_inc(sampling, err);
	return run_hook(t, t->command->setup, "--setup", err);
}

/* Every sample reads its input from the beginning and writes its output anew. */
static int prepare_sample(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int in = t->spec.stdin_fd, out = t->spec.stdout_fd, r;

	session_set_iteration(s->warm_up, s->run->n_samples + 1);
	r = run_hook(t, t->command->prepare, "--prepare", err);
	if (r < 0)
		return r;
	if (in >= 0 && lseek(in, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot rewind the input");
	if (out >= 0 && lseek(out, 0, SEEK_SET) == 0 && ftruncate(out, 0) < 0 && errno != EINVAL)
		return error_os(err, -errno, "cannot empty the output");
	if (t->session->perf && !s->warm_up)
		r = perf_counters_start(t->session->perf, err);
	if (r == 0 && t->session->trace)
		r = program_trace_forget(t->session->trace, err);
	return r;
}

/* Standard error of the next run begins anew; it is kept only of programs that write little, since that takes time. */
static int conclude_sample(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int errors = t->spec.stderr_fd;
	struct stat st;

	if (errors >= 0 && fstat(errors, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > 0 && ftruncate(errors, 0) < 0)
			return error_os(err, -errno, "cannot empty standard error");
		if (st.st_size > MOST_ERRORS)
			t->spec.stderr_fd = t->session->null;
		t->spec.short_stderr = false;
	}
	return run_hook(t, t->command->conclude, "--conclude", err);
}

static int sample_taken(struct sampling *s, const struct sample *sample, const struct execution *executions,
	size_t n_executions, struct error *err)
{
	struct task *t = s->data;
	struct session *session = t->session;
	const struct discard_rules rules = session_rules(session);
	size_t n_events = session->perf ? perf_counters_n(session->perf) : 0, before = t->n_perf;
	int r = 0;

	for (size_t i = 0; i < n_events; i++)
		array_add(t->perf, t->n_perf);
	if (n_events > 0)
		r = perf_counters_stop(session->perf, t->perf + before, err);
	if (r == 0 && session->trace)
		r = program_trace_take(
			session->trace, s->pid, array_add(t->preemptions, t->n_preemptions), err);
	if (r < 0 || !session->options->retain)
		return r;
	return clean_samples_add(
		&t->clean, session->base.book, &rules, sample, executions, n_executions, err);
}

/* --retain: 1 while too few samples are clean. */
static int more_samples(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	const struct measure_options *o = t->session->options;

	if (!o->retain || s->run->n_samples >= (uint32_t)o->max_runs)
		return 0;
	return clean_samples_count(&t->clean) < (size_t)o->retain;
}

/* The notes on a result. The book keeps them with those on the session, and with what the machine can resolve. */
static int note_result(struct task *t, struct error *err)
{
	struct session *s = t->session;
	const struct sampling *sums = t->sampling;
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	_cleanup_(freep) char *perf = s->perf ? perf_text(s, t) : NULL;
	_cleanup_(notes_clear) struct notes all = {};
	bool named = sums->escapee[0];
	char resolving[RESOLVING_TEXT_SIZE] = "";
	int r = resolving_text(
		s->base.book, s->base.environment, profile, t->result.n_samples, resolving, err);

	if (r < 0)
		return r;
	run_notes_add(&t->notes, &t->result, profile);
	if (sums->escaped > 0)
		notes_add(&t->notes, NOTE_PROGRAM, "Warning: %s left %s cgroup in %d of %zu samples%s",
			named ? sums->escapee : "the program", named ? "the program's" : "its", sums->escaped,
			t->result.n_samples, named ? "" : "; PT may lack some");
	if (sums->killed > 0)
		notes_add(&t->notes, NOTE_OTHER,
			"Warning: %d process%s left behind and killed after --linger", sums->killed,
			sums->killed == 1 ? " was" : "es were");
	else if (sums->again > 0)
		notes_add(&t->notes, NOTE_OTHER, "%d sample%s stopped (^Z) and taken again", sums->again,
			sums->again == 1 ? " was" : "s were");
	if (perf)
		notes_add(&t->notes, NOTE_OTHER, "perf: %s", perf);
	notes_add_all(&all, &t->notes);
	notes_add_all(&all, &s->notes);
	if (*resolving)
		notes_add(&all, NOTE_RESOLUTION, "%s", resolving);
	return book_put_notes(s->base.book, t->run.id, all.items, all.n, err);
}

static int read_task_result(struct task *t, struct error *err)
{
	struct session *s = t->session;
	const struct discard_rules rules = session_rules(s);
	int r;

	if (t->run.n_samples == 0)
		return 0;
	r = run_result_read(s->base.book, t->run.id, &rules, &t->result, err);
	if (r == 0 && s->inc && t->command != &s->inc->command)
		r = inc_units_load(s->base.book, t->run.id, &rules, &t->inc, err);
	return r < 0 ? r : note_result(t, err);
}

/* Also after a failure or an interruption, so that the samples so far can be shown. */
static int end_task(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct error err2 = {};
	int cleaned = 0, r;

	if (t->command->cleanup)
		cleaned = hook_run(t->command->cleanup, s->options->shell_words, s->options->show_output,
			"--cleanup", err);
	r = read_task_result(t, cleaned < 0 ? &err2 : err);
	if (r == 0 && !s->takes_turns)
		r = export_results(s, false, cleaned < 0 ? &err2 : err);
	return cleaned < 0 ? cleaned : r;
}

/* The slice of a duet by the last warm-ups, unless it is given. */
static int choose_slice(struct sampling *first, struct error *err)
{
	struct session *s = ((struct task *)first->data)->session;
	int64_t shortest_ns = INT64_MAX, slice_ns;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->samplings[i].last_pt_ns < shortest_ns)
			shortest_ns = s->samplings[i].last_pt_ns;
	slice_ns = duet_slice_for(shortest_ns);
	if (s->options->slice_ns || shortest_ns <= 0 ||
		!duet_has_slices(slice_ns, s->options->cpu, s->tasks[0].spec.cgroup))
		return 0;
	return session_set_slice(s, slice_ns, err);
}

int session_run(struct session *s, struct error *err)
{
	const struct measure_options *o = s->options;
	const struct command_spec all = {
		.cpu = o->cpu, .cgroup = s->base.observer.cgroup, .accounting = s->base.observer.accounting};
	const struct sampling_plan plan = {
		.session = &s->base,
		.items = s->samplings,
		.n = s->n,
		.order = o->order,
		.seed = s->seed,
		.duet = &s->duet,
		.all = &all,
		.alone = o->order == ORDER_DUET ? (uint32_t)o->alone : 0,
		.hooks = {begin_task, prepare_sample, conclude_sample, sample_taken, more_samples, end_task,
			choose_slice},
		.label = s->n == 1 ? NULL : "emp-measure",
		.quiet = o->quiet || o->silent,
	};
	unsigned long long samples = 0;
	long long first, last;
	int r;

	r = sampling_run(&plan, err);
	if (r != -EINTR)
		return r == -ETIMEDOUT ? STATUS_TIME_OUT : r;
	first = last = (long long)s->tasks[0].run.id;
	for (size_t i = 0; i < s->n; i++) {
		samples += s->tasks[i].run.n_samples;
		last = (long long)s->tasks[i].run.id ?: last; /* in a sequence, some may not have begun */
	}
	if (samples == 0)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the first sample was taken");
	if (first == last)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps the %llu sample%s taken so far", first, samples,
			samples == 1 ? "" : "s");
	return error_say(err, STATUS_INTERRUPTED,
		"interrupted: runs %lld to %lld keep the %llu sample%s taken so far", first, last, samples,
		samples == 1 ? "" : "s");
}

/* The first doubt about any of the programs decides. */
int session_settle_duet(struct session *s, const struct commands *commands, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	struct comparison c;
	int r;

	if (s->options->order != ORDER_DUET || session_n_shown(s) < 2)
		return 0;
	r = session_duet(s, &report, err);
	for (size_t i = 1; r >= 0 && s->doubt == DUET_SOUND && i < report.n; i++)
		r = duet_report_compare(&report, 0, i, &c, &s->doubt, err);
	if (r < 0 || s->doubt == DUET_SOUND)
		return r < 0 ? r : 0;
	r = session_open_in_turn(s, commands, err);
	if (r == 0)
		r = session_run(s->in_turn, err);
	return r == 0 ? export_results(s, false, err) : r;
}
