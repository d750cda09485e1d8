/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings in a fingerprint: see fingerprint.h. Only what every user can read, and not what the
 * kernel changes by itself (perf's sample rate). */
#include "setup/fingerprint/fingerprint.h"

#include "lib/host/cpu/frequency.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/system/kernel.h"
#include "lib/host/systemd/units.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <string.h>

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
	"CONFIG_PREEMPT_DYNAMIC", "CONFIG_TASKSTATS", "CONFIG_TASK_DELAY_ACCT", "CONFIG_TICK_CPU_ACCOUNTING",
	"CONFIG_VIRT_CPU_ACCOUNTING_GEN", "CONFIG_IRQ_TIME_ACCOUNTING", "CONFIG_SCHED_AUTOGROUP",
	"CONFIG_DEBUG_INFO_BTF", "CONFIG_OSNOISE_TRACER"};

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

static json_t *policy(const struct frequency_policy *p)
{
	return json_pack("{s:s?, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I}", "driver", p->driver, "governor",
		p->governor, "preference", p->preference, "min_khz", (json_int_t)p->min_khz, "max_khz",
		(json_int_t)p->max_khz, "base_khz", (json_int_t)p->base_khz, "hardware_max_khz",
		(json_int_t)p->hardware_max_khz, "boost", (json_int_t)p->boost);
}

static json_t *known(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *frequencies(int root_fd)
{
	_cleanup_(frequency_clear) struct frequency f = {};

	frequency_read(&f, root_fd);

	/* Neighbours with equal settings are one entry. */
	json_t *array = json_array();

	for (size_t i = 0, first = 0; i < f.n_policies; i++) {
		_cleanup_(json_decrefp) json_t *own = policy(&f.policies[i]), *next = NULL, *entry = NULL;

		next = i + 1 < f.n_policies ? policy(&f.policies[i + 1]) : NULL;
		if (next && json_equal(own, next))
			continue;
		entry = json_pack(
			"{s:i, s:i}", "first", f.policies[first].number, "last", f.policies[i].number);
		json_object_update(entry, own);
		json_array_append(array, entry);
		first = i + 1;
	}
	return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:o}", "pstate_status", f.pstate_status, "min_perf_pct",
		known(f.min_perf_pct), "max_perf_pct", known(f.max_perf_pct), "no_turbo", known(f.no_turbo),
		"boost", known(f.boost), "policies", array);
}

static json_t *vulnerabilities(int root_fd)
{
	json_t *object = json_object();
	_cleanup_(paths_clear) struct paths paths = kernel_setting_expand(
		root_fd, "/sys/devices/system/cpu/vulnerabilities/*");

	for (size_t i = 0; i < paths.n; i++)
		json_object_set_new(
			object, strrchr(paths.items[i], '/') + 1, fingerprint_file(root_fd, paths.items[i]));
	return object;
}

/* A service that a timer, socket or path starts. */
static bool is_triggered(struct units *units, const struct unit *unit)
{
	_cleanup_(strings_freep) char **triggers = NULL;
	struct error ignored;

	return units_names(units, unit->name, "TriggeredBy", &triggers, &ignored) == 0 && triggers &&
	       *triggers;
}

/* The active units that are enabled. Units that come and go by themselves (started by a timer, a socket, a path
 * or over D-Bus) would change the digest from minute to minute. null where systemd does not answer. */
static json_t *enabled_units(int root_fd)
{
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	struct error ignored;
	json_t *array;

	if (root_fd != AT_FDCWD || units_open(&units, &ignored) < 0 || units_list(units, &list, &ignored) < 0)
		return json_null();
	array = json_array();
	for (size_t i = 0; i < list.n; i++) {
		const struct unit *unit = &list.items[i];

		if (unit_is_up(unit) &&
			(!strncmp(unit->file_state, "enabled", 7) ||
				!strcmp(unit->file_state, "generated")) &&
			!is_triggered(units, unit))
			json_array_append_new(array, json_string(unit->name));
	}
	return array;
}

json_t *fingerprint_settings(int root_fd, const struct kernel *kernel)
{

	json_t *settings = json_object();

	for (size_t i = 0; i < ELEMENTS(FILES); i++) {
		json_t *part = json_object_get(settings, FILES[i].part);

		if (!part) {
			part = json_object();
			json_object_set_new(settings, FILES[i].part, part);
		}
		json_object_set_new(part, FILES[i].name, fingerprint_file(root_fd, FILES[i].path));
	}

	if (json_object_set_new(settings, "frequency", frequencies(root_fd)) < 0) {
		json_decref(settings);
		return NULL;
	}
	json_object_set_new(settings, "kernel_options", kernel_options(root_fd, kernel->running));
	json_object_set_new(settings, "vulnerabilities", vulnerabilities(root_fd));
	json_object_set_new(settings, "units", enabled_units(root_fd));
	json_object_set_new(settings, "libc", json_string(gnu_get_libc_version()));
	return settings;
}
