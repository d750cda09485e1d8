/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units in cgroups, programs of processes. */
#include "tests/unit/check.h"

#include "lib/host/accounting/identity.h"

#include <limits.h>
#include <sys/stat.h>

TEST(the_unit_is_the_system_s_own_behind_slices_or_the_last_part_of_the_path_that_is_one)
{
	static const struct {
		const char *text, *unit;
	} rows[] = {
		{"0::/system.slice/cron.service\n", "cron.service"},
		{"0::/system.slice/docker.service/app\n", "docker.service"},
		{"0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n",
			"user@1000.service"},
		{"0::/docker/x/system.slice/x.service/app\n", "x.service"},
		{"12:cpu:/a.service\n1:name=systemd:/system.slice/atd.service\n0::/\n",
			"atd.service"},
		{"0::/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
		{"0::/system.slice/dbus.socket\n", "dbus.socket"},
		{"0::/\n", NULL},
		{"0::/.service\n", NULL},
		{"0::/user.slice\n", NULL},
		{"3:memory:/x.service\n", NULL},
		{"", NULL},
		{"nonsense", NULL},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		char unit[256] = "";

		assert_int_equal(identity_parse_cgroup(rows[i].text, unit), rows[i].unit != NULL);
		if (rows[i].unit)
			assert_string_equal(unit, rows[i].unit);
	}
}

TEST(slices_and_plain_names_are_no_units)
{
	assert_true(identity_is_unit("cron.service"));
	assert_true(identity_is_unit("a.b.scope"));
	assert_false(identity_is_unit("system.slice"));
	assert_false(identity_is_unit("service"));
	assert_false(identity_is_unit(".service"));
	assert_false(identity_is_unit("x.services"));
	assert_false(identity_is_unit(""));
}

TEST(a_text_is_kept_once)
{
	_cleanup_(identity_freep) struct identity *identity = identity_new();
	char text[] = "/usr/sbin/cron";
	const char *kept = identity_keep(identity, text);

	assert_ptr_equal(identity_keep(identity, "/usr/sbin/cron"), kept);
	text[0] = 'x';
	assert_string_equal(kept, "/usr/sbin/cron");
}

TEST(a_process_that_lives_is_known_by_its_executable)
{
	_cleanup_(identity_freep) struct identity *identity = identity_new();
	struct identified identified = identity_of(identity, getpid(), 5, "test");
	char exe[PATH_MAX] = "";

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_string_equal(identified.exe, exe);
	assert_ptr_equal(identity_of(identity, getpid(), 5, "test").exe, identified.exe);
	assert_ptr_equal(identity_of(identity, getpid(), 5, NULL).exe, identified.exe);
	/* an earlier one with that pid */
	assert_null(identity_of(identity, getpid(), 6, NULL).exe);
	identity_forget(identity, getpid());
	identity_forget(identity, getpid());
	assert_null(identity_of(identity, getpid(), 5, NULL).exe);
}

TEST(a_process_that_is_gone_is_not_known)
{
	_cleanup_(identity_freep) struct identity *identity = identity_new();
	struct identified identified = identity_of(identity, INT_MAX, 5, "nobody");

	assert_null(identified.exe);
	assert_null(identified.unit);
}

TEST(the_first_unit_of_a_cgroup_stays)
{
	_cleanup_(identity_freep) struct identity *identity = identity_new();

	assert_null(identity_cgroup_unit(identity, 42, NULL));
	assert_string_equal(identity_cgroup_unit(identity, 42, "a.service"), "a.service");
	assert_string_equal(identity_cgroup_unit(identity, 43, "b.service"), "b.service");
	assert_string_equal(identity_cgroup_unit(identity, 42, "c.service"), "a.service");
	assert_string_equal(identity_cgroup_unit(identity, 42, NULL), "a.service");
	assert_string_equal(identity_cgroup_unit(identity, 43, NULL), "b.service");
	assert_null(identity_cgroup_unit(identity, 44, NULL));
}

TEST(a_program_is_told_without_links)
{
	_cleanup_(identity_freep) struct identity *identity = identity_new();
	char path[PATH_MAX];

	assert_string_equal(identity_program(identity, "/bin/sh"), realpath("/bin/sh", path));
	assert_ptr_equal(
		identity_program(identity, "/bin/sh"), identity_program(identity, "/bin/sh"));
	assert_string_equal(identity_program(identity, "/nowhere/x"), "/nowhere/x");
}

TEST(a_program_is_found_by_its_file_and_name)
{
	_cleanup_(identity_freep) struct identity *identity = identity_new();
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(stat("/bin/sh", &st), 0);
	assert_string_equal(identity_program_of_file(identity, "sh", st.st_dev, st.st_ino),
		realpath("/bin/sh", path));
	assert_null(identity_program_of_file(identity, "sh", st.st_dev, st.st_ino + 1));
	assert_null(identity_program_of_file(identity, "a-script", st.st_dev, st.st_ino));
	assert_null(identity_program_of_file(identity, "a-script", st.st_dev, st.st_ino));
}
