/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What time daemons say, and which of them run. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "setup/audit/ntp.h"

/* The answer is freed; `words` NULL: the daemon follows no server. */
static void assert_follows(char *answer, const char *words)
{
	_cleanup_(freep) char *follows = answer;

	if (words)
		assert_string_equal(follows, words);
	else
		assert_null(follows);
}

TEST(chronys_line_tells_server_and_stratum)
{
	assert_follows(ntp_parse_chrony(
			       "0A4D0001,10.77.0.1,2,1700000000.123,0.000001,0.0,0.00002,-5.1,0.0,"
			       "0.1,0.001,0.002,64.2,Normal\n"),
		"10.77.0.1, stratum 2");
	assert_follows(
		ntp_parse_chrony(
			"00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n"),
		NULL);
	assert_follows(
		ntp_parse_chrony("7F7F0101,,10,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Normal\n"),
		"its reference clock, stratum 10");
	assert_follows(ntp_parse_chrony("506 Cannot talk to daemon\n"), NULL);
}

#define HEAD                                                               \
	"     remote    refid  st t when poll reach delay offset jitter\n" \
	"=======================================================\n"

TEST(the_peer_that_ntpd_follows_has_a_star)
{
	assert_follows(ntp_parse_ntpq(HEAD " 0.debian.pool .POOL. 16 p - 64 0 0.0 0.0 0.0\n"
					   "*10.77.0.1 .LOCL. 1 u 3 64 17 0.1 0.2 0.3\n"),
		"10.77.0.1, stratum 2");
	assert_follows(ntp_parse_ntpq(HEAD " 10.77.0.1 .INIT. 16 u - 64 0 0.0 0.0 0.0\n"), NULL);
	assert_follows(ntp_parse_ntpq(""), NULL);
}

TEST(openntpd_and_ntpd_rs_tell_the_stratum)
{
	assert_follows(ntp_parse_openntpd("4/4 peers valid, clock synced, stratum 3\n"),
		"its peers, stratum 3");
	assert_follows(
		ntp_parse_openntpd("0/4 peers valid, clock unsynced, clock offset is 0.1ms\n"),
		NULL);
#define STATUS                                                               \
	"Synchronization status:\nDispersion: 0.000177s, Delay: 0.004485s\n" \
	"Desired poll interval: 16s\n"
	assert_follows(ntp_parse_ntp_ctl(STATUS
			       "Stratum: 2\n\nSources:\npool:123/10.77.0.1:123 (1): -0.000217s\n"),
		"pool:123/10.77.0.1:123, stratum 2");
	assert_follows(ntp_parse_ntp_ctl(STATUS "Stratum: 16\n\nSources:\n\nServers:\n"), NULL);
	assert_follows(ntp_parse_ntp_ctl("Could not open socket\n"), NULL);
}

static struct unit unit(const char *name, const char *active)
{
	return (struct unit){
		.name = (char *)name, .active = (char *)active, .sub = (char *)"running"};
}

static void free_daemons(struct facts *f)
{
	for (size_t i = 0; i < f->n_daemons; i++)
		free(f->daemons[i].text);
	free(f->daemons);
}

TEST(a_unit_and_its_process_are_one_daemon_and_a_stopped_unit_is_none)
{
	struct unit units[] = {
		unit("ntpsec.service", "active"), unit("chrony.service", "inactive")};
	struct process processes[] = {{.pid = 12, .name = "ntpd"}, {.pid = 14, .name = "cron"}};
	struct facts f = {.units = {units, 1}, .processes = processes, .n_processes = 2};

	ntp_read(&f, NULL);
	assert_int_equal(f.n_daemons, 1);
	assert_string_equal(f.daemons[0].name, "ntpsec");
	free_daemons(&f);
	f = (struct facts){.units = {units + 1, 1}};
	ntp_read(&f, NULL);
	assert_int_equal(f.n_daemons, 0);
}

TEST(without_systemd_the_process_tells)
{
	struct process processes[] = {
		{.pid = 12, .name = "systemd-timesyn"}, {.pid = 13, .name = "phc2sys"}};
	struct facts f = {.processes = processes, .n_processes = 2};

	ntp_read(&f, NULL);
	assert_int_equal(f.n_daemons, 2);
	assert_string_equal(f.daemons[0].name, "systemd-timesyncd");
	assert_true(f.daemons[0].silent);
	assert_string_equal(f.daemons[0].text, "it only answers over D-Bus");
	free_daemons(&f);
}

