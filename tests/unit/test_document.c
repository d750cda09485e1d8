/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs as documents: what goes in comes out, and what is wrong is named with its place and leaves
 * nothing. */
#include "tests/unit/documents.h"
#include "tests/unit/book_file.h"
#include "tests/unit/scratch.h"

#include "lib/base/text.h"
#include "lib/book/book_internal.h"
#include "lib/book/book.h"

#include <errno.h>

/* In, and out again; the id of the run. */
static int64_t come_back(struct scratch *s, const json_t *document, json_t **ret)
{
	int64_t id = 0;

	assert_done(s, import_document(s->book, document, &id, &s->err));
	assert_done(s, export_document(s->book, id, ret, &s->err));
	return id;
}

static int64_t there_and_back(struct scratch *s, const json_t *document)
{
	_cleanup_(json_decrefp) json_t *back = NULL;
	int64_t id = come_back(s, document, &back);

	assert_same(document, back);
	return id;
}

static size_t count_runs(struct scratch *s)
{
	struct run *runs = NULL;
	size_t n;

	assert_done(s, book_runs(s->book, &runs, &n, &s->err));
	fields_free(&run_table, runs, n);
	return n;
}

TEST_IN_BOOK(the_papers_runs_come_back_as_they_went_in)
{
	static const char *const files[] = {"emp-run-inc128.json", "emp-run-inc16384.json"};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		_cleanup_(json_decrefp) json_t *document = NULL;
		_cleanup_(run_clear) struct run run = {};
		_cleanup_(freep) char *path = text_format("%s/%s", getenv("EMP_PAPERS"), files[i]);

		assert_done(s, json_read(&document, path, &s->err));
		assert_int_equal(there_and_back(s, document), i + 1);
		assert_done(s, book_get_run(s->book, (int64_t)i + 1, &run, &s->err));
		assert_int_equal(run.n_samples, i ? 40 : 800);
		assert_int_equal(run.state, RUN_DONE);
		assert_int_equal(run.kind, RUN_IMPORT);
		assert_int_equal(run.task_length_ns, i ? 16384000000000 : 128000000000);
		assert_int_equal(run.started_ns, 1375000000000000000);
		assert_true(run.ended_ns > run.started_ns);
	}
}

#define HEAD                                                                          \
	"{'format': 'emp-run', 'version': 1, 'program': 'xz', 'task_length_s': 0.1, " \
	"'resolution_ns': 1"

TEST_IN_BOOK(everything_that_a_document_may_say_comes_back)
{
	_cleanup_(json_decrefp) json_t *document = parse(HEAD
		", 'machine': 'box', 'environment': {'digest': 'd7', 'load': 0.1, "
		"'settings': [1, null, 'x']},"
		"'command': ['xz', '-9', 'ä ö'], 'kind': 'measure', 'state': "
		"'interrupted', 'backend': 'bpf',"
		"'pt_source': 'cgroup', 'profile': 'quiet', 'notes': 'audit: not fit', 'cpu': 0, "
		"'other_cpus': true, 'unprofiled_share_ppm': 20000, 'samples': ["
		"{'n': 1, 'start_ns': 5, 'et_ns': 100, 'pt_ns': 90, 'exit_status': 0, "
		"'user_ns': 80, 'system_ns': 10,"
		" 'max_rss_bytes': 4096, 'incomplete': true, 'observer_ns': 3, 'lost': 2, "
		"'left_behind': 1, 'wait_ns': 8, 'disturbance_counters': {'interrupts_ns': 6}, "
		"'executions': ["
		" {'name': 'cron', 'pt_ns': 7, 'pid': 12, 'exe': '/usr/sbin/cron', 'unit': "
		"'cron.service', 'tick_ns': 0, 'cpu': 1, 'same_cpu_ns': 4},"
		" {'name': '', 'pt_ns': 0, 'kind': 'kernel'}]},"
		"{'n': 4294967295, 'start_ns': 4000000000000000000, 'et_ns': 0, 'pt_ns': 0, "
		"'executions': []}]}");
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(freep) char *digest = NULL;

	there_and_back(s, document);
	assert_done(s, book_get_run(s->book, 1, &run, &s->err));
	assert_string_equal(run.command, "[\"xz\",\"-9\",\"ä ö\"]");
	assert_done(
		s, book_get_environment(s->book, run.environment, &digest, NULL, NULL, &s->err));
	assert_string_equal(digest, "d7");
}

