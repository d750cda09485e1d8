/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of the kernel: its version (EMPv4), what slows it down, what it does that no process
 * has caused, and how it schedules and accounts. See checks.h.
 *
 * A container has no kernel of its own, and the host of some virtual machines provides theirs. */
#include "lib/host/system/leftovers.h"
#include "lib/host/system/lock.h"
#include "lib/host/system/tracefs.h"
#include "setup/audit/checks.h"

/* True where the host provides the kernel; the finding is made then. */
static bool is_hosts_kernel(const struct facts *f, struct finding *ret)
{
	if (f->machine.container)
		finding_set(ret, CHECK_BY_HOST, "%s is the host's kernel", f->kernel.running);
	else if (f->machine.virtual && !f->kernel.installed)
		finding_set(ret, CHECK_BY_HOST,
			"%s comes from the host; no kernel is installed here", f->kernel.running);
	else
		return false;
	return true;
}

static bool is_newer(const char *release, const char *than)
{
	return release && kernel_compare(release, than) > 0;
}

DECIDER(check_kernel_version)
{
	const struct kernel *k = &f->kernel;
	char offered[256] = "";

	if (is_hosts_kernel(f, ret))
		return;
	if (k->offered_unknown)
		snprintf(offered, sizeof(offered),
			" (whether a newer one is available is not known: %s)", k->offered_unknown);
	if (is_newer(k->offered, k->running) && !is_newer(k->installed, k->offered))
		finding_set(ret, CHECK_OFF, "%s running, %s available", k->running, k->offered);
	else if (is_newer(k->installed, k->running))
		finding_set(ret, CHECK_OFF, "%s running, %s installed", k->running, k->installed);
	else if (is_newer(f->policy->floor, k->running))
		finding_set(ret, CHECK_OFF, "%s running, the policy wants at least %s", k->running,
			f->policy->floor);
	else if (!k->installed && !k->offered)
		finding_set(ret, CHECK_UNKNOWN, "%s running; no installed kernel to compare with",
			k->running);
	else
		finding_set(ret, CHECK_OK, "%s%s", k->running, offered);
}

DECIDER(check_kernel_pending)
{
	const struct kernel *k = &f->kernel;

	if (is_newer(k->installed, k->running) && !f->machine.container)
		finding_set(ret, CHECK_OFF, "%s installed, %s running", k->installed, k->running);
	else if (k->reboot_required)
		finding_set(ret, CHECK_OFF, "a package requires a reboot (/run/reboot-required)");
	else if (!is_hosts_kernel(f, ret))
		finding_set(ret, CHECK_OK, "none");
}

/* What the kernel checks at every lock, allocation or access to memory: if it was built so and
 * the command line does not switch it off, or if the command line switches it on. */
static const struct {
	const char *name;
	const char *config; /* built so; NULL: only by the command line */
	const char *option; /* NULL: none changes it */
	const char *on;     /* values that switch it on; "": also without one */
} DEBUGGING[] = {
	{"KASAN", "CONFIG_KASAN_GENERIC", "kasan", NULL},
	{"KASAN", "CONFIG_KASAN_SW_TAGS", "kasan", NULL},
	{"KCSAN", "CONFIG_KCSAN", NULL, NULL},
	{"KMSAN", "CONFIG_KMSAN", NULL, NULL},
	{"KCOV", "CONFIG_KCOV_INSTRUMENT_ALL", NULL, NULL},
	{"gcov", "CONFIG_GCOV_PROFILE_ALL", NULL, NULL},
	{"lockdep", "CONFIG_PROVE_LOCKING", NULL, NULL},
	{"lock statistics", "CONFIG_LOCK_STAT", NULL, NULL},
	{"sleeping in atomic sections", "CONFIG_DEBUG_ATOMIC_SLEEP", NULL, NULL},
	{"debug_objects", "CONFIG_DEBUG_OBJECTS_ENABLE_DEFAULT", NULL, NULL},
	{"debug_pagealloc", "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT", "debug_pagealloc", "on 1"},
	{"page_poison", NULL, "page_poison", "on 1"},
	{"page_owner", NULL, "page_owner", "on 1"},
	{"kmemleak", NULL, "kmemleak", "on"},
	{"slub_debug", "CONFIG_SLUB_DEBUG_ON", "slub_debug", ""},
	{"slub_debug", NULL, "slab_debug", ""},
	{"init_on_alloc", "CONFIG_INIT_ON_ALLOC_DEFAULT_ON", "init_on_alloc", "1 on y"},
	{"init_on_free", "CONFIG_INIT_ON_FREE_DEFAULT_ON", "init_on_free", "1 on y"},
};

