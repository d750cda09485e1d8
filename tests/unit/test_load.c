/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a load, and the rate of its work. */
#include "tests/unit/check.h"

#include "lib/load/verification.h"

#include <math.h>

static struct load parse(const char *text)
{
	struct load load = {};
	struct error err = {};

	if (load_parse(&load, text, "dir/office.ini", &err) < 0)
		fail_msg("%s", err.text);
	return load;
}

TEST(scripts_keep_the_order_of_their_lines)
{
	struct load load = parse(
		"[load]\ncoordination = no-teardown\ncpus = 0\n[edit]\nslaves = 3\nthink = 20ms\n"
		"command = cat 'a b'\ninput = words\nflush = 64K\nshell = echo a ; echo b | cat\n"
		"[one]\nthink = uniform 1ms 2ms\nthink = exponential 1s\nflush = drop\n");
	const struct step *edit = load.scripts[0].steps, *one = load.scripts[1].steps;
	char *name = load_worker_name(&load, 2);

	assert_string_equal(load.name, "office.ini");
	assert_int_equal(load.coordination, LOAD_NO_TEARDOWN);
	assert_int_equal(load.n_scripts, 2);
	assert_int_equal(load_n_workers(&load), 4);
	assert_string_equal(name, "edit 3");
	assert_ptr_equal(load_script_of(&load, 3), &load.scripts[1]);
	assert_int_equal(load.scripts[0].n_steps, 4);
	assert_int_equal(edit[0].think.low_ns, 20 * NS_PER_MS);
	assert_int_equal(edit[0].think.high_ns, 20 * NS_PER_MS);
	assert_string_equal(edit[1].argv[1], "a b");
	assert_string_equal(edit[1].input, "words");
	assert_int_equal(edit[2].fill_bytes, 65536);
	/* ';' begins no comment there */
	assert_string_equal(edit[3].argv[2], "echo a ; echo b | cat");
	assert_int_equal(one[0].think.high_ns, 2 * NS_PER_MS);
	assert_true(one[1].think.exponential && one[1].think.low_ns == NS_PER_S);
	assert_int_equal(one[2].kind, STEP_DROP);
	free(name);
	load_clear(&load);
}

