/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What export writes, import reads: books made up from a seed, with every field that the tables of
 * fields have, at random, as extreme and as hostile as the book takes it. Each goes out, into an
 * empty book, and out again. EMP_SEED repeats it. */
#include "tests/unit/scratch.h"

#include "tests/memory_document.h"

#include "lib/base/json.h"
#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/book/book.h"
#include "lib/book/book_internal.h"
#include "lib/duet/book_duet.h"
#include "lib/book/sql.h"
#include "lib/jitter/jitter.h"
#include "lib/record/profile.h"

#include <math.h>
#include <time.h>

enum {
	BOOKS = 60,
	MOST_SAMPLES = 6,
	MOST_SOURCES = 9,
	MOST_ROWS = 12,
	MOST_RUNS = 3,
	MOST_SECONDS = 1000000 /* with nanoseconds, in a double */
};

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	return random_next(&seed) % n;
}

/* As any process, unit, command or cgroup may be called, if it is a text without NUL. */
static char *hostile(void)
{
	static const char *const texts[] = {"", " ", "-", "--", "--db", "a b", "q\"uo'te",
		"back\\slash", "\\", "\\u0000", "new\nline", "\r\n\t\b\f", "\x01\x1b[31m\x7f",
		"é→𝄞", "\xff\xfe", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80\xae",
		"\\xff", "[0]", "{\"format\": \"emp-run\"}", "null", "1e999",
		"'; DROP TABLE run; --", "%s%n", "../../etc/passwd", "NaN"};
	size_t n = below(100) == 0 ? 20000 : below(40);
	char *text;

	if (below(3))
		return strdup(texts[below(ELEMENTS(texts))]);
	text = malloc(n + 1);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(1 + below(255));
	text[n] = '\0';
	return text;
}

/* Small ones often, so that keys meet; the limits often, too. */
static int64_t number(int64_t min, int64_t max)
{
	uint64_t span = (uint64_t)max - (uint64_t)min;

	switch (below(4)) {
	case 0:
		return max;
	case 1:
		return (int64_t)((uint64_t)min +
				 (span == UINT64_MAX ? random_next(&seed) : below(span + 1)));
	default:
		return min + (int64_t)below(span < 3 ? span + 1 : 3);
	}
}

static double real(void)
{
	static const double reals[] = {
		0, 1, 0.1, 1e-300, 5e-324, 1.7976931348623157e308, 3.25e9 / 3, 4294967296};

	return below(2) ? reals[below(ELEMENTS(reals))]
			: random_unit(&seed) * pow(10, (double)below(40));
}

static void fill(const struct field_table *table, void *object, size_t n_sources)
{
	memset(object, 0, table->size);
	fields_init(table, object);
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		bool unknown = field->presence == FIELD_OPTIONAL && below(3) == 0;

		if (field->type == FIELD_TEXT)
			*field_text(field, object) = unknown ? NULL : hostile();
		else if (field->type == FIELD_REAL)
			*field_real(field, object) = real();
		else if (field->type == FIELD_CHARS || unknown)
			continue;
		else if (field->refers == FIELD_TO_SOURCE)
			field_set(field, object, 1 + (int64_t)below(n_sources));
		else if (field->type == FIELD_ENUM)
			field_set(field, object, (int64_t)below((uint64_t)field->n_words));
		else
			field_set(field, object,
				number(field->min, field->seconds ? MOST_SECONDS * NS_PER_S
								  : field_max(field)));
	}
}

/* As emp-setup describes one, or what is known of an imported one. */
static int64_t add_environment(struct scratch *s, struct book *book)
{
	_cleanup_(freep) char *machine = hostile(), *text = hostile(), *utf8 = text_utf8(text),
			      *document = NULL;
	_cleanup_(json_decrefp) json_t *json = NULL;
	struct measurement measurement = {.unit = (char *)"1"};
	bool whole = below(2), named = below(2);
	char digest[65];
	int64_t id;

	for (size_t i = 0; i < sizeof(digest) - 1; i += 16)
		snprintf(digest + i, 17, "%016llx", (unsigned long long)random_next(&seed));
	json = json_pack("{s:s, s:{s:s}}", "digest", digest, "identity", utf8, utf8);
	document = json_dumps(json, JSON_COMPACT);
	assert_done(
		s, book_put_environment(book, whole || !named ? digest : NULL,
			   whole || named ? machine : NULL, whole ? document : NULL, &id, &s->err));
	for (size_t i = below(3); i > 0; i--) {
		_cleanup_(freep) char *name = hostile();

		measurement.name = name;
		measurement.value = real();
		assert_done(s, sql_insert(book, &s->err, &measurement_table,
				       "ON CONFLICT DO NOTHING", &measurement, 1, "i", id));
	}
	return id;
}

