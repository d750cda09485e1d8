/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load: see session.h. */
#include "lib/load/session.h"

#include "lib/base/terminal.h"
#include "lib/book/sql.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/record/profile.h"
#include "lib/report/run_notes.h"
#include "lib/report/stored_results.h"
#include "lib/host/system/leftovers.h"

static int check_cpus_online(const cpu_set_t *cpus, const char *path, struct error *err)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int r = CPU_ISSET(cpu, cpus) ? pinning_check(cpu, AT_FDCWD, err) : 0;

		if (r < 0)
			return error_prefix(err, r, "%s: cpus", path);
	}
	return 0;
}

int load_read(struct load *ret, char **ret_text, const char *path, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = file_read_text(path, &text);

	if (r < 0)
		return error_os(err, r, "cannot read '%s'", path);
	r = load_parse(ret, text, path, err);
	if (r == 0 && ret->cpu_list)
		r = check_cpus_online(&ret->cpus, path, err);
	if (r < 0)
		return r;
	*ret_text = TAKE(text);
	return 0;
}

/* Reads the file, and changes in the load what the options say. */
static int read_load_as_wanted(struct load_session *s, const char *path, struct error *err)
{
	const struct load_options *options = s->options;
	struct load *load = &s->load;
	int r = load_read(load, &s->text, path, err);

	if (r < 0)
		return r;
	if (options->coordination >= 0)
		load->coordination = (enum coordination)options->coordination;
	load->runs = options->runs ?: load->runs;
	if (!load->cpu_list && sched_getaffinity(0, sizeof(load->cpus), &load->cpus) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	if (setenv("EMP_LOAD_FILE_DIR", load->file_directory, 1) < 0)
		xalloc_fail();
	return 0;
}

/* The book, the profile, the observer, and the limits. */
static int prepare_load_session(struct load_session *s, struct error *err)
{
	const struct load_options *options = s->options;
	enum run_lock lock = options->ignore_lock ? RUN_LOCK_IGNORED : RUN_LOCK_FREE;
	int r = run_session_open(&s->base, options->db, BOOK_MEASURE, lock, err);

	if (r == 0)
		leftovers_remove(false);
	if (r == 0 && options->profile)
		r = book_get_profile(s->base.book, 0, options->profile, &s->profile, err);
	if (r == 0)
		r = run_session_environment(&s->base, err);
	if (r == 0)
		r = observer_open(&s->base.observer, options->backend, -1, err);
	if (r == 0)
		r = load_limits_begin(&s->limits, &s->load, err);
	return r;
}

int load_session_open(struct load_session *s, const struct load_options *options, const char *path,
	struct error *err)
{
	int r = interrupt_init();

	if (r < 0)
		return error_os(err, r, "cannot catch signals");
	s->options = options;
	r = read_load_as_wanted(s, path, err);
	if (r == 0)
		r = prepare_load_session(s, err);
	if (r < 0)
		return r;

	profile_for_inc(&s->profile, s->base.inc_digest);
	s->run = (struct run){
		.kind = RUN_LOAD,
		.program = text_utf8(s->load.name),
		.backend = xstrdup(s->base.observer.backend),
		.pt_source = xstrdup("cgroup"),
		.profile = text_copy(options->profile),
		.notes = xstrdup(coordination_names[s->load.coordination]),
		.resolution_ns = 1,
		.environment = s->base.environment,
		.inc_digest = text_copy(s->base.inc_digest),
		.cpu = -1,
	};
	s->work = (struct load_work){.coordination = s->load.coordination, .file = s->text};
	for (size_t k = 0; k < load_n_workers(&s->load); k++) {
		struct run_program *program = array_add(s->work.programs, s->work.n_programs);

		program->n = (uint32_t)k + 1;
		program->name = xstrdup(load_script_of(&s->load, k)->name);
	}
	return names_text(&s->run.name_patterns, err);
}

static int store_load_sample(struct load_session *s, struct load_result *result, struct error *err)
{
	const struct page_waits *waits = &result->page_waits;
	struct book *book = s->base.book;
	int r = sample_store_rows(book, s->run.id, result->start.sample, &result->raw, err);

	if (r == 0)
		r = book_add_rows(
			book, s->run.id, &sample_program_table, result->parts, result->n, err);
	if (r == 0)
		r = book_add_rows(book, s->run.id, &page_wait_table, waits->items, waits->n, err);
	if (r == 0)
		r = book_add_rows(
			book, s->run.id, &page_wait_bin_table, waits->bins, waits->n_bins, err);
	if (r == 0)
		r = book_add_rows(book, s->run.id, &load_sample_table, &result->start, 1, err);
	return r;
}

int load_run_unstopped(
	const struct load_session *s, uint32_t n, struct load_result *ret, struct error *err)
{
	enum { MOST_TRIES = 10 };

	for (int tries = 0; tries < MOST_TRIES; tries++) {
		int r;

		interrupt_drain(interrupt_continued_fd); /* forget earlier stops */
		r = interrupt_pending() ? -EINTR : load_run_once(s, n, ret, err);
		if ((r < 0 && r != -ETIMEDOUT) || !interrupt_drain(interrupt_continued_fd))
			return r;
		load_result_clear(ret);
	}
	return error_say(err, -ECANCELED,
		"this process was stopped in each of %d tries of a run: a command of '%.400s' "
		"seems to stop it (SIGSTOP, SIGTSTP)",
		MOST_TRIES, s->load.name);
}

/* Warm-ups, then runs that are stored. */
static int take_load_samples(struct load_session *s, struct error *err)
{
	int total = s->options->warm_ups + s->load.runs, r = 0;
	_cleanup_(progress_end) struct progress progress;

	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	for (int i = 0; r == 0 && i < total; i++) {
		_cleanup_(load_result_clear) struct load_result result = {};

		r = load_run_unstopped(s, s->run.n_samples + 1, &result, err);
		if (r == 0 && i >= s->options->warm_ups) {
			r = BOOK_ATOMIC_RETRIED(
				s->base.book, store_load_sample(s, &result, err), err);
			s->run.n_samples += r == 0;
		}
		if (r == 0)
			progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	return r;
}

/* Begins to watch page waits; the load runs without that, too. *ret_why: why they are not watched;
 * NULL: they are. */
static void watch_page_waits(struct load_session *s, char **ret_why)
{
	privilege_raise();
	if (page_wait_meter_new(&s->page_wait_meter, &s->no_page_waits) < 0)
		*ret_why = s->no_page_waits.text;
	privilege_lower();
}

static int begin_load_run(struct load_session *s, struct error *err)
{
	struct load_row row = {s->load.coordination, s->load.cpu_list, s->text};
	struct book *book = s->base.book;
	int r;

	watch_page_waits(s, &row.no_page_waits);
	r = book_begin_run(book, &s->run, err);
	if (r == 0)
		r = book_add_rows(book, s->run.id, &load_table, &row, 1, err);
	if (r == 0)
		r = book_add_rows(book, s->run.id, &run_program_table, s->work.programs,
			s->work.n_programs, err);
	return r;
}

/* Reads what was stored, and stores notes on it, as emp-measure has them; what single programs can
 * be resolved to says nothing of a load. */
static int conclude_load_run(struct load_session *s, struct error *err)
{
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	struct notes *notes = &s->report.notes;
	struct book *book = s->base.book;
	int r = load_report_read(book, s->run.id, &s->report, err);

	if (r == 0)
		run_notes_add(notes, &s->report.result, profile);
	if (r == 0 && profile)
		r = profile_changes_note(notes, book, profile, s->run.environment, NULL, err);
	if (r == 0)
		r = other_inc_note(notes, book, &s->run, profile, err);
	if (r >= 0)
		r = book_put_notes(book, s->run.id, notes->items, notes->n, err);
	return r ?: result_store(book, &s->report.result, err);
}

static enum run_state load_state_after(int outcome)
{
	if (outcome == 0)
		return RUN_DONE;
	return outcome == -EINTR ? RUN_INTERRUPTED : RUN_FAILED;
}

int load_session_run(struct load_session *s, struct error *err)
{
	struct error *of_end;
	int r = begin_load_run(s, err), outcome;

	if (r < 0)
		return r;
	outcome = take_load_samples(s, err);
	of_end = outcome ? NULL : err; /* the first failure is reported */
	r = book_end_run(s->base.book, s->run.id, load_state_after(outcome), s->run.notes, of_end);
	if (r >= 0 && s->run.n_samples > 0)
		r = conclude_load_run(s, of_end);
	return outcome ?: r;
}

void load_session_close(struct load_session *s)
{
	load_report_clear(&s->report);
	fields_free(&run_program_table, s->work.programs, s->work.n_programs);
	page_wait_meter_free(s->page_wait_meter);
	run_clear(&s->run);
	profile_clear(&s->profile);
	run_session_close(&s->base);
	load_limits_end(s->limits);
	load_clear(&s->load);
	free(s->text);
}