TEST_IN_BOOK(machine_environment_and_command_may_be_told_in_more_than_one_way)
{
	static const char *const origins[] = {
		"'machine': 'box'",
		"'machine': {'name': 'box', 'cpus': 2}",
		"'environment': 'sha256:aa'",
		"'environment': {'no': 'digest'}",
		"'environment': {'no': 'digest'}, 'machine': 'box'",
		"'command': 'xz -9 file'",
		"'command': []",
	};

	for (size_t i = 0; i < ELEMENTS(origins); i++) {
		_cleanup_(freep) char *text = text_format(HEAD ", %s, 'samples': []}", origins[i]);
		_cleanup_(json_decrefp) json_t *document = parse(text);

		there_and_back(s, document);
	}
}

TEST_IN_BOOK(whole_seconds_come_back_whole_and_others_as_they_were)
{
	static const char *const lengths[] = {
		"128", "0.1", "16384", "0", "0.000000001", "1.5", "99999.25", "123456.789"};

	for (size_t i = 0; i < ELEMENTS(lengths); i++) {
		_cleanup_(freep) char *text = text_format(
			"{'format': 'emp-run', 'version': 1, 'program': 'INC', 'task_length_s': %s,"
			"'resolution_ns': 1000000, 'samples': []}",
			lengths[i]);
		_cleanup_(json_decrefp) json_t *document = parse(text);

		there_and_back(s, document);
	}
}

TEST_IN_BOOK(a_number_is_written_with_as_many_digits_as_it_needs)
{
	_cleanup_(json_decrefp) json_t *document = parse(HEAD ", 'samples': []}");
	_cleanup_(freep) char *text = NULL;
	int64_t id;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_done(s, import_document(s->book, document, &id, &s->err));
	assert_done(s, document_export_run(s->book, id, &(struct document_parts){}, file, &s->err));
	fclose(file);
	assert_non_null(strstr(text, "\"task_length_s\": 0.1,"));
}

TEST_IN_BOOK(members_that_are_not_known_and_null_are_kept_out)
{
	_cleanup_(json_decrefp) json_t *document = parse(
		HEAD ", 'colour': 'red', 'cpu': null, 'machine': null, 'environment': null, "
		     "'command': null, 'samples': ["
		     "{'n': 1, 'start_ns': 5, 'et_ns': 100, 'pt_ns': 90, 'mood': {'x': 1}, "
		     "'user_ns': null, 'incomplete': null,"
		     " 'executions': [{'name': 'cron', 'pt_ns': 7, 'smell': [], 'exe': null, "
		     "'pid': null}]}]}");
	_cleanup_(json_decrefp) json_t *plain = parse(
		HEAD ", 'samples': [{'n': 1, 'start_ns': 5, 'et_ns': 100, 'pt_ns': 90,"
		     " 'executions': [{'name': 'cron', 'pt_ns': 7}]}]}");
	_cleanup_(json_decrefp) json_t *back = NULL;

	come_back(s, document, &back);
	assert_same(plain, back);
}

#define SAMPLE "{'n': 1, 'start_ns': 5, 'et_ns': 100, 'pt_ns': 90, 'executions': []}"
#define SAMPLES(...) HEAD ", 'samples': [" __VA_ARGS__ "]}"
#define EXECUTION(members)                                                                    \
	SAMPLES(SAMPLE ", {'n': 3, 'start_ns': 5, 'et_ns': 100, 'pt_ns': 90, 'executions': [" \
		       "{'name': 'a', 'pt_ns': 1}, " members "]}")

#define DOCUMENT                                                                               \
	"{\"format\": \"emp-run\", \"version\": 1, \"program\": \"x\", \"task_length_s\": 0, " \
	"\"resolution_ns\": 1, \"samples\": []}"
#define LAB                                                                           \
	"{'format': 'emp-profile', 'version': 1, 'name': 'lab', 'resolution_ns': 1, " \
	"'cutoffs': [], "                                                             \
	"'short': {'program': 'x', 'samples': 0, 'l_samples': []}, "                  \
	"'long': {'program': 'x', 'samples': 0, 'l_samples': []}}"

