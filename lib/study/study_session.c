/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A study while it is measured: see study_session.h. */
#include "lib/study/study_session.h"

#include "lib/base/argv.h"
#include "lib/base/tool.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/study/clean_room.h"
#include "lib/study/study_measure.h"
#include "lib/study/study_night.h"
#include "lib/study/study_settings.h"
#include "lib/study/study_show.h"

#include <poll.h>
#include <sys/random.h>

void study_session_close(struct study_session *s)
{
	fields_free(&study_block_table, s->blocks, s->n_blocks);
	study_plan_clear(&s->plan);
	study_file_clear(&s->file);
	study_row_clear(&s->row);
	argv_freep(&s->measure);
	free(s->notes);
	run_session_close(&s->base);
}

/* The options of emp-measure: of the file, and then of this call. */
static int set_measure_options(struct study_session *s, struct error *err)
{
	const struct study_options *o = s->options;
	_cleanup_(freep) char *line = text_copy(s->file.options);

	if (o->profile) {
		_cleanup_(freep) char *quoted = argv_join(
			(char *const[]){(char *)o->profile, NULL});

		text_append(&line, " ", "--profile %s", quoted);
	}
	if (o->cpu >= 0)
		text_append(&line, " ", "--cpu %d", o->cpu);
	if (o->ignore_lock)
		text_append(&line, " ", "--ignore-lock");
	if (line && argv_split(line, &s->measure, err) < 0)
		return error_prefix(err, -EINVAL, "options of emp-measure");
	if (!line)
		s->measure = xcalloc(1, sizeof(*s->measure));
	s->row.options = run_command_json(s->measure);
	return 0;
}

/* What was in the book when the study began. */
static int read_measure_options(struct study_session *s, struct error *err)
{
	_cleanup_(json_decrefp) json_t *words = json_loads(s->row.options, 0, NULL);

	if (!json_is_array(words))
		return error_say(err, -EBADMSG, "study %lld of the lab book has wrong options",
			(long long)s->row.id);
	s->measure = xcalloc(json_array_size(words) + 1, sizeof(*s->measure));
	for (size_t i = 0; i < json_array_size(words); i++)
		s->measure[i] = xstrdup(json_string_value(json_array_get(words, i)) ?: "");
	return 0;
}

int study_prepare(struct study_session *s, struct error *err)
{
	const struct study_options *o = s->options;
	int r = 0;

	if (o->command)
		r = study_file_replace(&s->file, o->command, err);
	if (r == 0 && o->scale > 0)
		r = study_file_scale(&s->file, o->scale, err);
	if (r == 0)
		r = set_measure_options(s, err);
	if (r == 0)
		r = study_check_options(s, err);
	if (r == 0 && s->file.n_steps)
		r = study_settings_check(&s->file, study_cpu(s), &s->notes, err);
	return r;
}

int study_check_steps(const struct study_file *file, struct error *err)
{
	if (file->n_steps == 0)
		return 0;
	if (study_n_measured_combinations(file) < 2)
		return error_say(err, STATUS_NOT_FIT,
			"no step of '%s' changes anything on this machine, so there is nothing to "
			"compare",
			file->name);
	if (geteuid() != 0)
		return error_say(err, STATUS_NOT_FIT,
			"'%s' changes settings of this machine: run it as root (sudo emp-study …)",
			file->name);
	return 0;
}

/* INC finds its length by a constant that is beside the book. */
static int find_inc_constant(struct study_session *s, struct error *err)
{
	const char *book = book_file(s->book);
	_cleanup_(freep) char *constant = paths_inc_constant(book), *path = NULL;
	char *const argv[] = {
		(char *)"emp-calibrate", (char *)"constant", (char *)"--db", (char *)book, NULL};
	struct subprocess calibrate = {
		.argv = argv, .stdout_fd = -1, .forward_signals = true, .notes_signals = true};
	bool needed = false;
	int status, r;

	for (size_t i = 0; i < s->file.n_subjects; i++)
		needed |= s->file.subjects[i].inc;
	setenv("EMP_DB", book, 1);
	if (!needed || access(constant, R_OK) == 0)
		return 0;
	r = suite_file_find(argv[0], &path, err);
	calibrate.path = path;
	if (r == 0)
		r = subprocess_run(&calibrate, NULL, &status, err);
	if (r == 0 && interrupt_pending())
		return -EINTR;
	if (r == 0 && status != 0)
		return error_say(err, -ECANCELED,
			"the speed of INC is not known: 'emp-calibrate constant' %s",
			process_end_text(status));
	return r;
}

/* A study that was killed may have left an emp-setup that still restores settings, with the host's
 * lock. -EBUSY after a minute: somebody else has it. */
static int open_when_free(struct study_session *s, enum run_lock lock, struct error *err)
{
	enum { TRIES = 240, PAUSE_MS = 250 };
	struct pollfd interrupts = {.fd = interrupt_fd, .events = POLLIN};
	int r;

	for (int i = 0;
		(r = run_session_open(&s->base, s->options->db, BOOK_WRITE, lock, err)) == -EBUSY &&
		i < TRIES;
		i++) {
		if (i == 0)
			terminal_remark("waiting: %s", err->text);
		if (poll(&interrupts, 1, PAUSE_MS) > 0 && interrupt_pending())
			return error_say(err, -EINTR, "interrupted");
	}
	return r;
}