static size_t add_sources(struct scratch *s, struct book *book)
{
	uint32_t last = 0;

	for (size_t i = 1 + below(MOST_SOURCES); i > 0; i--) {
		_cleanup_(freep) char *name = hostile(), *exe = hostile(), *unit = hostile();
		const struct source who = {
			0, name, exe, unit, (enum source_kind)below(N_SOURCE_KINDS)};
		uint32_t id;

		assert_done(s, book_source(book, &who, &id, &s->err));
		last = id > last ? id : last;
	}
	return last;
}

static void fill_half(struct profile_run *half)
{
	fill(&profile_run_table, half, 0);
	half->run = 0;
	half->samples = half->samples < 1000 ? half->samples : 1000;
	half->l_samples = calloc(5, sizeof(uint32_t));
	for (half->n_l_samples = 0;
		half->n_l_samples < 4 && (int64_t)half->n_l_samples < half->samples;
		half->n_l_samples++)
		half->l_samples[half->n_l_samples] = (uint32_t)half->n_l_samples + 1;
}

/* One that the book refuses, no tool can have made. A cutoff has a limit. */
static char *add_profile(struct scratch *s, struct book *book)
{
	_cleanup_(profile_clear) struct profile profile;
	struct error refused = {};

	fill(&profile_table, &profile, 0);
	profile.correlation = (struct correlation){};
	profile.retired_ns = 0;
	fill_half(&profile.short_run);
	fill_half(&profile.long_run);
	profile.n_cutoffs = below(4);
	profile.cutoffs = calloc(5, sizeof(struct cutoff));
	for (size_t i = 0; i < profile.n_cutoffs; i++) {
		struct cutoff *cutoff = &profile.cutoffs[i];

		fill(&cutoff_table, cutoff, 0);
		if (cutoff->below_ns < 0 && cutoff->atleast_ns < 0)
			cutoff->below_ns = number(0, MOST_SECONDS * NS_PER_S);
	}
	return book_put_profile(book, &profile, false, &refused) < 0 ? NULL : strdup(profile.name);
}

static char *make_command(void)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (size_t i = below(5); i > 0; i--) {
		_cleanup_(freep) char *word = hostile(), *utf8 = text_utf8(word);

		json_array_append_new(array, json_string(utf8));
	}
	return json_dumps(array, JSON_COMPACT);
}

static int64_t add_run(struct scratch *s, struct book *book, char *profile)
{
	_cleanup_(run_clear) struct run run;

	fill(&run_table, &run, 0);
	run.id = run.profile_id = 0;
	run.kind = (enum run_kind)below(N_RUN_KINDS);
	run.state = RUN_DONE + (enum run_state)below(N_RUN_STATES - RUN_DONE);
	run.started_ns = number(1, JSON_MOMENT_MAX);
	run.environment = below(4) ? add_environment(s, book) : 0;
	run.correlation = below(2) ? (struct correlation){random_unit(&seed), number(1, UINT32_MAX)}
				   : (struct correlation){};
	free(run.command);
	run.command = below(3) ? make_command() : NULL;
	if (profile) {
		free(run.profile);
		run.profile = strdup(profile);
	}
	assert_done(s, book_add_run(book, &run, &s->err));
	return run.id;
}

/* Those that the book refuses, because they repeat a key, or name what is not there, no tool can
 * have made. */
static size_t add_rows(struct scratch *s, struct book *book, int64_t run, size_t n_sources)
{
	const struct run_rows *rows;
	size_t added = 0;

	for (size_t k = 0; (rows = document_run_rows(k)); k++)
		for (size_t i = below(rows->single ? 2 : MOST_ROWS); i > 0; i--) {
			_cleanup_(freep) void *row = calloc(1, rows->table->size);
			struct resume_point *point = rows->table == &resume_point_table ? row
											: NULL;
			struct duet_row *duet = rows->table == &duet_table ? row : NULL;
			struct error refused = {};

			fill(rows->table, row, n_sources);
			if (point)
				point->environment = below(2) ? add_environment(s, book) : 0;
			if (duet)
				/* which was removed */
				duet->reference = below(4) ? 1 : run + MOST_RUNS;
			added += sql_insert(book, &refused, rows->table, rows->insert ?: "", row, 1,
					 *rows->table->keys ? "i" : "", run) == 0;
			fields_clear(rows->table, row);
		}
	return added;
}

