/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a measurement says on a processor with cores of several types. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/record/profile.h"
#include "lib/report/notes.h"

/* The notes, one in a line, of a program on `cpu` (-1: on one of `allowed`) with a profile that
 * was made on `profile_cpu`. */
static void assert_notes(int cpu, const char *allowed, int profile_cpu, const char *lines)
{
	_cleanup_(notes_clear) struct notes notes = {};
	_cleanup_(freep) char *all = NULL;
	struct profile profile = {.name = (char *)"lab1", .cpu = profile_cpu};
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < 8; i++)
		if (cpu_list_has(allowed, i))
			CPU_SET(i, &set);
	core_types_note(&notes, tree.fd, cpu, &set, profile_cpu < -1 ? NULL : &profile);
	for (size_t i = 0; i < notes.n; i++)
		text_append(&all, "\n", "%s", notes.items[i].text);
	assert_string_equal(all ?: "", lines);
}

enum { NO_PROFILE = -2 };

TEST_IN_TREE(where_all_cores_are_alike_nothing_is_said)
{
	assert_notes(-1, "0-3", NO_PROFILE, "");
	assert_notes(1, "0-3", 0, "");
}

TEST_IN_TREE(a_program_without_a_cpu_depends_on_the_type_of_core)
{
	tree_put("sys/devices/cpu_core/cpus", "0-1\n");
	tree_put("sys/devices/cpu_atom/cpus", "2-3\n");
	assert_notes(-1, "0-3", NO_PROFILE,
		"Warning: PT depends on the type of core that ran it (P-core, E-core): see --cpu");
	assert_notes(-1, "2-3", NO_PROFILE, ""); /* taskset has chosen a type */
	assert_notes(3, "0-3", NO_PROFILE, "CPU 3 is of type E-core; times hold for such cores");
}

TEST_IN_TREE(a_profile_belongs_to_a_type_of_core)
{
	tree_put("sys/devices/cpu_core/cpus", "0-1\n");
	tree_put("sys/devices/cpu_atom/cpus", "2-3\n");
	assert_notes(3, "0-3", 0,
		"Warning: profile 'lab1' is for cores of type P-core, CPU 3 is of type E-core\n"
		"CPU 3 is of type E-core; times hold for such cores");
	assert_notes(1, "0-3", 0, "CPU 1 is of type P-core; times hold for such cores");
	assert_notes(1, "0-3", -1, "CPU 1 is of type P-core; times hold for such cores");
}
