/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How two programs compare, in one line. */
#include "tests/unit/check.h"

#include "lib/base/argv.h"
#include "lib/base/terminal.h"
#include "lib/report/comparison_report.h"

#include <math.h>

static struct comparison make(double ratio, double half, double p)
{
	return (struct comparison){
		.rules = COMPARISON_RULES,
		.ratio = ratio,
		.ratio_low = ratio - half,
		.ratio_high = ratio + half,
		.design = DESIGN_PAIRS,
		.p_adjusted = p,
		.smallest_difference = 0.0214,
	};
}

static char *line(const char *reference, const char *name, const struct comparison *c)
{
	return PRINTED(file, comparison_line(file, reference, name, c));
}

static void check_text(
	const char *reference, const char *name, const struct comparison *c, const char *want)
{
	_cleanup_(freep) char *text = line(reference, name, c);

	assert_string_equal(text, want);
}

TEST(faster_is_the_inverse_of_the_ratio)
{
	struct comparison c = make(1 / 1.18, 0.0215, 0.0003);

	check_text("sort big.txt", "sort -n big.txt", &c,
		"sort -n big.txt is 1.18 times faster than sort big.txt in CPU time\n"
		"  (95 % CI 1.15 … 1.21, p = 0.0003)\n");
}

TEST(the_ratio_of_the_runs_alone_has_the_direction_of_the_duets)
{
	struct comparison c = make(0.5, 0.125, 0.001);

	c.design = DESIGN_DUET;
	c.ratio_in_turn = 0.6;
	check_text("a", "b", &c,
		"b is 2.00 times faster than a in CPU time  (95 % CI 1.60 … 2.67, p = 0.001)\n"
		"  The runs alone say 1.67 times: the ratio depends on how the programs alternate\n");
}

static void check_between(const struct comparison *c, size_t n, const char *want)
{
	_cleanup_(freep) char *text = PRINTED(file, comparisons_between_line(file, c, n));

	assert_string_equal(text, want);
}

TEST(samples_that_were_not_taken_in_turn_have_one_line)
{
	const struct comparison c[] = {
		{.design = DESIGN_BETWEEN, .between = 0.001, .n_between = 4},
		{.design = DESIGN_SEPARATE},
		{.design = DESIGN_BETWEEN, .between = 0.0123, .n_between = 4},
		{.design = DESIGN_BETWEEN, .between = 0.321, .n_between = 1000},
	};

	check_between(c, 1, "Not taken in turn: separate runs vary by 0.10 % (sd of 4 runs)\n");
	check_between(c, 2, "Not taken in turn: separate runs vary by 0.10 % (sd of 4 runs)\n");
	check_between(
		c, 3, "Not taken in turn: separate runs vary by 0.10 % to 1.2 % (sd of 4 runs)\n");
	check_between(c, 4,
		"Not taken in turn: separate runs vary by 0.10 % to 32 % (sd of 4 to 1000 runs)\n");
	check_between(c + 1, 1, "");
}

TEST(slower_is_the_ratio_with_as_many_digits_as_it_deserves)
{
	struct comparison c = make(1.19753, 0.00091, 1e-30);

	check_text("a", "b", &c,
		"b is 1.1975 times slower than a in CPU time\n"
		"  (95 % CI 1.1966 … 1.1984, p < 0.0001)\n");
	c = make(31.4, 12, 0.012);
	check_text("a", "b", &c,
		"b is 31.40 times slower than a in CPU time  (95 % CI 19.40 … 43.40, p = 0.012)\n");
	c = make(1.2008, 0.2, 0.049); /* the interval does not reach 1 */
	check_text("a", "b", &c,
		"b is 1.201 times slower than a in CPU time  (95 % CI 1.001 … 1.401, p = 0.049)\n");
}

TEST(what_is_not_shown_has_its_ratio_and_says_what_could_have_been_shown)
{
	struct comparison c = make(1.01, 0.02, 0.4);

	check_text("a", "b", &c,
		"b: 1.01 times a in CPU time\n"
		"  (95 % CI 0.99 … 1.03, p = 0.4; could have shown 2.1 %): cannot tell\n");
	c.rules.equal_within = 5;
	check_text("a", "b", &c,
		"b: 1.01 times a in CPU time\n"
		"  (95 % CI 0.99 … 1.03, p = 0.4; could have shown 2.1 %): equal\n");
}