static size_t make_book(struct scratch *s, struct book *book)
{
	size_t n_sources = add_sources(s, book), rows = 0;

	for (size_t i = 1 + below(MOST_RUNS); i > 0; i--) {
		_cleanup_(freep) char *profile = below(2) ? add_profile(s, book) : NULL;
		int64_t run = add_run(s, book, profile);
		struct execution executions[MOST_ROWS];
		uint32_t last = 0;

		for (size_t j = below(MOST_SAMPLES); j > 0; j--) {
			struct sample sample;
			struct counters counters;
			size_t n = below(MOST_ROWS);

			fill(&sample_table, &sample, 0);
			sample.n = last += 1 + (uint32_t)below(2);
			if (sample.start_ns > JSON_MOMENT_MAX - sample.et_ns)
				sample.start_ns = JSON_MOMENT_MAX - sample.et_ns;
			for (size_t k = 0; k < n; k++) {
				fill(&execution_table, &executions[k], 0);
				executions[k].source = 1 + (uint32_t)below(n_sources);
			}
			fill(&counters_table, &counters, 0);
			counters.sample = sample.n;
			assert_done(s, book_add_sample(book, run, &sample, executions, n, &s->err));
			if (counters_know_any(&counters) && below(2))
				assert_done(s, book_add_rows(book, run, &counters_table, &counters,
						       1, &s->err));
		}
		rows += add_rows(s, book, run, n_sources);
	}
	return rows;
}

static char *export_run(struct scratch *s, struct book *book, int64_t run)
{
	const struct document_parts whole = {};

	return PRINTED(file, assert_done(s, document_export_run(book, run, &whole, file, &s->err)));
}

static int64_t import_run(struct scratch *s, struct book *book, const char *text)
{
	int64_t run;

	if (import_bytes(book, text, strlen(text), &run, &s->err) < 0)
		fail_msg("%s\n%.3000s", s->err.text, text);
	return run;
}

static const json_t *with_number(const json_t *array, const char *member, json_int_t number)
{
	json_t *item;
	size_t i;

	json_array_foreach (array, i, item)
		if (json_integer_value(json_object_get(item, member)) == number)
			return item;
	return NULL;
}

/* In place of the numbers that a book gives: the sources and environments themselves, and the
 * places of runs in the document. */