static const struct {
	const char *document, *sentence;
} wrong[] = {
	/* the document */
	{"[]", "the document must be a JSON object"},
	{"{}", "the document has no 'format'"},
	{"{'format': 7}", "the document: 'format' must be text, and not empty"},
	{"{'format': 'emp-profile', 'version': 1}", "'format' is 'emp-profile', not 'emp-run'"},
	{"{'format': 'emp-run'}", "the document has no 'version'"},
	{"{'format': 'emp-run', 'version': 2}",
		"'version' is 2, and this EMP reads emp-run version 1 only"},
	{"{'format': 'emp-run', 'version': 0}", "'version' is 0 and must not be below 1"},
	{"{'format': 'emp-run', 'version': '1'}", "'version' must be a whole number"},
	{"{'format': 'emp-run', 'version': 1}", "the document has no 'program'"},
	{"{'format': 'emp-run', 'version': 1, 'program': 7}", "'program' must be text"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x'}",
		"the document has no 'task_length_s'"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x', 'task_length_s': 'long'}",
		"'task_length_s' must be a number of seconds"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x', 'task_length_s': -0.5}",
		"'task_length_s' is -0.5 and must be from 0 to"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x', 'task_length_s': 1e300}",
		"'task_length_s' is 1e+300 and must be from 0 to 4611686018 seconds"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x', "
	 "'task_length_s': 9223372036854775807}",
		"'task_length_s' is 9.22337203685478e+18 and must be"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x', 'task_length_s': 1}",
		"has no 'resolution_ns'"},
	{"{'format': 'emp-run', 'version': 1, 'program': 'x', 'task_length_s': 1, "
	 "'resolution_ns': 0}",
		"'resolution_ns' is 0 and must not be below 1"},
	{HEAD "}", "the document has no 'samples'"},
	{HEAD ", 'samples': {}}", "'samples' must be an array"},
	{HEAD ", 'samples': [], 'cpu': -1}", "'cpu' is -1 and must not be below 0"},
	{HEAD ", 'samples': [], 'command': ['a', 1]}", "'command' must be an array of texts"},
	{HEAD ", 'samples': [], 'command': 7}", "'command' must be an array of texts"},
	{HEAD ", 'samples': [], 'machine': 7}", "'machine' must be text"},
	{HEAD ", 'samples': [], 'environment': 7}", "'environment' must be an object"},
	{HEAD ", 'samples': [], 'environment': {'digest': 7}}",
		"'environment': 'digest' must be text"},
	{HEAD ", 'samples': [], 'state': 'open'}", "'state' is 'open' and must be"},
	{HEAD ", 'samples': [], 'notes': 7}", "'notes' must be text"},
	{HEAD ", 'samples': [], 'uid': 'abc'}", "'uid' must be 32 hexadecimal digits, not 'abc'"},
	{"{'results': [{'command': 'true', 'times': [1]}]}",
		"compare them with 'emp-analyze compare FILE'"},
	{"{'format': 'emp-measure', 'version': 1, 'results': []}", "these are results, not a run"},
	{"{'benchmarks': [], 'version': '1.0'}", "these are results, not a run"},
	/* what comes in rows, and what belongs together */
	{HEAD ", 'samples': [], 'warnings': {}}", "the document: 'warnings' must be an array"},
	{HEAD ", 'samples': [], 'load': []}", "the document: 'load' must be an object"},
	{HEAD ", 'samples': [], 'duet_runs': {}}", "the document: 'duet_runs' must be an array"},
	{HEAD ", 'samples': [], 'sources': {}}", "the document: 'sources' must be an array"},
	{HEAD ", 'samples': [], 'environments': 7}",
		"the document: 'environments' must be an array"},
	{HEAD ", 'samples': [], 'measurements': {}}",
		"the document: 'measurements' must be an array"},
	{HEAD ", 'samples': [], 'profile_document': 7}",
		"'profile_document': the document must be a JSON object"},
	{HEAD ", 'samples': [], 'profile_document': " LAB "}",
		"the document: 'profile' must be 'lab', as its 'profile_document' is, "
		"and is missing"},
	{HEAD ", 'samples': [], 'profile': 'attic', 'profile_document': " LAB "}",
		"the document: 'profile' must be 'lab', as its 'profile_document' is, "
		"and is 'attic'"},
	/* samples */
	{SAMPLES("7"), "'samples', entry 1 must be a JSON object"},
	{SAMPLES("{}"), "'samples', entry 1 has no 'n'"},
	{SAMPLES(SAMPLE ", {'n': 0}"), "'samples', entry 2: 'n' is 0 and must not be below 1"},
	{SAMPLES("{'n': 4294967296}"),
		"'samples', entry 1: 'n' is 4294967296 and must not be above 4294967295"},
	{SAMPLES("{'n': 1.5}"), "'samples', entry 1: 'n' must be a whole number"},
	{SAMPLES(SAMPLE ", " SAMPLE),
		"'samples', entry 2: 'n' is 1 again, and the numbers of samples must not repeat"},
	{SAMPLES("{'n': 9, 'start_ns': 5, 'et_ns': 100, 'pt_ns': 90, 'executions': []}, " SAMPLE),
		"'samples', entry 2: 'n' is 1 after 9, and samples must be in order"},
	{SAMPLES("{'n': 4}"), "sample 4 has no 'start_ns'"},
	{SAMPLES("{'n': 4, 'start_ns': -1}"), "sample 4: 'start_ns' is -1 and must not be below 0"},
	{SAMPLES("{'n': 4, 'start_ns': 9160127236854775807, 'et_ns': 1, 'pt_ns': 0, "
		 "'executions': []}"),
		"sample 4: 'start_ns' and 'et_ns' together must not be above 9160127236854775807"},
	{SAMPLES("{'n': 4, 'start_ns': 9223372036854775807}"),
		"sample 4: 'start_ns' is 9223372036854775807 and must"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': -100}"),
		"sample 4: 'et_ns' is -100 and must not be below 0"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 9223372036854775807}"),
		"sample 4: 'et_ns' is 9223372036854775807 and must not be above 31622400000000000"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1e9}"),
		"sample 4: 'et_ns' must be a whole number"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1}"), "sample 4 has no 'pt_ns'"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1, 'pt_ns': null}"),
		"sample 4: 'pt_ns' must be a whole number"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1, 'pt_ns': 1}"),
		"sample 4 has no 'executions'"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1, 'pt_ns': 1, 'executions': 7}"),
		"sample 4: 'executions' must be an array"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1, 'pt_ns': 1, 'user_ns': -2, "
		 "'executions': []}"),
		"sample 4: 'user_ns' is -2 and must not be below 0"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1, 'pt_ns': 1, 'exit_status': 256, "
		 "'executions': []}"),
		"sample 4: 'exit_status' is 256 and must not be above 255"},
	{SAMPLES("{'n': 4, 'start_ns': 1, 'et_ns': 1, 'pt_ns': 1, 'incomplete': 1, "
		 "'executions': []}"),
		"sample 4: 'incomplete' must be true or false"},
	/* executions */
	{EXECUTION("7"), "sample 3, execution 2 must be a JSON object"},
	{EXECUTION("{'pt_ns': 5}"), "sample 3, execution 2 has no 'name'"},
	{EXECUTION("{'name': 5, 'pt_ns': 5}"), "sample 3, execution 2: 'name' must be text"},
	{EXECUTION("{'name': 'b'}"), "sample 3, execution 2 has no 'pt_ns'"},
	{EXECUTION("{'name': 'b', 'pt_ns': -5}"),
		"sample 3, execution 2: 'pt_ns' is -5 and must not be below 0"},
	{EXECUTION("{'name': 'b', 'pt_ns': '5'}"),
		"sample 3, execution 2: 'pt_ns' must be a whole number"},
	{EXECUTION("{'name': 'b', 'pt_ns': 5, 'pid': -1}"), "sample 3, execution 2: 'pid' is -1"},
	{EXECUTION("{'name': 'b', 'pt_ns': 5, 'tick_ns': -1}"),
		"sample 3, execution 2: 'tick_ns' is -1"},
	{EXECUTION("{'name': 'b', 'pt_ns': 5, 'unit': 1}"),
		"sample 3, execution 2: 'unit' must be text"},
};

