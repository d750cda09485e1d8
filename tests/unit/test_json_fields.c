/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of JSON objects: what is wrong is named with its place, and the first failure is the one
 * that is told. */
#include "tests/unit/check.h"

#include "lib/base/json.h"

#include <signal.h>
#include <sys/wait.h>

static struct json_fields fields_of(
	const char *text, struct json_location at, struct error *err, json_t **own)
{
	*own = json_loads(text, 0, NULL);
	return json_fields_begin(*own, at, err);
}

TEST(members_of_each_kind_are_read)
{
	_cleanup_(json_decrefp) json_t *own = NULL;
	struct error err = {};
	struct json_fields f = fields_of(
		"{\"i\": -3, \"s\": 1.5, \"t\": \"x\", \"e\": \"\", \"b\": true, "
		"\"a\": [1], \"o\": {}}",
		(struct json_location){}, &err, &own);
	const char *text = NULL, *empty = NULL;
	json_t *array, *object;
	int64_t i = 0, ns = 0;
	bool flag = false;

	json_fields_int(&f, "i", -3, 0, &i);
	json_fields_seconds(&f, "s", &ns);
	json_fields_text(&f, "t", &text);
	json_fields_text_or_empty(&f, "e", &empty);
	json_fields_flag(&f, "b?", &flag);
	array = json_fields_array(&f, "a");
	object = json_fields_object(&f, "o");
	assert_int_equal(f.r, 0);
	assert_int_equal(i, -3);
	assert_int_equal(ns, 1500000000);
	assert_string_equal(text, "x");
	assert_string_equal(empty, "");
	assert_true(flag);
	assert_int_equal(json_array_size(array), 1);
	assert_true(json_is_object(object));
}

TEST(what_is_not_known_keeps_its_value)
{
	_cleanup_(json_decrefp) json_t *own = NULL;
	struct error err = {};
	struct json_fields f = fields_of("{\"i\": null}", (struct json_location){}, &err, &own);
	const char *text = "before";
	int64_t i = 7, ns = 8;
	bool flag = true;

	json_fields_int(&f, "i?", 0, 1, &i);
	json_fields_seconds(&f, "s?", &ns);
	json_fields_text_or_empty(&f, "t?", &text);
	json_fields_flag(&f, "b?", &flag);
	assert_null(json_fields_object(&f, "o?"));
	assert_int_equal(f.r, 0);
	assert_int_equal(i, 7);
	assert_int_equal(ns, 8);
	assert_string_equal(text, "before");
	assert_true(flag);
}

TEST(a_bad_member_is_named_with_its_place)
{
	static const struct {
		const char *json, *says;
	} rows[] = {
		{"[]", "sample 3, execution 2 must be a JSON object {…}"},
		{"{}", "sample 3, execution 2 has no 'n'"},
		{"{\"n\": null}", "sample 3, execution 2: 'n' must be a whole number"},
		{"{\"n\": 1.5}", "sample 3, execution 2: 'n' must be a whole number"},
		{"{\"n\": 0}", "sample 3, execution 2: 'n' is 0 and must not be below 1"},
		{"{\"n\": 10}", "sample 3, execution 2: 'n' is 10 and must not be above 9"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		_cleanup_(json_decrefp) json_t *own = NULL;
		struct error err = {};
		struct json_fields f = fields_of(rows[i].json,
			(struct json_location){"sample", 3, "execution", 2}, &err, &own);
		int64_t n = 77;

		json_fields_int(&f, "n", 1, 9, &n);
		assert_int_equal(f.r, -EINVAL);
		assert_int_equal(n, 77);
		assert_string_equal(err.text, rows[i].says);
	}
}

TEST(the_first_failure_is_told_and_nothing_read_after_it)
{
	_cleanup_(json_decrefp) json_t *own = NULL;
	struct error err = {};
	struct json_fields f = fields_of(
		"{\"a\": \"\", \"b\": 5}", (struct json_location){"the journal"}, &err, &own);
	const char *text = NULL;
	int64_t b = 0;

	json_fields_text(&f, "a", &text);
	json_fields_int(&f, "b", 0, 9, &b);
	json_fields_int(&f, "missing", 0, 9, &b);
	assert_int_equal(f.r, -EINVAL);
	assert_int_equal(b, 0);
	assert_null(text);
	assert_string_equal(err.text, "the journal: 'a' must be text, and not empty");
}

TEST(a_document_of_another_format_or_version_is_refused)
{
	static const struct {
		const char *json, *says;
		int r;
	} rows[] = {
		{"{\"format\": \"emp-run\", \"version\": 1}", "", 0},
		{"{\"version\": 1}", "the document has no 'format'", -EINVAL},
		{"{\"format\": \"x\", \"version\": 1}",
			"the document: 'format' is 'x', not 'emp-run'", -EINVAL},
		{"{\"format\": \"emp-run\", \"version\": 2}",
			"the document: 'version' is 2, and this EMP reads emp-run version 1 "
			"only; try a newer EMP",
			-EPROTONOSUPPORT},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		_cleanup_(json_decrefp) json_t *own = NULL;
		struct error err = {};
		struct json_fields f = fields_of(
			rows[i].json, (struct json_location){}, &err, &own);

		json_fields_header(&f, "emp-run", 1);
		assert_int_equal(f.r, rows[i].r);
		assert_string_equal(err.text, rows[i].says);
	}
}

TEST(seconds_are_not_negative_and_not_for_ever)
{
	static const char *const bad[] = {"-1", "1e300", "4611686018.5", "\"1\"", "true"};

	for (size_t i = 0; i < ELEMENTS(bad); i++) {
		_cleanup_(json_decrefp) json_t *own = json_pack(
			"{s:o}", "s", json_loads(bad[i], JSON_DECODE_ANY, NULL));
		struct error err = {};
		struct json_fields f = json_fields_begin(own, (struct json_location){}, &err);
		int64_t ns = 77;

		json_fields_seconds(&f, "s", &ns);
		assert_int_equal(f.r, -EINVAL);
		assert_int_equal(ns, 77);
	}
}

/* Members that are made one by one. */

TEST(an_object_has_its_members_in_order_and_keeps_what_they_are)
{
	_cleanup_(json_decrefp) json_t *object = JSON_OBJECT({"z", json_integer(1)},
		{"a", json_text("x")}, {"null", json_text(NULL)}, {"bytes", json_text("\xff")},
		{"known?", json_string("y")}, {"out?", json_string(NULL)},
		{"in", JSON_OBJECT({"b", json_true()})});
	_cleanup_(freep) char *text = json_dumps(object, JSON_COMPACT);

	assert_string_equal(text, "{\"z\":1,\"a\":\"x\",\"null\":null,\"bytes\":null,"
				  "\"known\":\"y\",\"in\":{\"b\":true}}");
}

TEST(an_object_takes_its_values_over)
{
	_cleanup_(json_decrefp) json_t *value = json_integer(1);
	json_t *object = JSON_OBJECT({"own", json_incref(value)}, {"maybe?", json_incref(value)});

	assert_int_equal(value->refcount, 3);
	json_decref(object);
	assert_int_equal(value->refcount, 1);
}

TEST(a_member_whose_value_was_forgotten_aborts_the_program_with_its_name)
{
	char said[128] = "";
	int status, pipes[2];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], STDERR_FILENO);
		json_decref(JSON_OBJECT({"run", json_integer(1)}, {"cpus"}));
		_exit(0);
	}
	assert_true(pid > 0);
	close(pipes[1]);
	assert_true(read(pipes[0], said, sizeof(said) - 1) > 0);
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_string_equal(said, "the member 'cpus' of a JSON object has no value\n");
}
