/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-study prints: see study_show.h. */
#include "lib/study/study_show.h"

#include "lib/base/argv.h"
#include "lib/base/table.h"
#include "lib/host/process/process.h"
#include "lib/study/clean_room.h"

static uint64_t n_samples_of(const struct study_session *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_blocks; i++)
		n += s->blocks[i].samples;
	return n;
}

static void show_notes(const struct study_session *s)
{
	_cleanup_(freep) char *notes = text_copy(s->notes);
	char *rest = notes;

	for (char *line; rest && (line = strsep(&rest, "\n"));)
		terminal_say(stdout, 2, "Left out: %s.", terminal_text(line));
}

static void show_programs(const struct study_session *s)
{
	static const struct column columns[] = {{"PROGRAM", COLUMN_TEXT, NULL},
		{"TAKES", COLUMN_NUMBER, NULL}, {"SAMPLES", COLUMN_NUMBER, NULL},
		{"COMMAND", COLUMN_WRAP, NULL}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < s->file.n_subjects; i++) {
		const struct study_subject *subject = &s->file.subjects[i];

		table_row(table, columns, TEXT(subject->name), TIME(subject->expected_ns ?: -1),
			NUMBER(s->plan.samples[i]), CODE(subject->line));
	}
	table_print(table, stdout);
}

static void show_steps(const struct study_session *s)
{
	static const struct column columns[] = {{"STEP", COLUMN_TEXT, NULL},
		{"APPLIES", COLUMN_WRAP, NULL}, {"STOPS", COLUMN_WRAP, NULL}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t k = 0; k < s->file.n_steps; k++) {
		const struct study_step *step = &s->file.steps[k];

		if (!step->empty)
			table_row(table, columns, TEXT(step->name), TEXT(step->apply),
				TEXT(step->stop));
	}
	table_print(table, stdout);
}

/* "120 samples in 30 blocks and 5 rounds, in random order: about 5 min" */
static const char *plan_text(const struct study_session *s, size_t n_blocks, uint64_t n_samples)
{
	return text_brief("%s in %s and %s, in random order: %s%s",
		text_count((int64_t)n_samples, "sample"), text_count((int64_t)n_blocks, "block"),
		text_count(s->plan.rounds, "round"), s->plan.n_unknown ? "more than " : "about ",
		text_duration(s->plan.expected_ns));
}

void study_show_plan(const struct study_session *s, const char *refused)
{
	const struct study_file *file = &s->file;
	size_t n_blocks, n_samples = 0;
	struct study_block *blocks = study_plan_blocks(&s->plan, file, 0, &n_blocks);

	for (size_t i = 0; i < n_blocks; i++)
		n_samples += blocks[i].samples;
	fields_free(&study_block_table, blocks, n_blocks);

	terminal_say(stdout, 2, "%s: %s", terminal_text(file->name),
		terminal_text(file->text ?: study_kind_names[file->what]));
	fputs("\n", stdout);
	if (file->n_subjects)
		show_programs(s);
	if (file->n_steps) {
		fputs("\n", stdout);
		show_steps(s);
		if (study_n_measured_combinations(file) > 1)
			terminal_say(stdout, 2, "Measured %s, and as the machine is.",
				study_order_texts[file->order]);
		show_notes(s);
	}
	fputs("\n", stdout);
	if (n_blocks)
		terminal_say(stdout, 2, "%s.", plan_text(s, n_blocks, n_samples));
	if (s->plan.shortened)
		terminal_say(stdout, 2, "Fewer samples than the file says, to end in time.");
	if (s->plan.n_unknown)
		terminal_say(stdout, 2,
			"How long %s take%s is not known: run executes each once before it plans.",
			text_count((int64_t)s->plan.n_unknown, "program"),
			s->plan.n_unknown == 1 ? "s" : "");
	if (*refused)
		terminal_say(stdout, 2, "It would not begin: %s.", refused);
	puts("Nothing was measured (--dry-run).");
}

