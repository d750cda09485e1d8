/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load: see session.h. */
#include "lib/load/session.h"

#include "lib/base/xalloc.h"
#include "lib/load/slave_limits.h"

#include "lib/base/paths.h"
#include "lib/base/progress.h"
#include "lib/base/text.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/lock.h"
#include "lib/load/book_load.h"
#include "lib/book/book.h"
#include "lib/report/notes.h"
#include "lib/protocol/names.h"
#include "lib/report/screen.h"
#include "lib/run/environment.h"
#include "lib/run/patience.h"
#include "lib/run/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int check_cpus(const struct load *load, const char *path, struct error *err)
{
	for (int cpu = 0; load->cpu_list && cpu < CPU_SETSIZE; cpu++) {
		int r = CPU_ISSET(cpu, &load->cpus) ? pinning_check(cpu, AT_FDCWD, err) : 0;

		if (r < 0)
			return error_prefix(err, r, "%s: cpus", path);
	}
	return 0;
}

int load_read(struct load *ret, char **ret_text, const char *path, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(AT_FDCWD, path, &text);

	if (r < 0)
		return error_os(err, r, "cannot read '%s'", path);
	r = load_parse(ret, text, path, err);
	if (r == 0)
		r = check_cpus(ret, path, err);
	if (r == 0)
		*ret_text = TAKE(text);
	return r;
}

static int name_programs(struct load_session *s, struct error *err)
{
	size_t n = load_slaves(&s->load);

	s->programs = xcalloc(n, sizeof(*s->programs));
	for (size_t k = 0; k < n; k++) {
		s->programs[k] = (struct run_program){
			.n = (uint32_t)k + 1, .name = xstrdup(load_script_of(&s->load, k)->name)};
		if (!s->programs[k].name)
			return error_oom(err);
	}
	return 0;
}

static int fill_run(struct load_session *s, int64_t environment, struct error *err)
{
	s->run = (struct run){
		.kind = RUN_LOAD,
		.program = text_utf8(s->load.name),
		.backend = xstrdup(observer_backend_name(&s->observer)),
		.pt_source = xstrdup("cgroup"),
		.profile = text_copy(s->options->profile),
		.notes = xstrdup(coordination_names[s->load.coordination]),
		.resolution_ns = 1,
		.environment = environment,
		.cpu = -1,
	};
	if (!s->run.program || !s->run.backend || !s->run.pt_source || !s->run.notes)
		return error_oom(err);
	return names_text(&s->run.name_patterns, err) ?: name_programs(s, err);
}

static int open_book(struct load_session *s, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	struct error said;
	int r = paths_book(s->options->db, &path, err);

	if (r == 0 && !s->options->ignore_lock && lock_look(path, &said) < 0)
		return error_say(err, -EBUSY, "%s, or measure anyway with --ignore-lock", said.text);
	leftovers_remove();
	if (r == 0)
		r = book_open(&s->book, path, BOOK_MEASURE, err);
	if (r < 0)
		return r;
	patience_begin(s->book);
	return s->options->profile ? book_get_profile(s->book, s->options->profile, &s->profile, err) : 0;
}

int load_session_open(
	struct load_session *ret, const struct load_options *options, const char *path, struct error *err)
{
	_cleanup_(load_session_close) struct load_session s = {.options = options};
	_cleanup_(freep) char *digest = NULL;
	int64_t environment;
	int r = load_read(&s.load, &s.text, path, err);

	if (r < 0)
		return r;
	if (options->coordination >= 0)
		s.load.coordination = (enum coordination)options->coordination;
	s.load.runs = options->runs ?: s.load.runs;
	r = setenv("EMP_LOAD_FILE_DIR", s.load.file_directory, 1) < 0 ? error_oom(err) : open_book(&s, err);
	if (r == 0)
		r = environment_take(s.book, &environment, &digest, err);
	if (r == 0)
		r = observer_open(&s.observer, options->backend, -1, err);
	if (r == 0)
		r = slave_limits_begin(&s.controllers, &s.load, err);
	if (r == 0)
		r = fill_run(&s, environment, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(s);
	return 0;
}

static int store_parts(
	struct load_session *s, const struct load_result *result, uint32_t n, struct error *err)
{
	_cleanup_(freep) struct sample_program *parts = xcalloc(result->n, sizeof(*parts));

	for (size_t k = 0; k < result->n; k++)
		parts[k] = load_result_part(result, k, n);
	return book_add_sample_programs(s->book, s->run.id, parts, result->n, err);
}

static int store_waits(
	struct load_session *s, const struct load_result *result, uint32_t n, struct error *err)
{
	_cleanup_(page_waits_clear) struct page_waits waits = {};
	int r = load_waits_record(result->waits, n, &waits, err);

