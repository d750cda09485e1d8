/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All commands of one call of emp-measure: see session.h. This file sets a session up; schedule.c takes the
 * samples. */
#include "measure/session.h"

#include "lib/base/xalloc.h"
#include "measure/fast_clock.h"
#include "measure/iteration.h"

#include "lib/base/array.h"
#include "lib/base/json.h"
#include "lib/base/output_file.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/lock.h"
#include "lib/host/process/start.h"
#include "lib/protocol/names.h"
#include "lib/run/environment.h"
#include "lib/run/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <string.h>
#include <sys/random.h>

/* The arguments as a JSON array; bytes that are not UTF-8 become \xNN. */
static char *command_json(char *const *argv)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (int i = 0; argv[i]; i++) {
		_cleanup_(freep) char *word = text_utf8(argv[i]);

		if (!word || json_array_append_new(array, json_string(word)) < 0)
			return NULL;
	}
	return json_dumps(array, JSON_COMPACT);
}

static int fill_run(const struct session *s, struct task *t, struct error *err)
{
	const char *file = strrchr(t->command->argv[0], '/');

	t->run = (struct run){
		.program = text_utf8(file ? file + 1 : t->command->argv[0]),
		.command = command_json(t->command->argv),
		.name = t->command->named ? xstrdup(t->command->name) : NULL,
		.kind = s->options->order == ORDER_DUET ? RUN_DUET : RUN_MEASURE,
		.backend = xstrdup(observer_backend_name(&s->observer)),
		.pt_source = xstrdup(observer_pt_source(&s->observer)),
		.wait_source = xstrdup(
			s->options->order == ORDER_DUET ? "elapsed" : observer_wait_source(&s->observer)),
		.profile = text_copy(s->options->profile),
		.profile_id = s->profile.id,
		.other_cpus = s->options->other_cpus,
		.unprofiled_share_ppm = llround(s->options->unprofiled_percent * (PPM / 100)),
		.resolution_ns = 1,
		.environment = s->environment,
		.cpu = s->options->cpu,
	};
	return t->run.program && t->run.command && t->run.backend ? names_text(&t->run.name_patterns, err) : error_oom(err);
}

