/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit, on made-up machines. */
#include "tests/unit/check.h"

#include "lib/protocol/environment_diff.h"
#include "setup/audit/checks.h"
#include "setup/audit/ntp.h"

static struct finding finding;

/* Decides a check: what it finds has these words (NULL: any). */
static void assert_says(
	const char *id, const struct facts *facts, enum check_state state, const char *words)
{
	finding_clear(&finding);
	check_decide(check_rows_find(id), facts, &finding);
	assert_int_equal(finding.state, state);
	assert_non_null(finding.value);
	assert_non_null(strstr(finding.value, words ?: ""));
}

static void assert_finding(
	const char *id, const struct facts *facts, enum check_state state, const char *value)
{
	assert_says(id, facts, state, value);
	assert_string_equal(finding.value, value);
}

static struct policy *parse(const char *text)
{
	struct policy *policy;
	struct error err = {};

	assert_int_equal(policy_parse(&policy, text, "test", &err), 0);
	return policy;
}

static struct unit unit(const char *name, const char *active, const char *sub)
{
	return (struct unit){.name = (char *)name, .active = (char *)active, .sub = (char *)sub};
}

TEST(services_of_the_policy_that_run_are_named)
{
	_cleanup_(policy_freep) struct policy *policy = parse("[stop]\n*.service = all\n");
	struct unit units[] = {unit("atd.service", "inactive", "dead"),
		unit("cron.service", "active", "running"), unit("ssh.service", "active", "running"),
		unit("sysstat.service", "active", "exited")};
	struct facts f = {.policy = policy, .has_units = true, .units = {units, 4}};

	assert_finding("svc.units", &f, CHECK_OFF, "1 running: cron.service");
	assert_string_equal(finding.items, "cron.service");
	units[1].active = (char *)"inactive";
	assert_says("svc.units", &f, CHECK_OK, NULL);
}

TEST(what_stopped_services_have_left_is_not_ok)
{
	_cleanup_(policy_freep) struct policy *policy = parse("[stop]\n*.service = all\n");
	struct unit units[] = {
		unit("atd.service", "active", "running"), unit("cron.service", "inactive", "dead")};
	struct unit_reason left = {(char *)"cron.service", (char *)"backup (PID 77)"};
	struct facts f = {
		.policy = policy, .has_units = true, .units = {units, 2}, .left = {&left, 1}};

	assert_finding("svc.units", &f, CHECK_OFF,
		"1 running: atd.service; stopped ones have left backup (PID 77) of cron.service");
	assert_null(finding.how);
	units[0].active = (char *)"inactive";
	assert_finding("svc.units", &f, CHECK_OFF,
		"none running; stopped ones have left backup (PID 77) of cron.service");
	assert_string_equal(finding.items, "cron.service");
	assert_string_equal(finding.how, "wait until they have ended, or end them by hand");
}

TEST(what_must_stay_for_another_unit_or_for_a_login_is_as_wanted)
{
	_cleanup_(policy_freep) struct policy *policy = parse(
		"[stop]\n*.service = all\n*.socket = all\n[never]\ndocker.service = needed\n"
		"held.socket = needed\n");
	char *of_docker[] = {(char *)"docker.service", NULL},
	     *of_held[] = {(char *)"held.service", NULL},
	     *of_free[] = {(char *)"free.service", NULL};
	struct unit units[] = {unit("docker.service", "active", "running"),
		unit("docker.socket", "active", "running"),
		unit("free.socket", "active", "listening"),
		unit("gate.service", "active", "running"),
		unit("held.service", "active", "running"),
		unit("held.socket", "active", "running")};
	struct unit_reason gate = {
		(char *)"gate.service", (char *)"a login came in at its port 22"};
	struct facts f = {.policy = policy,
		.has_units = true,
		.units = {units, ELEMENTS(units)},
		.needed = {&gate, 1}};

	units[1].triggers = of_docker;
	units[2].triggers = of_free;
	units[5].triggers = of_held;
	assert_finding("svc.units", &f, CHECK_OFF, "1 running: free.socket");
	units[2].active = (char *)"inactive";
	assert_finding("svc.units", &f, CHECK_OK, "none");
	units[5].active = (char *)"inactive"; /* nothing starts the service again */
	assert_finding("svc.units", &f, CHECK_OFF, "1 running: held.service");
}