TEST(one_sample_gives_a_ratio_and_no_verdict)
{
	struct comparison c = {.rules = COMPARISON_RULES,
		.design = DESIGN_PAIRS,
		.ratio = 1.5,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.p_adjusted = NAN};

	check_text("a", "b", &c,
		"b: 1.50 times a in CPU time  (too few samples for an interval): cannot tell\n");
	c.design = DESIGN_SEPARATE;
	check_text("a", "b", &c,
		"b: 1.50 times a in CPU time  (too few samples for an interval): cannot tell\n");
	c.a.n = c.b.n = 2;
	check_text("a", "b", &c, "b: 1.50 times a in CPU time  (not taken in turn): cannot tell\n");
	c.lost_pairs = true;
	check_text("a", "b", &c,
		"b: 1.50 times a in CPU time\n"
		"  (fewer than two rounds with both samples kept): cannot tell\n");
	c.design = DESIGN_PAIRS;
	check_text("a", "b", &c,
		"b: 1.50 times a in CPU time\n"
		"  (the times vary too much for an interval): cannot tell\n");
}

static void check_verdict(const char *name, const struct comparison *c, const char *want)
{
	const struct verdict_line line = {"a", name ?: "b", name, false};
	_cleanup_(freep) char *text = PRINTED(file, comparison_verdict_print(file, &line, c));

	assert_string_equal(text, want);
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
		assert_true(terminal_bytes_width(at, strcspn(at, "\n")) <= 80);
}

TEST(the_last_line_has_the_word_and_what_helps)
{
	struct comparison c = make(1.87, 1.05, 0.051);

	c.a = c.b = (struct summary){.n = 5, .mean_ns = 3e8};
	c.df = 4;
	c.alpha = 0.05;
	c.smallest_difference = 1.01;
	c.mean_a = 1;
	c.mean_b = 1.87;
	c.variance_b = 0.38 * 0.38; /* t is 2.3 */
	check_verdict(NULL, &c,
		"Verdict: cannot tell; could have shown 101 %; 51 more samples (31 s) "
		"should tell\n");

	c.a.mean_ns = c.b.mean_ns = 1e6;
	c.smallest_difference = 0.9;
	_cleanup_(freep) char *text = PRINTED(
		file, comparison_verdict_print(file, &(struct verdict_line){}, &c));
	assert_string_equal(text,
		"Verdict: cannot tell; could have shown 90 %; 51 more samples (0.1 s) "
		"should tell\n");

	c.smallest_difference = 0.1;
	c.ratio = c.mean_b = 1.01;
	c.variance_b = 0.026 * 0.026;
	check_verdict("b", &c,
		"Verdict on 'b': cannot tell; could have shown 10 %; 120 more samples "
		"should tell\n");
	check_verdict("./solver input2", &c,
		"Verdict on './solver input2': cannot tell; 120 more samples should tell\n");

	setenv("COLUMNS", "60", true);
	check_verdict("b", &c, "Verdict on 'b': cannot tell; 120 more samples should tell\n");
	check_verdict("./solver input2", &c,
		"Verdict on './solver input2': cannot tell; 120 more samples\n  should tell\n");
	unsetenv("COLUMNS");
	c.unmeasurable = UNMEASURABLE_HELD_BACK;
	check_verdict(NULL, &c,
		"Verdict: unmeasurable: held back by a control group; measure outside of it\n");
	c.work = WORK_SAME_PROGRAM;
	check_verdict(NULL, &c, "Verdict: same program; what differs is noise\n");
	c.work = WORK_DIFFERENT;
	check_verdict(NULL, &c, "Verdict: different work; their outputs differ\n");
	c.work = WORK_FAILED_IN_REFERENCE;
	check_verdict(NULL, &c, "Verdict: different work; --check failed for 'a'\n");
	c.work = WORK_VARIES;
	check_verdict(NULL, &c, "Verdict: different work; the output of 'b' varies\n");
	check_verdict("sort -n", &c, "Verdict on 'sort -n': different work; its output varies\n");
	static const char name[] = "./solver --input=mesh.vtk --tolerance=1e-9 öäü\nö -o /dev/null";
	check_verdict(name, &c,
		"Verdict on './solver --i…o /dev/null': different work; its output varies\n");
	c.work = WORK_FAILED;
	check_verdict(name, &c,
		"Verdict on './solver --i…o /dev/null': different work; --check failed for it\n");
	c = make(1.01, 0.002, 0.01);
	c.rules.fail_if_slower = 2;
	check_verdict(NULL, &c, "Verdict: equal (within 2 %)\n");
	c = make(1.1, 0.002, 0.01);
	c.rules.fail_if_slower = 2;
	check_verdict(NULL, &c, "Verdict: slower by more than 2 %\n");
}

