/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of each change, for people and for programs. */
#include "tests/unit/check.h"

#include "setup/apply/report.h"

TEST(outcomes_are_counted_and_have_the_names_that_programs_know)
{
	static const char *const names[] = {"will change", "stays", "changed", "already", "absent",
		"refused", "clamped", "restored", "left alone", "failed"};
	struct report report = {};
	json_t *document, *rows;

	for (int i = 0; i <= OUTCOME_FAILED; i++)
		report_add(&report, "x", "/x", (enum outcome)i, NULL, NULL, NULL);
	report_add(&report, "x", "/y", OUTCOME_CHANGED, "1", "2", NULL);
	assert_int_equal(report.count[OUTCOME_CHANGED], 2);
	assert_int_equal(report.count[OUTCOME_REFUSED], 1);
	document = report_document(&report, NULL);
	rows = json_object_get(document, "changes");
	for (int i = 0; i <= OUTCOME_FAILED; i++)
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(rows, i), "outcome")),
			names[i]);
	json_decref(document);
	report_clear(&report);
}

/* What is printed of a report; valid until the next call. */
static const char *printed(const struct report *report, bool all)
{
	static char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	text[0] = '\0';
	report_print(report, stream, all);
	fclose(stream);
	return text;
}

TEST(files_with_equal_results_share_a_row)
{
	struct report report = {};

	report_add(&report, "ksm", "/k", OUTCOME_ALREADY, "0", "0", NULL);
	assert_string_equal(printed(&report, false), "");
	report_add(&report, "epb", "/cpu0", OUTCOME_CHANGED, "6", "0", NULL);
	report_add(&report, "epb", "/cpu1", OUTCOME_CHANGED, "6", "0", NULL);
	report_add(&report, "epb", "/cpu2", OUTCOME_REFUSED, "6", "6", "busy");
	assert_non_null(strstr(printed(&report, false), "/cpu0 and 1 more"));
	assert_null(strstr(printed(&report, false), "/cpu1"));
	assert_non_null(strstr(printed(&report, false), "/cpu2"));
	assert_null(strstr(printed(&report, false), "ksm"));
	assert_non_null(strstr(printed(&report, true), "already set"));
	report_clear(&report);
}