static int open_output(const struct session *s, const char *where, int *ret, struct error *err)
{
	int r;

	if (!strcmp(where, "inherit"))
		return 0;
	if (!strcmp(where, "pipe"))
		return pipe_drain_new(ret, err);
	if (!strcmp(where, "null"))
		*ret = fcntl(s->null, F_DUPFD_CLOEXEC, 0);
	else if (!output_file_is_stream(where) && (r = paths_check(where, PATH_WRITE, err)) < 0)
		return r;
	else
		*ret = open(where, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (*ret < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to write", where);
	return 0;
}

/* Opened once, also for several commands. */
static int find_output(struct session *s, const struct command *command, int *ret, struct error *err)
{
	const char *where = command->output ?: s->options->show_output ? "inherit" : "null";
	struct output *output;
	int r;

	for (size_t i = 0; i < s->n_outputs; i++)
		if (!strcmp(s->outputs[i].where, where)) {
			*ret = s->outputs[i].fd;
			return 0;
		}
	output = array_add(s->outputs, s->n_outputs);
	*output = (struct output){where, -1};
	r = open_output(s, where, &output->fd, err);
	*ret = output->fd;
	return r;
}

static int fill_task(struct session *s, const struct command *command, const char *suffix, struct task *t,
	struct error *err)
{
	const struct measure_options *o = s->options;
	int out = -1, r;

	r = find_output(s, command, &out, err);
	if (r < 0)
		return r;
	t->command = command;
	t->name = text_format("%s%s", command->name, suffix);
	t->in_messages = command->named ? text_format("%s: %s", t->name, command->text) : text_copy(t->name);
	if (!t->in_messages)
		return error_oom(err);
	t->spawn = (struct spawn){
		.argv = command->argv,
		.path = command->path,
		.cpu = o->cpu,
		.affinity = o->affine ? &o->affinity : NULL,
		.new_session = o->new_session,
		.stdin_fd = s->in,
		.stdout_fd = out,
		.stderr_fd = out >= 0 ? s->errors : -1,
		.short_stderr = out >= 0,
		.cgroup = s->observer.cgroup,
		.accounting = s->observer.accounting,
		.timeout_ns = o->timeout_ns,
		.linger_ns = o->linger_ns,
	};
	return fill_run(s, t, err);
}

static int add_inc(struct session *s, size_t n_commands, struct error *err)
{
	int r;

	if (n_commands != 1)
		return error_say(
			err, -EINVAL, "--against inc measures one command, and there are %zu", n_commands);
	r = against_new(&s->against, err);
	return r < 0 ? r : fill_task(s, against_command(s->against), "", &s->tasks[s->n++], err);
}

int session_fill_tasks(struct session *s, const struct commands *commands, struct error *err)
{
	int r = 0;

	s->tasks = xcalloc(commands->n + 1, sizeof(*s->tasks));
	s->samplings = xcalloc(commands->n + 1, sizeof(*s->samplings));
	for (size_t i = 0; r == 0 && i < commands->n + s->options->aa; i++) {
		bool again = i == commands->n;
		struct task *t = &s->tasks[s->n++];

		t->in = t->errors = -1;
		r = fill_task(s, &commands->items[again ? 0 : i], again ? " (again)" : "", t, err);
	}
	return r == 0 && s->options->against_inc ? add_inc(s, commands->n, err) : r;
}

int session_open_errors(int *ret_fd, struct error *err)
{
	int fd = memfd_create("standard error", MFD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0)
		return error_os(err, -errno, "cannot keep what the programs write to standard error");
	*ret_fd = fd;
	return 0;
}

static int open_input(struct session *s, struct error *err)
{
	const char *file = s->options->input && strcmp(s->options->input, "null") ? s->options->input
										  : "/dev/null";
	int r;

	s->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->null < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	r = session_open_errors(&s->errors, err);
	if (r < 0)
		return r;
	if (s->options->show_output && !s->options->input)
		return 0;
	s->in = open(file, O_RDONLY | O_CLOEXEC);
	if (s->in < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to read", file);
	if (lseek(s->in, 0, SEEK_SET) < 0)
		return error_say(err, -EINVAL,
			"'%s' cannot be read from its beginning for each sample: it must be a file", file);
	return 0;
}

/* Samples and a calibration would disturb each other. */
static int check_host(const struct session *s, const char *book, struct error *err)
{
	struct error said;
	int r = s->options->ignore_lock ? 0 : lock_look(book, &said);

	return r < 0 ? error_say(err, r, "%s, or measure anyway with --ignore-lock", said.text) : 0;
}

static int open_book(struct session *s, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	int r;

	leftovers_remove_traces();
	r = paths_book(s->options->db, &path, err);
	if (r == 0)
		r = check_host(s, path, err);
	if (r < 0)
		return r;
	r = book_open(&s->book, path, BOOK_MEASURE, err);
	if (r < 0)
		return r;
	patience_begin(s->book);
	return s->options->profile ? book_get_profile(s->book, s->options->profile, &s->profile, err) : 0;
}

int session_open(struct session *ret, const struct measure_options *options, const struct commands *commands,
	struct error *err)
{
	_cleanup_(session_close) struct session s = SESSION_NEW;
	_cleanup_(environment_question_freep) struct environment_question *question = environment_ask();
	int r;

	s.options = options;
	r = open_book(&s, err);
	if (r == 0)
		r = observer_open(&s.observer, options->backend, options->cpu, err);
	if (r == 0)
		r = environment_answer(question, s.book, &s.environment, &s.environment_digest, err);
	if (r == 0)
		r = session_make_notes(&s, err);
	if (r == 0 && options->perf)
		r = perf_counters_new(&s.perf, options->perf, err);
	if (r == 0 && options->trace)
		r = program_trace_open(&s.trace, options->cpu, err);
	if (r == 0)
		r = iteration_init(err);
	if (r == 0 && options->fast_clock)
		r = fast_clock_init(err);
	if (r == 0)
		r = open_input(&s, err);
	if (r == 0)
		r = session_fill_tasks(&s, commands, err);
	if (r == 0 && options->order == ORDER_DUET)
		r = session_make_duet(&s, err);
	if (r < 0)
		return r;
	if (getrandom(&s.seed, sizeof(s.seed), 0) < 0)
		return error_os(err, -errno, "cannot choose a random order");
	*ret = s;
	s = SESSION_NEW;
	return 0;
}

const char **session_names(const struct session *s)
{
	const char **names = xcalloc(s->n + 1, sizeof(char *));

	for (size_t i = 0; names && i < s->n; i++)
		names[i] = s->tasks[i].name;
	return names;
}

void session_clear_tasks(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->tasks[i].name);
		free(s->tasks[i].in_messages);
		free(s->tasks[i].perf);
		for (size_t k = 0; k < s->tasks[i].n_taken; k++)
			taken_sample_clear(&s->tasks[i].taken[k]);
		free(s->tasks[i].taken);
		run_clear(&s->tasks[i].run);
		clean_samples_clear(&s->tasks[i].clean);
		run_result_clear(&s->tasks[i].result.run);
		notes_clear(&s->tasks[i].result.notes);
	}
	free(s->tasks);
	free(s->samplings);
}

void session_close(struct session *s)
{
	session_clear_duet(s);
	session_clear_tasks(s);
	free(s->environment_digest);
	free(s->environment_changes);
	notes_clear(&s->notes);
	profile_clear(&s->profile);
	observer_close(&s->observer);
	book_free(s->book);
	closep(&s->in);
	for (size_t i = 0; i < s->n_outputs; i++)
		closep(&s->outputs[i].fd);
	free(s->outputs);
	against_free(s->against);
	perf_counters_free(s->perf);
	program_trace_free(s->trace);
	closep(&s->null);
	closep(&s->errors);
	*s = SESSION_NEW;
}
