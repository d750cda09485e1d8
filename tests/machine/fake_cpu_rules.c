/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unknown governors are refused, limits are clamped, some settings change others: see
 * fake_cpu_rules.h. */
#include "tests/machine/fake_cpu_rules.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static void get(const char *path, char value[VALUE_SIZE])
{
	_cleanup_(closep) int fd = openat(files, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, value, VALUE_SIZE - 1);

	value[n > 0 ? n : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
}

static int put(const char *path, const char *value)
{
	_cleanup_(closep) int fd = openat(files, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return dprintf(fd, "%s\n", value) < 0 ? -EIO : 0;
}

static long clamp_to(long value, long least, long most)
{
	if (value < least)
		return least;
	return value > most ? most : value;
}

/* The file `name` beside `path`. */
static const char *beside(const char *path, const char *name, char buffer[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(buffer, PATH_MAX, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, name);
	return buffer;
}

static long number_beside(const char *path, const char *name)
{
	char other[PATH_MAX], value[VALUE_SIZE];

	get(beside(path, name, other), value);
	return atol(value);
}

static bool is_listed(const char *path, const char *list_name, const char *word)
{
	char list[PATH_MAX], value[VALUE_SIZE], *rest = value, *item;

	get(beside(path, list_name, list), value);
	while ((item = strsep(&rest, " ")))
		if (!strcmp(item, word))
			return true;
	return false;
}

/* The fault that is ordered for this path, counted down in its file; 0: none. */
static int fault(const char *path)
{
	_cleanup_(fclosep) FILE *in = NULL;
	char kept[4096] = "", line[PATH_MAX + 32], name[PATH_MAX];
	int fd = openat(files, ".faults", O_RDONLY | O_CLOEXEC), r = 0;
	size_t len = 0;

	in = fd < 0 ? NULL : fdopen(fd, "r");
	while (in && fgets(line, sizeof(line), in)) {
		int error, count = INT_MAX, n = sscanf(line, "%4095s %d %d", name, &error, &count);

		if (n >= 2 && r == 0 && count > 0 && !strcmp(name, path)) {
			r = -error;
			count--;
		}
		if (n == 3)
			snprintf(line, sizeof(line), "%.4000s %d %d\n", name, error, count);
		len += (size_t)snprintf(kept + len, sizeof(kept) - len, "%s", line);
		if (len >= sizeof(kept))
			abort(); /* more orders than fit */
	}
	if (r < 0)
		put(".faults", kept);
	return r;
}

static bool is_online(int cpu)
{
	char path[PATH_MAX], value[VALUE_SIZE];

	snprintf(path, sizeof(path), "cpu%d/online", cpu);
	get(path, value);
	return cpu == 0 || strcmp(value, "0") != 0;
}

bool is_offline(const char *path)
{
	int number;

	return sscanf(path, "cpufreq/policy%d/", &number) == 1 && !is_online(number);
}

/* "0,2" of the CPUs with this step that are online. */
static void put_list(const char *path, int first, int step)
{
	char list[VALUE_SIZE] = "";

	for (int cpu = first; cpu < CPUS; cpu += step)
		if (is_online(cpu))
			snprintf(list + strlen(list), 16, "%s%d", *list ? "," : "", cpu);
	put(path, list);
}

/* Also what else depends on which CPUs are online. */
static void set_online(int cpu, bool online)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "cpu%d/online", cpu);
	put(path, online ? "1" : "0");
	put_list("online", 0, 1);
	for (int i = 0; i < CPUS; i++) {
		snprintf(path, sizeof(path), "cpu%d/topology/thread_siblings_list", i);
		put_list(path, i % 2, 2);
		snprintf(path, sizeof(path), "cpu%d/cache/index0/shared_cpu_list", i);
		put_list(path, i % 2, 2);
	}
}

static int store_online(int cpu, const char *value)
{
	char smt[VALUE_SIZE];
	bool online = !strcmp(value, "1");

	if (!online && strcmp(value, "0") != 0)
		return -EINVAL;
	get("smt/control", smt);
	if (online && cpu >= CPUS / 2 && !strcmp(smt, "off"))
		return -EPERM;
	set_online(cpu, online);
	return 0;
}

/* The settings of a governor, which begin with their defaults when its first policy takes it, and
 * go with the last. */
static const struct {
	const char *governor, *name, *value;
} TUNABLES[] = {{"ondemand", "up_threshold", "80"}, {"ondemand", "sampling_rate", "10000"},
	{"schedutil", "rate_limit_us", "1000"}};

static int count_policies(const char *governor)
{
	char path[PATH_MAX], value[VALUE_SIZE];
	int n = 0;

	for (int i = 0; i < CPUS; i++) {
		snprintf(path, sizeof(path), "cpufreq/policy%d/scaling_governor", i);
		get(path, value);
		n += !strcmp(value, governor);
	}
	return n;
}

static void make_tunables(const char *governor, bool made)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "cpufreq/%s", governor);
	if (made)
		mkdirat(files, path, 0755);
	for (size_t i = 0; i < ELEMENTS(TUNABLES); i++) {
		if (strcmp(TUNABLES[i].governor, governor) != 0)
			continue;
		snprintf(path, sizeof(path), "cpufreq/%s/%s", governor, TUNABLES[i].name);
		if (made)
			close(openat(files, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
		if (!made || put(path, TUNABLES[i].value) < 0)
			unlinkat(files, path, 0);
	}
	snprintf(path, sizeof(path), "cpufreq/%s", governor);
	unlinkat(files, path, AT_REMOVEDIR);
}

static void change_governor(const char *path, const char *value)
{
	char held[VALUE_SIZE], speed[PATH_MAX], limit[PATH_MAX], highest[VALUE_SIZE];

	get(path, held);
	if (!strcmp(held, value))
		return;
	if (count_policies(held) == 1)
		make_tunables(held, false);
	if (count_policies(value) == 0)
		make_tunables(value, true);
	get(beside(path, "scaling_max_freq", limit), highest);
	if (is_listed(path, "scaling_available_governors", "userspace"))
		put(beside(path, "scaling_setspeed", speed),
			!strcmp(value, "userspace") ? highest : "<unsupported>");
}

/* Of the governor userspace. */
static int store_speed(const char *path, const char *value)
{
	char governor[PATH_MAX], held[VALUE_SIZE];

	get(beside(path, "scaling_governor", governor), held);
	return strcmp(held, "userspace") != 0 || atol(value) <= 0 ? -EINVAL : 0;
}

static int store_governor(const char *path, const char *value)
{
	char epp[PATH_MAX];

	if (!is_listed(path, "scaling_available_governors", value))
		return -EINVAL;
	change_governor(path, value);
	if (!strcmp(value, "performance")) /* and intel_pstate sets its preference with it */
		put(beside(path, "energy_performance_preference", epp), "performance");
	return 0;
}

/* A number in a file of a policy; `otherwise` if there is none. */
static long policy_number(int cpu, const char *name, long otherwise)
{
	char path[PATH_MAX], value[VALUE_SIZE];

	snprintf(path, sizeof(path), "cpufreq/policy%d/%s", cpu, name);
	get(path, value);
	return *value ? atol(value) : otherwise;
}

static void put_policy_number(int cpu, const char *name, long number)
{
	char path[PATH_MAX], value[VALUE_SIZE];

	snprintf(path, sizeof(path), "cpufreq/policy%d/%s", cpu, name);
	snprintf(value, sizeof(value), "%ld", number);
	close(openat(files, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	put(path, value);
}

static bool has_file(const char *path)
{
	return faccessat(files, path, F_OK, 0) == 0;
}

static bool turbo_is_off(int cpu)
{
	char all[VALUE_SIZE], intel[VALUE_SIZE];

	get("cpufreq/boost", all);
	get("intel_pstate/no_turbo", intel);
	return !strcmp(intel, "1") || policy_number(cpu, "boost", !strcmp(all, "0") ? 0 : 1) == 0;
}

/* freq_qos: what a user writes to a limit is a request (.min, .max; none at the beginning), and
 * the limit is the narrowest of all requests, within what the processor can do now. Where CPUs
 * have .turbo_khz, cpuinfo_max_freq follows the turbo switch. */
static void refresh_limits(int cpu)
{
	long least = policy_number(cpu, "cpuinfo_min_freq", 0), min = policy_number(cpu, ".min", 0),
	     max = policy_number(cpu, ".max", INT_MAX),
	     base = policy_number(cpu, ".base_khz", LONG_MAX),
	     turbo = policy_number(cpu, ".turbo_khz", 0), most;
	char status[VALUE_SIZE];

	if (!is_online(cpu) || least == 0)
		return;
	if (turbo > 0)
		put_policy_number(cpu, "cpuinfo_max_freq", turbo_is_off(cpu) ? base : turbo);
	most = policy_number(cpu, "cpuinfo_max_freq", 0);
	get("intel_pstate/status", status);
	if (!strcmp(status, "passive")) { /* its percents are requests, too */
		long highest = most * number_beside("intel_pstate/x", "max_perf_pct") / 100,
		     lowest = most * number_beside("intel_pstate/x", "min_perf_pct") / 100;

		max = max < highest ? max : highest;
		min = min > lowest ? min : lowest;
	}
	if (turbo_is_off(cpu) && most > base)
		most = base;
	max = clamp_to(max, least, most);
	min = clamp_to(min, least, max);
	put_policy_number(cpu, "scaling_min_freq", min);
	put_policy_number(cpu, "scaling_max_freq", max);
}

static int store_limit(const char *path, const char *value, bool lower)
{
	char *end;
	long khz = strtol(value, &end, 10);
	int cpu;

	if (khz < 0 || end == value || sscanf(path, "cpufreq/policy%d/", &cpu) != 1)
		return -EINVAL;
	put_policy_number(cpu, lower ? ".min" : ".max", khz);
	refresh_limits(cpu);
	return 0;
}

static int store_preference(const char *path, const char *value)
{
	char governor[PATH_MAX], held[VALUE_SIZE];

	if (!is_listed(path, "energy_performance_available_preferences", value))
		return -EINVAL;
	get(beside(path, "scaling_governor", governor), held);
	return !strcmp(held, "performance") && strcmp(value, "performance") != 0 ? -EBUSY : 0;
}

static int store_switch(const char *value)
{
	return strcmp(value, "0") != 0 && strcmp(value, "1") != 0 ? -EINVAL : 0;
}

/* intel_pstate lowers its own lower limit to what it can have without turbo. */
static int store_no_turbo(const char *value)
{
	char held[VALUE_SIZE], least[VALUE_SIZE];
	long base = number_beside("cpufreq/policy0/x", "base_frequency"),
	     most = number_beside("cpufreq/policy0/x", "cpuinfo_max_freq");

	if (has_file("intel_pstate/.locked")) /* by the firmware */
		return -EPERM;
	get("intel_pstate/min_perf_pct", held);
	if (!strcmp(value, "1") && most > 0 && atol(held) > base * 100 / most) {
		snprintf(least, sizeof(least), "%ld", base * 100 / most);
		put("intel_pstate/min_perf_pct", least);
	}
	return store_switch(value);
}

/* Limits of intel_pstate in percent: they bound each other, and 17 is the least that the processor
 * can do. */
static int store_percent(const char *path, char value[VALUE_SIZE], bool lower)
{
	long percent = atol(value), least = lower ? 17 : number_beside(path, "min_perf_pct"),
	     most = lower ? number_beside(path, "max_perf_pct") : 100;

	if (percent <= 0)
		return -EINVAL;
	percent = clamp_to(percent, least, most);
	snprintf(value, VALUE_SIZE, "%ld", percent);
	return 0;
}

/* acpi-cpufreq and cppc_cpufreq make the highest frequency with or without turbo the user's own
 * request. */
static void reset_request(int cpu, bool turbo)
{
	if (has_file(".boost_resets"))
		put_policy_number(cpu, ".max",
			policy_number(cpu, turbo ? ".turbo_khz" : ".base_khz", INT_MAX));
}

/* The turbo switch of all policies: Linux 6.7 and later write it into every policy that is
 * online. */
static int store_boost(const char *value)
{
	char held[VALUE_SIZE], path[PATH_MAX];

	get("cpufreq/boost", held);
	for (int i = 0; i < CPUS && strcmp(held, value) != 0; i++) {
		snprintf(path, sizeof(path), "cpufreq/policy%d/boost", i);
		if (is_online(i) && has_file(path))
			put(path, value);
		if (is_online(i))
			reset_request(i, !strcmp(value, "1"));
	}
	return store_switch(value);
}

/* And that of one policy cannot be written while the other one is off. */
static int store_policy_boost(const char *path, const char *value)
{
	char all[VALUE_SIZE], held[VALUE_SIZE];
	int cpu;

	get("cpufreq/boost", all);
	get(path, held);
	if (!strcmp(all, "0") || store_switch(value) < 0)
		return -EINVAL;
	if (strcmp(held, value) != 0 && sscanf(path, "cpufreq/policy%d/", &cpu) == 1)
		reset_request(cpu, !strcmp(value, "1"));
	return 0;
}

static int store_smt(const char *value)
{
	bool off = !strcmp(value, "off");

	if (!off && strcmp(value, "on") != 0)
		return -EINVAL;
	for (int cpu = CPUS / 2; cpu < CPUS; cpu++)
		set_online(cpu, !off);
	return put("smt/active", off ? "0" : "1");
}

int store(const char *path, char value[VALUE_SIZE])
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	int r = fault(path), cpu;

	if (r < 0)
		return r;
	if (is_offline(path))
		return -EBUSY;
	if (sscanf(path, "cpu%d/online", &cpu) == 1 && !strcmp(name, "online")) {
		r = store_online(cpu, value);
		refresh_limits(cpu);
		return r;
	}

	if (!strcmp(name, "scaling_governor"))
		r = store_governor(path, value);
	else if (!strcmp(name, "scaling_min_freq") || !strcmp(name, "scaling_max_freq"))
		return store_limit(path, value, strstr(name, "min"));
	else if (!strcmp(name, "scaling_setspeed"))
		r = store_speed(path, value);
	else if (!strcmp(name, "energy_performance_preference"))
		r = store_preference(path, value);
	else if (!strcmp(path, "cpufreq/boost"))
		r = store_boost(value);
	else if (!strcmp(name, "boost"))
		r = store_policy_boost(path, value);
	else if (!strcmp(name, "no_turbo"))
		r = store_no_turbo(value);
	else if (!strcmp(name, "min_perf_pct") || !strcmp(name, "max_perf_pct"))
		r = store_percent(path, value, strstr(name, "min"));
	else if (!strcmp(name, "hwp_dynamic_boost"))
		r = store_switch(value);
	else if (!strcmp(path, "smt/control"))
		r = store_smt(value);
	r = r < 0 ? r : put(path, value);
	for (int i = 0; i < CPUS; i++)
		refresh_limits(i);
	return r;
}
