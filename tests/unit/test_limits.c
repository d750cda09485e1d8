/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frequency limits of an entry. */
#include "tests/unit/check.h"

#include "setup/apply/limits.h"

static struct entry entry(const char *name, const char *old, const char *want)
{
	return (struct entry){.id = strdup("test"),
		.name = strdup(name),
		.old = strdup(old),
		.want = strdup(want)};
}

TEST(of_limits_only_what_others_have_changed_is_adopted)
{
	static const struct {
		const char *now, *old, *written;
	} rows[] = {{"3600000 3600000", "800000 4700000", "0 2147483647"},
		{"2500000 2500000", "800000 2500000", "0 2500000"}, /* ours gave way */
		{"900000 3600000", "900000 4700000", "900000 2147483647"},
		{"900000 4700000", "900000 4700000", "900000 2147483647"}, /* after a restore */
		{"900000 2500000", "900000 2500000", "900000 2500000"}};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		struct entry e = entry("/a", "800000 4700000", "3600000 3600000");
		_cleanup_(freep) char *written = NULL;

		e.file_kind = SETTING_LIMITS;
		e.held = strdup(e.want);
		e.limits = LIMITS_KNOWN | LIMITS_NO_MIN | LIMITS_NO_MAX;
		e.changed_externally = true;
		entry_adopt(&e, rows[i].now);
		assert_string_equal(e.old, rows[i].old);
		written = entry_limits(&e, e.old);
		assert_string_equal(written, rows[i].written);
		entry_clear(&e);
	}
}

TEST(of_limits_of_a_killed_apply_what_others_have_changed_is_adopted)
{
	/* not set yet */
	static const char *const rows[][2] = {{"800000 2500000", "800000 2500000"},
		/* ours gave way */
		{"2500000 2500000", "800000 2500000"}, {"3600000 4000000", "800000 4000000"},
		{"900000 3600000", "900000 4700000"},
		{"3600000 4000000", "3600000 4000000"}, /* it did not come so far */
		{"3600000 3600000", "3600000 3600000"}};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		struct entry e = entry("/a", "800000 4700000", "3600000 3600000");

		e.begun = i < 4;
		e.file_kind = SETTING_LIMITS;
		e.last = strdup(e.old);
		e.limits = LIMITS_KNOWN | LIMITS_NO_MIN | LIMITS_NO_MAX;
		e.changed_externally = true;
		entry_adopt(&e, rows[i][0]);
		assert_string_equal(e.old, rows[i][1]);
		entry_clear(&e);
	}
}

/* They are two files. */
TEST(a_restore_that_was_killed_may_have_written_one_limit)
{
	static const struct {
		const char *now;
		bool half;
	} rows[] = {{"800000 3600000", true}, {"3600000 4700000", true}, {"900000 3600000", false},
		{"3600000 4500000", false}, {"700000 3600000", true}}; /* the last was lifted */

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		struct entry e = entry("/a", "800000 4700000", "3600000 3600000");

		e.file_kind = SETTING_LIMITS;
		e.held = strdup(e.want);
		e.now = strdup(rows[i].now);
		e.limits = LIMITS_KNOWN | LIMITS_NO_MIN;
		assert_int_equal(limits_are_half_restored(&e, e.old), rows[i].half);
		entry_clear(&e);
	}
}
