/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that a program touches: see working_set.h. */
#include "lib/host/process/working_set.h"

#include "lib/host/process/pinning.h"
#include "lib/host/process/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>

const int64_t working_set_window_ns[WORKING_SET_WINDOWS] = {
	3 * NS_PER_MS, 10 * NS_PER_MS, 30 * NS_PER_MS, 100 * NS_PER_MS};

/* A program touches more when it starts, in turn as well: it is not looked at before then. */
static const int64_t START_NS = 4 * NS_PER_MS;
static const int64_t LOOK_NS = NS_PER_MS / 2;

/* Longer ones are data, which others seldom have mapped. */
enum { LONGEST_MAPPING = 32 << 20 };

/* A part of a file that the program has mapped, and so has this process. */
struct mapping {
	unsigned long long inode, offset;
	void *at;
	size_t size;
};

struct working_set_watch {
	pthread_t thread;
	sem_t stop;
	struct pid_list before; /* processes that are not the program's */
	struct mapping *mappings;
	size_t n_mappings;
	struct working_set seen;
};

/* True: asked to end. */
static bool pause_or_stop(struct working_set_watch *w)
{
	int64_t next_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
	struct timespec at = {next_ns / NS_PER_S, next_ns % NS_PER_S};

	return sem_clockwait(&w->stop, CLOCK_MONOTONIC, &at) == 0;
}

static void list_program(const struct working_set_watch *w, struct pid_list *ret)
{
	size_t n = 0;

	ret->n = 0;
	pid_list_add_children_of(ret, getpid());
	for (size_t i = 0; i < ret->n; i++)
		if (!pid_list_has(&w->before, ret->items[i]))
			ret->items[n++] = ret->items[i];
	ret->n = n;
	for (size_t i = 0; i < ret->n; i++)
		pid_list_add_children_of(ret, ret->items[i]);
}

/* How many threads of the process are ready to run, or run. */
static int count_ready(pid_t pid)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	_cleanup_(freep) char *path = text_format("/proc/%d/task", pid);
	struct dirent *entry;
	int n = 0;

	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		_cleanup_(freep) char *stat = NULL;
		const char *after_name;

		if (*entry->d_name == '.')
			continue;
		stat = path_text(dirfd(dir), "%s/stat", entry->d_name);
		after_name = stat ? strrchr(stat, ')') : NULL;
		n += after_name && !strncmp(after_name, ") R", 3);
	}
	return n;
}

static void look_at_threads(struct working_set_watch *w)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	int ready = 0;

	list_program(w, &list);
	for (size_t i = 0; i < list.n; i++)
		ready += count_ready(list.items[i]);
	w->seen.looks += list.n > 0;
	w->seen.parallel += ready > 1;
}

bool working_set_is_parallel(const struct working_set *set)
{
	enum { LEAST_LOOKS = 2, PART = 4 };

	return set->parallel >= LEAST_LOOKS && set->parallel * PART >= set->looks;
}

/* The CPU time of all of them; -1: one of them has ended. */
static int64_t used_by(const struct pid_list *list)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct timespec used;
		clockid_t clock;

		if (clock_getcpuclockid(list->items[i], &clock) != 0 ||
			clock_gettime(clock, &used) < 0)
			return -1;
		sum_ns += timespec_ns(used);
	}
	return sum_ns;
}

static bool write_clear_refs(int fd, const char *what)
{
	return write(fd, what, 1) == 1;
}

/* 1 clears the marks; 4 clears others, and has the processor forget its translations. */
static bool clear_marks(pid_t pid)
{
	_cleanup_(closep) int fd = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write_clear_refs(fd, "1") && write_clear_refs(fd, "4");
}

static bool is_mapped(const struct working_set_watch *w, const struct mapping *m)
{
	for (size_t i = 0; i < w->n_mappings; i++)
		if (w->mappings[i].inode == m->inode && w->mappings[i].offset == m->offset &&
			w->mappings[i].size >= m->size)
			return true;
	return false;
}

/* Maps what the process has mapped of files, as far as they are to be opened. */
static void map_files_of(struct working_set_watch *w, pid_t pid)
{
	_cleanup_(freep) char *maps = path_text(AT_FDCWD, "/proc/%d/maps", pid);
	unsigned long long begin, end;
	struct mapping m;
	char name[512];

	for (const char *line = maps; line && *line; line = strchr(line, '\n')) {
		_cleanup_(closep) int fd = -1;
		_cleanup_(freep) char *path = NULL;
		struct stat st;

		line += *line == '\n';
		if (sscanf(line, "%llx-%llx %*s %llx %*x:%*x %llu %511[^\n]", &begin, &end,
			    &m.offset, &m.inode, name) != 5 ||
			*name != '/')
			continue;
		m.size = end - begin;
		if (m.inode == 0 || m.size > LONGEST_MAPPING || is_mapped(w, &m))
			continue;
		path = text_format("/proc/%d/root%s", pid, name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_ino != m.inode)
			continue;
		m.at = mmap(
			NULL, m.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, (off_t)m.offset);
		if (m.at != MAP_FAILED)
			*array_add(w->mappings, w->n_mappings) = m;
	}
}

/* 3: of all files that this process has mapped, also the marks that are not of a process. */
static void clear_common_marks(void)
{
	_cleanup_(closep) int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		write_clear_refs(fd, "3");
}

