/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of studies, and plans. */
#include "lib/study/study_plan.h"

#include "tests/unit/check.h"

static struct study_file parse(const char *text)
{
	struct study_file file = {};
	struct error err = {};

	if (study_parse(&file, text, "my.ini", &err) < 0)
		fail_msg("%s", err.text);
	return file;
}

static void refused(const char *text, const char *sentence)
{
	struct study_file file = {};
	struct error err = {};

	assert_int_equal(study_parse(&file, text, "my.ini", &err), -EINVAL);
	assert_string_equal(err.text, sentence);
}

static const char settings[] = "[study]\n"
			       "what = settings\n"
			       "text = One\n"
			       "text = two.\n"
			       "rounds = 3\n"
			       "samples = 10\n"
			       "[subject INC]\n"
			       "inc = 0.1, 1\n"
			       "[subject sort]\n"
			       "command = emp-sort --seed 2 {size}\n"
			       "sizes = 2K,3.2M\n"
			       "samples = 4\n"
			       "[step a]\n"
			       "apply = svc.units, ksm\n"
			       "[step b]\n"
			       "stop = one two.timer\n"
			       "stop = three\n";

TEST(a_section_makes_a_program_of_each_size)
{
	struct study_file file = parse(settings);

	assert_string_equal(file.name, "my");
	assert_string_equal(file.text, "One two.");
	assert_int_equal(file.n_subjects, 4);
	assert_string_equal(file.subjects[0].name, "INC0.1");
	assert_string_equal(file.subjects[0].line, "emp-inc 0.1");
	assert_int_equal(file.subjects[1].expected_ns, NS_PER_S);
	assert_string_equal(file.subjects[3].name, "sort 3.2M");
	assert_string_equal(file.subjects[3].argv[3], "3.2M");
	assert_true(file.subjects[3].size == 3.2e6);
	assert_string_equal(file.steps[0].apply, "svc.units,ksm");
	assert_string_equal(file.steps[1].stop, "one,two.timer,three");
	study_file_clear(&file);
}

TEST(wrong_lines_are_named)
{
	refused("[study]\nwhat = lengths\nround = 3\n",
		"my.ini, line 3: there is no 'round' in the section [study], see emp-study(1)");
	refused("[study]\nwhat = lengths\n[program a]\ncommand = true\n",
		"my.ini, line 3: there is no section [program a]: they are [study], [subject NAME] "
		"and [step NAME]");
	refused("[study]\nwhat = lengths\n[subject a]\ncommand = true\ninc = 1\n",
		"my.ini, line 3: [subject a]: a subject has either 'inc', or 'command' or 'shell'");
	refused("[study]\nwhat = lengths\n[subject a]\ncommand = true {size}\n",
		"my.ini, line 3: [subject a]: '{size}' needs a line 'sizes = …'");
	refused("[study]\nwhat = lengths\n[subject a]\ncommand = true {size}\nsizes = 1, x\n",
		"my.ini, line 3: [subject a]: sizes are numbers such as 500, 100K or 3.2M, not "
		"'x'");
	refused("[study]\nwhat = lengths\n[subject a]\ninc = 1,1\n",
		"my.ini, line 3: [subject a]: 'a1' is there twice");
	refused("[study]\nwhat = lengths\n", "my.ini: there is no [subject NAME]");
	refused("[study]\nwhat = lengths\nrounds = 9\nsamples = 8\n[subject a]\ninc = 1\n",
		"my.ini: 9 rounds need 9 samples or more, not 8");
	refused("[subject a]\ninc = 1\n", "my.ini: [study] has no line 'what = …'");
}

/* The steps of a combination, as "ab". */
static const char *steps_of(const struct study_file *file, size_t i)
{
	_cleanup_(freep) char *label = study_combination_label(file, i);
	const char *a = study_combination_has(file, i, 0) ? "a" : "";
	const char *b = study_combination_has(file, i, 1) ? "b" : "";

	return text_brief("%s: %s%s", label ?: "none", a, b);
}