int study_open(struct study_session *s, struct error *err)
{
	enum run_lock lock = s->options->ignore_lock ? RUN_LOCK_IGNORED : RUN_LOCK_FREE;

	int r = s->book ? 0 : open_when_free(s, lock, err);

	s->book = s->book ?: s->base.book;
	return r;
}

/* A program that is missing is said before the study is in the book. */
static int check_programs(const struct study_session *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_blocks; i++) {
		_cleanup_(argv_freep) char **argv = NULL;
		_cleanup_(freep) char *path = NULL;

		if (s->blocks[i].round > 1)
			continue;
		r = study_block_argv(&s->blocks[i], &argv, &path, err);
		if (r < 0)
			error_prefix(err, r, "%s", s->blocks[i].subject);
	}
	return r;
}

static int plan_blocks(struct study_session *s, int64_t limit_ns, struct error *err)
{
	int r;

	if (s->file.what == STUDY_CLEAN_ROOM)
		return clean_room_plan(s, limit_ns, err);
	r = study_find_durations(s, s->book, true, err);
	if (r == 0)
		r = study_plan_make(&s->plan, &s->file, limit_ns, err);
	if (r == 0 && s->plan.shortened)
		text_append(&s->notes, "\n",
			"samples, to end in time: the file has %u in %s; measured in %s",
			s->file.samples, text_count(s->file.rounds, "round"),
			text_count(s->plan.rounds, "round"));
	if (r == 0)
		s->blocks = study_plan_blocks(
			&s->plan, &s->file, (uint64_t)s->row.seed, &s->n_blocks);
	return r < 0 ? r : check_programs(s, err);
}