/* What one process has touched. -1: not known. */
static double touched_bytes(pid_t pid)
{
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "/proc/%d/smaps_rollup", pid);
	const char *line = text ? strstr(text, "\nReferenced:") : NULL;
	unsigned long long kib;

	if (!line || sscanf(line, "\nReferenced: %llu kB", &kib) != 1)
		return -1;
	return 1024 * (double)kib;
}

/* By all of them, also those that have begun within the window. -1: it does not count, because one
 * has ended within it, or is not to be read. */
static double touched_by(const struct working_set_watch *w, const struct pid_list *then)
{
	_cleanup_(pid_list_free) struct pid_list now = {};
	double sum = 0;

	list_program(w, &now);
	clear_common_marks();
	for (size_t i = 0; i < now.n; i++) {
		double bytes = touched_bytes(now.items[i]);

		if (bytes < 0)
			return -1;
		sum += bytes;
	}
	return now.n > 0 && used_by(then) >= 0 ? sum : -1;
}

/* Until the program has used so much more CPU time. False: it has ended, or the watch is to. */
static bool wait_used(struct working_set_watch *w, const struct pid_list *list, int64_t used_ns)
{
	int64_t now_ns = used_by(list);

	while (now_ns >= 0 && now_ns < used_ns) {
		if (pause_or_stop(w)) {
			sem_post(&w->stop);
			return false;
		}
		now_ns = used_by(list);
	}
	return now_ns >= 0;
}

static void watch_window(struct working_set_watch *w, size_t length)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	int64_t used_ns;
	double bytes;

	list_program(w, &list);
	used_ns = used_by(&list);
	if (list.n == 0 || used_ns < START_NS)
		return;
	for (size_t i = 0; i < list.n; i++)
		map_files_of(w, list.items[i]);
	used_ns = used_by(&list);
	for (size_t i = 0; i < list.n; i++)
		if (!clear_marks(list.items[i]))
			return;
	if (!wait_used(w, &list, used_ns + working_set_window_ns[length]))
		return;
	bytes = touched_by(w, &list);
	if (bytes < 0)
		return;
	w->seen.bytes[length] += bytes;
	w->seen.n[length]++;
}

static void *watch_program(void *data)
{
	struct working_set_watch *w = data;
	const struct working_set *seen = &w->seen;
	size_t length = 0;

	while (!pause_or_stop(w)) {
		size_t before = seen->n[length];

		look_at_threads(w);
		watch_window(w, length);
		if (seen->n[length] > before)
			length = (length + 1) % WORKING_SET_WINDOWS;
	}
	return NULL;
}

int working_set_watch_new(struct working_set_watch **ret, int cpu, struct error *err)
{
	struct working_set_watch *w = xcalloc(1, sizeof(*w));
	cpu_set_t cpus;
	bool known = sched_getaffinity(0, sizeof(cpus), &cpus) == 0;
	int r;

	sem_init(&w->stop, 0, 0);
	pid_list_add_children_of(&w->before, getpid());
	pid_list_sort(&w->before);
	if (known && cpu >= 0 && CPU_COUNT(&cpus) > 1)
		CPU_CLR((size_t)cpu, &cpus);
	r = pinning_thread(&w->thread, known ? &cpus : NULL, watch_program, w);
	if (r < 0) {
		pid_list_free(&w->before);
		free(w);
		return error_os(err, r, "cannot watch what memory the program touches");
	}
	*ret = w;
	return 0;
}

void working_set_watch_end(struct working_set_watch *w, struct working_set *sum)
{
	sem_post(&w->stop);
	pthread_join(w->thread, NULL);
	for (size_t i = 0; i < WORKING_SET_WINDOWS; i++) {
		sum->bytes[i] += w->seen.bytes[i];
		sum->n[i] += w->seen.n[i];
	}
	sum->looks += w->seen.looks;
	sum->parallel += w->seen.parallel;
	for (size_t i = 0; i < w->n_mappings; i++)
		munmap(w->mappings[i].at, w->mappings[i].size);
	free(w->mappings);
	sem_destroy(&w->stop);
	pid_list_free(&w->before);
	free(w);
}

/* What is touched in a window is touched in one of its parts. */
static double least_by_longer(const struct working_set *set, double window_ns)
{
	double least = 0;

	for (size_t i = 0; i < WORKING_SET_WINDOWS; i++) {
		double length_ns = (double)working_set_window_ns[i];

		if (length_ns > window_ns && set->n[i] > 0)
			least = fmax(
				least, set->bytes[i] / (double)set->n[i] * window_ns / length_ns);
	}
	return least;
}

/* By windows of that length, or by shorter ones. */
static double most_by_shorter(const struct working_set *set, int64_t window_ns)
{
	double bytes = NAN, longer = 1;

	for (size_t i = 0; i < WORKING_SET_WINDOWS; i++) {
		double length_ns = (double)working_set_window_ns[i];

		if (i > 0)
			longer = length_ns / (double)working_set_window_ns[i - 1];
		bytes = set->n[i] > 0 ? set->bytes[i] / (double)set->n[i] : longer * bytes;
		if ((double)window_ns <= length_ns)
			return bytes;
		longer = (double)window_ns / length_ns;
	}
	return longer * bytes;
}

double working_set_bytes(const struct working_set *set, int64_t window_ns)
{
	double bytes = most_by_shorter(set, window_ns);

	return isnan(bytes) ? NAN : fmax(bytes, least_by_longer(set, (double)window_ns));
}