/* Whether row i of DEBUGGING is on. */
static bool is_debugging(const struct facts *f, const char *command_line, size_t i)
{
	const char *config = DEBUGGING[i].config, *option = DEBUGGING[i].option,
		   *on = DEBUGGING[i].on;
	_cleanup_(freep) char *built = NULL, *value = NULL;
	bool by_default;

	if (f->config && config)
		built = kernel_config_get(f->config, config);
	if (option)
		value = kernel_boot_option(command_line, option);
	by_default = built && !strcmp(built, "y");
	if (!value)
		return by_default;
	if (!on)
		return by_default && strcmp(value, "off") != 0;
	return *on ? text_has_word(on, value) : strcmp(value, "-") != 0; /* "-": off */
}

DECIDER(check_kernel_debugging)
{
	_cleanup_(freep) char *command_line = path_text(f->root_fd, "/proc/cmdline"), *found = NULL;

	for (size_t i = 0; i < ELEMENTS(DEBUGGING); i++) {
		const char *name = DEBUGGING[i].name;

		if (is_debugging(f, command_line, i) && !(found && strstr(found, name)))
			text_append(&found, ", ", "%s", name);
	}
	if (found)
		finding_set(ret, CHECK_OFF, "%s", found);
	else if (!f->config)
		finding_set(ret, CHECK_UNKNOWN, "the configuration of this kernel is not known");
	else
		finding_set(ret, CHECK_OK, "none");
}

/* How many descriptors of perf events a process holds; -errno: not known. */
static int count_perf_events(int root_fd, pid_t pid)
{
	static const char event[] = "anon_inode:[perf_event]";
	_cleanup_(closep) int fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, "/proc/%d/fd", pid);
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int n = 0;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1; /* the stream's now */
	while ((entry = readdir(dir))) {
		char target[64] = "";

		if (readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) > 0)
			n += !strcmp(target, event);
	}
	return n;
}

/* A profiler of the whole machine holds an event for each CPU; one of a program fewer, unless
 * the program has many threads. */
DECIDER(check_kernel_perf)
{
	_cleanup_(freep) int *cpus = NULL;
	_cleanup_(freep) char *list = NULL;
	size_t n_cpus = 0, refused = 0;

	if (f->online)
		text_parse_cpu_list(f->online, &cpus, &n_cpus);
	for (size_t i = 0; i < f->n_processes; i++) {
		const struct process *process = &f->processes[i];
		int n = count_perf_events(f->root_fd, process->pid);

		refused += n == -EACCES || n == -EPERM;
		if (n > 0 && (size_t)n >= n_cpus && strncmp(process->name, "emp-", 4) != 0)
			text_append(&list, ", ", "%s (PID %d)", process->name, process->pid);
	}
	if (list)
		finding_set(ret, CHECK_OFF, "%s", list);
	else if (refused > 0)
		finding_set(
			ret, CHECK_REFUSED, "only root can see what other users' processes hold");
	else
		finding_set(ret, CHECK_OK, "none");
}

/* Some things can be read by root only, or not by anybody in a container or on a captured
 * machine. */
static void set_unreadable(const struct facts *f, struct finding *ret, int r, const char *what)
{
	bool refused = r == -EACCES || r == -EPERM;

	if (refused && f->machine.container) {
		finding_set(ret, CHECK_BY_HOST,
			"the host decides; %s cannot be read in a container", what);
		return;
	}
	refused = refused && (geteuid() != 0 || f->root_fd != AT_FDCWD);
	finding_set(ret, refused ? CHECK_REFUSED : CHECK_UNKNOWN,
		refused ? "only root can read %s" : "%s cannot be read here", what);
	if (!refused) {
		ret->how = xstrdup("check it by hand");
		ret->undo = CHECK_NO_UNDO;
	}
}

