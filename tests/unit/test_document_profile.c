/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles as documents: exactly there and back, and what is wrong named with its place. */
#include "tests/unit/documents.h"
#include "tests/unit/scratch.h"

#include "lib/base/text.h"
#include "lib/document/document.h"
#include "lib/record/profile.h"

#include <errno.h>

#define RUNS                                                                      \
	"'short': {'program': 'INC128', 'samples': 800, 'l_samples': [75, 104]}," \
	"'long': {'program': 'INC16384', 'samples': 40, 'l_samples': [10, 16]}"
#define HEAD \
	"{'format': 'emp-profile', 'version': 1, 'name': 'paper-rhel6.4', 'resolution_ns': 1000000"
#define NOWHERE "'environment': {'digest': null}"
#define PROFILE(cutoffs) \
	HEAD ", " RUNS ", 'environment': {'digest': 'd1'}, 'cutoffs': [" cutoffs "]}"
#define BASH                                                                          \
	"{'daemon': 'bash', 'short_ns': 1000000, 'long_ns': null, 'period_s': null, " \
	"'firm': false, 'task_time_s': null, 'below_ns': 1000000, 'atleast_ns': 1000000}"
#define RHN_CHECK                                                                 \
	"{'daemon': 'rhn_check', 'short_ns': 281000000, 'long_ns': 12828000000, " \
	"'period_s': 14374.4, 'firm': true, 'task_time_s': 718.7, "               \
	"'below_ns': 281000000, 'atleast_ns': 12828000000}"

/* Through the struct, the book, and out again. */
static json_t *there_and_back(struct scratch *s, const json_t *document)
{
	_cleanup_(profile_clear) struct profile in = {}, out = {};
	json_t *back = NULL;

	assert_done(s, document_parse_profile(document, &in, &s->err));
	assert_done(s, book_put_profile(s->book, &in, true, &s->err));
	assert_done(s, book_get_profile(s->book, 0, in.name, &out, &s->err));
	assert_done(s, document_make_profile(&out, &back, &s->err));
	return back;
}

TEST_IN_BOOK(a_profile_comes_back_exactly)
{
	static const char *const documents[] = {
		PROFILE(BASH ", " RHN_CHECK),
		PROFILE(""), /* of a clean run: empty, and valid */
		HEAD ", " RUNS ", 'environment': {'digest': 'd2'}, 'cutoffs': [], 'resolving': ["
		     "{'samples': 10, 'interleaved': 0.0241, 'separate': 0.14},"
		     "{'samples': 40, 'interleaved': 0.001, 'separate': 0.0}],"
		     "'correlation': {'lag1': 0.625, 'samples': 300}}",
		HEAD ", 'blind_ns': 16000000, 'noise': 'steal 3.2 %, PSI 41 %', " RUNS ", " NOWHERE
		     ", 'cutoffs': []}",
		HEAD ", 'made_ns': 1700000000000000001, 'cpu': 3, " RUNS ", " NOWHERE
		     ", 'cutoffs': [{'daemon': 'apt', 'unit': 'apt-daily.service',"
		     "'short_ns': null, 'long_ns': 0, 'period_s': 86400, 'firm': false, "
		     "'task_time_s': 4320,"
		     "'below_ns': null, 'atleast_ns': 5}]}",
	};

	for (size_t i = 0; i < ELEMENTS(documents); i++) {
		_cleanup_(json_decrefp) json_t *document = parse(documents[i]),
					       *back = there_and_back(s, document);

		assert_same(document, back);
	}
}

TEST_IN_BOOK(what_is_left_out_is_not_known_and_comes_back_as_null)
{
	_cleanup_(json_decrefp) json_t *document = parse(
		HEAD ", " RUNS ", 'mood': 1, 'cutoffs': [{'daemon': 'bash', 'short_ns': 1000000, "
		     "'below_ns': 1000000,"
		     " 'atleast_ns': 1000000, 'smell': []}]}");
	_cleanup_(json_decrefp)
		json_t *full = parse(HEAD ", " RUNS ", " NOWHERE ", 'cutoffs': [" BASH "]}");
	_cleanup_(json_decrefp) json_t *back = there_and_back(s, document);

	assert_same(full, back);
}