TEST(long_names_are_cut_in_the_middle_to_80_columns)
{
	static const char reference[] =
		"./solver --threads=1 --input=mesh.vtk --tolerance=1e-9 -o /tmp/öut";
	static const char name[] =
		"./solver --threads=1 --input=mesh.vtk --tolerance=1e-8 -o /tmp/öut.2";
	struct comparison c = make(1.18, 0.02, 0.0003);

	check_text(reference, name, &c,
		"./solver --threads=1 --input=mesh.vtk --tolerance=1e-8 -o /tmp/öut.2\n"
		"  is 1.18 times slower than\n"
		"  ./solver --threads=1 --input=mesh.vtk --tolerance=1e-9 -o /tmp/öut in CPU time\n"
		"  (95 % CI 1.16 … 1.20, p = 0.0003)\n");
	c.clock = COMPARISON_ET;
	c.ratio_low = 0.9;
	check_text("old", "sh -c :", &c,
		"'sh -c :': 1.18 times old in elapsed time\n"
		"  (95 % CI 0.90 … 1.20, p = 0.0003; could have shown 2.1 %): cannot tell\n");
}

static void check_names(const char *const *names, size_t n, size_t columns, const char *const *want)
{
	_cleanup_(argv_freep) char **shown = terminal_short_names(names, n, columns);

	for (size_t i = 0; i < n; i++)
		assert_string_equal(shown[i], want[i]);
}

TEST(names_beside_each_other_stay_different_when_they_are_shortened)
{
	static const char *const differ_at_ends[] = {
		"./solver --mesh=a.vtk -o 1", "./solver --mesh=b.vtk -o 2"};
	static const char *const differ_inside[] = {"./solver --threads=1 --input=mesh.vtk -o out",
		"./solver --threads=2 --input=mesh.vtk -o out"};
	static const char *const same[] = {
		"./solver --mesh=a.vtk -o 1", "./solver --mesh=a.vtk -o 1"};

	check_names(differ_at_ends, 2, 12, (const char *const[]){"./solv… -o 1", "./solv… -o 2"});
	check_names(differ_at_ends, 2, 80, differ_at_ends);
	check_names(
		differ_inside, 2, 16, (const char *const[]){"./solv…1…-o out", "./solv…2…-o out"});
	check_names(same, 2, 12, (const char *const[]){"./solv… -o 1", "./solv… -o 1"});
}

TEST(no_line_is_wider_than_80_columns)
{
	static const double ratios[] = {1e-9, 0.33, 0.99, 1, 1.01, 3, 1234567, 1e12};
	static const double halves[] = {0, 1e-12, 1e-4, 0.3, NAN};
	char name[200];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < ELEMENTS(ratios); i++)
		for (size_t k = 0; k < ELEMENTS(halves); k++) {
			struct comparison c = make(ratios[i], ratios[i] * halves[k], 0.00123456);
			_cleanup_(freep) char *text = NULL;

			c.clock = k % N_COMPARISON_CLOCKS;
			text = line(name, name, &c);
			for (char *rest = text, *one; (one = strsep(&rest, "\n"));)
				if (terminal_text_width(one) > 80)
					fail_msg("%zu columns: %s", terminal_text_width(one), one);
		}
}

/* Made, and of CPU time. */
static struct comparison made(double ratio, double half)
{
	struct comparison c = make(ratio, half, 0.01);

	c.a.n = c.b.n = 5;
	return c;
}

TEST(of_two_comparisons_the_worse_is_that_whose_verdict_weighs_more)
{
	struct comparison none = {}, slower = made(1.2, 0.1), equal = made(1, 0.01);
	struct comparison doubtful = made(1.1, 0.5), much_slower = made(1.5, 0.1);

	assert_null(comparison_worse(NULL, &none));
	assert_ptr_equal(comparison_worse(NULL, &equal), &equal);
	assert_ptr_equal(comparison_worse(&equal, &none), &equal);
	assert_ptr_equal(comparison_worse(&slower, &equal), &slower);
	assert_ptr_equal(comparison_worse(&equal, &slower), &slower);
	assert_ptr_equal(comparison_worse(&slower, &much_slower), &much_slower);
	assert_ptr_equal(comparison_worse(&slower, &slower), &slower);
	assert_ptr_equal(comparison_worse(&slower, &doubtful), &slower);
	doubtful.rules.strict = slower.rules.strict = true; /* only "cannot tell" fails */
	assert_ptr_equal(comparison_worse(&slower, &doubtful), &doubtful);
}