/* The directory of the kernel's tracing; negative errno: why not. */
static int open_tracing(int root_fd)
{
	int fd;

	if (root_fd == AT_FDCWD)
		return tracefs_open();
	fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, "/sys/kernel/tracing");
	if (fd >= 0)
		return fd;
	return path_open(root_fd, O_RDONLY | O_DIRECTORY, "/sys/kernel/debug/tracing");
}

/* Where the tracer is "nop", single events may be traced. */
DECIDER(check_kernel_tracer)
{
	_cleanup_(closep) int fd = open_tracing(f->root_fd);
	_cleanup_(freep) char *tracer = NULL, *events = NULL, *recording = NULL;
	int r = fd < 0 ? fd : path_read_text(fd, NULL, &tracer, "current_tracer");

	if (r >= 0) {
		/* "0" none, "X" some, "1" all are enabled */
		events = path_text(fd, "events/enable");
		recording = tracefs_recording(fd);
	}
	if (r == -ENOENT)
		finding_set(ret, CHECK_ABSENT, "/sys/kernel/tracing does not exist");
	else if (r < 0)
		set_unreadable(f, ret, r, "/sys/kernel/tracing");
	else if (strcmp(tracer, "nop") != 0)
		finding_set(ret, CHECK_OFF, "%s", tracer);
	else if (events && strcmp(events, "0") != 0)
		finding_set(
			ret, CHECK_OFF, "%s events are traced", *events == '1' ? "all" : "some");
	else if (recording) {
		finding_set(ret, CHECK_OFF, "recorded by %s", recording);
		ret->how = xstrdup("end the process that records; "
				   "else: rmdir /sys/kernel/tracing/instances/NAME");
		ret->undo = CHECK_NO_UNDO;
	} else
		finding_set(ret, CHECK_OK, "nop");
}

DECIDER(check_kernel_leftovers)
{
	/* of EMP's processes that were killed */
	_cleanup_(leftovers_clear) struct leftovers left = {};
	_cleanup_(freep) char *names = NULL;

	if (f->root_fd == AT_FDCWD)
		leftovers_find(&left);
	for (size_t i = 0; i < left.n; i++)
		text_append(&names, ", ", "%s %s", leftover_kind_names[left.items[i].kind],
			left.items[i].path);
	finding_set(ret, names ? CHECK_OFF : CHECK_OK, "%s", names ?: "nothing");
}

DECIDER(check_kernel_programs)
{
	if (f->n_programs < 0)
		set_unreadable(f, ret, (int)f->n_programs, "the list of BPF programs");
	else if (f->n_programs > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " loaded: %s", f->n_programs, f->programs);
	else
		finding_set(ret, CHECK_OK, "none that runs at events of the kernel");
}

DECIDER(check_kernel_audit)
{
	int64_t n = f->audit_rules;

	if (n == -EPROTONOSUPPORT)
		finding_set(ret, CHECK_ABSENT, "this kernel has no audit");
	else if (n < 0)
		set_unreadable(f, ret, n == -ECONNREFUSED ? -EPERM : (int)n, "the audit rules");
	else
		finding_set(ret, n ? CHECK_OFF : CHECK_OK, "%s", text_count(n, "rule"));
}

/* debugfs lists the modes, the one in force in parentheses: "none voluntary (full)". */
DECIDER(check_kernel_scheduler)
{
	_cleanup_(freep) char *modes = NULL;
	int r = path_read_text(f->root_fd, NULL, &modes, "/sys/kernel/debug/sched/preempt");
	const char *open = modes ? strchr(modes, '(') : NULL;
	int64_t slice_ns = path_int(f->root_fd, "/sys/kernel/debug/sched/base_slice_ns");

	if (!open && slice_ns < 0) {
		if (r == -EACCES || r == -EPERM)
			set_unreadable(f, ret, r, "the scheduler's settings");
		else
			finding_set(
				ret, CHECK_UNKNOWN, "debugfs is not mounted, or does not have it");
		return;
	}
	finding_set(ret, CHECK_OK, "preemption %.*s, base slice %s",
		open ? (int)strcspn(open + 1, ")") : 11, open ? open + 1 : "(not known)",
		slice_ns < 0 ? "not known" : text_duration(slice_ns));
}