TEST_IN_BOOK(seconds_keep_every_digit_of_a_nanosecond)
{
	static const int64_t times[] = {
		1, 999999999, 1000000001, 14374400000000, 718700000001, 2678400123456789};
	_cleanup_(json_decrefp) json_t *document = parse(PROFILE(RHN_CHECK));
	_cleanup_(profile_clear) struct profile profile = {};

	assert_done(s, document_parse_profile(document, &profile, &s->err));
	assert_int_equal(profile.cutoffs[0].period_ns, 14374400000000);
	assert_int_equal(profile.cutoffs[0].task_time_ns, 718700000000);
	for (size_t i = 0; i < ELEMENTS(times); i++) {
		_cleanup_(json_decrefp) json_t *back = NULL, *reread = NULL;
		_cleanup_(profile_clear) struct profile again = {};
		_cleanup_(freep) char *text = NULL;

		profile.cutoffs[0].period_ns = times[i];
		assert_done(s, document_make_profile(&profile, &back, &s->err));
		text = json_dumps(back, 0); /* as a file, which is where digits are lost */
		reread = json_loads(text, 0, NULL);
		assert_done(s, document_parse_profile(reread, &again, &s->err));
		assert_int_equal(again.cutoffs[0].period_ns, times[i]);
	}
}

TEST_IN_BOOK(without_limits_those_of_the_runs_hold)
{
	static const char both[] = "{'daemon': 'x', 'short_ns': 3, 'long_ns': 7, "
				   "'task_time_s': 60}";
	static const char one[] = "{'daemon': 'y', 'short_ns': 3}";
	_cleanup_(freep) char *text = text_format(PROFILE("%s, %s"), both, one);
	_cleanup_(json_decrefp) json_t *document = parse(text);
	_cleanup_(profile_clear) struct profile profile = {};

	assert_done(s, document_parse_profile(document, &profile, &s->err));
	assert_int_equal(profile.cutoffs[0].below_ns, 3);
	assert_int_equal(profile.cutoffs[0].atleast_ns, 7);
	assert_int_equal(profile.cutoffs[1].below_ns, 3);
	assert_int_equal(profile.cutoffs[1].atleast_ns, 3);
}

TEST_IN_BOOK(cutoffs_come_by_name_whatever_the_order_of_the_document)
{
	_cleanup_(json_decrefp) json_t *document = parse(PROFILE(RHN_CHECK ", " BASH));
	_cleanup_(profile_clear) struct profile profile = {};

	assert_done(s, document_parse_profile(document, &profile, &s->err));
	assert_string_equal(profile.cutoffs[0].daemon, "bash");
	assert_string_equal(profile.cutoffs[1].daemon, "rhn_check");
}

#define SHORT(half)             \
	HEAD ", 'short': " half \
	     ", 'long': {'program': 'x', 'samples': 0, 'l_samples': []}, 'cutoffs': []}"