#define STATUS_OF(ppid, pids, capabilities) \
	"Name:\tx\nPPid:\t" ppid "\nNSpid:\t" pids "\nCapEff:\t" capabilities "\n"
#define ALL "000001ffffffffff"

/* How many daemons set the clock, of processes with this name and these files. */
static void assert_daemons(struct process *processes, size_t n, size_t n_daemons, const char *name,
	const char *contained)
{
	struct facts f = {.root_fd = tree.fd, .processes = processes, .n_processes = n};

	ntp_read(&f, NULL);
	assert_int_equal(f.n_daemons, n_daemons);
	if (name)
		assert_string_equal(f.daemons[0].name, name);
	assert_true(contained ? f.contained && !strcmp(f.contained, contained) : !f.contained);
	free_daemons(&f);
}

TEST_IN_TREE(a_daemon_of_a_container_is_not_this_machines)
{
	struct process processes[] = {
		{.pid = 12, .name = "chronyd"}, {.pid = 13, .name = "chronyd"}};

	tree_put("proc/12/status", STATUS_OF("1", "12\t7", ALL));
	assert_daemons(processes, 1, 0, NULL, "chrony");
	tree_put("proc/13/status", STATUS_OF("1", "13", "0000000002000400"));
	assert_daemons(processes, 2, 1, "chrony", "chrony");
	tree_put(
		/* it may not set the clock */
		"proc/12/status", STATUS_OF("1", "12\t7", "0000000000000400"));
	assert_daemons(processes, 1, 0, NULL, NULL);
}

TEST_IN_TREE(two_that_set_the_clock_are_told_from_one_with_its_helper)
{
	struct process processes[] = {
		{.pid = 12, .name = "chronyd"}, {.pid = 13, .name = "chronyd"}};

	tree_put("proc/12/status", STATUS_OF("1", "12", ALL));
	tree_put("proc/13/status", STATUS_OF("12", "13", ALL));
	assert_daemons(processes, 2, 1, "chrony", NULL);
	tree_put("proc/13/status", STATUS_OF("1", "13", ALL));
	assert_daemons(processes, 2, 2, "chrony", NULL);
}

TEST_IN_TREE(a_unit_beside_a_process_of_its_name_is_another_daemon)
{
	struct unit units[] = {unit("ntpsec.service", "active")};
	struct process processes[] = {{.pid = 12, .name = "ntpd"}, {.pid = 13, .name = "ntpd"}};
	struct facts f = {
		.root_fd = tree.fd, .units = {units, 1}, .processes = processes, .n_processes = 2};

	ntp_read(&f, NULL);
	assert_int_equal(f.n_daemons, 2);
	assert_string_equal(f.daemons[0].name, "ntpsec");
	free_daemons(&f);
}

TEST_IN_TREE(without_a_unit_an_ntpd_can_be_of_several_projects)
{
	struct process processes[] = {{.pid = 12, .name = "ntpd"}, {.pid = 13, .name = "ntpd"}};

	tree_put("proc/12/status", STATUS_OF("1", "12", ALL));
	tree_put("proc/13/status", STATUS_OF("1", "13\t7", ALL));
	assert_daemons(processes, 2, 1, "ntpd", "ntpd");
}

TEST_IN_TREE(guest_tools_that_follow_the_host_are_time_daemons)
{
	struct process processes[] = {{.pid = 12, .name = "VBoxService"}};
	struct process rust[] = {{.pid = 12, .name = "ntp-daemon"}};
	struct process tools[] = {{.pid = 12, .name = "vmtoolsd"}};

	assert_daemons(processes, 1, 1, "VBoxService", NULL);
	assert_daemons(rust, 1, 1, "ntpd-rs", NULL);
	assert_daemons(tools, 1, 0, NULL, NULL); /* unless vmware-toolbox-cmd says that it does */
	tree_put("proc/12/cmdline", "VBoxService");
	assert_daemons(processes, 1, 1, "VBoxService", NULL);
	tree_put("proc/12/cmdline", "--disable-timesync");
	assert_daemons(processes, 1, 0, NULL, NULL);
}
