/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of what slows the whole kernel down, or takes CPUs away from it: debugging,
 * profilers of all CPUs, the host. See audit.h. */
#include "setup/audit/audit.h"

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

void check_kernel_debugging(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *command_line = path_text(f->root_fd, "/proc/cmdline"), *found = NULL;

	for (size_t i = 0; i < ELEMENTS(DEBUGGING); i++) {
		_cleanup_(freep) char *built = f->config && DEBUGGING[i].config
						       ? kernel_config_get(
								 f->config, DEBUGGING[i].config)
						       : NULL,
				      *value = DEBUGGING[i].option
						       ? kernel_boot_option(
								 command_line, DEBUGGING[i].option)
						       : NULL;
		bool on = built && !strcmp(built, "y");

		if (value && DEBUGGING[i].on && !*DEBUGGING[i].on)
			on = strcmp(value, "-") != 0; /* "-" switches it off */
		else if (value)
			on = DEBUGGING[i].on ? text_has_word(DEBUGGING[i].on, value)
					     : on && strcmp(value, "off") != 0;
		if (on && !(found && strstr(found, DEBUGGING[i].name)))
			text_append(&found, ", ", "%s", DEBUGGING[i].name);
	}
	if (found)
		finding_set(ret, CHECK_OFF, "%s", found);
	else if (!f->config)
		finding_set(ret, CHECK_UNKNOWN, "the configuration of this kernel is not known");
	else
		finding_set(ret, CHECK_OK, "none");
}

void cpu_ticks_read(struct cpu_ticks *ret, int root_fd)
{
	_cleanup_(freep) char *text = path_text(root_fd, "/proc/stat");
	uint64_t t[8];

	/* user, nice, system, idle, iowait, irq, softirq, steal; user contains the time of
	 * guests */
	*ret = (struct cpu_ticks){.steal = -1};
	if (!text || sscanf(text,
			     "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			     " %" SCNu64 " %" SCNu64 " %" SCNu64,
			     &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return;
	for (size_t i = 0; i < ELEMENTS(t); i++)
		ret->all = saturate_add(ret->all, t[i] > INT64_MAX ? INT64_MAX : (int64_t)t[i]);
	ret->steal = t[7] > INT64_MAX ? INT64_MAX : (int64_t)t[7];
}

/* Of the time of all CPUs since the machine was started, and during this audit, which is short:
 * there, a single tick proves nothing. */
void check_system_steal(const struct facts *f, struct finding *ret)
{
	enum { MOST_SHARE = 100 /* 1 % */, TICKS_COUNT = 3 };
	struct cpu_ticks now;
	int64_t steal, all;
	bool recent;

	cpu_ticks_read(&now, f->root_fd);
	steal = now.steal - f->ticks.steal;
	all = now.all - f->ticks.all;
	recent = f->ticks.all > 0 && steal >= TICKS_COUNT && steal > all / MOST_SHARE;
	if (!f->machine.virtual)
		finding_set(ret, CHECK_ABSENT, "no hypervisor runs below this kernel");
	else if (now.steal < 0 || now.all <= 0)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (recent)
		finding_set(ret, CHECK_OFF,
			"%s of the CPUs' time now, %s since the machine was started",
			text_percent((double)steal / (double)all),
			text_percent((double)now.steal / (double)now.all));
	else if (now.steal == 0)
		finding_set(ret, CHECK_OK,
			"none since the machine was started; not every host reports it");
	else
		finding_set(ret, now.steal > now.all / MOST_SHARE ? CHECK_OFF : CHECK_OK,
			"%s of the CPUs' time since the machine was started",
			text_percent((double)now.steal / (double)now.all));
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
void check_kernel_perf(const struct facts *f, struct finding *ret)
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
