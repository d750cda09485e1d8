/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of one call of emp-measure, measured: what they need is opened, their samples are
 * taken in turn, by the loop of lib/run/sampling.h, and their results are read. See session.h. */
#include "measure/session.h"

#include "lib/base/interrupt.h"
#include "lib/duet/duet_store.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/program_content.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/leftovers.h"
#include "lib/report/screen.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>

#define ITERATION "HYPERFINE_ITERATION="
#define PADDING "EMP_PADDING="
#define PRELOAD "LD_PRELOAD="

enum { WIDTH = 20 }; /* of both values together; "warmup-" and ten digits have 17 */
enum { MOST_ERRORS = 1 << 16 };

/* What runs between two samples leaves cold caches, and a CPU in an idle state: 0.06 to 0.14 ms of
 * PT, as measured with hooks from `true` to `sleep 0.2`. Of programs of 5 ms and more that is
 * within the noise. */
static const double HOOKS_COST_NS = 0.1 * NS_PER_MS, HOOKS_MATTER_NS = 5.0 * NS_PER_MS;

/* The number of the warm-up or sample, in the environment of the program, of --prepare and of
 * --conclude: HYPERFINE_ITERATION is "warmup-0", "warmup-1", and so on, then "0" for the first
 * sample, "1", and so on. The size of the environment, which moves the stack, is always the same:
 * EMP_PADDING fills it up. The environment points to them. */
static char iteration[sizeof(ITERATION) + WIDTH] = ITERATION,
					  padding[sizeof(PADDING) + WIDTH] = PADDING;

/* --fast-clock: the programs read their own CPU time through libemp-clock, which is preloaded after
 * what is already. */
static int preload_fast_clock(struct error *err)
{
	_cleanup_(freep) char *library = NULL;
	const char *present = "";
	int r = suite_file_find("libemp-clock-preload.so", &library, err);

	if (r < 0)
		return r;
	for (char **variable = privilege_environment(); *variable && !*present; variable++)
		if (!strncmp(*variable, PRELOAD, strlen(PRELOAD)))
			present = *variable + strlen(PRELOAD);
	/* the environment points to it until the end */
	privilege_environment_put(
		text_format(PRELOAD "%s%s%s", present, *present ? ":" : "", library));
	return 0;
}

/* Of a pipe for programs that do less when they see /dev/null: moves its pages there without
 * reading them. */
static void *drain_pipe(void *data)
{
	int from = (int)(intptr_t)data, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (null >= 0 && splice(from, NULL, null, NULL, 1 << 20, SPLICE_F_MOVE) > 0)
		;
	return NULL;
}

/* Opened once, also for several commands. */
static int open_output(
	struct session *s, const struct command *command, int *ret, struct error *err)
{
	const char *where = command->output ?: s->options->show_output ? "inherit" : "null";
	struct output *output;
	pthread_t thread;
	int fds[2], r;

