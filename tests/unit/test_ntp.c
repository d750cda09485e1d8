/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What time daemons say, and which of them run. */
#include "tests/unit/check.h"

#include "setup/audit/audit.h"

TEST(chronys_line_tells_server_and_stratum)
{
	struct ntp_daemon d = {};

	ntp_parse_chrony(
		"0A4D0001,10.77.0.1,2,1700000000.123,0.000001,0.0,0.00002,-5.1,0.0,0.1,0.001,0.002,64.2,"
		"Normal\n",
		&d);
	assert_int_equal(d.answer, NTP_SYNCHRONISED);
	assert_string_equal(d.description, "follows 10.77.0.1, stratum 2");
	ntp_parse_chrony("00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n", &d);
	assert_int_equal(d.answer, NTP_SEARCHING);
	ntp_parse_chrony("7F7F0101,,10,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Normal\n", &d);
	assert_int_equal(d.answer, NTP_SYNCHRONISED);
	assert_string_equal(d.description, "follows its reference clock, stratum 10");
	ntp_parse_chrony("506 Cannot talk to daemon\n", &d);
	assert_int_equal(d.answer, NTP_SEARCHING);
}

TEST(the_peer_that_ntpd_follows_has_a_star)
{
	static const char head[] = "     remote    refid  st t when poll reach delay offset jitter\n"
				   "=======================================================\n";
	char text[600];
	struct ntp_daemon d = {};

	snprintf(text, sizeof(text),
		"%s 0.debian.pool .POOL. 16 p - 64 0 0.0 0.0 0.0\n"
		"*10.77.0.1 .LOCL. 1 u 3 64 17 0.1 0.2 0.3\n",
		head);
	ntp_parse_ntpq(text, &d);
	assert_int_equal(d.answer, NTP_SYNCHRONISED);
	assert_string_equal(d.description, "follows 10.77.0.1, stratum 2");
	snprintf(text, sizeof(text), "%s 10.77.0.1 .INIT. 16 u - 64 0 0.0 0.0 0.0\n", head);
	ntp_parse_ntpq(text, &d);
	assert_int_equal(d.answer, NTP_SEARCHING);
	ntp_parse_ntpq("", &d);
	assert_int_equal(d.answer, NTP_SEARCHING);
}

static struct unit unit(const char *name, const char *active)
{
	return (struct unit){.name = (char *)name, .active = (char *)active, .sub = (char *)"running"};
}

TEST(a_unit_and_its_process_are_one_daemon_and_a_stopped_unit_is_none)
{
	struct unit units[] = {unit("ntpsec.service", "active"), unit("chrony.service", "inactive")};
	struct process processes[] = {{.pid = 12, .name = "ntpd"}, {.pid = 14, .name = "cron"}};
	struct facts f = {.units = {units, 1}, .processes = processes, .n_processes = 2};

	ntp_read(&f, NULL);
	assert_int_equal(f.ntp.n, 1);
	assert_string_equal(f.ntp.daemons[0].name, "ntpsec");
	f = (struct facts){.units = {units + 1, 1}};
	ntp_read(&f, NULL);
	assert_int_equal(f.ntp.n, 0);
}

TEST(without_systemd_the_process_tells)
{
	struct process processes[] = {{.pid = 12, .name = "systemd-timesyn"}, {.pid = 13, .name = "phc2sys"}};
	struct facts f = {.processes = processes, .n_processes = 2};

	ntp_read(&f, NULL);
	assert_int_equal(f.ntp.n, 2);
	assert_string_equal(f.ntp.daemons[0].name, "systemd-timesyncd");
	assert_int_equal(f.ntp.daemons[0].answer, NTP_SILENT);
	assert_string_equal(f.ntp.daemons[0].description, "it only answers over D-Bus");
}