TEST(without_systemd_processes_tell)
{
	_cleanup_(policy_freep) struct policy *policy = parse("[stop]\ncron.service = jobs\n");
	struct process processes[] = {
		{.pid = 5, .name = "cron"}, {.pid = 6, .name = "cron"}, {.pid = 7, .name = "sh"}};
	struct facts f = {.policy = policy, .processes = processes, .n_processes = 3};

	assert_says("svc.units", &f, CHECK_OFF, NULL);
	assert_string_equal(finding.items, "cron.service");
	assert_non_null(finding.how);
	f.processes = &processes[2];
	f.n_processes = 1;
	assert_says("svc.units", &f, CHECK_OK, NULL);
	f.machine.container = true;
	assert_says("svc.units", &f, CHECK_ABSENT, "not visible in a container");
	assert_says("svc.timers", &f, CHECK_ABSENT, NULL);
}

TEST(a_systemd_that_does_not_answer_is_unknown)
{
	_cleanup_(policy_freep) struct policy *policy = parse("");
	struct facts f = {
		.policy = policy, .machine.systemd = true, .units_why = (char *)"it sulks"};

	assert_says("svc.units", &f, CHECK_UNKNOWN, "it sulks");
	assert_says("svc.timers", &f, CHECK_UNKNOWN, NULL);
}

TEST(timers_are_named_with_their_time)
{
	struct elapse timers[] = {
		{(char *)"apt-daily.timer", INT64_C(1800000000000000000), 60 * NS_PER_S},
		{(char *)"x.timer", 0, 60 * NS_PER_S}};
	struct facts f = {.has_units = true, .timers = timers, .n_timers = 2};

	assert_says("svc.timers", &f, CHECK_OFF, NULL);
	assert_string_equal(finding.items, "apt-daily.timer x.timer");
	assert_non_null(strstr(finding.value, "apt-daily.timer at 2027-"));
	assert_non_null(strstr(finding.value, ", x.timer"));
	assert_null(strstr(finding.value, "later"));
	timers[0].late_ns = 12 * 3600 * NS_PER_S;
	assert_says("svc.timers", &f, CHECK_OFF, " or up to 12 h 0 min later, x.timer");
	f.due = timers;
	f.n_due = 1;
	assert_says("svc.due", &f, CHECK_OFF, " or up to 12 h 0 min later");
}

#define CHRONY                                       \
	{                                            \
		"chrony", .text = (char *)"10.0.0.1" \
	}

