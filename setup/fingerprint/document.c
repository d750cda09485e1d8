/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a fingerprint: see document.h. */
#include "setup/fingerprint/document.h"

#include "lib/host/cpu/core_types.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/cpu/frequency.h"
#include "lib/host/process/process.h"
#include "lib/host/system/digest.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/machine.h"
#include "lib/host/systemd/units.h"

#include <gnu/libc-version.h>
#include <sys/vfs.h>

/* The text of a file of the kernel below root_fd, null where it cannot be read or is not UTF-8. */
static json_t *fingerprint_file(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = path_text(root_fd, "%s", path);

	return json_text(text);
}

/* Identity: processor, memory, firmware, kernel, system. It has nothing that only root can read, or
 * the digest would depend on who asks, and nothing that depends on which CPUs are online. */

/* The caches of the first CPU that is online: a CPU that is not has none in /sys. Which CPUs share
 * a cache is left out, since it depends on which ones are online. */
static json_t *fingerprint_caches(int root_fd)
{
	enum { MOST_CACHES = 16 };
	_cleanup_(paths_clear) struct paths directories = paths_expand(
		root_fd, "/sys/devices/system/cpu/cpu[0-9]*/cache");
	json_t *array = json_array();

	for (int i = 0; directories.n > 0 && i < MOST_CACHES; i++) {
		const char *directory = directories.items[0];
		_cleanup_(freep) char *level = path_text(root_fd, "%s/index%d/level", directory, i),
				      *type = path_text(root_fd, "%s/index%d/type", directory, i),
				      *size = path_text(root_fd, "%s/index%d/size", directory, i);

		if (!level)
			break;
		json_array_append_new(array,
			json_pack("{s:s, s:s?, s:s?}", "level", level, "type", type, "size", size));
	}
	return array;
}

static json_t *fingerprint_identity(
	int root_fd, const struct machine *m, const struct kernel *kernel)
{
	/* MemTotal changes with the kernel, and in some virtual machines from minute to minute. */
	int64_t blocks = (int64_t)paths_count(root_fd, "/sys/devices/system/memory/memory[0-9]*"),
		bytes = m->memory_bytes;
	_cleanup_(freep) char *size = path_text(
		root_fd, "/sys/devices/system/memory/block_size_bytes");
	json_t *processor = JSON_OBJECT({"vendor", json_text(m->cpu_vendor)},
		{"name", json_text(m->cpu_name)}, {"family", json_text(m->cpu_family)},
		{"model", json_text(m->cpu_model)}, {"stepping", json_text(m->cpu_stepping)},
		{"microcode", json_text(m->microcode)},
		{"present", fingerprint_file(root_fd, "/sys/devices/system/cpu/present")},
		{"caches", fingerprint_caches(root_fd)});

	if (blocks > 0 && size)
		bytes = saturate_multiply((uint64_t)blocks, strtoll(size, NULL, 16));
	return JSON_OBJECT({"machine", json_text(*m->id ? m->id : NULL)}, {"cpu", processor},
		{"memory_gib", json_integer((bytes >> 30) + (bytes >> 29 & 1))},
		{"numa_nodes",
			json_integer(paths_count(root_fd, "/sys/devices/system/node/node[0-9]*"))},
		{"firmware",
			JSON_OBJECT({"vendor", json_text(m->vendor)},
				{"product", json_text(m->product)}, {"board", json_text(m->board)},
				{"version", json_text(m->firmware)})},
		{"virtualisation", JSON_OBJECT({"virtual", json_boolean(m->virtual)},
					   {"hypervisor", json_text(m->hypervisor)},
					   {"container", json_boolean(m->container)},
					   {"engine", json_text(m->engine)})},
		{"kernel", JSON_OBJECT({"release", json_text(kernel->running)},
				   {"build", json_text(kernel->version)})},
		{"system", JSON_OBJECT({"id", json_text(m->os_id)},
				   {"version", json_text(m->os_version)},
				   {"name", json_text(m->os_name)})});
}

/* Settings: what can be set on this machine and may affect times. Only what every user can read,
 * and not what the kernel changes by itself (perf's sample rate). */