	for (size_t i = 0; i < s->n_outputs; i++)
		if (!strcmp(s->outputs[i].where, where)) {
			*ret = s->outputs[i].fd;
			return 0;
		}
	output = array_add(s->outputs, s->n_outputs);
	*output = (struct output){where, -1};
	*ret = -1;
	if (!strcmp(where, "inherit"))
		return 0;
	if (!strcmp(where, "pipe")) {
		if (pipe2(fds, O_CLOEXEC) < 0)
			return error_os(err, -errno, "cannot make a pipe for the output");
		output->fd = fds[1]; /* open until this process ends */
		r = pthread_create(&thread, NULL, drain_pipe, (void *)(intptr_t)fds[0]);
		if (r != 0)
			return error_os(err, -r, "cannot drain the output");
		pthread_detach(thread);
	} else if (!strcmp(where, "null")) {
		output->fd = fcntl(s->null, F_DUPFD_CLOEXEC, 0);
	} else {
		r = output_file_is_stream(where) ? 0 : paths_check(where, PATH_WRITE, NULL, err);
		if (r == 0)
			r = paths_check_apart(where, -1, err);
		if (r < 0)
			return r;
		output->fd = interrupt_open(AT_FDCWD, where, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	}
	if (output->fd < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to write", where);
	*ret = output->fd;
	return 0;
}

static int fill_task(
	struct session *s, const struct command *command, const char *suffix, struct error *err)
{
	const struct measure_options *o = s->options;
	const char *file = strrchr(command->argv[0], '/');
	bool duet = s->order == ORDER_DUET;
	struct task *t = &s->tasks[s->n];
	int out = -1, r;

	*t = (struct task){
		.command = command,
		.name = text_format("%s%s", command->name, suffix),
		.sampling = &s->samplings[s->n++],
		.in = -1,
		.errors = -1,
		.output = PROGRAM_OUTPUT_NONE,
		.clean = {.rules = s->rules, .sources = &t->sources},
		.session = s,
	};
	t->clean.rules.patterns = s->patterns.rows;
	s->names[t - s->tasks] = t->name;
	t->in_messages = command->named ? text_format("%s: %s", t->name, command->text)
					: xstrdup(t->name);
	*t->sampling = (struct sampling){
		.run = &t->run,
		.spec = &t->spec,
		.command = t->in_messages,
		.warm_ups = o->warm_ups,
		.samples = (uint32_t)o->runs,
		/* INC, the last one, must not fail */
		.ignored_status = s->inc ? NULL : o->ignored_status,
		.data = t,
	};
	r = open_output(s, command, &out, err);
	if (r < 0)
		return r;
	if (o->same_output || o->check)
		r = program_output_open(&t->output,
			command->output
				?: o->show_output ? "inherit"
						  : "null",
			out, err);
	if (r < 0)
		return r;
	t->spec = (struct command_spec){
		.argv = command->argv,
		.path = command->path,
		.cpu = o->cpu,
		.affinity = o->affine ? &o->affinity : NULL,
		.new_session = o->new_session,
		.stdin_fd = s->in,
		.stdout_fd = t->output.memory >= 0 ? t->output.stdout_fd : out,
		.stderr_fd = out >= 0 ? s->errors : -1,
		.short_stderr = out >= 0,
		.cgroup = s->base.observer.cgroup,
		.accounting = s->base.observer.accounting,
		.timeout_ns = o->timeout_ns,
		.linger_ns = o->linger_ns,
	};
	t->run = (struct run){
		.program = text_utf8(file ? file + 1 : command->argv[0]),
		.name = command->named ? xstrdup(command->name) : NULL,
		.kind = duet ? RUN_DUET : RUN_MEASURE,
		.profile = text_copy(o->profile),
		.profile_id = s->profile.id,
		.other_cpus = o->other_cpus,
		.unprofiled_share_ppm = llround(o->unprofiled_percent * (PPM / 100)),
		.cpu = o->cpu,
	};
	run_session_describe(&s->base, command->argv, &t->run);
	if (duet) {
		free(t->run.wait_source);
		t->run.wait_source = xstrdup("elapsed");
	}
	return names_text(&t->run.name_patterns, err);
}

/* A task for each command; then the first again for --aa, or INC for --against. -ENOENT with a
 * sentence: the suite's inc is not there. */
static int fill_tasks(struct session *s, const struct commands *commands, struct error *err)
{
	struct inc_command *inc;
	int r = 0;

	s->tasks = xcalloc(commands->n + 1, sizeof(*s->tasks));
	s->samplings = xcalloc(commands->n + 1, sizeof(*s->samplings));
	s->names = xcalloc(commands->n + 1, sizeof(char *));
	s->filters = xcalloc(commands->n + 1, sizeof(*s->filters));
	s->comparisons = xcalloc(commands->n + 1, N_COMPARISON_CLOCKS * sizeof(*s->comparisons));
	for (size_t i = 0; r == 0 && i < commands->n; i++)
		r = fill_task(s, &commands->items[i], "", err);
	if (r == 0 && s->options->aa)
		r = fill_task(s, &commands->items[0], " (again)", err);
	if (r < 0 || !s->options->against_inc)
		return r;
	if (commands->n != 1)
		return error_say(err, -EINVAL,
			"--against inc measures one command, and there are %zu", commands->n);
	s->inc = inc = xcalloc(1, sizeof(*inc));
	r = suite_file_find("inc", &inc->inc.path, err);
	if (r < 0)
		return error_prefix(err, r, "--against inc");
	inc->inc.cpu = s->options->cpu;
	inc->inc.quiet = s->options->quiet || s->options->silent;
	inc_program_make(&inc->program, &inc->inc, &s->base, 1);
	inc->command = (struct command){.name = (char *)"INC",
		.text = (char *)"inc",
		.argv = inc->program.argv,
		.path = inc->inc.path,
		.output = "null"};
	return fill_task(s, &inc->command, "", err);
}

/* A file in memory for standard error, of which a message about a failure shows the end. */
static int open_errors(int *ret_fd, struct error *err)
{
	int fd = memfd_create("standard error", MFD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0)
		return error_os(
			err, -errno, "cannot keep what the programs write to standard error");
	*ret_fd = fd;
	return 0;
}

static int open_input(const char *file, int *ret_fd, struct error *err)
{
	struct stat st;

	*ret_fd = open(file,
		/* a pipe is refused without waiting for its writer */
		O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*ret_fd < 0 || fcntl(*ret_fd, F_SETFL, 0) < 0 || fstat(*ret_fd, &st) < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to read", file);
	if (S_ISDIR(st.st_mode))
		return error_say(err, -EISDIR, "--input '%s' is a directory", file);
	return 0;
}

static int open_files(struct session *s, struct error *err)
{
	const char *input = s->options->input;
	int r;

	s->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->null < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	r = open_errors(&s->errors, err);
	if (r < 0)
		return r;
	input = input && strcmp(input, "null") ? input : "/dev/null";
	r = open_input(input, &s->in, err);
	if (r == 0 && lseek(s->in, 0, SEEK_SET) < 0)
		return error_say(err, -EINVAL,
			"'%s' cannot be read from its beginning for each sample: it must be a file",
			input);
	return r;
}

/* In the guard: a frozen process does not notice that its parent has died. */
static void thaw_below(int parent_fd, const void *data)
{
	_cleanup_(closedirp) DIR *dir = fdopendir(parent_fd);
	struct dirent *entry;
	char path[320];

	while (dir && (entry = readdir(dir))) {
		_cleanup_(closep) int fd = -1;

		snprintf(path, sizeof(path), "%s/cgroup.freeze", entry->d_name);
		fd = strcmp(entry->d_name, "..") ? openat(dirfd(dir), path, O_WRONLY | O_CLOEXEC)
						 : -1;
		if (fd >= 0 && write(fd, "0", 1) < 0)
			continue;
	}
}

/* Chooses how programs that alternate are given the CPU. */
static int set_slice(struct session *s, int64_t slice_ns, struct error *err)
{
	const struct measure_options *o = s->options;
	enum slicing slicing;
	int r = alternation_choose(
		o->slicing, slice_ns, o->cpu, s->tasks[0].spec.cgroup, &slicing, err);

	if (r < 0)
		return error_prefix(err, r, "--slices-by");
	s->duet = (struct alternation_plan){
		.slicing = slicing, .slice_ns = slice_ns, .cpu = o->cpu, .repeat = o->repeat};
	for (size_t i = 0; i < s->n; i++) {
		s->tasks[i].spec.frozen_at_times = slicing == SLICING_FREEZER;
		s->tasks[i].spec.slice_ns = slicing == SLICING_SCHEDULER ? slice_ns : 0;
	}
	if (slicing == SLICING_FREEZER && s->guard < 0) {
		/* Opened again: a copy would share the lock, and the cgroup would have an owner
		 * until the guard has ended. */
		_cleanup_(closep) int fd = open(
			s->base.observer.cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return error_os(err, -errno, "cannot open the cgroup %s",
				s->base.observer.cgroup->path);
		s->guard = r = guard_new(thaw_below, fd, NULL, err);
	}
	return r < 0 ? r : 0;
}

/* What the programs of a session need to alternate on one CPU. */
static int make_duet(struct session *s, struct error *err)
{
	const char *input = s->options->input;
	int r = 0;

	if (s->n < 2)
		return error_say(err, -EINVAL,
			"--order duet needs two commands or more: give each as one operand, or --aa");
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		struct task *t = &s->tasks[i];

		t->spec.cgroup = NULL;
		if (s->base.observer.cgroup)
			r = cgroup_new_in(&t->spec.cgroup, s->base.observer.cgroup->path, err);
		t->spec.number = (unsigned int)i;
		t->spec.has_partners = true;
		s->filters[i] = &t->clean;
		t->clean.duet = s->filters;
		t->clean.n_duet = s->n;
		if (r == 0 && t->spec.stderr_fd >= 0) {
			r = open_errors(&t->errors, err);
			t->spec.stderr_fd = t->errors;
		}
		/* programs that read one file at the same time must not share their place in it */
		if (r == 0 && input && strcmp(input, "null")) {
			r = open_input(input, &t->in, err);
			t->spec.stdin_fd = t->in;
		}
	}
	return r == 0 ? set_slice(s, s->options->slice_ns ?: DEFAULT_SLICE_NS, err) : r;
}

/* The notes on all results alike. */
static int add_session_notes(struct session *s, struct error *err)
{
	_cleanup_(freep) char *idle = holdback_idle(AT_FDCWD);
	const struct observer *o = &s->base.observer;
	cpu_set_t allowed = s->options->affinity;
	int r = 0;

	if (!s->options->affine && sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		CPU_ZERO(&allowed);
	core_types_note(&s->notes, AT_FDCWD, s->options->cpu, &allowed,
		s->options->profile ? &s->profile : NULL);
	if (s->base.beside)
		notes_add(&s->notes, NOTE_NOISE, "Warning: beside %s", s->base.beside);
	if (idle)
		notes_add(&s->notes, NOTE_NOISE,
			"Warning: %s has cpu.idle: all others get the CPU first", idle);
	if (s->options->profile)
		r = profile_changes_note(&s->notes, s->base.book, &s->profile, s->base.environment,
			&s->environment_changes, err);
	profile_for_inc(&s->profile, s->base.inc_digest);
	if (r == 0)
		r = other_inc_note(&s->notes, s->base.book,
			&(struct run){.environment = s->base.environment,
				.inc_digest = s->base.inc_digest},
			s->rules.profile, err);
	/* what could not be observed, in one line of 80 columns; the long reason is in -v */
	if (!o->accounting)
		notes_add(&s->notes, NOTE_PROGRAM, "Accounting off (%s): daemons%s",
			s->options->backend == ACCOUNTING_NONE ? "--accounting none"
							       : o->accounting_missing,
			o->cgroup ? " not named" : ", orphans not counted");
	else if (*accounting_state(o->accounting)->why.text)
		notes_add(&s->notes, NOTE_OTHER,
			"Accounting by taskstats, which is less exact than bpf; -v says why");
	else if (!o->cgroup)
		notes_add(&s->notes, NOTE_PROGRAM,
			"No cgroup v2 (see -v): orphans are not counted in PT");
	return r;
}

int session_open(struct session *s, const struct measure_options *options,
	const struct commands *commands, struct error *err)
{
	int r;

	s->options = options;
	s->order = options->order;
	s->opened_ns = clock_ns(CLOCK_REALTIME);
	s->rules = (struct discard_rules){
		.profile = options->profile ? &s->profile : NULL,
		.other_cpus = options->other_cpus,
		.unprofiled_share = options->unprofiled_percent / 100,
	};
	leftovers_remove(true);
	CPU_ZERO(&s->cpus);
	if (options->cpu >= 0)
		CPU_SET(options->cpu, &s->cpus);
	else if (options->affine)
		s->cpus = options->affinity;
	s->base.cpus = CPU_COUNT(&s->cpus) > 0 ? &s->cpus : NULL;
	r = run_session_open(&s->base, options->db, BOOK_MEASURE,
		options->ignore_lock ? RUN_LOCK_IGNORED : RUN_LOCK_FREE, err);
	if (r < 0)
		return r;
	run_session_ask_environment(&s->base);
	if (r == 0 && options->profile)
		r = book_get_profile(s->base.book, 0, options->profile, &s->profile, err);
	if (r == 0)
		r = observer_open(&s->base.observer, options->backend, options->cpu, err);
	if (r == 0)
		r = run_session_environment(&s->base, err);
	if (r == 0)
		r = add_session_notes(s, err);
	if (r == 0 && options->retain)
		r = names_load(&s->patterns, NULL, err);
	if (r == 0 && options->perf)
		r = perf_counters_open(&s->perf, options->perf, err);
	if (r == 0 && options->trace)
		r = program_trace_open(&s->trace, options->cpu, err);
	privilege_environment_put(iteration);
	privilege_environment_put(padding);
	if (r == 0 && options->fast_clock)
		r = preload_fast_clock(err);
	if (r == 0)
		r = open_files(s, err);
	if (r == 0)
		r = fill_tasks(s, commands, err);
	if (r == 0 && s->order == ORDER_DUET)
		r = make_duet(s, err);
	if (r == 0 && getrandom(&s->seed, sizeof(s->seed), 0) < 0)
		r = error_os(err, -errno, "cannot choose a random order");
	return r;
}

/* From the results that the session holds, if it holds those of all programs. */
int session_duet(const struct session *s, struct duet_report *ret, struct error *err)
{
	_cleanup_(freep)
		const struct run_result **results = xcalloc(s->n + 1, sizeof(struct run_result *));
	bool all = true;

	for (size_t i = 0; i < s->n; i++) {
		results[i] = &s->tasks[i].result;
		all &= s->tasks[i].run.id > 0 &&
		       results[i]->discarding.run.id == s->tasks[i].run.id;
	}
	return duet_report_load(
		s->base.book, s->tasks[0].run.id, &s->rules, all ? results : NULL, ret, err);
}

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

/* The program's --setup. Of INC, how much it is to do, by the last warm-up of the program and INC's
 * constant, of the book or measured now. */
static int begin_task(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct inc *inc = s->inc ? &s->inc->inc : NULL;
	int64_t length_ns;
	int r;

	if (!inc || t->command != &s->inc->command)
		return run_hook(t, t->command->setup, "--setup", err);
	r = inc_find_constant(inc, &s->base, s->base.environment, err);
	if (r < 0)
		return r;
	length_ns = inc_length_beside(s->samplings[0].last_pt_ns);
	sampling->increments = (int64_t)(inc->per_second * (double)length_ns / 1e9) + 1;
	inc_program_make(&s->inc->program, inc, &s->base, (double)sampling->increments);
	free(t->run.command);
	t->run.command = run_command_json(s->inc->program.argv);
	return 0;
}

/* Every sample reads its input from the beginning and writes its output anew. */
static int prepare_sample(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int in = t->spec.stdin_fd, out = t->spec.stdout_fd, used, r;

	used = s->warm_up
		       ? snprintf(iteration, sizeof(iteration), ITERATION "warmup-%d",
				 s->warm_up - 1)
		       : snprintf(iteration, sizeof(iteration), ITERATION "%u", s->run->n_samples);
	used -= (int)strlen(ITERATION);
	snprintf(padding, sizeof(padding), PADDING "%.*s", WIDTH - used, "--------------------");
	r = run_hook(t, t->command->prepare, "--prepare", err);
	if (r < 0)
		return r;
	if (in >= 0 && lseek(in, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot rewind the input");
	if (out >= 0 && lseek(out, 0, SEEK_SET) == 0 && ftruncate(out, 0) < 0 && errno != EINVAL)
		return error_os(err, -errno, "cannot empty the output");
	r = program_output_begin(&t->output, err);
	if (r == 0 && !s->warm_up)
		r = perf_counters_start(&t->session->perf, err);
	if (r == 0 && t->session->trace)
		r = trace_forget(t->session->trace->trace, err);
	return r;
}

/* Standard error of the next run begins anew; it is kept only of programs that write little, since
 * that takes time. */
static int conclude_sample(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int errors = t->spec.stderr_fd;
	struct stat st;
	int r = program_output_copy(&t->output, err);

	if (r < 0)
		return r;
	if (errors >= 0 && fstat(errors, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > 0 && ftruncate(errors, 0) < 0)
			return error_os(err, -errno, "cannot empty standard error");
		if (st.st_size > MOST_ERRORS)
			t->spec.stderr_fd = t->session->null;
		t->spec.short_stderr = false;
	}
	/* Also after an interruption, as --cleanup. */
	return t->command->conclude
		       ? hook_run(t->command->conclude, t->session->options->shell_words,
				 t->session->options->show_output, "--conclude", err)
		       : 0;
}

/* --retain: judges one more sample; only its executions are read. */
static int filter_sample(struct task *t, const struct sample *sample,
	const struct execution *executions, size_t n, struct error *err)
{
	uint32_t last = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		last = executions[i].source > last ? executions[i].source : last;
	if (last > t->sources.n) { /* a new daemon */
		sources_clear(&t->sources);
		r = book_sources(t->session->base.book, &t->sources, err);
	}
	if (r < 0)
		return r;
	*array_add(t->samples, t->n_samples) = *sample;
	t->clean.samples = t->samples;
	t->clean.n_samples = t->n_samples;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = sample_filter_add(&t->clean, &executions[i], err);
	return r;
}

static int sample_taken(struct sampling *s, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	struct task *t = s->data;
	struct session *session = t->session;
	size_t before = t->n_perf;
	int r = 0;

	for (size_t i = 0; i < session->perf.n; i++)
		array_add(t->perf, t->n_perf);
	if (session->perf.n > 0)
		r = perf_counters_stop(&session->perf, t->perf + before, err);
	if (r == 0 && session->trace)
		r = program_trace_take(
			session->trace, s->pid, array_add(t->preemptions, t->n_preemptions), err);
	if (r == 0)
		r = program_output_take(&t->output, sample->n, session->options->check,
			session->options->shell_words, err);
	if (r < 0 && interrupt_pending())
		r = -EINTR;
	if (r < 0 || !session->options->retain)
		return r;
	return filter_sample(t, sample, executions, n_executions, err);
}

/* --retain: 1 while too few samples are clean. */
static int more_samples(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	const struct measure_options *o = t->session->options;
	_cleanup_(discarding_clear) struct discarding so_far = {};

	if (!o->retain || s->run->n_samples >= (uint32_t)o->max_runs)
		return 0;
	so_far = sample_filter_judge(&t->clean);
	return so_far.pt.kept.n < (size_t)o->retain;
}

/* The notes on a result. The book keeps them with those on the session, and with what the machine
 * can resolve. */
static int note_result(struct task *t, struct error *err)
{
	struct session *s = t->session;
	const struct sampling *sums = t->sampling;
	_cleanup_(freep) char *perf = perf_text(s, t);
	_cleanup_(notes_clear) struct notes all = {};
	const char *hook = t->command->prepare    ? "--prepare"
			   : t->command->conclude ? "--conclude"
			   : s->options->check    ? "--check"
						  : NULL;
	_cleanup_(freep) char *unlike = program_output_unlike(&t->output);
	_cleanup_(freep) char *refused = program_output_refused(&t->output);
	double pt_ns = t->result.discarding.pt.kept.mean_ns;
	bool named = sums->escapee[0];
	int r = mdd_text(s->base.book, &t->run, s->rules.profile, t->result.n_samples, t->mdd, err);

	if (r < 0)
		return r;
	run_notes_add(&t->notes, &t->result, s->rules.profile);
	if (sums->escaped > 0)
		notes_add(&t->notes, NOTE_PROGRAM,
			"Warning: %s left %s cgroup in %d of %zu samples%s",
			named ? sums->escapee : "the program", named ? "the program's" : "its",
			sums->escaped, t->result.n_samples, named ? "" : "; PT may lack some");
	if (sums->limited > 0)
		notes_add(&t->notes, NOTE_PROGRAM,
			"Warning: %s killed a process in %d of %zu samples", sums->limit,
			sums->limited, t->result.n_samples);
	/* BPF knows the end; otherwise it is computed from this. */
	if (strcmp(s->base.observer.backend, accounting_backend_names[ACCOUNTING_BPF]) &&
		sums->end_delay_ns > sums->et_ns / 100)
		notes_add(&t->notes, NOTE_OTHER,
			"emp-measure got a CPU %s after the ends on average, which is not in ET",
			text_duration(sums->end_delay_ns / sums->taken));
	if (sums->killed > 0)
		notes_add(&t->notes, NOTE_OTHER,
			"Warning: %d process%s left behind and killed after --linger", sums->killed,
			sums->killed == 1 ? " was" : "es were");
	if (sums->again > 0)
		notes_add(&t->notes, NOTE_OTHER, "%d sample%s stopped (^Z) and taken again",
			sums->again, sums->again == 1 ? " was" : "s were");
	if (hook && pt_ns > 0 && pt_ns < HOOKS_MATTER_NS)
		notes_add(&t->notes, NOTE_OTHER,
			"PT may be about 0.1 ms (%s) longer because of %s: cold caches",
			text_percent(HOOKS_COST_NS / pt_ns), hook);
	if (unlike)
		notes_add(&t->notes, NOTE_PROGRAM, "Warning: another output than usual in %s",
			unlike);
	if (refused)
		notes_add(&t->notes, NOTE_PROGRAM, "Warning: --check failed in %s", refused);
	if (perf)
		notes_add(&t->notes, NOTE_OTHER, "perf: %s", perf);
	notes_add_all(&all, &t->notes);
	notes_add_all(&all, &s->notes);
	if (*t->mdd)
		notes_add(&all, NOTE_RESOLUTION, "%s", t->mdd);
	return book_put_notes(s->base.book, t->run.id, all.items, all.n, err);
}

/* What the program wrote and, where there are others to compare it with, what it consists of. */
static int store_work(struct task *t, struct error *err)
{
	const struct session *s = t->session;
	const struct command *c = t->command;
	const char *const beside[] = {c->setup, c->prepare, c->conclude, c->output};
	const struct program_content_query query = {
		.path = c->path,
		.argv = c->argv,
		.environment = privilege_environment(),
		.beside = beside,
		.n_beside = ELEMENTS(beside),
		.call_ns = s->opened_ns,
		.since_ns = t->run.started_ns,
	};
	int r = 0;

	if (session_n_shown(s) > 1)
		t->run.program_digest = program_content(&query);
	if (t->run.program_digest)
		r = book_put_program_digest(s->base.book, t->run.id, t->run.program_digest, err);
	t->run.output_digest = program_output_digest(&t->output);
	if (r == 0 && t->run.output_digest)
		r = book_put_output_digest(s->base.book, t->run.id, t->run.output_digest, err);
	return r;
}

/* Runs --cleanup, then reads the result. Also after a failure or an interruption, so that the
 * samples so far can be shown. */
static int end_task(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct error *e = err;
	int cleaned = 0, r = 0;

	if (t->command->cleanup)
		cleaned = hook_run(t->command->cleanup, s->options->shell_words,
			s->options->show_output, "--cleanup", err);
	if (cleaned < 0)
		e = NULL;
	if (t->run.n_samples > 0) {
		r = store_work(t, e);
		r = r < 0 ? r
			  : run_result_read(
				    s->base.book, t->run.id, &s->rules, RESULT_ALL, &t->result, e);
		if (r == 0 && s->inc && t->command != &s->inc->command)
			r = inc_units_load(s->base.book, t->run.id, &s->rules, &t->inc, e);
		if (r >= 0)
			r = note_result(t, e);
	}
	if (r == 0 && s->order == s->options->order) /* not of what is in turn after a duet */
		r = export_results(s, false, e);
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
		!alternation_slicing(slice_ns, s->options->cpu, s->tasks[0].spec.cgroup))
		return 0;
	return set_slice(s, slice_ns, err);
}

char *session_different_work(const struct session *s, size_t i)
{
	const struct task *tasks[] = {&s->tasks[0], &s->tasks[i]};
	const struct written *usual[2];
	const char *noun = s->options->check ? "what --check makes of the output" : "the output";
	char *text = NULL;

	for (size_t k = 0; k < 1 + (i > 0); k++) {
		_cleanup_(freep) char *unlike = program_output_unlike(&tasks[k]->output);
		_cleanup_(freep) char *refused = program_output_refused(&tasks[k]->output);

		usual[k] = program_output_usual(&tasks[k]->output);
		if (refused)
			text_append(&text, "; ", "--check failed in %s of '%s'", refused,
				tasks[k]->name);
		else if (unlike)
			text_append(&text, "; ", "%s of '%s' differs in %s from that in sample %u",
				noun, tasks[k]->name, unlike, usual[k]->sample);
	}
	if (!text && i > 0 && usual[0] && usual[1] &&
		strcmp(usual[0]->digest, usual[1]->digest) != 0)
		text_append(&text, "", "%s of '%s' differs from that of '%s'", noun, tasks[1]->name,
			tasks[0]->name);
	return text;
}

/* Takes all samples, and reads the results, also those of interrupted runs that have samples. As
 * session_run. */
static int run_all(struct session *s, struct error *err)
{
	const struct measure_options *o = s->options;
	const struct command_spec all = {.cpu = o->cpu,
		.cgroup = s->base.observer.cgroup,
		.accounting = s->base.observer.accounting};
	const struct sampling_plan plan = {
		.session = &s->base,
		.items = s->samplings,
		.n = s->n,
		.order = s->order,
		.seed = s->seed,
		.together = {.plan = &s->duet,
			.all = &all,
			.alone = s->order == ORDER_DUET ? (uint32_t)o->alone : 0,
			.store = &duet_store},
		.hooks = {begin_task, prepare_sample, conclude_sample, sample_taken, more_samples,
			end_task, choose_slice},
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
		/* in a sequence, some may not have begun */
		last = (long long)s->tasks[i].run.id ?: last;
	}
	if (samples == 0)
		return error_say(
			err, STATUS_INTERRUPTED, "interrupted before the first sample was taken");
	if (first == last)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps the %s taken so far", first,
			text_count(samples, "sample"));
	return error_say(err, STATUS_INTERRUPTED,
		"interrupted: runs %lld to %lld keep the %s taken so far", first, last,
		text_count(samples, "sample"));
}

int session_run(struct session *s, const struct commands *commands, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	struct session *turn;
	struct comparison c;
	int r = run_all(s, err);

	if (r != 0 || s->order != ORDER_DUET || session_n_shown(s) < 2)
		return r;
	/* the first doubt about any of the programs decides */
	r = session_duet(s, &report, err);
	for (size_t i = 1; r >= 0 && s->doubt == DUET_SOUND && i < report.n; i++)
		r = duet_report_compare(&report, 0, i, &c, &s->doubt, err);
	if (r < 0 || s->doubt == DUET_SOUND)
		return r < 0 ? r : 0;
	/* what is in turn shares all but its order and its tasks with the duet */
	s->in_turn = turn = xmalloc(sizeof(*turn));
	*turn = *s;
	turn->order = ORDER_INTERLEAVE;
	turn->in_turn = NULL;
	turn->n = 0;
	r = fill_tasks(turn, commands, err);
	if (r == 0)
		r = run_all(turn, err);
	return r == 0 ? export_results(s, false, err) : r;
}

static void clear_tasks(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct task *t = &s->tasks[i];

		free(t->name);
		free(t->in_messages);
		program_output_close(&t->output);
		free(t->perf);
		for (size_t k = 0; k < t->n_preemptions; k++)
			preemptions_clear(&t->preemptions[k]);
		free(t->preemptions);
		run_clear(&t->run);
		sample_filter_clear(&t->clean);
		sources_clear(&t->sources);
		free(t->samples);
		run_result_clear(&t->result);
		notes_clear(&t->notes);
		closep(&t->in);
		closep(&t->errors);
		if (t->spec.cgroup != s->base.observer.cgroup)
			cgroup_free(t->spec.cgroup);
	}
	free(s->tasks);
	free(s->samplings);
	free(s->names);
	free(s->filters);
	free(s->comparisons);
}

void session_close(struct session *s)
{
	if (s->in_turn) {
		clear_tasks(s->in_turn);
		free(s->in_turn);
	}
	clear_tasks(s);
	guard_free(s->guard);
	free(s->environment_changes);
	notes_clear(&s->notes);
	names_clear(&s->patterns);
	profile_clear(&s->profile);
	run_session_close(&s->base);
	closep(&s->in);
	for (size_t i = 0; i < s->n_outputs; i++)
		closep(&s->outputs[i].fd);
	free(s->outputs);
	if (s->inc)
		free(s->inc->inc.path);
	free(s->inc);
	perf_counters_clear(&s->perf);
	program_trace_free(s->trace);
	closep(&s->null);
	closep(&s->errors);
	*s = SESSION_NEW;
}