static void name_numbers(
	json_t *json, const json_t *sources, const json_t *environments, const json_t *root)
{
	static const char *const of_sources[] = {"source", "combination"};
	json_int_t reference = json_integer_value(json_object_get(json, "reference"));
	const json_t *to;
	const char *name;
	json_t *value;
	size_t i;

	sources = json_object_get(json, "sources") ?: sources;
	environments = json_object_get(json, "environments") ?: environments;

	json_object_foreach (json, name, value)
		name_numbers(value, sources, environments, root);
	json_array_foreach (json, i, value)
		name_numbers(value, sources, environments, root);

	for (i = 0; i < ELEMENTS(of_sources); i++)
		if (json_is_integer(json_object_get(json, of_sources[i]))) {
			to = with_number(sources, "id",
				json_integer_value(json_object_get(json, of_sources[i])));
			assert_non_null(to);
			json_object_set_new(json, of_sources[i], json_deep_copy(to));
			json_object_del(json_object_get(json, of_sources[i]), "id");
		}
	if (json_is_integer(json_object_get(json, "environment"))) {
		to = with_number(environments, "id",
			json_integer_value(json_object_get(json, "environment")));
		json_object_set_new(json, "environment", to ? json_deep_copy(to) : json_null());
		json_object_del(json_object_get(json, "environment"), "id");
	}

	if (reference > 0 && reference == json_integer_value(json_object_get(root, "run")))
		json_object_set_new(json, "reference", json_string("this"));
	else if (reference > 0) {
		to = with_number(json_object_get(root, "duet_runs"), "run", reference);
		json_object_set_new(json, "reference", json_boolean(to));
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows of a list that the book has in the order of sources. */
static void sort_rows(json_t *array)
{
	size_t n = json_array_size(array), i;
	char **texts = calloc(n + 1, sizeof(*texts));
	json_t *row;

	json_array_foreach (array, i, row)
		texts[i] = json_dumps(row, JSON_SORT_KEYS);
	qsort(texts, n, sizeof(*texts), by_text);
	for (i = 0; i < n; i++) {
		json_array_set_new(array, i, json_string(texts[i]));
		free(texts[i]);
	}
	free(texts);
}

static void drop_numbers(json_t *json)
{
	static const char *const sorted[] = {
		"jitter_sources", "jitter_buckets", "combination_parts"};
	json_t *value;
	const char *name;
	size_t i;

	json_object_del(json, "id");
	json_object_del(json, "run");
	json_object_del(json, "sources"); /* they are where they are named */
	json_object_del(json, "environments");
	for (i = 0; i < ELEMENTS(sorted); i++)
		sort_rows(json_object_get(json, sorted[i]));
	json_object_foreach (json, name, value)
		drop_numbers(value);
	json_array_foreach (json, i, value)
		drop_numbers(value);
}

/* As text, with what numbers stand for. */
static char *without_numbers(const char *text)
{
	_cleanup_(json_decrefp) json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	_cleanup_(json_decrefp) json_t *root = json_deep_copy(json);

	assert_non_null(json);
	name_numbers(json, NULL, NULL, root);
	drop_numbers(json);
	return json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
}

static void assert_equal_texts(const char *one, const char *two)
{
	size_t at = 0, from;

	while (one[at] && one[at] == two[at])
		at++;
	if (one[at] == two[at])
		return;
	from = at > 300 ? at - 300 : 0;
	fail_msg("not the same again, at %zu:\n%.600s\n-----\n%.600s", at, one + from, two + from);
}

/* The rows of a run in a table, as text, without the numbers that a book gives. */
static void dump_table(FILE *file, struct book *book, const char *table, int64_t run)
{
	static const char *const numbers[] = {"id", "run", "source", "combination", "environment",
		"reference", "profile_id", "owner"};
	_cleanup_(freep) char *sql = text_format("SELECT * FROM %s WHERE %s = %lld", table,
		strcmp(table, "run") ? "run" : "id", (long long)run);
	sqlite3_stmt *rows = NULL;

	assert_int_equal(sqlite3_prepare_v2(book->db, sql, -1, &rows, NULL), SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW)
		for (int c = 0; c < sqlite3_column_count(rows); c++) {
			bool is_number = false;

			for (size_t i = 0; i < ELEMENTS(numbers); i++)
				is_number |= !strcmp(sqlite3_column_name(rows, c), numbers[i]);
			if (!is_number)
				fprintf(file, "%s.%s %d %s\n", table, sqlite3_column_name(rows, c),
					sqlite3_column_type(rows, c),
					(const char *)sqlite3_column_text(rows, c) ?: "NULL");
		}
	sqlite3_finalize(rows);
}

static char *dump_run(struct book *book, int64_t run)
{
	static const char *const more[] = {"run", "sample", "execution", "counters"};
	char *text = NULL;
	const struct run_rows *rows;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < ELEMENTS(more); i++)
		dump_table(file, book, more[i], run);
	for (size_t k = 0; (rows = document_run_rows(k)); k++)
		if (*rows->table->keys && rows->table != &jitter_source_table &&
			rows->table != &jitter_bucket_table)
			dump_table(file, book, rows->table->table,
				run); /* those two are in the order of sources */
	fclose(file);
	return text;
}

static struct book *open_another(struct scratch *s, int n)
{
	_cleanup_(freep) char *path = text_format("%s-%d", s->path, n);
	struct book *book;

	assert_done(s, book_open(&book, path, BOOK_WRITE, &s->err));
	return book;
}

TEST_IN_BOOK(each_book_goes_out_and_comes_back_the_same)
{
	unsigned long begin = check_seed((unsigned long)time(NULL));
	struct book *second = open_another(s, 2), *third = open_another(s, 3);
	size_t rows = 0, n;

	for (unsigned long i = 0; i < BOOKS; i++) {
		struct run *runs;

		seed = begin + i;
		printf("EMP_SEED=%lu\n", begin + i); /* it comes first in the next try */
		fflush(stdout);
		assert_done(s, book_begin(s->book, &s->err));
		rows += make_book(s, s->book);
		assert_done(s, book_runs(s->book, &runs, &n, &s->err));
		for (size_t k = 0; k < n; k++) {
			_cleanup_(freep) char *out = export_run(s, s->book, runs[k].id),
					      *same = NULL, *again = NULL, *one = NULL, *two = NULL,
					      *table = NULL, *its = NULL;
			int64_t copy, last;

			/* Out of the first into the second, and from there into the third. */
			assert_done(s, book_begin(second, &s->err));
			assert_done(s, book_begin(third, &s->err));
			copy = import_run(s, second, out);
			same = export_run(s, second, copy);
			one = without_numbers(out);
			two = without_numbers(same);
			assert_equal_texts(one, two);
			table = dump_run(s->book, runs[k].id);
			its = dump_run(second, copy);
			assert_equal_texts(table, its);
			last = import_run(s, third, same);
			again = export_run(s, third, last);
			assert_equal_texts(same, again);
			book_rollback(second);
			book_rollback(third);
		}
		fields_free(&run_table, runs, n);
		book_rollback(s->book);
	}
	assert_true(rows > 10 * BOOKS);
	book_free(second);
	book_free(third);
}