TEST_IN_BOOK(what_is_wrong_is_named_with_its_place_and_nothing_is_stored)
{
	for (size_t i = 0; i < ELEMENTS(wrong); i++) {
		_cleanup_(json_decrefp) json_t *document = parse(wrong[i].document);
		_cleanup_(sources_clear) struct sources daemons = {};
		int64_t id = 77;
		int r = import_document(s->book, document, &id, &s->err);

		assert_true(r == -EINVAL || r == -EPROTONOSUPPORT);
		assert_says(s, wrong[i].sentence);
		assert_int_equal(id, 77);
		assert_int_equal(count_runs(s), 0);
		assert_done(s, book_sources(s->book, &daemons, &s->err));
		assert_int_equal(daemons.n, 0);
	}
}

TEST_IN_BOOK(null_is_as_good_as_a_missing_member)
{
	_cleanup_(json_decrefp) json_t *document = parse(
		HEAD ", 'samples': [], 'profile_document': null, 'warnings': null, 'load': null, "
		     "'duet_runs': null, 'sources': null, 'environments': null, 'measurements': "
		     "null, 'environment': null}");
	_cleanup_(json_decrefp) json_t *back = NULL;

	come_back(s, document, &back);
	assert_null(json_object_get(back, "warnings"));
}

TEST_IN_BOOK(what_follows_a_document_is_refused)
{
	static const struct {
		const char *text, *sentence;
		size_t size; /* 0: to the zero at its end */
	} files[] = {
		{DOCUMENT " {}", "the end of the document expected near '{'"},
		{DOCUMENT DOCUMENT, "the end of the document expected near '{'"},
		{DOCUMENT " x", "the end of the document expected near 'x'"},
		{DOCUMENT "\0x", "the end of the document expected near a byte that is zero",
			sizeof(DOCUMENT) + 1},
		{DOCUMENT "\n\0", "the end of the document expected near a byte that is zero",
			sizeof(DOCUMENT) + 1},
		{DOCUMENT "", "the end of the document expected near a byte that is zero",
			sizeof(DOCUMENT)},
		{"\0\0" DOCUMENT, "the document must be a JSON object", sizeof(DOCUMENT) + 1},
		{"\0" DOCUMENT, "is UTF-16, not JSON in UTF-8", sizeof(DOCUMENT)},
	};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		int64_t id;

		assert_int_equal(import_bytes(s->book, files[i].text,
					 files[i].size ?: strlen(files[i].text), &id, &s->err),
			-EINVAL);
		assert_says(s, files[i].sentence);
		assert_int_equal(count_runs(s), 0);
	}
}