static const struct {
	const char *document, *sentence;
} wrong[] = {
	{"[7]", "the document must be a JSON object"},
	{"{'format': 'emp-run', 'version': 1}", "'format' is 'emp-run', not 'emp-profile'"},
	{"{'format': 'emp-profile', 'version': 3}",
		"'version' is 3, and this EMP reads emp-profile version 1 only"},
	{"{'format': 'emp-profile', 'version': 1}", "the document has no 'name'"},
	{"{'format': 'emp-profile', 'version': 1, 'name': 'x'}",
		"the document has no 'resolution_ns'"},
	{HEAD "}", "the document has no 'short'"},
	{HEAD ", 'made_ns': 0, " RUNS "}", "'made_ns' is 0 and must not be below 1"},
	{HEAD ", 'cpu': -1, " RUNS "}", "'cpu' is -1 and must not be below 0"},
	{HEAD ", 'environment': 'x', " RUNS "}", "'environment' must be an object"},
	{HEAD ", 'environment': {'digest': 1}, " RUNS "}", "'environment': 'digest' must be text"},
	{HEAD ", 'short': 7}", "'short' must be an object"},
	{SHORT("{}"), "'short' has no 'program'"},
	{SHORT("{'program': 'x'}"), "'short' has no 'samples'"},
	{SHORT("{'program': 'x', 'samples': -1}"),
		"'short': 'samples' is -1 and must not be below 0"},
	{SHORT("{'program': 'x', 'samples': 9}"), "'short' has no 'l_samples'"},
	{SHORT("{'program': 'x', 'samples': 9, 'l_samples': [3, 'x']}"),
		"'short': entry 2 of 'l_samples' must be the number of a sample, 1 or more"},
	{SHORT("{'program': 'x', 'samples': 9, 'l_samples': [0]}"),
		"'short': entry 1 of 'l_samples' must be the number"},
	{SHORT("{'program': 'x', 'samples': 9, 'l_samples': [3, 4, 4]}"),
		"'short': entry 3 of 'l_samples' is 4 after 4, and they must be in order "
		"and not repeat"},
	{SHORT("{'program': 'x', 'samples': 9, 'l_samples': [3, 1]}"),
		"'short': entry 2 of 'l_samples' is 1 after 3"},
	{HEAD ", " RUNS ", 'cutoffs': [], 'resolving': [{'samples': 5, 'interleaved': 1e308, "
	      "'separate': 1}]}",
		"entry 1 of 'resolving' must have the numbers 'interleaved' and 'separate', "
		"from 0 to 1000000"},
	{HEAD ", " RUNS ", 'cutoffs': [], 'resolving': {}}", "'resolving' must be an array"},
	{HEAD ", " RUNS
	      ", 'cutoffs': [], 'resolving': [{'samples': '5', 'interleaved': 1, 'separate': 1}]}",
		"entry 1 of 'resolving' must have 'samples', a whole number from 1"},
	{HEAD ", " RUNS "}", "the document has no 'cutoffs'"},
	{PROFILE("7"), "cutoff 1 must be a JSON object"},
	{PROFILE(BASH ", {}"), "cutoff 2 has no 'daemon'"},
	{PROFILE("{'daemon': 'x', 'short_ns': -1}"),
		"cutoff 1: 'short_ns' is -1 and must not be below 0"},
	{PROFILE("{'daemon': 'x', 'below_ns': 1.5}"),
		"cutoff 1: 'below_ns' must be a whole number"},
	{PROFILE("{'daemon': 'x', 'period_s': -1}"),
		"cutoff 1: 'period_s' is -1 and must be from 0"},
	{PROFILE("{'daemon': 'x', 'task_time_s': 'long'}"),
		"cutoff 1: 'task_time_s' must be a number of seconds"},
	{PROFILE(BASH ", {'daemon': 'x', 'period_s': 60}"),
		"cutoff 2 ('x') would discard nothing: it has none of 'below_ns'"},
	{PROFILE("{'daemon': 'x', 'firm': 1}"), "cutoff 1: 'firm' must be true or false"},
	{PROFILE(BASH ", " RHN_CHECK ", " BASH), "'cutoffs': there are two for the daemon 'bash'"},
};

TEST_IN_BOOK(what_is_wrong_is_named_with_its_place)
{
	for (size_t i = 0; i < ELEMENTS(wrong); i++) {
		_cleanup_(json_decrefp) json_t *document = parse(wrong[i].document);
		struct profile profile = {.name = (char *)0x77};
		int r = document_parse_profile(document, &profile, &s->err);

		assert_true(r == -EINVAL || r == -EPROTONOSUPPORT);
		assert_says(s, wrong[i].sentence);
		assert_ptr_equal(profile.name, 0x77);
	}
}
