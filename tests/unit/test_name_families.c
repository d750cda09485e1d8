/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which names are a family, and who belongs to one. */
#include "tests/unit/check.h"

#include "lib/protocol/names.h"

/* Returns how many families are among these. */
static size_t find(struct family_member *members, size_t n)
{
	size_t families = 0;

	name_families_find(members, n, NULL, 0);
	for (size_t i = 0, k; i < n; i++) { /* each counts with its first member */
		for (k = 0; members[i].family && k < i; k++)
			if (members[k].family && !strcmp(members[k].family, members[i].family))
				break;
		families += members[i].family && k == i;
	}
	return families;
}

static void forget(struct family_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(TAKE(members[i].family));
}

/* The name of the family of four processes with these names, each of which ran once; it must be freed. NULL: none. */
static char *family_of(const char *a, const char *b, const char *c, const char *d)
{
	struct family_member members[] = {
		{a, .executions = 1}, {b, .executions = 1}, {c, .executions = 1}, {d, .executions = 1}};
	char *family = NULL;

	if (find(members, 4) == 1 && members[0].family && members[1].family && members[2].family &&
		members[3].family)
		family = strdup(members[0].family);
	forget(members, 4);
	return family;
}

#define assert_family(stem, ...)                                        \
	do {                                                            \
		_cleanup_(freep) char *family = family_of(__VA_ARGS__); \
		assert_non_null(family);                                \
		assert_string_equal(family, stem);                      \
	} while (false)

TEST(what_changes_in_a_name_is_a_star)
{
	assert_family("memfd:j-*", "memfd:j-04211", "memfd:j-04212", "memfd:j-1", "memfd:j-99999");
	assert_family("job*", "job1", "job22", "job333", "job4a");
	assert_family("run-*.sh", "run-8f3a.sh", "run-01bc.sh", "run-77.sh", "run-e4e4e4.sh");
	assert_null(family_of("ls", "cat", "date", "true"));
	assert_null(family_of("1", "22", "333", "4444")); /* nothing is constant */
}

TEST(names_that_come_back_are_no_family)
{
	struct family_member workers[] = {{"fpm-1", .executions = 90}, {"fpm-2", .executions = 95},
		{"fpm-3", .executions = 99}, {"fpm-4", .executions = 80}, {"fpm-5", .executions = 1}};
	struct family_member three[] = {
		{"j-1", .executions = 1}, {"j-2", .executions = 1}, {"j-3", .executions = 1}};
	struct family_member kernel[] = {{"kswapd0", .executions = 1, .alone = true},
		{"kswapd1", .executions = 1, .alone = true}, {"kswapd2", .executions = 1, .alone = true},
		{"kswapd3", .executions = 1, .alone = true}};

	assert_int_equal(find(workers, 4), 0);
	assert_int_equal(find(three, 3), 0);
	assert_int_equal(find(kernel, 4), 0);
}

TEST(new_names_of_a_unit_or_an_executable_are_a_family)
{
	enum { HALF = 8 };
	static const char *const names[2 * HALF] = {"apple", "pear", "plum", "quince", "fig", "lemon", "lime",
		"cherry", "alpha", "beta", "gamma", "delta", "kappa", "lambda", "mu", "nu"};
	struct family_member members[2 * HALF];

	for (size_t i = 0; i < 2 * HALF; i++)
		members[i] = (struct family_member){.name = names[i],
			.exe = i < HALF ? NULL : "/opt/greek",
			.unit = i < HALF ? "fruit.service" : "session-1.scope",
			.executions = 1};
	assert_int_equal(find(members, 2 * HALF), 2);
	assert_string_equal(members[0].family, "fruit.service");
	assert_string_equal(members[2 * HALF - 1].family, "/opt/greek");
	forget(members, 2 * HALF);
	for (size_t i = 0; i < 2 * HALF; i++)
		members[i].returned = i % HALF == 0;
	assert_int_equal(find(members, 2 * HALF), 0);
}

TEST(a_process_belongs_to_the_family_of_its_stem)
{
	const struct source job = {.name = (char *)"memfd:j-77777", .unit = (char *)"run-u12.service"},
			    thread = {.name = (char *)"j-1", .kind = SOURCE_KERNEL};

	assert_true(name_family_has("memfd:j-*", &job));
	assert_true(name_family_has("run-u*.service", &job));
	assert_false(name_family_has("j-*", &job));
	assert_false(name_family_has("j-*", &thread));
	assert_string_equal(name_family_size(51), " (51 names)");
	assert_string_equal(name_family_size(0), "");
}