static const struct {
	const char *part, *name, *path;
} FILES[] = {
	{"boot", "command_line", "/proc/cmdline"},
	{"clock", "source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"cpus", "online", "/sys/devices/system/cpu/online"},
	{"cpus", "threads_of_core_0", "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"},
	{"cpus", "isolated", "/sys/devices/system/cpu/isolated"},
	{"cpus", "nohz_full", "/sys/devices/system/cpu/nohz_full"},
	{"cpus", "smt", "/sys/devices/system/cpu/smt/control"},
	{"idle", "driver", "/sys/devices/system/cpu/cpuidle/current_driver"},
	{"idle", "governor", "/sys/devices/system/cpu/cpuidle/current_governor_ro"},
	{"memory", "thp", "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"memory", "thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag"},
	{"memory", "hugepages", "/proc/sys/vm/nr_hugepages"},
	{"memory", "zswap", "/sys/module/zswap/parameters/enabled"},
	{"memory", "ksm", "/sys/kernel/mm/ksm/run"},
	{"memory", "overcommit", "/proc/sys/vm/overcommit_memory"},
	{"memory", "swappiness", "/proc/sys/vm/swappiness"},
	{"memory", "stat_interval_s", "/proc/sys/vm/stat_interval"},
	{"memory", "zone_reclaim", "/proc/sys/vm/zone_reclaim_mode"},
	{"memory", "compaction", "/proc/sys/vm/compaction_proactiveness"},
	{"kernel", "aslr", "/proc/sys/kernel/randomize_va_space"},
	{"kernel", "delayacct", "/proc/sys/kernel/task_delayacct"},
	{"kernel", "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog"},
	{"kernel", "watchdog", "/proc/sys/kernel/watchdog"},
	{"kernel", "hung_task_timeout_s", "/proc/sys/kernel/hung_task_timeout_secs"},
	{"kernel", "numa_balancing", "/proc/sys/kernel/numa_balancing"},
	{"kernel", "timer_migration", "/proc/sys/kernel/timer_migration"},
	{"kernel", "sched_autogroup", "/proc/sys/kernel/sched_autogroup_enabled"},
	{"kernel", "sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us"},
	{"kernel", "perf_cpu_time_max_percent", "/proc/sys/kernel/perf_cpu_time_max_percent"},
	{"kernel", "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"},
	{"kernel", "default_irq_affinity", "/proc/irq/default_smp_affinity"},
	{"kernel", "workqueue_cpumask", "/sys/devices/virtual/workqueue/cpumask"},
	{"power", "platform_profile", "/sys/firmware/acpi/platform_profile"},
	{"power", "aspm", "/sys/module/pcie_aspm/parameters/policy"},
};

static const char *const OPTIONS[] = {"CONFIG_HZ", "CONFIG_NO_HZ_IDLE", "CONFIG_NO_HZ_FULL",
	"CONFIG_PREEMPT_NONE", "CONFIG_PREEMPT_VOLUNTARY", "CONFIG_PREEMPT", "CONFIG_PREEMPT_RT",
	"CONFIG_PREEMPT_DYNAMIC", "CONFIG_TASKSTATS", "CONFIG_TASK_DELAY_ACCT",
	"CONFIG_TICK_CPU_ACCOUNTING", "CONFIG_VIRT_CPU_ACCOUNTING_GEN",
	"CONFIG_IRQ_TIME_ACCOUNTING", "CONFIG_SCHED_AUTOGROUP", "CONFIG_DEBUG_INFO_BTF",
	"CONFIG_OSNOISE_TRACER", "CONFIG_RCU_NOCB_CPU", "CONFIG_KASAN", "CONFIG_KCSAN",
	"CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_PAGEALLOC", "CONFIG_SLUB_DEBUG_ON",
	"CONFIG_INIT_ON_ALLOC_DEFAULT_ON", "CONFIG_INIT_ON_FREE_DEFAULT_ON"};

/* null where the configuration of this kernel is not known. */
static json_t *kernel_options(int root_fd, const char *release)
{
	_cleanup_(freep) char *config = NULL;
	json_t *object;

	if (kernel_config_read(&config, root_fd, release) < 0)
		return json_null();
	object = json_object();
	for (size_t i = 0; i < ELEMENTS(OPTIONS); i++) {
		_cleanup_(freep) char *value = kernel_config_get(config, OPTIONS[i]);

		json_object_set_new(object, OPTIONS[i] + strlen("CONFIG_"), json_string(value));
	}
	return object;
}

static json_t *int_or_null(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

/* Adds what a CPU or policy has to a list of {"first", "last", …}: neighbours with equal
 * settings are one entry. Takes `own` over. */
static void add_ranged(json_t *array, int number, json_t *own)
{
	json_t *entry = json_array_get(array, json_array_size(array) - 1);
	_cleanup_(json_decrefp) json_t *last = entry ? json_copy(entry) : NULL;

	if (last) {
		json_object_del(last, "first");
		json_object_del(last, "last");
	}
	if (!json_equal(own, last)) {
		entry = json_pack("{s:i}", "first", number);
		json_array_append_new(array, entry);
	}
	json_object_set_new(entry, "last", json_integer(number));
	json_object_update(entry, own);
	json_decref(own);
}

static json_t *frequencies(int root_fd)
{
	_cleanup_(frequency_clear) struct frequency f = {};
	json_t *array = json_array();

	frequency_read(&f, root_fd);
	for (size_t i = 0; i < f.n_policies; i++) {
		const struct frequency_policy *p = &f.policies[i];

		add_ranged(array, p->number,
			JSON_OBJECT({"driver", json_text(p->driver)},
				{"governor", json_text(p->governor)},
				{"preference", json_text(p->preference)},
				{"min_khz", json_integer(p->min_khz)},
				{"max_khz", json_integer(p->max_khz)},
				{"base_khz", json_integer(p->base_khz)},
				{"hardware_max_khz", json_integer(p->hardware_max_khz)},
				{"boost", json_integer(p->boost)}));
	}
	return JSON_OBJECT({"pstate_status", json_text(f.pstate_status)},
		{"min_perf_pct", int_or_null(f.min_perf_pct)},
		{"max_perf_pct", int_or_null(f.max_perf_pct)},
		{"no_turbo", int_or_null(f.no_turbo)}, {"boost", int_or_null(f.boost)},
		{"policies", array});
}

/* Null for a list or an object without members. */
static json_t *some_or_null(json_t *value)
{
	if (json_array_size(value) + json_object_size(value) > 0)
		return value;
	json_decref(value);
	return json_null();
}

static json_t *core_types(int root_fd)
{
	_cleanup_(core_types_clear) struct core_types types = {};
	json_t *object = json_object();

	core_types_read(&types, root_fd);
	for (size_t i = 0; i < types.n; i++)
		json_object_set_new(object, types.items[i].name, json_string(types.items[i].cpus));
	return some_or_null(object);
}

/* Of each CPU that has it: the energy bias, and which idle states are switched off. */
static void cpus_power(int root_fd, json_t **ret_bias, json_t **ret_disabled)
{
	_cleanup_(paths_clear) struct paths cpus = paths_expand(
		root_fd, "/sys/devices/system/cpu/cpu[0-9]*");

	*ret_bias = json_array();
	*ret_disabled = json_array();
	for (size_t i = 0; i < cpus.n; i++) {
		int number = atoi(strrchr(cpus.items[i], '/') + strlen("/cpu"));
		_cleanup_(freep) char *bias = path_text(
					      root_fd, "%s/power/energy_perf_bias", cpus.items[i]),
				      *states = NULL;
		_cleanup_(paths_clear) struct paths found = paths_expand(
			root_fd, text_brief("%s/cpuidle/state[0-9]*", cpus.items[i]));

		if (bias)
			add_ranged(*ret_bias, number, json_pack("{s:s}", "value", bias));
		for (size_t k = 0; k < found.n; k++) {
			_cleanup_(freep) char *name = path_text(root_fd, "%s/name", found.items[k]);

			if (path_int(root_fd, "%s/disable", found.items[k]) > 0)
				text_append(&states, ", ", "%s",
					name ?: strrchr(found.items[k], '/') + 1);
		}
		if (found.n > 0)
			add_ranged(*ret_disabled, number,
				json_pack("{s:s}", "states", states ?: "none"));
	}
	*ret_bias = some_or_null(*ret_bias);
	*ret_disabled = some_or_null(*ret_disabled);
}

/* Each file of a kind, as a member that is named by its directory:
 * "intel-rapl:0.constraint_0_power_limit_uw". */
static json_t *files_of(int root_fd, const char *pattern, bool whole_name)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(root_fd, pattern);
	json_t *object = json_object();

	for (size_t i = 0; i < paths.n; i++) {
		const char *path = paths.items[i], *file = strrchr(path, '/') + 1;
		_cleanup_(freep) char *directory = xstrndup(path, (size_t)(file - 1 - path));

		json_object_set_new(object,
			text_brief("%s%s%s", strrchr(directory, '/') + 1, whole_name ? "." : "",
				whole_name ? file : ""),
			fingerprint_file(root_fd, path));
	}
	return some_or_null(object);
}

/* Adds the settings that take more than one file. */
static void add_composed(json_t *settings, int root_fd)
{
	_cleanup_(freep) char *command_line = path_text(root_fd, "/proc/cmdline"),
			      *rcu = kernel_boot_option(command_line, "rcu_nocbs");
	json_t *bias, *disabled;

	cpus_power(root_fd, &bias, &disabled);
	json_object_set_new(json_object_get(settings, "cpus"), "types", core_types(root_fd));
	json_object_set_new(json_object_get(settings, "cpus"), "rcu_nocbs",
		rcu ? json_string(rcu) : json_null());
	json_object_set_new(json_object_get(settings, "idle"), "disabled", disabled);
	json_object_set_new(json_object_get(settings, "memory"), "mthp",
		files_of(
			root_fd, "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled", false));
	json_object_set_new(json_object_get(settings, "power"), "energy_perf_bias", bias);
	json_object_set_new(json_object_get(settings, "power"), "limits",
		files_of(root_fd,
			"/sys/class/powercap/intel-rapl*:[0-9]*/constraint_[0-9]_power_limit_uw",
			true));
	json_object_set_new(json_object_get(settings, "power"), "uncore",
		files_of(root_fd,
			"/sys/devices/system/cpu/intel_uncore_frequency/*/m[ai][xn]_freq_khz",
			true));
}

/* The active units that are enabled. Units that come and go by themselves (started by a timer, a
 * socket, a path or over D-Bus) would change the digest from minute to minute. null where systemd
 * does not answer. */
static json_t *enabled_units(int root_fd)
{
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	json_t *array;

	if (root_fd != AT_FDCWD || units_open(&units, NULL, NULL) < 0 ||
		units_list(units, &list, NULL) < 0)
		return json_null();
	array = json_array();
	for (size_t i = 0; i < list.n; i++) {
		const struct unit *unit = &list.items[i];
		_cleanup_(argv_freep) char **triggers = NULL;

		if (!unit_is_up(unit) ||
			(strncmp(unit->file_state, "enabled", 7) != 0 &&
				strcmp(unit->file_state, "generated") != 0) ||
			units_is_of_bus(units, unit->name))
			continue;
		if (units_get(units, unit->name, "Unit.TriggeredBy", 'a', &triggers, NULL) < 0 ||
			!triggers || !*triggers)
			json_array_append_new(array, json_string(unit->name));
	}
	return array;
}

static json_t *fingerprint_settings(int root_fd, const struct kernel *kernel)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(
		root_fd, "/sys/devices/system/cpu/vulnerabilities/*");
	json_t *settings = json_object(), *vulnerabilities = json_object();

	for (size_t i = 0; i < paths.n; i++)
		json_object_set_new(vulnerabilities, strrchr(paths.items[i], '/') + 1,
			fingerprint_file(root_fd, paths.items[i]));
	for (size_t i = 0; i < ELEMENTS(FILES); i++) {
		json_t *part = json_object_get(settings, FILES[i].part);

		if (!part) {
			part = json_object();
			json_object_set_new(settings, FILES[i].part, part);
		}
		json_object_set_new(part, FILES[i].name, fingerprint_file(root_fd, FILES[i].path));
	}
	add_composed(settings, root_fd);
	json_object_set_new(settings, "frequency", frequencies(root_fd));
	json_object_set_new(settings, "kernel_options", kernel_options(root_fd, kernel->running));
	json_object_set_new(settings, "vulnerabilities", vulnerabilities);
	json_object_set_new(settings, "units", enabled_units(root_fd));
	json_object_set_new(settings, "libc", json_string(gnu_get_libc_version()));
	return settings;
}

/* Volatile: what changes by itself or with every package. It may explain a run with odd times. */

extern char **environ;

/* How many packages dpkg has installed, and a digest of its list; null on other systems. */
static json_t *packages(int root_fd)
{
	_cleanup_(freep) char *text = path_text(root_fd, "/var/lib/dpkg/status");
	char digest[DIGEST_SIZE];
	json_int_t n = 0;

	if (!text)
		return json_null();
	for (const char *p = text; (p = strstr(p, "\nStatus: install ok installed\n")); p++)
		n++;
	digest_of(text, strlen(text), digest);
	return json_pack("{s:I, s:s}", "installed", n, "digest", digest);
}

/* The name of the file system, or its number as in statfs(2). */
static json_t *working_directory(void)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} known[] = {{0xef53, "ext4"}, {0x01021994, "tmpfs"}, {0x58465342, "xfs"},
		{0x9123683e, "btrfs"}, {0x794c7630, "overlay"}, {0x6969, "nfs"},
		{0x2fc12fc1, "zfs"}};
	struct statfs fs;
	char number[24];

	if (statfs(".", &fs) < 0)
		return json_null();
	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (known[i].magic == (unsigned long)fs.f_type)
			return json_string(known[i].name);
	snprintf(number, sizeof(number), "0x%lx", (unsigned long)fs.f_type);
	return json_string(number);
}

