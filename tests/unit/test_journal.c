/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal of applied settings, and the plan that fills it. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "setup/apply/journal.h"
#include "setup/apply/plan.h"
#include "setup/apply/report.h"

static struct tree tree;
static char place[80], file[96];

static int make(void **state)
{
	tree_make(&tree);
	snprintf(place, sizeof(place), "%s/emp", tree.path);
	snprintf(file, sizeof(file), "%s/journal", place);
	journal_set_directory(place);
	return 0;
}

static int drop(void **state)
{
	tree_remove(&tree);
	return 0;
}

static struct entry entry(const char *name, const char *old, const char *want)
{
	return (struct entry){
		.id = strdup("test"), .name = strdup(name), .old = strdup(old), .want = strdup(want)};
}

static struct journal filled(void)
{
	struct journal j = {.boot_id = journal_boot_id(), .since_ns = 77};
	struct entry a = entry("/a", "1", "0"), b = entry("b.service", "active", "inactive");
	struct error err = {};

	b.kind = ENTRY_UNIT;
	b.block = BLOCK_DROP_IN;
	b.persistent = true;
	assert_int_equal(journal_add(&j, &a, &err), 0);
	assert_int_equal(journal_add(&j, &b, &err), 0);
	return j;
}

static void append(const char *text)
{
	FILE *f = fopen(file, "a");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define TEST_IN_TREE(name) TEST_WITH(name, make, drop)

TEST_IN_TREE(what_is_saved_is_loaded_again)
{
	struct journal j = filled(), k = {};
	struct error err = {};

	assert_int_equal(journal_load(&k, &err), 0); /* nothing is applied */
	assert_int_equal(k.n, 0);
	assert_int_equal(journal_save(&j, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_int_equal(k.n, 2);
	assert_int_equal(k.since_ns, 77);
	assert_string_equal(k.entries[0].old, "1");
	assert_null(k.entries[0].held);
	assert_int_equal(k.entries[1].kind, ENTRY_UNIT);
	assert_int_equal(k.entries[1].block, BLOCK_DROP_IN);
	assert_true(k.entries[1].persistent);
	assert_false(journal_is_stale(&k));
	journal_clear(&k);
	journal_clear(&j);
	assert_int_equal(journal_remove(&err), 0);
	assert_int_equal(access(place, F_OK), -1);
}

TEST_IN_TREE(a_mark_records_the_value_of_an_entry)
{
	struct journal j = filled(), k = {};
	struct error err = {};

	assert_int_equal(journal_save(&j, &err), 0);
	j.entries[0].held = strdup("5");
	assert_int_equal(journal_mark(&j, 0, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_string_equal(k.entries[0].held, "5");
	journal_clear(&k);
	append("{\"mark\":0,\"he"); /* a power cut in the middle of the next */
	assert_int_equal(journal_load(&k, &err), 1);
	assert_string_equal(k.entries[0].held, "5");
	journal_clear(&k);
	journal_clear(&j);
}

TEST_IN_TREE(a_file_that_is_not_a_journal_is_refused)
{
	static const char *const rows[][2] = {
		{"", "is empty"},
		{"nonsense\n", "line 1, cannot be read"},
		{"{\"format\":\"else\"}\n", "is not a journal of emp-setup"},
		{"{\"format\":\"emp-journal\",\"version\":2}\n", "was written by a newer emp-setup"},
		{"{\"format\":\"emp-journal\",\"version\":1,\"since_ns\":1}\n{\"kind\":0}\n{\"mark\":0}\n",
			"has no 'knob'"},
		{"{\"format\":\"emp-journal\",\"version\":1,\"since_ns\":1}\n{\"mark\":3}\n{\"mark\":0}\n",
			"marks entry 3"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct journal j = {};
		struct error err = {};

		tree_put(&tree, "emp/journal", rows[i][0]);
		assert_int_equal(journal_load(&j, &err), -EINVAL);
		if (!strstr(err.text, rows[i][1]))
			fail_msg("'%s' is not in '%s'", rows[i][1], err.text);
	}
}

TEST_IN_TREE(a_reboot_leaves_only_persistent_entries)
{
	struct journal j = filled();

	assert_int_equal(journal_drop_stale(&j), 0);
	strcpy(j.boot_id, "another");
	assert_true(journal_is_stale(&j));
	assert_int_equal(journal_drop_stale(&j), 1);
	assert_int_equal(j.n, 1);
	assert_string_equal(j.entries[0].name, "b.service");
	assert_false(journal_is_stale(&j));
	journal_clear(&j);
}

TEST_IN_TREE(a_tuned_value_is_never_taken_for_an_original)
{
	struct plan plan = {.journal = filled()};
	struct entry again = entry("/a", "0", "7"), other = entry("/c", "x", "y");
	struct error err = {};

	assert_int_equal(plan_add(&plan, &again, &err), 0);
	assert_int_equal(plan_add(&plan, &other, &err), 0);
	assert_int_equal(plan.journal.n, 3);
	assert_string_equal(plan.journal.entries[0].old, "1");
	assert_string_equal(plan.journal.entries[0].want, "7");
	assert_int_equal(plan.n_order, 2);
	assert_int_equal(plan.order[0], 0);
	assert_int_equal(plan.order[1], 2);
	plan_clear(&plan);
}

TEST_IN_TREE(only_and_skip_choose_among_the_checks)
{
	struct request all = {}, only = {.only = "thp,freq.governor"}, skip = {.skip = "ksm"};

	assert_true(request_takes(&all, check_rows_find("freq.governor")));
	assert_true(request_takes(&all, check_rows_find("svc.units")));
	assert_false(request_takes(&all, check_rows_find("thp")));            /* on request */
	assert_false(request_takes(&all, check_rows_find("smt")));            /* likewise */
	assert_false(request_takes(&all, check_rows_find("kernel.version"))); /* nothing to set */
	assert_true(request_takes(&only, check_rows_find("thp")));
	assert_true(request_takes(&only, check_rows_find("epp"))); /* the governor changes it */
	assert_false(request_takes(&only, check_rows_find("svc.units")));
	assert_false(request_takes(&skip, check_rows_find("ksm")));
	assert_true(request_takes(&skip, check_rows_find("nmi")));
}

TEST_IN_TREE(a_name_that_cannot_be_applied_is_refused)
{
	struct request unknown = {.only = "freq.governor,frq"}, record = {.skip = "kernel.version"};
	struct error err = {};

	assert_int_equal(request_validate(&unknown, &err), -EINVAL);
	assert_string_equal(err.text, "--only: there is no check 'frq'; 'emp-setup audit --all' lists them");
	assert_int_equal(request_validate(&record, &err), -EINVAL);
	assert_string_equal(err.text,
		"--skip: kernel.version cannot be applied; do it by hand: install the newest kernel and reboot");
}

TEST_IN_TREE(outcomes_are_counted_and_have_the_names_that_programs_know)
{
	static const char *const names[] = {"will change", "stays", "changed", "already", "absent", "refused",
		"clamped", "restored", "left alone", "failed"};
	struct report *report;
	struct error err = {};
	json_t *rows;

	assert_int_equal(report_new(&report, &err), 0);
	for (int i = 0; i <= OUTCOME_FAILED; i++)
		report_add(report, "x", "/x", (enum outcome)i, NULL, NULL, NULL);
	report_add(report, "x", "/y", OUTCOME_CHANGED, "1", "2", NULL);
	assert_int_equal(report_count(report, OUTCOME_CHANGED), 2);
	assert_int_equal(report_count(report, OUTCOME_REFUSED), 1);
	rows = report_json(report);
	for (int i = 0; i <= OUTCOME_FAILED; i++)
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(rows, i), "outcome")), names[i]);
	json_decref(rows);
	report_free(report);
}

static void print_to(char **text, struct report *report, bool all)
{
	struct error err = {};
	size_t size;
	FILE *stream = open_memstream(text, &size);
	bool any;

	assert_int_equal(report_print(report, stream, all, &any, &err), 0);
	fclose(stream);
	assert_int_equal(any, size > 0);
}

TEST_IN_TREE(files_with_equal_results_share_a_row)
{
	struct report *report;
	struct error err = {};
	char *text;

	assert_int_equal(report_new(&report, &err), 0);
	report_add(report, "ksm", "/k", OUTCOME_ALREADY, "0", "0", NULL);
	print_to(&text, report, false);
	assert_string_equal(text, "");
	free(text);
	report_add(report, "epb", "/cpu0", OUTCOME_CHANGED, "6", "0", NULL);
	report_add(report, "epb", "/cpu1", OUTCOME_CHANGED, "6", "0", NULL);
	report_add(report, "epb", "/cpu2", OUTCOME_REFUSED, "6", "6", "busy");
	print_to(&text, report, false);
	assert_non_null(strstr(text, "/cpu0 and 1 more"));
	assert_null(strstr(text, "/cpu1"));
	assert_non_null(strstr(text, "/cpu2"));
	assert_null(strstr(text, "ksm"));
	free(text);
	print_to(&text, report, true);
	assert_non_null(strstr(text, "already set"));
	free(text);
	report_free(report);
}