TEST_IN_BOOK(old_names_of_members_are_read)
{
	static const char *const documents[] = {
		HEAD
		", 'purpose': 'measure', 'samples': [{'n': 1, 'start_ns': 1375000000000000001, "
		"'et_ns': 9, 'pt_ns': 9,"
		" 'sentinels': {'steal_ns': 7}, 'executions': [{'name': 'kswapd0', 'pt_ns': 1, "
		"'kernel': true}]}]}",
		HEAD ", 'kind': 'measure', 'samples': [{'n': 1, 'start_ns': 1375000000000000001, "
		     "'et_ns': 9, 'pt_ns': 9,"
		     " 'disturbance_counters': {'steal_ns': 7}, 'executions': "
		     "[{'name': 'kswapd0', 'pt_ns': 1, 'kind': 'kernel'}]}]}",
	};

	for (size_t i = 0; i < ELEMENTS(documents); i++) {
		_cleanup_(json_decrefp)
			json_t *document = parse(documents[i]),
			       *back = NULL,
			       *wanted = parse(
				       "{'n': 1, 'start_ns': 1375000000000000001, 'start': "
				       "'2013-07-28T08:26:40.000000001Z', 'et_ns': 9,"
				       " 'pt_ns': 9, 'disturbance_counters': {'steal_ns': 7},"
				       " 'executions': [{'name': 'kswapd0', 'pt_ns': 1, "
				       "'kind': 'kernel'}]}");

		come_back(s, document, &back);
		assert_string_equal(json_string_value(json_object_get(back, "kind")), "measure");
		assert_true(
			json_equal(json_array_get(json_object_get(back, "samples"), 0), wanted));
	}
}