TEST(a_mistake_is_named_with_its_line)
{
	static const char *const cases[][2] = {
		{"[a]\ncommand = true\nslaves = 0\n", "f.ini, line 3: slaves must"},
		{"[a]\ncommand = no-such-program-here\n", "f.ini, line 2: "},
		{"[a]\ncommand = cat | cat\n", "f.ini, line 2: "},
		{"[a]\ninput = x\ncommand = cat\n", "f.ini, line 2: input must follow"},
		{"[a]\nthink = uniform 2s 1s\n", "f.ini, line 2: think: 1s is less than 2s"},
		{"[a]\nthink = now and then\n", "f.ini, line 2: think must be"},
		{"[a]\nflush = 12Q\n", "f.ini, line 2: flush must be a size"},
		{"[a]\ncommand = a | b\n", "f.ini, line 2: 'command' runs no shell: use 'shell'"},
		{"[a]\ncommand = true\nslice = 1s\n", "f.ini, line 3: slice must be from 0.1ms"},
		{"[load]\nslaves = 2\n",
			"f.ini, line 2: there is no 'slaves' in the section [load]"},
		{"command = true\n", "f.ini, line 1: before the first [section]"},
		{"[load]\nruns = 2\n", "f.ini has no script"},
		{"[a]\nslaves = 2\n", "f.ini: the script [a] does nothing"},
		{"[a]\nslaves = 9999\ncommand = true\n[b]\nslaves = 2\ncommand = true\n",
			"f.ini: 10001 slaves, but at most 10000 are possible"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct load load = {};
		struct error err = {};

		assert_true(load_parse(&load, cases[i][0], "f.ini", &err) < 0);
		if (strncmp(err.text, cases[i][1], strlen(cases[i][1])))
			fail_msg("'%s' does not begin with '%s'", err.text, cases[i][1]);
		assert_int_equal(load.n_scripts, 0);
	}
}

static struct run_program programs[] = {
	{1, (char *)"a", NULL}, {2, (char *)"a", NULL}, {3, (char *)"b", NULL}};

/* Two runs of a second and of two; the third is not among the samples that count. */
static struct load_rates rates(enum coordination coordination, const struct load_rates *shares_of)
{
	static const struct sample samples[] = {
		{.n = 1, .et_ns = NS_PER_S}, {.n = 2, .et_ns = 2 * NS_PER_S}};
	static struct sample_program parts[] = {
		{.sample = 1,
			.program = 1,
			.repetitions = 4,
			.et_ns = NS_PER_S / 2,
			.finished_ns = 1},
		{.sample = 1, .program = 2, .repetitions = 2, .et_ns = NS_PER_S, .finished_ns = 2},
		{.sample = 1, .program = 3, .repetitions = 1, .et_ns = NS_PER_S, .finished_ns = 3},
		{.sample = 2, .program = 1, .repetitions = 4, .et_ns = NS_PER_S, .finished_ns = 2},
		{.sample = 2,
			.program = 2,
			.repetitions = 4,
			.et_ns = 2 * NS_PER_S,
			.finished_ns = 1},
		{.sample = 2,
			.program = 3,
			.repetitions = 1,
			.et_ns = 2 * NS_PER_S,
			.finished_ns = 3},
		{.sample = 3, .program = 1, .repetitions = 99, .et_ns = NS_PER_S, .finished_ns = 1},
	};
	const struct load_work work = {coordination, programs, ELEMENTS(programs), parts,
		ELEMENTS(parts), "[a]\nslaves = 2\nrepetitions = 4\n[b]\n"};

	return load_rates_of(&work, shares_of, samples, ELEMENTS(samples));
}

TEST(a_constant_load_has_the_sum_of_its_slaves_rates)
{
	struct load_rates r = rates(LOAD_CONSTANT, NULL);

	assert_int_equal(r.n, 3);
	assert_int_equal(r.sum.nano[0], 11 * NS_PER_S); /* 8 + 2 + 1 a second */
	assert_int_equal(r.sum.nano[1], 13 * NS_PER_S / 2);
	assert_string_equal(r.items[1].script, "a");
	assert_int_equal(r.items[1].workers, 2);
	assert_int_equal(r.items[1].nano[0], 10 * NS_PER_S);
	assert_int_equal(r.items[2].nano[1], NS_PER_S / 2);
	assert_true(r.order_changed == 1);
	load_rates_clear(&r);
}

TEST(all_work_is_in_shares_of_which_each_script_has_as_many)
{
	struct load_rates r = rates(LOAD_CONSTANT, NULL), other, twice = r;
	struct load_rate doubled[3];

	assert_int_equal(r.items[1].share, 8);
	assert_int_equal(r.items[2].share, 1);
	assert_true(r.items[0].nano[0] / 1e9 > sqrt(10. / 8 * 1) - 1e-6 &&
		    r.items[0].nano[0] / 1e9 < sqrt(10. / 8 * 1) + 1e-6);
	memcpy(doubled, r.items, sizeof(doubled));
	doubled[2].share *= 4;
	twice.items = doubled;
	other = rates(LOAD_CONSTANT, &twice);
	assert_true(labs(2 * other.items[0].nano[0] - r.items[0].nano[0]) < 10);
	load_rates_clear(&other);
	load_rates_clear(&r);
}

TEST(otherwise_the_rate_is_that_of_all_work_until_the_last_has_finished)
{
	struct load_rates r = rates(LOAD_NO_TEARDOWN, NULL);

	assert_int_equal(r.sum.nano[0], 7 * NS_PER_S);
	assert_int_equal(r.sum.nano[1], 9 * NS_PER_S / 2);
	assert_true(r.time.mean_ns == 1.5e9);
	load_rates_clear(&r);
}

TEST(the_loss_under_a_handicap_is_from_0_to_100_percent)
{
	struct load_verification v = {.rounds = 2, .taken = {0, 0.02, 0.05, 0.1}};
	struct load load = {.name = (char *)"cpu.ini"};
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 1; i < N_SLOWDOWNS; i++)
		v.compared[i] = (struct comparison){
			.ratio = 0.9, .ratio_low = 0.2734, .ratio_high = 2.97};
	load_verification_print(file, &v, &load);
	fclose(file);
	assert_non_null(strstr(text, " 0.00 … 72.66 %"));
	assert_null(strstr(text, "-197"));
}