static json_t *fingerprint_volatile(int root_fd, const struct machine *m)
{
	_cleanup_(freep) char *modules = path_text(root_fd, "/proc/modules");
	size_t n_processes;
	json_int_t n_bytes = 0, n_modules = 0;
	struct clock_state state = {};
	json_t *clock = json_null();

	free(processes_read(root_fd, &n_processes));
	for (const char *p = modules ?: ""; *p; p = strchrnul(p, '\n'), p += *p == '\n')
		n_modules++;
	for (char **e = environ; *e; e++)
		n_bytes += (json_int_t)strlen(*e) + 1;

	if (root_fd == AT_FDCWD)
		kernel_clock_read(&state);
	if (state.known)
		clock = json_pack("{s:b, s:f, s:I}", "kernel_says_synchronised", state.synchronised,
			"rate_ppm", state.frequency_ppm, "max_error_us",
			(json_int_t)state.max_error_us);
	return JSON_OBJECT({"taken", json_text(text_moment(clock_ns(CLOCK_REALTIME)))},
		{"host_name", fingerprint_file(root_fd, "/proc/sys/kernel/hostname")},
		{"uptime_s", fingerprint_file(root_fd, "/proc/uptime")},
		{"load", fingerprint_file(root_fd, "/proc/loadavg")},
		{"processes", json_integer(n_processes)}, {"modules", json_integer(n_modules)},
		{"memory_bytes", json_integer(m->memory_bytes)},
		{"perf_event_max_sample_rate",
			fingerprint_file(root_fd, "/proc/sys/kernel/perf_event_max_sample_rate")},
		{"preemption", fingerprint_file(root_fd, "/sys/kernel/debug/sched/preempt")},
		{"base_slice_ns",
			fingerprint_file(root_fd, "/sys/kernel/debug/sched/base_slice_ns")},
		{"clock", clock}, {"working_directory_on", working_directory()},
		{"environment_bytes", json_integer(n_bytes)}, {"packages", packages(root_fd)},
		{"emp", JSON_OBJECT({"version", json_text(EMP_VERSION)},
				{"compiler", json_text(__VERSION__)})});
}

