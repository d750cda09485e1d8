/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load: see session.h. */
#include "lib/load/session.h"

#include "lib/base/paths.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/book.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/lock.h"
#include "lib/report/notes.h"
#include "lib/protocol/names.h"
#include "lib/report/screen.h"
#include "lib/run/sampling.h"

#include <errno.h>
#include <fcntl.h>

int load_read(struct load *ret, char **ret_text, const char *path, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(AT_FDCWD, path, &text);

	if (r < 0)
		return error_os(err, r, "cannot read '%s'", path);
	r = load_parse(ret, text, path, err);
	if (r < 0)
		return r;
	for (int cpu = 0; ret->cpu_list && cpu < CPU_SETSIZE; cpu++) {
		r = CPU_ISSET(cpu, &ret->cpus) ? pinning_check(cpu, AT_FDCWD, err) : 0;
		if (r < 0)
			return error_prefix(err, r, "%s: cpus", path);
	}
	*ret_text = TAKE(text);
	return 0;
}

int load_session_open(
	struct load_session *ret, const struct load_options *options, const char *path, struct error *err)
{
	_cleanup_(load_session_close) struct load_session s = {.options = options};
	_cleanup_(freep) char *digest = NULL;
	int64_t environment;
	int r = load_read(&s.load, &s.text, path, err);
	_cleanup_(freep) char *book_path = NULL;
	struct error err2;

	if (r < 0)
		return r;
	if (options->coordination >= 0)
		s.load.coordination = (enum coordination)options->coordination;
	s.load.runs = options->runs ?: s.load.runs;
	if (setenv("EMP_LOAD_FILE_DIR", s.load.file_directory, 1) < 0)
		xalloc_fail();
	r = paths_book(s.options->db, &book_path, err);
	if (r == 0 && !s.options->ignore_lock && lock_look(book_path, &err2) < 0) {
		r = error_say(err, -EBUSY, "%s, or measure anyway with --ignore-lock", err2.text);
	} else {
		leftovers_remove();
		if (r == 0)
			r = book_open(&s.book, book_path, BOOK_MEASURE, err);
		if (r >= 0) {
			patience_begin(s.book);
			r = s.options->profile ? book_get_profile(s.book, s.options->profile, &s.profile, err)
					       : 0;
		}
	}
	if (r == 0)
		r = environment_take(s.book, &environment, &digest, err);
	if (r == 0)
		r = observer_open(&s.observer, options->backend, -1, err);
	if (r == 0)
		r = load_limits_begin(&s.controllers, &s.load, err);
	if (r == 0) {
		size_t n = load_slaves(&s.load);

		s.run = (struct run){
			.kind = RUN_LOAD,
			.program = text_utf8(s.load.name),
			.backend = xstrdup(observer_backend_name(&s.observer)),
			.pt_source = xstrdup("cgroup"),
			.profile = text_copy(s.options->profile),
			.notes = xstrdup(coordination_names[s.load.coordination]),
			.resolution_ns = 1,
			.environment = environment,
			.cpu = -1,
		};
		s.programs = xcalloc(n, sizeof(*s.programs));
		for (size_t k = 0; k < n; k++)
			s.programs[k] = (struct run_program){
				.n = (uint32_t)k + 1, .name = xstrdup(load_script_of(&s.load, k)->name)};
		r = names_text(&s.run.name_patterns, err);
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(s);
	return 0;
}

struct load_plan load_session_plan(struct load_session *s)
{
	return (struct load_plan){
		.load = &s->load,
		.text = s->text,
		.observer = &s->observer,
		.controllers = s->controllers,
		.page_waits = s->page_wait_meter,
		.show_output = s->options->show_output,
	};
}

/* One run of the load, and its rows in one transaction. */
static int take_load_sample(struct load_session *s, bool warm_up, struct error *err)
{
	const struct load_plan plan = load_session_plan(s);
	_cleanup_(load_result_clear) struct load_result result = {};
	int r = load_run_once(&plan, s->run.n_samples + 1, &result, err);

	if (r < 0 || warm_up)
		return r;
	do {
		r = book_begin(s->book, err);
		if (r == 0) {
			r = sample_store_rows(
				s->book, s->run.id, result.start.sample, &result.observation, err);
			if (r == 0)
				r = book_add_sample_programs(s->book, s->run.id, result.parts, result.n, err);
			if (r == 0)
				r = book_add_page_waits(s->book, s->run.id, &result.page_waits, err);
			if (r == 0)
				r = book_add_load_sample(s->book, s->run.id, &result.start, err);
			r = r == 0 ? book_commit(s->book, err) : r;
		}
		if (r < 0)
			book_rollback(s->book);
	} while (book_again(s->book, r, err));
	s->run.n_samples += r == 0;
	return r;
}

static int take_load_samples(struct load_session *s, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	int total = s->options->warm_ups + s->load.runs, r = 0;

	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	for (int i = 0; r == 0 && i < total; i++) {
		r = interrupt_pending() ? -EINTR : take_load_sample(s, i < s->options->warm_ups, err);
		if (r == 0)
			progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	return r;
}

/* The notes on the result, as emp-measure stores them; what single programs can be resolved to says nothing of a load. */
static int store_load_notes(struct load_session *s, struct error *err)
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
	struct error err2 = {};
	int r, outcome;

	/* the load runs without it, too */
	privilege_raise();
	page_wait_meter_new(&s->page_wait_meter, &s->no_page_waits);
	privilege_lower();

	const struct load_row row = {s->load.coordination, s->load.cpu_list, s->text,
		s->page_wait_meter ? NULL : s->no_page_waits.text};

	r = book_begin_run(s->book, &s->run, err);
	if (r == 0)
		r = book_put_load(s->book, s->run.id, &row, err);
	r = r == 0 ? book_put_programs(s->book, s->run.id, s->programs, load_slaves(&s->load), err) : r;
	if (r < 0)
		return r;
	outcome = take_load_samples(s, err);
	r = book_end_run(s->book, s->run.id,
		outcome == 0        ? RUN_DONE
		: outcome == -EINTR ? RUN_INTERRUPTED
				    : RUN_FAILED,
		s->run.notes, outcome ? &err2 : err);
	if (r == 0 && s->run.n_samples > 0)
		r = load_report_read(s->book, s->run.id, &s->report, outcome ? &err2 : err);
	if (r == 0 && s->run.n_samples > 0)
		r = store_load_notes(s, outcome ? &err2 : err);
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