TEST_IN_BOOK(a_run_keeps_its_uid_in_another_book)
{
	_cleanup_(json_decrefp) json_t *document = parse(
		HEAD ", 'uid': '00112233445566778899aabbccddeeff', 'samples': []}");
	_cleanup_(json_decrefp) json_t *back = NULL, *copy = NULL;

	come_back(s, document, &back);
	assert_string_equal(json_string_value(json_object_get(back, "uid")),
		"00112233445566778899aabbccddeeff");
	come_back(s, document, &copy);
	assert_false(json_equal(json_object_get(back, "uid"), json_object_get(copy, "uid")));
}

TEST_IN_BOOK(a_name_that_a_process_gave_itself_comes_out_as_valid_json)
{
	_cleanup_(run_clear) struct run run = scratch_run("x\xfe");
	_cleanup_(json_decrefp) json_t *document = NULL, *again = NULL;
	struct sample sample = scratch_sample(1);
	struct execution e = {.pt_ns = 1, .tick_ns = -1};

	assert_done(s, book_source(s->book, &(struct source){.name = (char *)"evil\xff\"\n"},
			       &e.source, &s->err));
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_done(s, book_add_sample(s->book, run.id, &sample, &e, 1, &s->err));
	assert_done(s, export_document(s->book, run.id, &document, &s->err));
	assert_string_equal(json_string_value(json_object_get(document, "program")), "x\\xfe");
	/* the run is not over: to whoever reads the document it was cut off here */
	assert_string_equal(json_string_value(json_object_get(document, "state")), "interrupted");
	come_back(s, document, &again);
	assert_same(document, again);
}

TEST_IN_BOOK(a_run_that_is_not_there_cannot_be_exported)
{
	json_t *document = NULL;

	assert_int_equal(export_document(s->book, 12, &document, &s->err), -ENOENT);
	assert_says(s, "run 12 is not in the lab book");
	assert_null(document);
}

TEST_IN_BOOK(no_table_with_rows_of_a_run_is_left_out_of_documents)
{
	static const struct field_table *const others[] = {
		&sample_table, &execution_table, &counters_table};
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_prepare_v2(s->book->db,
				 "SELECT m.name, c.name FROM sqlite_schema AS m, "
				 "pragma_table_info(m.name) AS c WHERE m.type = 'table'"
				 " AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) "
				 "WHERE name = 'run')"
				 /* results are made again where a run is imported; a study has its runs in one book */
				 " AND m.name NOT IN ('profile_run', 'result', 'discard', 'study_run')",
				 -1, &stmt, NULL),
		SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);
		const struct field_table *table = NULL;
		const struct run_rows *rows;

		for (size_t k = 0; (rows = document_run_rows(k)); k++)
			table = strcmp(rows->table->table, name) ? table : rows->table;
		for (size_t i = 0; i < ELEMENTS(others); i++)
			table = strcmp(others[i]->table, name) ? table : others[i];
		if (!table)
			fail_msg("the table '%s' is in no document: add it to the rows of "
				 "document.c or of its feature",
				name);

		const char *column = (const char *)sqlite3_column_text(stmt, 1);
		size_t i = 0, size = strlen(column);
		const char *key = strstr(table->keys, column);

		while (i < table->n && strcmp(table->fields[i].name, column))
			i++;
		if (i == table->n && !(key && key[size] == ','))
			fail_msg("the column '%s' of '%s' is in no document", column, table->table);
	}
	sqlite3_finalize(stmt);
}

TEST_IN_BOOK(an_import_joins_the_callers_transaction)
{
	_cleanup_(json_decrefp) json_t *document = parse(SAMPLES(SAMPLE));
	int64_t id;

	assert_done(s, book_begin(s->book, &s->err));
	assert_done(s, import_document(s->book, document, &id, &s->err));
	book_rollback(s->book);
	assert_int_equal(count_runs(s), 0);
}

enum { LONG = 40000 };

/* A sample of more than a megabyte, with the members in an unusual order; `odd` is execution LONG /
 * 2. */