void study_show_begin(const struct study_session *s)
{
	if (s->row.what == STUDY_CLEAN_ROOM)
		terminal_say(stdout, 2, "Study %lld, %s: %s in random order.", (long long)s->row.id,
			terminal_text(s->row.name), text_count((int64_t)s->n_blocks, "comparison"));
	else if (s->n_blocks)
		terminal_say(stdout, 2, "Study %lld, %s: %s.", (long long)s->row.id,
			terminal_text(s->row.name), plan_text(s, s->n_blocks, n_samples_of(s)));
	show_notes(s);
	fflush(stdout);
}

void study_show_resumed(const struct study_session *s)
{
	size_t done = 0;

	for (size_t i = 0; i < s->n_blocks; i++)
		done += s->blocks[i].finished_ns != 0;
	terminal_say(stdout, 2, "Study %lld, %s, goes on: %zu of %zu blocks are complete.",
		(long long)s->row.id, terminal_text(s->row.name), done, s->n_blocks);
	fflush(stdout);
}

void study_show_end(const struct study_session *s)
{
	if (s->row.what == STUDY_CLEAN_ROOM && clean_room_show(s, NULL) == 0)
		fputc('\n', stdout);
	printf("Study %lld is complete: emp-analyze study %lld\n", (long long)s->row.id,
		(long long)s->row.id);
	fflush(stdout);
}

static const struct column shipped_columns[] = {{"NAME", COLUMN_TEXT, "name"},
	{NULL, COLUMN_TEXT, "what"}, {"SHOWS", COLUMN_WRAP, "text"}, {}};

static int add_shipped(struct table *table, struct error *err)
{
	_cleanup_(argv_freep) char **names = NULL;
	int r = study_names(&names, err);

	for (char **name = names; r == 0 && *name; name++) {
		_cleanup_(study_file_clear) struct study_file file = {};

		r = study_read(&file, *name, err);
		if (r == 0)
			table_row(table, shipped_columns, TEXT(*name),
				TEXT(study_kind_names[file.what]), TEXT(file.text));
	}
	return r;
}

static const struct column study_columns[] = {{"STUDY", COLUMN_NUMBER, "study"},
	{"PART OF", COLUMN_NUMBER, "night"}, {"NAME", COLUMN_TEXT, "name"},
	{NULL, COLUMN_TEXT, "what"}, {"STARTED", COLUMN_TEXT, "started"},
	{"STATE", COLUMN_TEXT, "state"}, {"DONE", COLUMN_NUMBER, "blocks_done"},
	{"BLOCKS", COLUMN_NUMBER, "blocks"}, {}};

static const char *study_state(const struct study_row *row)
{
	if (row->finished_ns)
		return "complete";
	return process_ref_pid(row->owner) > 0 ? "running" : "interrupted";
}

static int add_study_of_book(
	struct table *table, struct book *book, const struct study_row *row, struct error *err)
{
	struct study_block *blocks = NULL;
	size_t n = 0, done = 0;
	int r = book_study_blocks(book, row->id, &blocks, &n, err);

	for (size_t i = 0; i < n; i++)
		done += blocks[i].finished_ns != 0;
	fields_free(&study_block_table, blocks, n);
	if (row->finished_ns) /* a clean room may end in time before all of its blocks */
		n = done;
	if (r == 0)
		table_row(table, study_columns, NUMBER(row->id),
			row->night ? NUMBER(row->night) : TEXT(NULL), TEXT(row->name),
			TEXT(study_kind_names[row->what]), MOMENT(row->started_ns),
			TEXT(study_state(row)), NUMBER(done), NUMBER(n));
	return r;
}

int study_show_list(struct book *book, bool json, struct error *err)
{
	_cleanup_(table_freep) struct table *shipped = table_new(shipped_columns);
	_cleanup_(table_freep) struct table *studies = table_new(study_columns);
	struct study_row *rows = NULL;
	size_t n = 0;
	int r = add_shipped(shipped, err);

	if (r == 0 && book)
		r = book_studies(book, &rows, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_study_of_book(studies, book, &rows[i], err);
	fields_free(&study_table, rows, n);
	if (r < 0)
		return r;

	if (json)
		return json_print_document("emp-studies",
			JSON_OBJECT({"available", table_json(shipped)},
				{"studies", table_json(studies)}),
			err);
	table_print(shipped, stdout);
	if (n > 0)
		fputs("\n", stdout);
	table_print(studies, stdout);
	return 0;
}
