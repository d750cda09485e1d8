/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of an entry that is restored. */
#include "tests/unit/check.h"

#include "setup/apply/owners.h"
#include "setup/apply/restoring.h"
#include "setup/options.h"

static struct restore restore;

static void clear(void)
{
	journal_clear(&restore.journal);
	report_clear(&restore.report);
	options.forget = false;
}

/* Settles an entry, and gives it: its name is NULL if it is done with. */
static struct entry *settle(struct settlement settlement)
{
	struct entry *e = array_add(restore.journal.entries, restore.journal.n);

	*e = (struct entry){.id = xstrdup("ksm"),
		.name = xstrdup("/sys/kernel/mm/ksm/run"),
		.old = xstrdup("1"),
		.want = xstrdup("0")};
	e->back = e->old;
	restore_settle(&restore, e, settlement);
	return e;
}

static const char *note(void)
{
	return restore.report.rows[restore.report.n - 1].note;
}

TEST(what_is_left_alone_stays_with_the_ways_to_treat_it)
{
	struct settlement s = {
		OUTCOME_LEFT_ALONE, "1", "7", "changed by somebody else", "--force restores it"};

	assert_non_null(settle(s)->name);
	assert_string_equal(note(), "changed by somebody else; --force restores it");
	assert_int_equal(restore.report.count[OUTCOME_LEFT_ALONE], 1);
	clear();
}

TEST(with_forget_it_is_done_with_and_no_way_is_named)
{
	struct settlement s = {
		OUTCOME_LEFT_ALONE, "1", "7", "changed by somebody else", "--force restores it"};

	options.forget = true;
	assert_null(settle(s)->name);
	assert_string_equal(note(), "changed by somebody else");
	assert_int_equal(restore.report.count[OUTCOME_FORGOTTEN], 1);
	clear();
}

/* The note is text for people, such as the name of a unit. */
TEST(a_note_is_never_cut_whatever_it_holds)
{
	options.forget = true;
	settle((struct settlement){OUTCOME_FAILED, "1", "0", "odd; --forget.service failed"});
	assert_string_equal(note(), "odd; --forget.service failed");
	clear();
}

TEST(what_was_restored_is_done_with)
{
	assert_null(settle((struct settlement){OUTCOME_RESTORED, "0", "1"})->name);
	assert_null(note());
	clear();
}

TEST(what_failed_is_still_applied_and_what_others_changed_is_not)
{
	struct entry *e = settle((struct settlement){OUTCOME_FAILED, "1", "0", "why"});

	assert_true(entry_is_applied(e));
	e->changed_externally = true;
	restore_leave_changed(&restore, e);
	assert_false(entry_is_applied(e));
	clear();
}