	return r < 0 ? r : book_add_page_waits(s->book, s->run.id, &waits, err);
}

static int store_all(struct load_session *s, const struct load_result *result, struct error *err)
{
	const struct load_sample start = {
		s->run.n_samples + 1, result->release_ns, result->driver_ns, result->idle_ns, result->cpus};
	int r = sample_store_rows(s->book, s->run.id, start.sample, &result->observation, err);

	if (r == 0)
		r = store_parts(s, result, start.sample, err);
	if (r == 0)
		r = store_waits(s, result, start.sample, err);
	if (r == 0)
		r = book_add_load_sample(s->book, s->run.id, &start, err);
	return r == 0 ? book_commit(s->book, err) : r;
}

static int try_to_store(struct load_session *s, const struct load_result *result, struct error *err)
{
	int r = book_begin(s->book, err);

	if (r == 0)
		r = store_all(s, result, err);
	if (r < 0)
		book_rollback(s->book);
	return r;
}

static int store(struct load_session *s, const struct load_result *result, struct error *err)
{
	int r;

	do
		r = try_to_store(s, result, err);
	while (book_again(s->book, r, err));
	s->run.n_samples += r == 0;
	return r;
}

static int take_one(struct load_session *s, bool warm_up, struct error *err)
{
	const struct drive drive = {
		.load = &s->load,
		.text = s->text,
		.observer = &s->observer,
		.controllers = s->controllers,
		.page_waits = s->page_wait_meter,
		.show_output = s->options->show_output,
	};
	_cleanup_(load_result_clear) struct load_result result = {};
	int r = drive_once(&drive, &result, err);

	return r < 0 || warm_up ? r : store(s, &result, err);
}

static int take_all(struct load_session *s, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	int total = s->options->warm_ups + s->load.runs, r = 0;

	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	for (int i = 0; r == 0 && i < total; i++) {
		r = interrupt_pending() ? -EINTR : take_one(s, i < s->options->warm_ups, err);
		if (r == 0)
			progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	return r;
}

static int begin_run(struct load_session *s, struct error *err)
{
	const struct load_row row = {s->load.coordination, s->load.cpu_list, s->text,
		s->page_wait_meter ? NULL : s->no_page_waits.text};
	int r = book_begin_run(s->book, &s->run, err);

	if (r == 0)
		r = book_put_load(s->book, s->run.id, &row, err);
	return r == 0 ? book_put_programs(s->book, s->run.id, s->programs, load_slaves(&s->load), err) : r;
}

/* The load runs without it, too. */
static void watch_page_waits(struct load_session *s)
{
	privilege_raise();
	page_wait_meter_new(&s->page_wait_meter, &s->no_page_waits);
	privilege_lower();
}

/* The notes on the result, as emp-measure stores them; what single programs can be resolved to says nothing of a load. */
static int store_notes(struct load_session *s, struct error *err)
{
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	struct notes *notes = &s->report.notes;
	int r = 0;

	run_notes_add(notes, &s->report.result, profile);
	if (profile)
		r = profile_changes_note(notes, s->book, profile, s->run.environment, err);
	return r < 0 ? r : book_put_notes(s->book, s->run.id, notes->items, notes->n, err);
}

int load_session_run(struct load_session *s, struct error *err)
{
	struct error second = {};
	int r, outcome;

	watch_page_waits(s);
	r = begin_run(s, err);
	if (r < 0)
		return r;
	outcome = take_all(s, err);
	r = book_end_run(s->book, s->run.id,
		outcome == 0        ? RUN_DONE
		: outcome == -EINTR ? RUN_INTERRUPTED
				    : RUN_FAILED,
		s->run.notes, outcome ? &second : err);
	if (r == 0 && s->run.n_samples > 0)
		r = load_report_read(s->book, s->run.id, &s->report, outcome ? &second : err);
	if (r == 0 && s->run.n_samples > 0)
		r = store_notes(s, outcome ? &second : err);
	return outcome ?: r;
}

void load_session_close(struct load_session *s)
{
	load_report_clear(&s->report);
	run_programs_free(s->programs, s->programs ? load_slaves(&s->load) : 0);
	page_wait_meter_free(s->page_wait_meter);
	run_clear(&s->run);
	profile_clear(&s->profile);
	observer_close(&s->observer);
	cgroup_controllers_free(s->controllers);
	book_free(s->book);
	load_clear(&s->load);
	free(s->text);
	*s = (struct load_session){};
}
