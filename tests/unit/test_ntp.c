/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What time daemons say, and which of them run. */
#include "tests/unit/check.h"

#include "setup/audit/audit.h"

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
	assert_follows(ntp_parse_chrony("0A4D0001,10.77.0.1,2,1700000000.123,0.000001,0.0,0.00002,-5.1,0.0,"
					"0.1,0.001,0.002,64.2,Normal\n"),
		"10.77.0.1, stratum 2");
	assert_follows(
		ntp_parse_chrony("00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n"),
		NULL);
	assert_follows(ntp_parse_chrony("7F7F0101,,10,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Normal\n"),
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

static struct unit unit(const char *name, const char *active)
{
	return (struct unit){.name = (char *)name, .active = (char *)active, .sub = (char *)"running"};
}

static void free_daemons(struct facts *f)
{
	for (size_t i = 0; i < f->n_daemons; i++)
		free(f->daemons[i].text);
	free(f->daemons);
}

TEST(a_unit_and_its_process_are_one_daemon_and_a_stopped_unit_is_none)
{
	struct unit units[] = {unit("ntpsec.service", "active"), unit("chrony.service", "inactive")};
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
	struct process processes[] = {{.pid = 12, .name = "systemd-timesyn"}, {.pid = 13, .name = "phc2sys"}};
	struct facts f = {.processes = processes, .n_processes = 2};

	ntp_read(&f, NULL);
	assert_int_equal(f.n_daemons, 2);
	assert_string_equal(f.daemons[0].name, "systemd-timesyncd");
	assert_true(f.daemons[0].silent);
	assert_string_equal(f.daemons[0].text, "it only answers over D-Bus");
	free_daemons(&f);
}