int fingerprint_take(json_t **ret, int root_fd, struct error *err)
{
	_cleanup_(machine_clear) struct machine machine = {};
	_cleanup_(kernel_clear) struct kernel kernel = {};
	_cleanup_(json_decrefp) json_t *both = NULL;
	_cleanup_(freep) char *text = NULL;
	char digest[DIGEST_SIZE];
	int r;

	machine_read(&machine, root_fd);
	r = kernel_read(&kernel, root_fd, err);
	if (r < 0)
		return r;
	both = json_pack("{s:o, s:o}", "identity", fingerprint_identity(root_fd, &machine, &kernel),
		"settings", fingerprint_settings(root_fd, &kernel));
	/* Sorted members without blanks: equal content gives equal bytes. */
	text = both ? json_dumps(both, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
	if (!text)
		return error_say(err, -EBADMSG,
			"cannot make the fingerprint: the system has names that are not UTF-8");
	digest_of(text, strlen(text), digest);
	*ret = json_document("emp-fingerprint",
		JSON_OBJECT({"digest", json_text(digest)},
			{"machine", json_text(*machine.id ? machine.id : "unknown")},
			{"identity", json_incref(json_object_get(both, "identity"))},
			{"settings", json_incref(json_object_get(both, "settings"))},
			{"volatile", fingerprint_volatile(root_fd, &machine)}));
	return 0;
}
