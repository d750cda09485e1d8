/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A night: see study_night.h. */
#include "lib/study/study_night.h"

#include "lib/base/argv.h"
#include "lib/base/interrupt.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/host/process/process.h"
#include "lib/study/study_measure.h"
#include "lib/study/study_show.h"

/* Unless the file or --max-time says otherwise. */
enum { NIGHT_HOURS = 8 };

/* A study of the night. */
struct night_part {
	struct study_session session; /* its book is the night's */
	bool begun;                   /* it is in the book already */
	struct error why;             /* why it is left out; "": it is not */
};

struct night {
	struct study_session *session;
	struct study_options options; /* of its studies */
	struct night_part *parts;
	size_t n;
	int64_t limit_ns;
};

static void night_clear(struct night *night)
{
	for (size_t i = 0; i < night->n; i++) {
		night->parts[i].session.base = RUN_SESSION_NEW;
		study_session_close(&night->parts[i].session);
	}
	free(night->parts);
}

/* The book knows the studies of a night by their names. */
static int check_names(const struct night *night, struct error *err)
{
	const char *last = night->parts[night->n].session.file.name;

	for (size_t i = 0; i < night->n; i++)
		if (!strcmp(night->parts[i].session.file.name, last))
			return error_say(
				err, -EINVAL, "the study '%s' is in the night twice", last);
	return 0;
}

/* Reads the files of all its studies. One that cannot be measured here is left out. */
static int night_read(struct night *night, struct error *err)
{
	struct study_session *s = night->session;
	size_t n = 0;
	int r = 0;

	while (s->file.studies[n])
		n++;
	night->parts = xcalloc(n, sizeof(*night->parts));
	night->options = *s->options;
	night->options.scale = s->options->scale > 0 ? s->options->scale : s->file.scale;
	night->options.max_time_ns = 0; /* that of all of it */
	night->limit_ns = s->options->max_time_ns ?: s->file.max_time_ns;
	night->limit_ns = night->limit_ns ?: NIGHT_HOURS * INT64_C(3600) * NS_PER_S;
	if (s->options->command)
		return error_say(err, -EINVAL, "a night measures the programs of its studies");
	for (; r == 0 && night->n < n; night->n++) {
		struct night_part *part = &night->parts[night->n];

		part->session = STUDY_SESSION_NEW;
		part->session.options = &night->options;
		r = study_read(&part->session.file, s->file.studies[night->n], err);
		if (r == 0 && part->session.file.what == STUDY_NIGHT)
			r = error_say(
				err, -EINVAL, "'%s' is a night itself", s->file.studies[night->n]);
		r = r ?: check_names(night, err);
		if (r == 0)
			r = study_prepare(&part->session, err);
		if (r == 0 && study_check_steps(&part->session.file, &part->why) == 0)
			part->why.text[0] = '\0';
	}
	return r;
}

/* Which of them are in the book, and what those are that remain expected to take. */
static int night_expect(struct night *night, struct book *book, bool run, struct error *err)
{
	struct study_session *s = night->session;
	struct study_row *rows = NULL;
	size_t n = 0;
	int r = s->row.id ? book_night_studies(book, s->row.id, &rows, &n, err) : 0;

	for (size_t i = 0; r == 0 && i < night->n; i++) {
		struct night_part *part = &night->parts[i];
		struct study_session *one = &part->session;

		for (size_t k = 0; k < n; k++)
			if (!strcmp(rows[k].name, one->file.name)) {
				part->begun = true;
				one->row.id = rows[k].id;
				one->row.finished_ns = rows[k].finished_ns;
			}
		if (part->begun || part->why.text[0])
			continue;
		r = study_find_durations(one, book, run, err);
		if (r == 0)
			r = study_plan_make(&one->plan, &one->file, 0, err);
		if (one->file.what == STUDY_CLEAN_ROOM) /* as many comparisons as fit */
			one->plan.expected_ns = one->file.max_time_ns;
	}
	fields_free(&study_table, rows, n);
	return r;
}

/* The limit of the part i, which begins now: its share of the time that is left; 0: none is
 * needed. */
static int64_t part_limit(const struct night *night, size_t i, int64_t left_ns)
{
	int64_t sum_ns = 0, own_ns = night->parts[i].session.plan.expected_ns;

	for (size_t k = i; k < night->n; k++)
		if (!night->parts[k].begun && !night->parts[k].why.text[0])
			sum_ns += night->parts[k].session.plan.expected_ns;
	if (sum_ns <= left_ns)
		return 0;
	return (int64_t)((double)left_ns * (double)own_ns / (double)sum_ns);
}