int study_begin(struct study_session *s, int64_t limit_ns, struct error *err)
{
	uint64_t seed;
	int r = find_inc_constant(s, err);

	if (s->options->seed < 0 && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return error_os(err, -errno, "cannot read random numbers");
	s->row.seed = s->options->seed < 0 ? (int64_t)(seed >> 1) : s->options->seed;
	if (r == 0)
		r = plan_blocks(s, limit_ns, err);
	if (r == 0)
		r = run_session_environment(&s->base, err);
	if (r < 0)
		return r;

	s->row.options = s->row.options ?: xstrdup("[]"); /* of a night */
	s->row.name = xstrdup(s->file.name);
	s->row.what = s->file.what;
	s->row.file = xstrdup(s->file.source);
	s->row.owner = xstrdup(process_ref(getpid()));
	s->row.environment = s->base.environment;
	s->row.notes = text_copy(s->notes);
	r = book_add_study(s->book, &s->row, s->blocks, s->n_blocks, err);
	if (r == 0 && !s->options->quiet)
		study_show_begin(s);
	return r;
}

/* Also if that is not known. */
static bool has_samples(const struct study_session *s)
{
	for (size_t i = 0; i < s->n_blocks; i++) {
		uint32_t samples, readings;

		if (book_study_samples(s->book, s->blocks[i].id, &samples, &readings, NULL) < 0 ||
			samples > 0 || readings > 0)
			return true;
	}
	return s->row.what == STUDY_CLEAN_ROOM;
}

int study_finish(struct study_session *s, int r, struct error *err)
{
	size_t done = 0;

	if (r == 0)
		r = book_finish_study(s->book, s->row.id, err);
	else if (s->row.id)
		book_own_study(s->book, s->row.id, NULL, NULL);
	if (r >= 0)
		return 0;
	if (!s->row.id)
		return r == -EINTR ? error_say(err, r, "interrupted before the study began") : r;
	for (size_t i = 0; i < s->n_blocks; i++)
		done += s->blocks[i].finished_ns != 0;
	/* what can never be measured does not stay in the book to be resumed */
	if (r != -EINTR && !s->row.night && done == 0 && !has_samples(s)) {
		book_remove_study(s->book, s->row.id, NULL);
		return r;
	}
	if (r == -EINTR)
		return error_say(err, r,
			"interrupted: study %lld has %zu of %zu blocks; 'emp-study resume' goes on",
			(long long)s->row.id, done, s->n_blocks);
	return error_prefix(err, r,
		"study %lld, which 'emp-study resume %lld' goes on with, or 'emp-study remove "
		"%lld' deletes",
		(long long)s->row.id, (long long)s->row.id, (long long)s->row.id);
}

int study_run(struct study_session *s, const struct study_options *options, const char *name,
	struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	struct error why = {};
	int r;

	s->options = options;
	r = study_read(&s->file, name, err);
	if (r == 0 && s->file.what == STUDY_NIGHT)
		return study_night_run(s, err);
	if (r == 0)
		r = study_prepare(s, err);
	if (r < 0)
		return r;

	if (options->dry_run && s->file.what == STUDY_CLEAN_ROOM)
		return clean_room_describe(stdout, s, err);
	if (options->dry_run) {
		/* what is not known without a book is said */
		if (book_open(&book, options->db, BOOK_READ, NULL) == 0)
			r = study_find_durations(s, book, false, err);
		if (r == 0)
			r = study_plan_make(&s->plan, &s->file, options->max_time_ns, err);
		if (r == 0) {
			study_check_steps(&s->file, &why);
			study_show_plan(s, why.text);
		}
		return r;
	}

	r = study_check_steps(&s->file, err);
	if (r == 0)
		r = study_open(s, err);
	if (r == 0)
		r = study_begin(s, options->max_time_ns, err);
	if (r == 0)
		r = study_measure(s, err);
	if (r > 0)
		return r;
	r = study_finish(s, r, err);
	if (r == 0 && !options->quiet)
		study_show_end(s);
	return r == -EINTR ? STATUS_INTERRUPTED : r;
}

/* Waits for a process that still measures it: what a killed emp-study has left under emp-setup. */
static int wait_for_owner(const struct study_session *s, const char *owner, struct error *err)
{
	struct pollfd interrupts = {.fd = interrupt_fd, .events = POLLIN};
	bool said = false;

	for (pid_t pid; (pid = process_ref_pid(owner)) > 0;) {
		if (!said)
			terminal_remark("waiting for process %d, which measures study %lld (^C "
					"ends this)",
				(int)pid, (long long)s->row.id);
		said = true;
		if (poll(&interrupts, 1, 250) > 0 && interrupt_pending())
			return error_say(err, -EINTR, "interrupted");
	}
	return 0;
}

int study_load(struct study_session *s, int64_t id, struct error *err)
{
	int r = book_get_study(s->book, id, &s->row, err);

	if (r == 0)
		r = study_parse(&s->file, s->row.file, s->row.name, err);
	if (r == 0)
		r = read_measure_options(s, err);
	if (r == 0)
		r = book_study_blocks(s->book, id, &s->blocks, &s->n_blocks, err);
	return r;
}

int study_go_on(struct study_session *s, struct error *err)
{
	int r = wait_for_owner(s, s->row.owner, err);

	/* blocks that the process finished meanwhile */
	fields_free(&study_block_table, s->blocks, s->n_blocks);
	s->blocks = NULL;
	s->n_blocks = 0;
	if (r == 0)
		r = book_study_blocks(s->book, s->row.id, &s->blocks, &s->n_blocks, err);
	if (r == 0 && s->file.n_steps)
		r = study_settings_restore(err);
	if (r == 0)
		r = find_inc_constant(s, err);
	if (r == 0)
		r = study_find_durations(s, s->book, false, err);
	if (r == 0)
		r = book_own_study(s->book, s->row.id, process_ref(getpid()), err);
	if (r < 0)
		return r;
	if (!s->options->quiet)
		study_show_resumed(s);
	return study_measure(s, err);
}

int study_resume(
	struct study_session *s, const struct study_options *options, int64_t id, struct error *err)
{
	struct study_row row = {};
	int r;

	s->options = options;
	r = study_open(s, err);
	if (r == 0 && id == 0) {
		r = book_unfinished_study(s->book, &row, err);
		id = row.id;
		study_row_clear(&row);
		if (r == 0) /* none: of how many? */
			r = book_get_study(s->book, 0, &row, err);
		study_row_clear(&row);
		if (r == 0) {
			if (!options->quiet)
				puts("Nothing to resume: all studies of the lab book are complete.");
			return 0;
		}
	}
	if (r >= 0)
		r = study_load(s, id, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (s->row.finished_ns)
		return error_say(err, -EINVAL,
			"study %lld is complete: 'emp-analyze study %lld' shows it", (long long)id,
			(long long)id);
	if (s->row.what == STUDY_NIGHT)
		return study_night_resume(s, err);
	r = study_finish(s, study_go_on(s, err), err);
	if (r == 0 && !options->quiet)
		study_show_end(s);
	return r == -EINTR ? STATUS_INTERRUPTED : r;
}

int study_run_blocks(struct study_session *s, const struct study_options *options, int64_t id,
	size_t from, size_t to, struct error *err)
{
	_cleanup_(freep) char *owner = NULL;
	int r;

	s->options = options;
	r = book_open(&s->base.book, options->db, BOOK_WRITE, err);
	s->book = s->base.book;
	if (r == 0)
		r = study_load(s, id, err);
	if (r == 0)
		r = find_inc_constant(s, err);
	if (r < 0)
		return r;

	/* if it is killed, a resume waits for this process */
	owner = TAKE(s->row.owner);
	r = book_own_study(s->book, id, process_ref(getpid()), err);
	for (size_t i = from; r >= 0 && i < to && i < s->n_blocks; i++)
		if (process_ref_pid(owner) == 0)
			return error_say(err, STATUS_INTERRUPTED, "the study was killed");
		else
			r = study_measure_blocks(s, i, i + 1, err);
	return r == -EINTR ? STATUS_INTERRUPTED : r;
}
