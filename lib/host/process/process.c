/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other processes, as /proc shows them: see process.h. */
#include "lib/host/process/process.h"

enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD */

int process_parse(const char *stat, struct process *ret)
{
	/* names may contain both */
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	struct process p = {.pid = (pid_t)strtol(stat, NULL, 10)};
	int64_t user_ticks = 0, system_ticks = 0;
	unsigned long flags;
	char state;

	if (!open || !close || close < open || p.pid <= 0)
		return -EINVAL;
	/* the times of children are the 14th and 15th word after the name, the start is the 20th */
	if (sscanf(close + 1,
		    " %c %d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %" SCNd64 " %" SCNd64
		    " %*d %*d %*d %*d %" SCNu64,
		    &state, &p.parent, &flags, &user_ticks, &system_ticks, &p.start_ticks) < 3)
		return -EINVAL;
	p.waited_ticks = user_ticks + system_ticks;
	if (flags & KERNEL_THREAD)
		return 0;
	if (strchr("ZX", state))
		p.start_ticks = 0;
	snprintf(p.name, sizeof(p.name), "%.*s", (int)(close - open - 1), open + 1);
	*ret = p;
	return 1;
}

struct process *processes_read(int root_fd, size_t *ret_n)
{
	_cleanup_(closep) int proc_fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, "/proc");
	_cleanup_(pid_list_free) struct pid_list pids = {};
	struct process *found = NULL, process;

	*ret_n = 0;
	if (proc_fd >= 0)
		pid_list_read(&pids, proc_fd);
	pid_list_sort(&pids); /* those of a captured machine come in any order */
	for (size_t i = 0; i < pids.n; i++) {
		_cleanup_(freep) char *stat = path_text(proc_fd, "%d/stat", pids.items[i]);

		if (stat && process_parse(stat, &process) == 1) /* NULL: it has ended meanwhile */
			*array_add(found, *ret_n) = process;
	}
	return found;
}

const char *process_end_text(int wait_status)
{
	if (!WIFSIGNALED(wait_status))
		return text_brief("ended with exit status %d", WEXITSTATUS(wait_status));
#if __GLIBC_PREREQ(2, 32)
	return text_brief("was killed by signal %d (SIG%s)", WTERMSIG(wait_status),
		sigabbrev_np(WTERMSIG(wait_status)) ?: "RTMIN+");
#else
	return text_brief("was killed by signal %d (%s)", WTERMSIG(wait_status),
		strsignal(WTERMSIG(wait_status)));
#endif
}

uint64_t process_ref_start_ticks(pid_t pid)
{
	_cleanup_(freep) char *stat = path_text(AT_FDCWD, "/proc/%d/stat", pid);
	struct process process;

	return stat && process_parse(stat, &process) == 1 ? process.start_ticks : 0;
}

int64_t process_ref_started_ns(pid_t pid)
{
	uint64_t ticks = process_ref_start_ticks(pid);

	if (!ticks)
		return 0;
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
	       (int64_t)ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

const char *process_ref(pid_t pid)
{
	_cleanup_(freep) char *boot = path_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	uint64_t started = process_ref_start_ticks(pid);

	return boot && started ? text_brief("%.36s %d %" PRIu64, boot, pid, started) : "";
}

pid_t process_ref_pid(const char *ref)
{
	int pid;

	if (!ref || sscanf(ref, "%*36s %d", &pid) != 1 || pid <= 0)
		return 0;
	return !strcmp(process_ref(pid), ref) ? pid : 0;
}

bool schedstat_parse(const char *text, struct schedstat *ret)
{
	/* 0: the kernel does not count, since a thread that can be read has had a turn */
	int64_t n_turns;
	struct schedstat s;

	if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &s.run_ns, &s.wait_ns, &n_turns) != 3)
		return false;
	if (s.run_ns < 0 || s.wait_ns < 0 || n_turns <= 0)
		return false;
	*ret = s;
	return true;
}

bool schedstat_read(pid_t pid, struct schedstat *ret)
{
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "/proc/%d/schedstat", pid);

	return text && schedstat_parse(text, ret);
}

/* It calls getdents64 directly: opendir would allocate memory, and open the directory again. The
 * kernel lists processes in order of their ids. */
int pid_list_read(struct pid_list *list, int proc_fd)
{
	char buffer[32768] __attribute__((aligned(8)));
	struct dirent64 *entry;
	ssize_t n;

	list->n = 0;
	if (lseek(proc_fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = getdents64(proc_fd, buffer, sizeof(buffer))) > 0)
		for (char *at = buffer; at < buffer + n; at += entry->d_reclen) {
			pid_t *pid;

			entry = (struct dirent64 *)at;
			if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
				continue;
			pid = array_add_reused(list->items, list->n, list->capacity);
			*pid = atoi(entry->d_name);
		}
	return n < 0 ? -errno : 0;
}

int pid_list_add_children(struct pid_list *list, pid_t pid, pid_t thread, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	char *at, *end;
	int r = path_read_text(AT_FDCWD, err, &text, "/proc/%d/task/%d/children", pid, thread);

	for (at = text; r == 0; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10), *item;

		if (end == at || child <= 0) /* 0: it is in no namespace that is visible here */
			break;
		item = array_add_reused(list->items, list->n, list->capacity);
		*item = child;
	}
	return r;
}

void pid_list_add_children_of(struct pid_list *list, pid_t pid)
{
	_cleanup_(closedirp) DIR *threads = NULL;
	struct dirent *entry;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && (entry = readdir(threads)))
		if (*entry->d_name != '.')
			pid_list_add_children(list, pid, (pid_t)atoi(entry->d_name), NULL);
}

void pid_list_free(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list){};
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

void pid_list_sort(struct pid_list *list)
{
	if (list->n > 0)
		qsort(list->items, list->n, sizeof(*list->items), compare_pids);
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	return list->n > 0 && bsearch(&pid, list->items, list->n, sizeof(pid), compare_pids);
}
