/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure, one command: its samples into the book, and what the protocol makes of them back out. */
#include "measure/measure.h"

#include "lib/base/json.h"
#include "lib/base/tool.h"
#include "lib/record/environment.h"
#include "lib/record/series.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

void measured_clear(struct measured *m)
{
	discarding_clear(&m->result);
	free(m->samples);
	free(m->command);
	free(m->environment_digest);
	free(m->profile_digest);
	free(m->backend_why);
	free(m->cgroup_why);
	*m = (struct measured){};
}

/* An argument as a shell would have to be given it. */
static void quote(FILE *file, const char *argument)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*argument && !argument[strspn(argument, plain)]) {
		fputs(argument, file);
		return;
	}
	fputc('\'', file);
	for (const char *c = argument; *c; c++)
		*c == '\'' ? fputs("'\\''", file) : fputc(*c, file);
	fputc('\'', file);
}

static char *command_text(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (int i = 0; file && argv[i]; i++) {
		if (i > 0)
			fputc(' ', file);
		quote(file, argv[i]);
	}
	return file && fclose(file) == 0 ? text : NULL;
}

static char *command_json(char *const *argv)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (int i = 0; argv[i]; i++) {
		json_t *argument = json_string(argv[i]);

		/* An argument need not be UTF-8; then what can be read of it is kept. */
		json_array_append_new(array, argument ?: json_string("(not UTF-8)"));
	}
	return json_dumps(array, JSON_COMPACT);
}

/* What the observer can and cannot see, for the result. */
static int explain_observer(const struct observer *observer, struct measured *m, struct error *err)
{
	const char *why = observer->accounting ? accounting_why(observer->accounting)
					       : observer->no_accounting.text;

	if (why)
		m->backend_why = strdup(why);
	if (!observer->cgroup)
		m->cgroup_why = strdup(observer->no_cgroup.text);
	if ((why && !m->backend_why) || (!observer->cgroup && !m->cgroup_why))
		return error_os(err, -ENOMEM, "cannot measure");
	return 0;
}

static int fill_run(const struct measure_options *o, char *const *argv, const struct observer *observer,
	struct run *run, struct error *err)
{
	run->program = strdup(strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
	run->command = command_json(argv);
	run->purpose = strdup("measure");
	run->backend = strdup(observer_backend_name(observer));
	run->pt_source = strdup(observer_pt_source(observer));
	run->profile = o->profile ? strdup(o->profile) : NULL;
	run->resolution_ns = 1;
	run->cpu = o->cpu;
	return run->program && run->command && run->purpose && run->backend && run->pt_source
		       ? 0
		       : error_os(err, -ENOMEM, "cannot measure");
}

static int status_of(int r, const struct measure_options *o, const struct run *run, struct error *err)
{
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted: run %lld keeps the %u samples before",
			(long long)run->id, run->n_samples);
	return r == -ETIMEDOUT ? STATUS_TIME_OUT : r;
}

static int take_samples(const struct measure_options *o, struct book *book, const struct spawn *spawn,
	struct run *run, struct measured *m, struct error *err)
{
	struct series series = {
		.book = book,
		.run = run,
		.spawn = spawn,
		.warm_ups = o->warm_ups,
		.samples = o->samples,
		.ignore_failure = o->ignore_failure,
		.quiet = o->quiet,
	};
	int r = series_run(&series, err);

	if (r < 0)
		return status_of(r, o, run, err);
	m->observer_ns = series.observer_ns / o->samples;
	m->lost = series.lost;
	m->failures = series.failures;
	m->left_behind = series.left_behind;
	m->killed = series.killed;
	return 0;
}

static int run_observed(const struct measure_options *o, struct book *book, char *const *argv,
	struct run *run, struct measured *m, struct error *err)
{
	_cleanup_(observer_closep) struct observer observer = {};
	_cleanup_(freep) char *path = NULL;
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn spawn = {
		.argv = argv, .cpu = o->cpu, .timeout_ns = o->timeout_ns, .linger_ns = o->linger_ns};
	int r;

	if (null < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	r = spawn_find(argv[0], &path, err);
	if (r < 0)
		return r;
	r = observer_open(&observer, o->backend, err);
	if (r < 0)
		return r;
	r = explain_observer(&observer, m, err);
	if (r < 0)
		return r;
	r = fill_run(o, argv, &observer, run, err);
	if (r < 0)
		return r;
	spawn.path = path;
	spawn.stdin_fd = null;
	spawn.stdout_fd = o->show_output ? -1 : null;
	spawn.stderr_fd = o->show_output ? -1 : null;
	spawn.cgroup = observer.cgroup;
	spawn.accounting = observer.accounting;
	return take_samples(o, book, &spawn, run, m, err);
}

static int read_profile(const struct measure_options *o, struct book *book, struct profile *profile,
	struct measured *m, struct error *err)
{
	int r;

	if (!o->profile)
		return 0;
	r = book_get_profile(book, o->profile, profile, err);
	if (r < 0)
		return r;
	if (!profile->environment_digest)
		return 0;
	m->profile_digest = strdup(profile->environment_digest);
	return m->profile_digest ? 0 : error_os(err, -ENOMEM, "cannot measure");
}

int measure_command(
	const struct measure_options *o, char *const *argv, struct measured *ret, struct error *err)
{
	_cleanup_(measured_clearp) struct measured m = {};
	_cleanup_(profile_clearp) struct profile profile = {};
	_cleanup_(run_clearp) struct run run = {};
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *path = NULL;
	int r;

	m.command = command_text(argv);
	if (!m.command)
		return error_os(err, -ENOMEM, "cannot measure");
	r = book_path(o->db, &path, err);
	if (r < 0)
		return r;
	r = book_open(&book, path, BOOK_WRITE, err);
	if (r < 0)
		return r;
	r = read_profile(o, book, &profile, &m, err);
	if (r < 0)
		return r;
	r = environment_take(book, &run.environment, &m.environment_digest, err);
	if (r < 0)
		return r;
	r = run_observed(o, book, argv, &run, &m, err);
	if (r != 0)
		return r;
	r = book_samples(book, run.id, &m.samples, &m.n_samples, err);
	if (r < 0)
		return r;
	r = discard_run(book, run.id, o->profile ? &profile : NULL, &m.result, err);
	if (r < 0)
		return r;
	*ret = m;
	m = (struct measured){};
	return 0;
}
