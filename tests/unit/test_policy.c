/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies: what is to be silent, and what must never be touched. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/system/policy.h"

static struct error err;

static struct policy *parse(const char *text)
{
	struct policy *policy;

	if (policy_parse(&policy, text, "p", &err) < 0)
		fail_msg("%s", err.text);
	return policy;
}

/* By its name; NULL: the one for the machine. */
static struct policy *load(const char *const *from, const char *name, const struct machine *machine)
{
	struct policy *policy;

	if (policy_load(&policy, from, name, machine ?: &(struct machine){}, &err) < 0)
		fail_msg("%s", err.text);
	return policy;
}

/* The unit of a process; NULL: none. */
static void assert_unit(const struct policy *policy, const char *process, const char *expected)
{
	const char *unit = policy_unit_of_process(policy, process);

	assert_string_equal(unit ?: "none", expected ?: "none");
}

TEST(the_first_rule_that_fits_counts)
{
	_cleanup_(policy_freep) struct policy *policy = parse(
		"[kernel]\nfloor = 6.1\n[stop]\nnfs-*.service = files\ncron.service = jobs\n"
		"atd.service = at\n[keep]\natd.service = needed here\n[never]\nnfs-* = network\n");

	assert_string_equal(policy_stop(policy, "cron.service"), "jobs");
	assert_null(policy_stop(policy, "atd.service"));
	assert_null(policy_stop(policy, "nfs-server.service"));
	assert_string_equal(policy_never(policy, "nfs-server.service"), "network");
	assert_null(policy_stop(policy, "unknown.service"));
	assert_string_equal(policy->floor, "6.1");
}

TEST(no_file_can_give_away_what_keeps_a_machine_alive)
{
	static const char *const units[] = {"ssh.service", "ssh.socket", "sshd.service",
		"dbus.service", "dbus-broker.service", "systemd-journald.service",
		"systemd-udevd-control.socket", "getty@tty1.service", "serial-getty@ttyS0.service",
		"user@1000.service", "emp-restore.service"};
	_cleanup_(policy_freep) struct policy *policy = parse("[stop]\n* = everything\n");

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		assert_null(policy_stop(policy, units[i]));
	assert_non_null(policy_stop(policy, "cron.service"));
	assert_non_null(policy_stop(policy, "systemd-tmpfiles-clean.timer"));
}

TEST(a_process_leads_to_its_unit)
{
	_cleanup_(policy_freep) struct policy *policy = parse(
		"[stop]\ncron.service = jobs\nunattended-upgrades.service = updates\n"
		"cups.service = printing\n[processes]\ncupsd = cups.service\nsshd = ssh.service\n");

	assert_unit(policy, "cron", "cron.service");
	assert_unit(policy, "unattended-upgr",
		"unattended-upgrades.service"); /* the kernel keeps 15 characters */
	assert_unit(policy, "cupsd", "cups.service");
	assert_unit(policy, "sshd", NULL);
	assert_unit(policy, "cro", NULL);
}