static void night_show_plan(const struct night *night)
{
	static const struct column columns[] = {{"STUDY", COLUMN_TEXT, NULL},
		{"TAKES", COLUMN_NUMBER, NULL}, {"LIMIT", COLUMN_NUMBER, NULL},
		{"REMARKS", COLUMN_WRAP, NULL}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	const struct study_file *file = &night->session->file;
	int64_t sum_ns = 0;
	size_t n_unknown = 0;

	for (size_t i = 0; i < night->n; i++) {
		const struct night_part *part = &night->parts[i];
		const struct study_session *one = &part->session;
		_cleanup_(freep) char *remarks = text_copy(part->why.text[0] ? NULL : one->notes);

		if (part->why.text[0])
			text_append(&remarks, "", "left out: %s", part->why.text);
		else if (one->plan.n_unknown)
			text_append(&remarks, "; ", "%s not known, executed once first",
				text_count((int64_t)one->plan.n_unknown, "program"));
		n_unknown += one->plan.n_unknown;
		sum_ns += one->plan.expected_ns;
		table_row(table, columns, TEXT(one->file.name),
			TIME(part->why.text[0] ? -1 : one->plan.expected_ns),
			TIME(part_limit(night, i, night->limit_ns) ?: -1), TEXT(remarks));
	}
	terminal_say(stdout, 2, "%s: %s", terminal_text(file->name),
		terminal_text(file->text ?: "studies one after another"));
	fputs("\n", stdout);
	table_print(table, stdout);
	fputs("\n", stdout);
	terminal_say(stdout, 2, "%s %s in all, at most %s.", n_unknown ? "More than" : "About",
		text_duration(sum_ns < night->limit_ns ? sum_ns : night->limit_ns),
		text_duration(night->limit_ns));
	puts("Nothing was measured (--dry-run).");
}

/* Measures what is missing of a part. */
static int measure_part(struct night *night, size_t i, struct error *err)
{
	struct study_session *s = night->session, *one = &night->parts[i].session;
	int64_t measured_ns, left_ns;
	int r = 0;

	one->base = s->base;
	one->book = s->book;
	one->row.night = s->row.id;
	if (night->parts[i].begun) {
		int64_t id = one->row.id;

		one->base = RUN_SESSION_NEW;
		study_session_close(one);
		*one = STUDY_SESSION_NEW;
		one->options = &night->options;
		one->base = s->base;
		one->book = s->book;
		r = study_load(one, id, err);
		return study_finish(one, r == 0 ? study_go_on(one, err) : r, err);
	}
	r = book_study_measured(s->book, s->row.id, &measured_ns, err);
	left_ns = night->limit_ns - measured_ns;
	study_plan_clear(&one->plan);
	if (r == 0)
		r = study_begin(one, part_limit(night, i, left_ns > 0 ? left_ns : 1), err);
	night->parts[i].begun = true;
	if (r == 0)
		r = study_measure(one, err);
	return study_finish(one, r, err);
}

/* A study that fails does not keep the others from being measured. */
static int night_measure(struct night *night, struct error *err)
{
	struct study_session *s = night->session;
	_cleanup_(freep) char *failed = NULL;
	int r = 0;

	for (size_t i = 0; i < night->n; i++) {
		const struct night_part *part = &night->parts[i];
		const char *name = part->session.file.name;
		struct error why = {};

		if (part->why.text[0] && !part->begun)
			terminal_remark("%s is left out: %s", name, part->why.text);
		if (part->session.row.finished_ns || (part->why.text[0] && !part->begun))
			continue;
		if (interrupt_pending())
			r = -EINTR;
		else
			r = measure_part(night, i, &why);
		if (r == -EINTR)
			break;
		if (r < 0) {
			terminal_remark("%s failed: %s", s->file.studies[i], why.text);
			text_append(&failed, ", ", "%s", s->file.studies[i]);
		}
	}
	if (r == -EINTR) {
		book_own_study(s->book, s->row.id, NULL, NULL);
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: 'emp-study resume' goes on with study %lld",
			(long long)s->row.id);
	}
	r = book_finish_study(s->book, s->row.id, err);
	if (r < 0)
		return r;
	if (!s->options->quiet)
		study_show_end(s);
	if (failed)
		return error_say(err, STATUS_ERROR, "these studies failed: %s", failed);
	return STATUS_DONE;
}

int study_night_run(struct study_session *s, struct error *err)
{
	_cleanup_(night_clear) struct night night = {.session = s};
	_cleanup_(book_freep) struct book *book = NULL;
	int r = night_read(&night, err);

	if (r < 0)
		return r;
	if (s->options->dry_run) {
		if (book_open(&book, s->options->db, BOOK_READ, NULL) < 0)
			book = NULL;
		r = night_expect(&night, book, false, err);
		if (r == 0)
			night_show_plan(&night);
		return r;
	}

	r = study_open(s, err);
	if (r == 0)
		r = night_expect(&night, s->book, true, err);
	if (r == 0)
		r = study_begin(s, 0, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (!s->options->quiet)
		terminal_say(stdout, 2, "Study %lld, %s: %s, at most %s.", (long long)s->row.id,
			s->row.name, text_count((int64_t)night.n, "study"),
			text_duration(night.limit_ns));
	return night_measure(&night, err);
}

int study_night_resume(struct study_session *s, struct error *err)
{
	_cleanup_(night_clear) struct night night = {.session = s};
	int r = night_read(&night, err);

	if (r == 0)
		r = night_expect(&night, s->book, true, err);
	if (r == 0)
		r = book_own_study(s->book, s->row.id, process_ref(getpid()), err);
	return r < 0 ? r : night_measure(&night, err);
}