TEST(steps_are_combined_by_the_order)
{
	struct study_file file = parse(settings);

	assert_int_equal(study_n_combinations(&file), 3);
	assert_string_equal(steps_of(&file, 0), "none: ");
	assert_string_equal(steps_of(&file, 1), "a: a");
	assert_string_equal(steps_of(&file, 2), "b: ab");
	file.order = STUDY_EACH_ALONE;
	assert_string_equal(steps_of(&file, 2), "b: b");
	file.order = STUDY_EACH_LEFT_OUT;
	assert_int_equal(study_n_combinations(&file), 4);
	assert_string_equal(steps_of(&file, 1), "all: ab");
	assert_string_equal(steps_of(&file, 2), "without a: b");
	assert_string_equal(steps_of(&file, 3), "without b: a");

	file.steps[0].empty = true;
	assert_int_equal(study_n_measured_combinations(&file), 3); /* none, all, without b */
	file.order = STUDY_ONE_AFTER_ANOTHER;
	assert_int_equal(study_n_measured_combinations(&file), 2);
	study_file_clear(&file);
}

TEST(each_round_has_each_block_once_in_random_order)
{
	struct study_file file = parse(settings);
	struct study_plan plan;
	struct study_block *blocks, *again, *other;
	size_t n, n_other, moved = 0, runs = 0;
	uint32_t samples[4] = {};

	assert_int_equal(study_plan_make(&plan, &file, 0, NULL), 0);
	blocks = study_plan_blocks(&plan, &file, 7, &n);
	again = study_plan_blocks(&plan, &file, 7, &n_other);
	assert_int_equal(n, n_other);
	assert_int_equal(n, 3 * 3 * 4);
	other = study_plan_blocks(&plan, &file, 8, &n_other);
	for (size_t i = 0; i < n; i++) {
		const struct study_block *b = &blocks[i];
		bool same_step = i > 0 && blocks[i - 1].round == b->round &&
				 !strcmp(blocks[i - 1].step ?: "", b->step ?: "");

		assert_int_equal(b->position, i + 1);
		assert_int_equal(b->round, i / 12 + 1);
		assert_string_equal(b->subject, again[i].subject);
		assert_string_equal(b->step ?: "", again[i].step ?: "");
		moved += strcmp(b->subject, other[i].subject) != 0;
		runs += !same_step;
		for (size_t k = 0; k < 4; k++)
			if (!strcmp(b->subject, file.subjects[k].name))
				samples[k] += b->samples;
		for (size_t k = i + 1; k < n && blocks[k].round == b->round; k++)
			assert_false(!strcmp(b->subject, blocks[k].subject) &&
				     !strcmp(b->step ?: "", blocks[k].step ?: ""));
	}
	assert_true(moved > 0);
	assert_int_equal(runs, 3 * 3); /* settings change only between the steps of a round */
	assert_int_equal(samples[0], 3 * 10);
	assert_int_equal(samples[2], 3 * 4);
	fields_free(&study_block_table, blocks, n);
	fields_free(&study_block_table, again, n);
	fields_free(&study_block_table, other, n);
	study_plan_clear(&plan);
	study_file_clear(&file);
}

TEST(a_plan_keeps_its_limit)
{
	struct study_file file = parse("[study]\nwhat = lengths\nrounds = 5\nsamples = 50\n"
				       "[subject INC]\ninc = 0.1,1,4\n");
	struct error err = {};

	for (int64_t seconds = 600; seconds >= 60; seconds -= 20) {
		struct study_plan plan;

		assert_int_equal(study_plan_make(&plan, &file, seconds * NS_PER_S, &err), 0);
		assert_true(plan.expected_ns <= seconds * NS_PER_S);
		assert_true(plan.expected_ns >= seconds * NS_PER_S / 3);
		assert_int_equal(plan.shortened, plan.samples[0] < 50);
		assert_true(plan.samples[0] >= (uint32_t)plan.rounds && plan.samples[0] >= 3);
		study_plan_clear(&plan);
	}
	assert_int_equal(
		study_plan_make(&(struct study_plan){}, &file, 10 * NS_PER_S, &err), -E2BIG);
	assert_non_null(strstr(err.text, "raise it with --max-time"));
	study_file_clear(&file);
}

TEST(a_factor_changes_inc_and_its_names)
{
	struct study_file file = parse(settings);
	struct error err = {};

	assert_int_equal(study_file_scale(&file, 0.5, &err), 0);
	assert_string_equal(file.subjects[0].name, "INC0.05");
	assert_string_equal(file.subjects[1].argv[1], "0.5");
	assert_string_equal(file.subjects[2].name, "sort 2K");
	assert_int_equal(study_file_scale(&file, 1e-4, &err), -EINVAL);
	study_file_clear(&file);
}