TEST(a_clock_wants_one_daemon_and_the_kernel_and_it_must_agree)
{
	static const struct {
		bool synchronised; /* as the kernel reports */
		struct ntp_daemon daemons[2];
		enum check_state state;
		const char *words;
	} cases[] = {
		{true, {}, CHECK_OFF, "no time daemon runs"},
		{true, {CHRONY}, CHECK_OK},
		{false, {CHRONY}, CHECK_OFF, "but the kernel reports an unsynchronised clock"},
		{true, {{"ntpsec"}}, CHECK_OFF, "though the kernel reports a synchronised clock"},
		{true, {{"ntpsec", .silent = true, .text = (char *)"it sulks"}}, CHECK_UNKNOWN},
		{false, {{"ntpsec", .silent = true, .text = (char *)"it sulks"}}, CHECK_OFF},
		{false, {{"VBoxService", .host = true, .text = (char *)"the host"}}, CHECK_OK},
		{true, {CHRONY, {"ntpsec", .text = (char *)"10.0.0.1"}}, CHECK_OFF,
			"2 daemons set one clock: chrony, ntpsec"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct facts f = {.clock = {.known = true, .synchronised = cases[i].synchronised}};

		f.daemons = (struct ntp_daemon *)cases[i].daemons;
		while (f.n_daemons < ELEMENTS(cases[i].daemons) && f.daemons[f.n_daemons].name)
			f.n_daemons++;
		assert_says("ntp.on", &f, cases[i].state, cases[i].words);
	}
	assert_string_equal(finding.value, "2 daemons set one clock: chrony, ntpsec");
}

TEST(a_daemon_in_a_container_may_be_what_sets_the_clock)
{
	struct facts f = {.contained = "chrony", .clock = {.known = true}};

	assert_says("ntp.on", &f, CHECK_OFF,
		"no time daemon runs (chrony in a container does not count)");
	f.clock.synchronised = true;
	assert_says("ntp.on", &f, CHECK_UNKNOWN, "chrony runs in a container");
}

TEST(a_containers_clock_is_its_hosts)
{
	struct facts f = {.machine.container = true};

	assert_says("ntp.on", &f, CHECK_BY_HOST, "the clock is the host's");
}

TEST(a_virtual_machine_is_not_failed_for_what_its_host_decides)
{
	_cleanup_(policy_freep) struct policy *policy = parse("[kernel]\nfloor = 7\n");
	static const char *const ids[] = {"freq.driver", "freq.governor", "freq.min", "freq.max",
		"turbo.intel", "turbo.boost", "turbo.policy", "speedstep", "kernel.version",
		"kernel.pending", "cstate.qos"};
	struct facts f = {.policy = policy,
		.machine.virtual = true,
		.frequency = {.no_turbo = -1, .boost = -1},
		.kernel.running = (char *)"6.18"};

	for (size_t i = 0; i < ELEMENTS(ids); i++)
		assert_says(ids[i], &f, CHECK_BY_HOST, NULL);
}

/* A desktop as it comes out of the shop: intel_pstate, powersave, turbo. */
static struct frequency_policy laptop(void)
{
	return (struct frequency_policy){.cpus = (char *)"0",
		.driver = (char *)"intel_pstate",
		.governor = (char *)"powersave",
		.min_khz = 800000,
		.max_khz = 4700000,
		.hardware_max_khz = 4700000,
		.base_khz = 3600000,
		.boost = -1};
}

TEST(a_real_machine_is_judged_by_every_switch)
{
	struct frequency_policy p = laptop();
	struct facts f = {
		.frequency = {.policies = &p, .n_policies = 1, .no_turbo = 0, .boost = -1}};

	assert_finding("freq.governor", &f, CHECK_OFF, "powersave on 1 of 1 policies");
	assert_finding("freq.min", &f, CHECK_OFF, "800 MHz, base 3600 MHz (policy 0)");
	assert_says("turbo.intel", &f, CHECK_OFF, NULL);
	assert_says("turbo.boost", &f, CHECK_ABSENT, NULL);
	assert_says("turbo.policy", &f, CHECK_ABSENT, NULL);
	assert_finding("speedstep", &f, CHECK_OFF, "the clock varies between 800 and 4700 MHz");
}

TEST(a_fixed_clock_is_as_good_as_speedstep_off)
{
	struct frequency_policy p = laptop();
	struct facts f = {
		.frequency = {.policies = &p, .n_policies = 1, .no_turbo = 1, .boost = -1}};

	p.governor = (char *)"performance";
	p.min_khz = p.max_khz = p.base_khz;
	assert_says("freq.governor", &f, CHECK_OK, NULL);
	assert_says("freq.min", &f, CHECK_OK, NULL);
	assert_says("turbo.intel", &f, CHECK_OK, NULL);
	assert_finding("speedstep", &f, CHECK_OK, "equivalent: the clock is fixed at 3600 MHz");
	p.min_khz = p.max_khz = 400000;
	assert_finding("speedstep", &f, CHECK_OK,
		"equivalent: the clock is fixed at 400 MHz, below the base frequency (freq.min)");
	f.frequency.no_turbo = 0;
	assert_says("speedstep", &f, CHECK_OFF, NULL);
}

TEST(a_turbo_without_a_switch_is_never_ok)
{
	struct frequency_policy p = laptop();
	struct facts f = {
		.frequency = {.policies = &p, .n_policies = 1, .no_turbo = -1, .boost = -1}};

	p.driver = (char *)"amd-pstate-epp";
	assert_says(
		"turbo.policy", &f, CHECK_UNKNOWN, "the driver amd-pstate-epp has no turbo switch");
	p.governor = (char *)"performance";
	p.min_khz = p.max_khz = p.base_khz;
	assert_says("speedstep", &f, CHECK_UNKNOWN, NULL);
	p.boost = 1;
	assert_says("turbo.policy", &f, CHECK_OFF, NULL);
	p.boost = 0;
	assert_says("turbo.policy", &f, CHECK_OK, NULL);
}

TEST(speedstep_off_in_firmware_is_known_by_its_flag)
{
	struct facts f = {
		.machine = {.cpu_vendor = (char *)"GenuineIntel", .flags = (char *)"fpu tsc"},
		.frequency = {.no_turbo = -1, .boost = -1}};

	assert_says("speedstep", &f, CHECK_OK, NULL);
	f.machine.flags = (char *)"fpu est tsc";
	assert_says("speedstep", &f, CHECK_UNKNOWN, NULL);
}

/* What each check says of a clock whose limits are both this. */
static void assert_fixed(
	struct frequency_policy *p, int64_t khz, enum check_state min, enum check_state max)
{
	struct facts f = {
		.frequency = {.policies = p, .n_policies = 1, .no_turbo = 1, .boost = -1}};

	p->governor = (char *)"performance";
	p->min_khz = p->max_khz = khz;
	assert_says("freq.min", &f, min, NULL);
	assert_says("freq.max", &f, max, NULL);
}

TEST(a_clock_that_is_stuck_below_its_base_is_off)
{
	struct frequency_policy p = laptop();

	assert_fixed(&p, 400000, CHECK_OFF, CHECK_OFF);
	assert_string_equal(finding.value, "400 MHz, base 3600 MHz (policy 0)");
	assert_fixed(&p, p.base_khz, CHECK_OK, CHECK_OK);
	/* turbo is off: it runs at its base */
	assert_fixed(&p, p.hardware_max_khz, CHECK_OK, CHECK_OK);
	p.hardware_max_khz = 3000000; /* no more is possible here */
	assert_fixed(&p, 3000000, CHECK_OK, CHECK_OK);
	p.base_khz = -1;
	assert_fixed(&p, 2000000, CHECK_OK, CHECK_OK);
	p.base_khz = 3600000;
	assert_fixed(&p, 2000000, CHECK_OFF, CHECK_OFF);
}

TEST(an_upper_limit_that_only_turbo_reaches_is_off)
{
	struct frequency_policy p = laptop();
	struct facts f = {
		.frequency = {.policies = &p, .n_policies = 1, .no_turbo = 0, .boost = -1}};

	p.governor = (char *)"performance";
	p.min_khz = p.max_khz;
	assert_says("freq.min", &f, CHECK_OK, NULL);
	assert_finding("freq.max", &f, CHECK_OFF, "4700 MHz, base 3600 MHz (policy 0)");
	assert_finding("speedstep", &f, CHECK_OFF, "the limits are 4700 MHz, but turbo is on");
	f.frequency.no_turbo = 1;
	assert_finding("freq.max", &f, CHECK_OK, "4700 MHz");
	assert_finding("speedstep", &f, CHECK_OK, "equivalent: the clock is fixed at 3600 MHz");
}

TEST(without_a_base_frequency_the_remedy_is_one_that_works)
{
	struct frequency_policy p = laptop();
	struct facts f = {
		.frequency = {.policies = &p, .n_policies = 1, .no_turbo = 1, .boost = -1}};

	p.base_khz = -1;
	assert_says("freq.min", &f, CHECK_OFF, "base frequency not known");
	assert_string_equal(
		finding.how, "set both limits to one frequency: cpupower frequency-set -d F -u F");
	assert_says("freq.max", &f, CHECK_OFF, NULL);
	assert_string_equal(
		finding.how, "set both limits to one frequency: cpupower frequency-set -d F -u F");
}

TEST(each_type_of_core_has_its_own_clock)
{
	struct frequency_policy types[] = {laptop(), laptop(), laptop()};
	struct facts f = {
		.frequency = {.policies = types, .n_policies = 3, .no_turbo = 1, .boost = -1}};
	static const int64_t base_khz[] = {3200000, 2400000, 3200000};
	static const char *const cpus[] = {"0-1", "4-7", "2-3"};

	for (size_t i = 0; i < 3; i++) {
		struct frequency_policy *p = &types[i];

		p->governor = (char *)"performance";
		p->cpus = (char *)cpus[i];
		p->base_khz = p->min_khz = p->max_khz = base_khz[i];
	}
	assert_finding("speedstep", &f, CHECK_OK,
		"equivalent: the clock is fixed at 3200 MHz (CPU 0-3), 2400 MHz (CPU 4-7)");
	assert_finding("freq.min", &f, CHECK_OK, "3200 MHz (CPU 0-3), 2400 MHz (CPU 4-7)");
	assert_finding("freq.max", &f, CHECK_OK, "3200 MHz (CPU 0-3), 2400 MHz (CPU 4-7)");
}

TEST(without_a_frequency_driver_turbo_is_unknown_unless_the_processor_tells)
{
	struct facts f = {.frequency = {.no_turbo = -1, .boost = -1, .msr_turbo_off = -1}};

	assert_says("turbo.policy", &f, CHECK_UNKNOWN, "without a frequency driver");
	assert_non_null(strstr(finding.how, "firmware"));
	f.machine.cpu_vendor = (char *)"GenuineIntel";
	f.machine.flags = (char *)"fpu ida";
	assert_says("turbo.policy", &f, CHECK_UNKNOWN, NULL);
	f.frequency.msr_turbo_off = 1;
	assert_says("turbo.policy", &f, CHECK_OK, "no turbo, or the firmware");
	f.frequency.msr_turbo_off = 0;
	assert_says("turbo.policy", &f, CHECK_UNKNOWN, NULL);
	f.machine.flags = (char *)"fpu";
	assert_says("turbo.policy", &f, CHECK_OK, NULL);
	f.machine.virtual = true;
	assert_says("turbo.policy", &f, CHECK_BY_HOST, NULL);
}

TEST(a_hybrid_processor_wants_a_cpu_to_be_chosen)
{
	struct core_type types[] = {
		{(char *)"P-core", (char *)"0-7", 0}, {(char *)"E-core", (char *)"8-15", 0}};
	struct facts f = {.cpu = -1};

	assert_finding("core.type", &f, CHECK_OK, "all cores are alike");
	f.cores = (struct core_types){types, 2};
	assert_finding("core.type", &f, CHECK_OFF,
		"P-core (CPU 0-7), E-core (CPU 8-15); no CPU is chosen");
	f.cpu = 9;
	assert_finding("core.type", &f, CHECK_OK,
		"CPU 9 is of type E-core: P-core (CPU 0-7), E-core (CPU 8-15)");
}

TEST(the_kernel_is_compared_with_what_is_installed_offered_and_wanted)
{
	_cleanup_(policy_freep) struct policy *policy = parse("[kernel]\nfloor = 6.1\n");
	struct facts f = {.policy = policy,
		.kernel = {.running = (char *)"6.1.0-50-amd64",
			.installed = (char *)"6.1.0-50-amd64"}};

	assert_says("kernel.version", &f, CHECK_OK, NULL);
	assert_says("kernel.pending", &f, CHECK_OK, NULL);
	f.kernel.offered = (char *)"6.1.0-56-amd64";
	assert_finding("kernel.version", &f, CHECK_OFF,
		"6.1.0-50-amd64 running, 6.1.0-56-amd64 available");
	assert_says("kernel.pending", &f, CHECK_OK, NULL);
	f.kernel.installed = (char *)"6.1.0-56-amd64";
	assert_says("kernel.version", &f, CHECK_OFF, NULL);
	assert_says("kernel.pending", &f, CHECK_OFF, NULL);
	f.kernel.running = f.kernel.installed;
	assert_says("kernel.version", &f, CHECK_OK, NULL);
	f.kernel.reboot_required = true;
	assert_says("kernel.pending", &f, CHECK_OFF, NULL);
	f.kernel = (struct kernel){.running = (char *)"5.10", .installed = (char *)"5.10"};
	assert_says("kernel.version", &f, CHECK_OFF, "the policy wants at least 6.1");
	f.kernel = (struct kernel){.running = (char *)"6.5"};
	assert_says("kernel.version", &f, CHECK_UNKNOWN, NULL);
}

/* Of a check that its files alone decide. */
static void assert_files(const char *id, struct facts *f, struct setting_file *items, size_t n,
	enum check_state state)
{
	_cleanup_(freep) struct setting_files *files = xcalloc(n_check_rows, sizeof(*files));

	f->files = files;
	files[check_rows_find(id) - check_rows] = (struct setting_files){items, n};
	for (size_t i = 0; i < n; i++)
		items[i].want = (char *)check_rows_find(id)->setting.want;
	assert_says(id, f, state, NULL);
}

TEST(a_setting_is_as_wanted_where_all_its_files_are)
{
	struct setting_file items[] = {
		{(char *)"/a", (char *)"0", 0}, {(char *)"/b", (char *)"6", 0}};
	struct facts f = {.root_fd = -1};

	assert_files("epb", &f, items, 0, CHECK_ABSENT);
	assert_files("epb", &f, items, 1, CHECK_OK);
	assert_files("epb", &f, items, 2, CHECK_OFF);
	assert_string_equal(finding.value, "6 in 1 of 2");
	items[1] = (struct setting_file){(char *)"/b", NULL, -EACCES};
	assert_files("epb", &f, items, 2, CHECK_REFUSED);
	assert_string_equal(finding.value, "/b: Permission denied");
}

TEST(a_switch_that_a_virtual_machine_does_not_have_is_its_hosts)
{
	struct facts f = {.machine.virtual = true};

	assert_files("epb", &f, NULL, 0, CHECK_BY_HOST);
	assert_files("ksm", &f, NULL, 0, CHECK_ABSENT);
}

TEST(services_that_no_list_knows_are_named_with_their_cpu_time)
{
	struct unlisted services[] = {{"odd.service", INT64_C(12345678900)}, {"new.service", -1}};
	struct facts f = {.has_units = true, .unlisted = services, .n_unlisted = 2};

	assert_finding("svc.unknown", &f, CHECK_UNKNOWN,
		"odd.service (12.35 s), new.service (CPU time not known)");
	f.n_unlisted = 0;
	assert_says("svc.unknown", &f, CHECK_OK, NULL);
}

TEST(timers_that_are_due_are_named_with_their_time)
{
	struct elapse due[] = {{(char *)"odd.timer", INT64_C(1800000000000000000)}};
	struct facts f = {.has_units = true, .due = due, .n_due = 1};

	assert_says("svc.due", &f, CHECK_OFF, "odd.timer at 2027-");
	f.n_due = 0;
	f.within_ns = INT64_C(86400000000000);
	assert_finding("svc.due", &f, CHECK_OK, "none within 24 h 0 min");
}

/* Journals, documents and scripts have them. A new id is added here when it is released. */
TEST(no_id_is_ever_renamed)
{
	static const char *const released[] = {"svc.units", "svc.timers", "ntp.on", "freq.driver",
		"freq.governor", "freq.min", "turbo.intel", "turbo.boost", "turbo.policy",
		"pstate.pct", "speedstep", "kernel.version", "kernel.pending", "cgroup.quota",
		"delayacct", "irqtime", "svc.unknown", "svc.due", "svc.inhibitors", "svc.packagers",
		"load", "clocksource", "freq.max", "epp", "uncore", "nohz.pstate", "epb",
		"pstate.boost", "platform", "power", "power.limit", "cooling", "throttling",
		"cstate.qos", "steal", "affinity", "priority", "cgroup.memory", "numa.place",
		"cgroup.weight", "irq.balance", "irq.default", "irq.each", "core.type", "smt",
		"nmi", "trace", "perf.events", "debug", "left", "bpf", "audit", "numa.bal", "ksm",
		"swap", "isolated", "nohz_full", "rcu_nocbs", "workqueue", "sched", "perf.pct",
		"perf.rate", "timer.mig", "hung", "thp", "mthp", "zswap", "vmstat", "aspm"};

	for (size_t i = 0; i < ELEMENTS(released); i++)
		assert_non_null(check_rows_find(released[i]));
}

TEST(the_checks_that_a_row_names_exist)
{
	for (const struct check *c = check_rows; c->id; c++) {
		assert_true(!c->files_of || check_rows_find(c->files_of));
		assert_true(!c->setting.coupled_check || check_rows_find(c->setting.coupled_check));
	}
}

/* On a machine of which nothing is known. */
TEST(a_setting_that_may_have_no_value_to_set_says_why)
{
	struct facts f = {.root_fd = -1, .cpu = -1};
	struct setting_file file = {.path = (char *)"/min_freq_khz", .value = (char *)"1"};

	for (const struct check *c = check_rows; c->id; c++) {
		_cleanup_(freep) char *want = c->setting.want_of ? c->setting.want_of(&f, &file)
								 : text_copy(c->setting.want);

		assert_true(!c->setting.pattern || want || c->setting.no_want);
	}
}

TEST(every_row_says_why_and_how)
{
	for (const struct check *c = check_rows; c->id; c++) {
		assert_true(c->step && c->wanted && check_why(c) && c->who);
		assert_true(c->decide || c->number.found[0].text || c->setting.pattern);
		assert_true(c->how || c->applied || c->setting.pattern);
		assert_true(!c->setting.pattern || !c->setting.want != !c->setting.want_of);
		/* a plain apply sets levels A and B */
		assert_true(c->level != 'C' || !c->setting.pattern || c->setting.on_request);
		assert_non_null(strchr("ABC", c->level));
		for (const struct check *d = check_rows; d < c; d++)
			assert_string_not_equal(c->id, d->id);
	}
}

/* A check has its reason from the rule about the same setting, and what it advises cannot be
 * what the rule waves through. */
TEST(the_audit_and_the_comparison_of_fingerprints_judge_alike)
{
	for (const struct difference_rule *rule = difference_rules; rule->pattern; rule++) {
		const struct check *check = rule->check ? check_rows_find(rule->check) : NULL;

		if (!rule->check)
			continue;
		assert_non_null(check);
		assert_null(check->why);
		assert_string_equal(check_why(check), rule->why);
		assert_true(check->level == 'C' || !strcmp(check->id, "delayacct") ||
			    rule->demand > VALIDITY_HOLDS);
	}
}

TEST(what_affects_times_is_said_of_each_difference)
{
	static const char *const affects[] = {"power.platform_profile", "libc",
		"kernel.numa_balancing", "kernel.aslr", "memory.hugepages", "memory.ksm",
		"kernel.nmi_watchdog", "power.limits.x", "power.energy_perf_bias.0-3.value",
		"idle.disabled.0.states", "cpus.rcu_nocbs", "kernel.workqueue_cpumask",
		"frequency.policies.0-3.governor", "units.cron.service", "units"};

	for (size_t i = 0; i < ELEMENTS(affects); i++) {
		struct difference d = {.what = (char *)affects[i]};

		assert_true(difference_rule(&d)->demand >= VALIDITY_REPEAT_SHORT);
		assert_null(strstr(difference_rule(&d)->why, "hardly"));
	}
}