TEST(a_bad_line_is_quoted_in_the_message)
{
	static const char *const rows[][2] = {
		{"[stop]\ncron = jobs\n", "p, line 2: 'cron' in [stop] is not a unit: "
					  "write 'cron.service' or the like"},
		{"[kernel]\nroof = 6.1\n", "p, line 2: unknown setting 'roof' in [kernel]"},
		{"[policy]\nnonsense\n", "p, line 2: neither a [section] nor 'name = value'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct policy *policy = NULL;

		assert_int_equal(policy_parse(&policy, rows[i][0], "p", &err), -EINVAL);
		assert_null(policy);
		assert_string_equal(err.text, rows[i][1]);
	}
}

/* Two directories as the tool has them: the administrator's, and the shipped one. */
static char etc[80], shipped[80];
static const char *const directories[] = {etc, shipped, NULL};

static int make(void **state)
{
	tree_make(state);
	snprintf(etc, sizeof(etc), "%s/etc", tree.path);
	snprintf(shipped, sizeof(shipped), "%s/shipped", tree.path);
	tree_put("shipped/common.ini", "[stop]\ncron.service = common\n[kernel]\nfloor = 5\n");
	tree_put("shipped/debian-12.ini",
		"[policy]\ninclude = common\n[stop]\nrsyslog.service = logs\n");
	tree_put("shipped/rhel-9.ini", "[policy]\ninclude = common\n[kernel]\nfloor = 5.14\n");
	tree_put("shipped/rhel-10.ini", "[policy]\ninclude = common\n");
	return 0;
}

#define TEST_OF_POLICIES(name) TEST_WITH(name, make, tree_remove)

/* The policy of a distribution is the one of that name. */
static void expect_policy(const char *const *from, const char *id, const char *version,
	const char *like, const char *name)
{
	const struct machine machine = {
		.os_id = (char *)id, .os_version = (char *)version, .os_like = (char *)like};
	_cleanup_(policy_freep) struct policy *policy = load(from, NULL, &machine);

	assert_string_equal(policy->name, name);
}

TEST_OF_POLICIES(a_distribution_gets_its_own_policy_or_the_nearest)
{
	expect_policy(directories, "debian", "12", NULL, "debian-12");
	expect_policy(directories, "debian", "13", NULL, "debian-12");
	expect_policy(directories, "linuxmint", "21", "ubuntu debian", "debian-12");
	expect_policy(directories, "rhel", "9", "fedora", "rhel-9");
	expect_policy(directories, "rocky", "9.3", "rhel centos fedora", "rhel-9");
	expect_policy(directories, "rocky", "11.0", "rhel centos fedora", "rhel-10");
	expect_policy(directories, "arch", NULL, NULL, "common");
	/* a path is the user's only */
	expect_policy(directories, "../../debian", "12", NULL, "common");
	expect_policy(directories, NULL, NULL, NULL, "common");
}

TEST_OF_POLICIES(an_included_policy_adds_its_rules_and_its_floor)
{
	_cleanup_(policy_freep) struct policy *policy = load(directories, "debian-12", NULL);

	assert_string_equal(policy_stop(policy, "cron.service"), "common");
	assert_string_equal(policy_stop(policy, "rsyslog.service"), "logs");
	assert_string_equal(policy->floor, "5");
}

TEST_OF_POLICIES(what_is_protected_is_part_of_every_policy)
{
	_cleanup_(policy_freep) struct policy *policy = NULL;

	tree_put("shipped/protected.ini",
		"[never]\nvpn.service = network\n[ask]\ndb*.service = data\n");
	tree_put("etc/mine.ini", "[stop]\n* = everything\ndb1.service = mine\n");
	policy = load(directories, "mine", NULL);
	assert_null(policy_stop(policy, "vpn.service"));
	assert_null(policy_stop(policy, "db2.service"));
	assert_non_null(policy_stop(policy, "db1.service"));
	assert_non_null(policy_stop(policy, "cron.service"));
}

TEST_OF_POLICIES(the_administrators_file_takes_the_shipped_ones_place)
{
	_cleanup_(policy_freep) struct policy *policy = NULL;

	tree_put("etc/debian-12.ini", "[stop]\nmine.service = mine\n");
	policy = load(directories, "debian-12", NULL);
	assert_null(policy_stop(policy, "cron.service"));
	assert_string_equal(policy_stop(policy, "mine.service"), "mine");
	assert_non_null(strstr(policy->path, "/etc/debian-12.ini"));
}

TEST_OF_POLICIES(a_missing_or_endless_policy_is_refused)
{
	struct machine machine = {};
	struct policy *policy;

	assert_int_equal(policy_load(&policy, directories, "plan9", &machine, &err), -ENOENT);
	assert_non_null(strstr(err.text, "there is no policy 'plan9' in"));
	tree_put("etc/a.ini", "[policy]\ninclude = b\n");
	tree_put("etc/b.ini", "[policy]\ninclude = a\n");
	assert_int_equal(policy_load(&policy, directories, "a", &machine, &err), -ELOOP);
	assert_non_null(strstr(err.text, "include each other in a cycle"));
}

/* "stop", "never", "ask", or "" for none of them. */
static const char *word_of(struct policy *policy, const char *unit)
{
	if (policy_never(policy, unit))
		return "never";
	if (policy_ask(policy, unit))
		return "ask";
	return policy_stop(policy, unit) ? "stop" : "";
}

/* What the shipped policies say of a unit, as `word_of`. */
static void expect_shipped(const char *name, const char *unit, const char *what)
{
	const char *const here[] = {getenv("EMP_PROFILES"), NULL};
	_cleanup_(policy_freep) struct policy *policy = load(here, name, NULL);

	if (strcmp(word_of(policy, unit), what) != 0)
		fail_msg("%s: %s is not '%s'", name, unit, what);
	if (strcmp(what, "stop") != 0 && policy_stop(policy, unit))
		fail_msg("%s stops %s", name, unit);
}

TEST(shipped_policies_know_the_daemons_of_their_distribution)
{
	static const char *const rows[][3] = {
		{"ubuntu-24.04", "apport-autoreport.path", "stop"},
		{"ubuntu-24.04", "apport-forward.socket", "stop"},
		{"ubuntu-24.04", "mdmonitor-oneshot.timer", "stop"},
		{"ubuntu-24.04", "mdmonitor.service", "never"},
		{"ubuntu-24.04", "networkd-dispatcher.service", "ask"},
		{"ubuntu-24.04", "apt-news.service", "stop"},
		{"ubuntu-24.04", "esm-cache.service", "stop"},
		{"ubuntu-24.04", "snap.lxd.daemon.service", "never"},
		{"ubuntu-24.04", "snapd.seeded.service", "never"},
		{"ubuntu-24.04", "open-vm-tools.service", "never"},
		{"ubuntu-24.04", "vgauth.service", "never"},
		{"debian-12", "docker.socket", "never"},
		{"debian-12", "docker.service", "never"},
		{"debian-12", "phpsessionclean.timer", "stop"},
		{"debian-12", "prometheus-node-exporter.service", "stop"},
		{"debian-12", "prometheus-node-exporter-apt.timer", "stop"},
		{"debian-12", "clamav-daemon.service", "stop"},
		{"debian-12", "clamav-freshclam.service", "stop"},
		{"rhel-9", "rngd.service", "stop"},
		{"rhel-9", "cockpit.socket", "ask"},
		{"rhel-9", "setroubleshootd.service", "stop"},
		{"rhel-9", "insights-client-boot.service", "stop"},
		{"rhel-9", "sssd-kcm.service", "never"},
		{"rhel-9", "sssd.service", "never"},
		{"rhel-9", "gssproxy.service", "never"},
		{"rhel-9", "vmtoolsd.service", "never"},
		{"fedora", "rpm-ostreed-automatic.timer", "stop"},
		{"fedora", "rpm-ostree-countme.timer", "stop"},
		{"fedora", "low-memory-monitor.service", "stop"},
		{"fedora", "uresourced.service", "stop"},
		{"fedora", "dnf5-makecache.timer", "stop"},
		{"opensuse", "snapper-timeline.timer", "stop"},
		{"opensuse", "backup-rpmdb.timer", "stop"},
		{"opensuse", "wickedd.service", "never"},
		{"suse", "suseconnect-keepalive.timer", "stop"},
		{"arch", "paccache.timer", "stop"},
		{"arch", "archlinux-keyring-wkd-sync.timer", "stop"},
		{"arch", "btrfs-scrub@-.timer", "stop"},
		{"arch", "btrfs-scrub@-.service", "stop"},
		{"arch", "btrfs-backup.timer", ""},
		{"arch", "btrfs-backup.service", ""},
		{"opensuse", "btrfs-balance.timer", "stop"},
		{"opensuse", "btrfs-send-to-server.service", ""},
		{"arch", "systemd-networkd.service", "never"},
		{"arch", "iwd.service", "never"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_shipped(rows[i][0], rows[i][1], rows[i][2]);
}

static const char *const POLICIES[] = {"common", "debian-12", "ubuntu-24.04", "rhel-9", "fedora",
	"opensuse", "suse", "arch", "paper-rhel6"};

TEST(no_shipped_policy_stops_unasked_what_a_machine_is_reached_by_or_what_holds_data)
{
	static const char *const rows[][2] = {
		{"snap.amazon-ssm-agent.amazon-ssm-agent.service", "never"},
		{"snap.tailscale.tailscaled.service", "never"},
		{"snap.network-manager.networkmanager.service", "never"},
		{"snap.lxd.daemon.service", "never"},
		{"snap.lxd.daemon.unix.socket", "never"},
		{"snap.oracle-cloud-agent.oracle-cloud-agent.service", "never"},
		{"snap.nextcloud.mysql.service", "ask"},
		{"snap.somebody-s.program.service", "ask"},
		{"snap.somebody-s.program.timer", "ask"},
		{"winbind.service", "never"},
		{"sssd.service", "never"},
		{"iptables.service", "never"},
		{"ip6tables.service", "never"},
		{"ufw.service", "never"},
		{"NetworkManager.service", "never"},
		{"tailscaled.service", "never"},
		{"docker.socket", "never"},
		{"docker.service", "never"},
		{"auditd.service", "never"},
		{"amazon-ssm-agent.service", "never"},
		{"xrdp.service", "never"},
		{"gdm.service", "never"},
		{"ModemManager.service", "ask"},
		{"bluetooth.service", "ask"},
		{"upower.service", "ask"},
		{"xinetd.service", "ask"},
		{"pcscd.socket", "ask"},
		{"postgresql@15-main.service", "ask"},
		{"mariadb.service", "ask"},
		{"mysqld.service", "ask"},
		{"mongod.service", "ask"},
		{"redis-server.service", "ask"},
		{"memcached.service", "ask"},
		{"nginx.service", "ask"},
		{"apache2.service", "ask"},
		{"httpd.service", "ask"},
		{"postfix.service", "ask"},
		{"exim4.service", "ask"},
		{"smbd.service", "ask"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		for (size_t k = 0; k < ELEMENTS(POLICIES); k++)
			expect_shipped(POLICIES[k], rows[i][0], rows[i][1]);
}

TEST(what_is_asked_for_by_name_is_stopped)
{
	_cleanup_(policy_freep) struct policy *policy = parse(
		"[stop]\nmine.service = mine\ndb*.service = any\n[ask]\nmine.service = its data\n"
		"db*.service = its clients\nkept.service = nothing\n[keep]\nkept.service = needed\n"
		"[never]\nnet.service = network\n");

	/* by a rule with its name */
	assert_string_equal(policy_stop(policy, "mine.service"), "mine");
	assert_string_equal(policy_loses(policy, "mine.service"), "its data");
	assert_null(policy_stop(policy, "db1.service")); /* a pattern is no name */
	assert_string_equal(policy_ask(policy, "db1.service"), "its clients");
	assert_false(policy_knows(policy, "unknown.service"));
	assert_int_equal(policy_request(policy, "db1,net,kept.service,other.socket", &err), 0);
	assert_string_equal(policy_requested(policy, 0), "db1.service");
	assert_string_equal(policy_requested(policy, 3), "other.socket");
	assert_null(policy_requested(policy, 4));
	assert_non_null(policy_stop(policy, "db1.service"));
	assert_non_null(policy_stop(policy, "kept.service"));
	assert_non_null(policy_stop(policy, "other.socket"));
	assert_null(policy_stop(policy, "net.service"));
	assert_null(policy_stop(policy, "db2.service"));
	assert_int_equal(policy_request(policy, "db*", &err), -EINVAL);
	assert_string_equal(err.text, "'db*' is not the name of a unit");
	assert_int_equal(policy_request(policy, "db1,", &err), -EINVAL);
	assert_int_equal(policy_request(policy, "", &err), -EINVAL);
	assert_string_equal(err.text, "'' is not the name of a unit");
}

TEST(each_distribution_has_a_shipped_policy)
{
	static const char *const rows[][4] = {
		{"opensuse-leap", "15.6", "suse opensuse", "suse"},
		{"opensuse-tumbleweed", "20261101", "opensuse suse", "opensuse"},
		{"sles", "15.6", "suse", "suse"},
		{"arch", NULL, NULL, "arch"},
		{"manjaro", NULL, "arch", "arch"},
		{"ubuntu", "24.04", "debian", "ubuntu-24.04"},
		{"fedora", "42", NULL, "fedora"},
	};
	const char *const here[] = {getenv("EMP_PROFILES"), NULL};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_policy(here, rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
}

TEST(what_a_stop_loses_is_known_by_patterns_too)
{
	_cleanup_(policy_freep) struct policy *policy = parse("[loses]\nredis*.service = keys\n");

	assert_string_equal(policy_loses(policy, "redis-server.service"), "keys");
	assert_null(policy_loses(policy, "cron.service"));
	assert_false(policy_knows(policy, "redis-server.service"));
}
