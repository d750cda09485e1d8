/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which names are a family, and who belongs to one. */
#include "tests/unit/check.h"

#include "lib/protocol/analysis.h"

/* These daemons with those of each family as one. */
static struct daemons join(const struct daemon_statistics *daemons, size_t n)
{
	struct daemons joined = {};

	for (size_t i = 0; i < n; i++) {
		struct daemon_statistics *added = array_add(joined.items, joined.n);

		*added = daemons[i];
		added->name = strdup(daemons[i].name);
		added->unit = text_copy(daemons[i].unit);
		added->exe = text_copy(daemons[i].exe);
	}
	daemons_join_families(&joined, NULL, 0);
	return joined;
}

/* The name of the family of four processes with these names, each of which ran once; it must be
 * freed. NULL: none. */
static char *family_of(const char *a, const char *b, const char *c, const char *d)
{
	const char *const names[] = {a, b, c, d};
	struct daemon_statistics each[4] = {};
	_cleanup_(daemons_clear) struct daemons joined = {};

	for (size_t i = 0; i < 4; i++)
		each[i] = (struct daemon_statistics){.name = (char *)names[i], .executions = 1};
	joined = join(each, 4);
	return joined.n == 1 && joined.items[0].names == 4 ? strdup(joined.items[0].name) : NULL;
}

static void assert_no_family(const struct daemon_statistics *daemons, size_t n)
{
	_cleanup_(daemons_clear) struct daemons joined = join(daemons, n);

	assert_int_equal(joined.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(joined.items[i].names, 0);
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

#define DAEMON(name_, ...)                                              \
	{                                                               \
		.name = (char *)(name_), .executions = 1, ##__VA_ARGS__ \
	}

TEST(names_that_come_back_are_no_family)
{
	const struct daemon_statistics workers[] = {{(char *)"fpm-1", .executions = 90},
		{(char *)"fpm-2", .executions = 95}, {(char *)"fpm-3", .executions = 99},
		{(char *)"fpm-4", .executions = 80}};
	const struct daemon_statistics three[] = {DAEMON("j-1"), DAEMON("j-2"), DAEMON("j-3")};
	const struct daemon_statistics kernel[] = {DAEMON("kswapd0", .alone = true),
		DAEMON("kswapd1", .alone = true), DAEMON("kswapd2", .alone = true),
		DAEMON("kswapd3", .alone = true)};

	assert_no_family(workers, ELEMENTS(workers));
	assert_no_family(three, ELEMENTS(three));
	assert_no_family(kernel, ELEMENTS(kernel));
}

TEST(new_names_of_a_unit_or_an_executable_are_a_family)
{
	enum { HALF = 8 };
	static const char *const names[2 * HALF] = {"apple", "pear", "plum", "quince", "fig",
		"lemon", "lime", "cherry", "alpha", "beta", "gamma", "delta", "kappa", "lambda",
		"mu", "nu"};
	struct daemon_statistics daemons[2 * HALF];
	_cleanup_(daemons_clear) struct daemons joined = {};

	for (size_t i = 0; i < 2 * HALF; i++)
		daemons[i] = (struct daemon_statistics)DAEMON(names[i],
			.exe = (char *)(i < HALF ? NULL : "/opt/greek"),
			.unit = (char *)(i < HALF ? "fruit.service" : "session-1.scope"));
	joined = join(daemons, 2 * HALF);
	assert_int_equal(joined.n, 2);
	assert_string_equal(joined.items[0].name, "fruit.service");
	assert_string_equal(joined.items[1].name, "/opt/greek");
	assert_int_equal(joined.items[1].names, HALF);
	for (size_t i = 0; i < 2 * HALF; i++)
		daemons[i].returned = i % HALF == 0;
	assert_no_family(daemons, 2 * HALF);
}

TEST(a_process_belongs_to_the_family_of_its_stem)
{
	const struct source job = {.name = (char *)"memfd:j-77777",
				    .unit = (char *)"run-u12.service"},
			    thread = {.name = (char *)"j-1", .kind = SOURCE_KERNEL};

	assert_true(family_includes("memfd:j-*", &job));
	assert_true(family_includes("run-u*.service", &job));
	assert_false(family_includes("j-*", &job));
	assert_false(family_includes("j-*", &thread));
	assert_string_equal(family_size_text(51), " (51 names)");
	assert_string_equal(family_size_text(0), "");
}
