/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply is to change: the checks that are requested, the plan, and the owners of its
 * entries. */
#include "tests/unit/check.h"

#include "lib/host/process/process.h"
#include "setup/apply/owners.h"
#include "setup/apply/plan.h"
#include "setup/apply/request.h"
#include "setup/audit/checks.h"
#include "setup/options.h"

static struct error err;

static struct entry entry(const char *name, const char *old, const char *want)
{
	return (struct entry){.id = strdup("test"),
		.name = strdup(name),
		.old = strdup(old),
		.want = strdup(want)};
}

TEST(a_tuned_value_is_never_taken_for_an_original)
{
	struct plan plan = {};
	struct entry again = entry("/a", "0", "7"), other = entry("/c", "x", "y");

	*array_add(plan.journal.entries, plan.journal.n) = entry("/a", "1", "0");
	*array_add(plan.journal.entries, plan.journal.n) = entry("/b", "1", "0");
	plan_add(&plan, &again);
	plan_add(&plan, &other);
	assert_int_equal(plan.journal.n, 3);
	assert_string_equal(plan.journal.entries[0].old, "1");
	assert_string_equal(plan.journal.entries[0].want, "7");
	assert_int_equal(plan.n_order, 2);
	assert_int_equal(plan.order[0], 0);
	assert_int_equal(plan.order[1], 2);
	plan_clear(&plan);
}

TEST(an_entry_has_owners_until_they_have_ended)
{
	static const char dead[] = "00000000-0000-0000-0000-000000000000 1 1";
	_cleanup_(freep) char *self = strdup(process_ref(getpid()));
	struct entry e = entry("/a", "1", "0");

	assert_true(entry_is_applied(&e)); /* of an older version */
	assert_int_equal(entry_needed_by(&e), 0);
	entry_add_owner(&e, self);
	assert_int_equal(entry_needed_by(&e), getpid());
	entry_remove_owner(&e, "apply");
	assert_false(entry_is_applied(&e));
	assert_true(entry_has_owner(&e, self));
	entry_add_owner(&e, dead);
	assert_false(entry_is_abandoned(&e));
	entry_remove_owner(&e, "apply");
	assert_false(entry_has_owner(&e, dead));
	entry_remove_owner(&e, self);
	assert_string_equal(e.owners, "");
	assert_false(entry_is_abandoned(&e)); /* it is left alone */
	entry_add_owner(&e, dead);
	assert_true(entry_is_abandoned(&e));
	entry_clear(&e);
}

/* Whether the options of apply have this check made. */
static bool taken(const char *only, const char *skip, const char *id)
{
	options.only = only;
	options.skip = skip;
	return request_takes(check_rows_find(id));
}

TEST(only_and_skip_choose_among_the_checks)
{
	assert_true(taken(NULL, NULL, "freq.governor"));
	assert_true(taken(NULL, NULL, "svc.units"));
	assert_false(taken(NULL, NULL, "thp"));            /* on request */
	assert_false(taken(NULL, NULL, "smt"));            /* likewise */
	assert_false(taken(NULL, NULL, "kernel.version")); /* nothing to set */
	assert_true(taken("thp,freq.governor", NULL, "thp"));
	assert_true(taken("thp,freq.governor", NULL, "epp")); /* the governor changes it */
	assert_false(taken("thp,freq.governor", NULL, "svc.units"));
	assert_false(taken(NULL, "ksm", "ksm"));
	assert_true(taken(NULL, "ksm", "nmi"));
}

TEST(a_name_that_cannot_be_applied_is_refused)
{
	options.only = "freq.governor,frq";
	options.skip = NULL;
	assert_int_equal(request_validate(&err), -EINVAL);
	assert_string_equal(
		err.text, "--only: there is no check 'frq'; 'emp-setup audit --all' lists them");
	options.only = NULL;
	options.skip = "kernel.version";
	assert_int_equal(request_validate(&err), -EINVAL);
	assert_string_equal(err.text, "--skip: kernel.version cannot be applied; do it by hand: "
				      "install the newest kernel and reboot");
}