static char *long_sample(const char *odd, const char *more)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fputs("{\"format\": \"emp-run\", \"version\": 1, \"program\": \"x\", "
	      "\"task_length_s\": 1, \"resolution_ns\": 1, \"samples\": ["
	      "{\"n\": 1, \"start_ns\": 5, \"et_ns\": 5, \"pt_ns\": 4, \"executions\": []}, "
	      "{\"executions\": [",
		file);
	for (int i = 1; i <= LONG; i++)
		if (i == LONG / 2)
			fprintf(file, "%s, ", odd);
		else
			fprintf(file, "{\"name\": \"daemon%d\", \"pid\": %d, \"pt_ns\": %d}%s",
				i % 7, i, i, i < LONG ? ", " : "");
	fprintf(file,
		"], \"n\": 2, \"start_ns\": 6, \"et_ns\": 5, \"pt_ns\": 4%s}, "
		"{\"n\": 3, \"start_ns\": 7, \"et_ns\": 5, \"pt_ns\": 4, \"executions\": "
		"[{\"name\": \"last\", \"pt_ns\": 1}]}]}",
		more);
	fclose(file);
	return text;
}

static int import_long(struct scratch *s, const char *odd, const char *more, int64_t *ret)
{
	_cleanup_(freep) char *text = long_sample(odd, more);

	return import_bytes(s->book, text, strlen(text), ret, &s->err);
}

TEST_IN_BOOK(a_sample_that_is_larger_than_memory_is_read_in_parts)
{
	_cleanup_(freep) struct execution *executions = NULL, *last = NULL;
	_cleanup_(json_decrefp) json_t *out = NULL, *again = NULL;
	int64_t run;
	size_t n;

	assert_done(s, import_long(s, "{\"name\": \"\\u00e9\", \"pt_ns\": 7, \"unknown\": null}",
			       ", \"disturbance_counters\": {\"steal_ns\": 3}", &run));
	assert_done(s, book_executions(s->book, run, 2, &executions, &n, &s->err));
	assert_int_equal(n, LONG);
	for (int i = 1; i <= LONG; i++)
		assert_int_equal(executions[i - 1].pt_ns, i == LONG / 2 ? 7 : i);
	assert_done(s, book_executions(s->book, run, 3, &last, &n, &s->err));
	assert_int_equal(n, 1);
	assert_done(s, export_document(s->book, run, &out, &s->err));
	come_back(s, out, &again);
	assert_same(out, again);
}

TEST_IN_BOOK(what_is_wrong_in_a_large_sample_is_named_and_nothing_is_stored)
{
	int64_t run;

	assert_int_equal(import_long(s, "{\"name\": \"a\", \"pt_ns\": -1}", "", &run), -EINVAL);
	assert_says(s, "sample 2, execution 20000: 'pt_ns' is -1");
	assert_int_equal(import_long(s, "{}", ", \"executions\": []", &run), -EINVAL);
	assert_says(s, "'samples', entry 2: it has two members 'executions'");
	assert_int_equal(
		import_long(s, "{\"name\": \"a\", \"pt_ns\": 1}", ", \"n\": 2", &run), -EINVAL);
	assert_says(s, "'samples', entry 2: it has two members 'n'");
	assert_int_equal(import_long(s, "{\"name\": \"a\", \"pt_ns\": 1}",
				 ", \"disturbance_counters\": {\"steal_ns\": 3}, "
				 "\"sentinels\": {\"steal_ns\": 4}",
				 &run),
		-EINVAL);
	assert_says(s, "'samples', entry 2: it has two members 'sentinels'");
	assert_int_equal(import_long(s, "{\"name\" \"a\"}", "", &run), -EINVAL);
	assert_says(s, "is not JSON: line 1, column ");
	assert_int_equal(count_runs(s), 0);
}

TEST_IN_BOOK(counters_that_older_versions_wrote_twice_are_read)
{
	static const char *const again[] = {"disturbance_counters", "sentinels"};

	for (size_t i = 0; i < ELEMENTS(again); i++) {
		_cleanup_(freep) char *more = text_format(
			", \"disturbance_counters\": {\"steal_ns\": 3}, \"%s\": {\"steal_ns\": 3}",
			again[i]);
		int64_t run;

		assert_done(s, import_long(s, "{\"name\": \"a\", \"pt_ns\": 1}", more, &run));
	}
	assert_answer(s->path, "SELECT count(*) || '|' || sum(steal_ns) FROM counters", "2|6");
}
