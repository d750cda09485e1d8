/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways to read a time: see time_source.h. */
#include "lib/clocks/time_source.h"

#include "lib/clock/emp-clock.h"
#include "lib/host/accounting/taskstats.h"
#include "lib/host/perf/perf_counters.h"
#include "lib/host/process/cgroup.h"

#include <linux/perf_event.h>
#include <linux/rtc.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/times.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static int64_t read_rusage(struct time_reader *reader)
{
	struct rusage usage;

	if (getrusage(reader->source->argument, &usage) < 0)
		return -1;
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

static int open_clock(struct time_reader *reader, struct error *why)
{
	int r = 0;

	reader->clock = reader->source->argument;
	if (reader->pid != 0)
		r = clock_getcpuclockid(reader->pid, &reader->clock);
	if (r == 0 && clock_getres(reader->clock, NULL) < 0)
		r = errno;
	return -r;
}

static int64_t time_source_read_clock(struct time_reader *reader)
{
	struct timespec now;

	return clock_gettime(reader->clock, &now) < 0 ? -1 : timespec_ns(now);
}

static int64_t read_times(struct time_reader *reader)
{
	static int64_t tick_ns;
	struct tms times_now;

	if (tick_ns == 0)
		tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	if (times(&times_now) == (clock_t)-1)
		return -1;
	return (times_now.tms_utime + times_now.tms_stime) * tick_ns;
}

static bool time_source_read_text(struct time_reader *reader, char *text, size_t size)
{
	ssize_t n = pread(reader->fd, text, size - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* A file that stays open, and is read again from its start: "/proc/PID/stat", of this process. */
static int open_proc(struct time_reader *reader, struct error *why)
{
	reader->fd = path_open(AT_FDCWD, O_RDONLY, "/proc/%d%s", reader->pid ?: getpid(),
		strrchr(reader->source->name, '/'));
	return reader->fd < 0 ? reader->fd : 0;
}

/* utime and stime, fields 14 and 15, in ticks; the name, field 2, may contain anything. */
static int64_t read_stat(struct time_reader *reader)
{
	long long user, system;
	char text[1024], *at;

	if (!time_source_read_text(reader, text, sizeof(text)) || !(at = strrchr(text, ')')))
		return -1;
	for (int field = 2; at && field < 14; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	user = strtoll(at, &at, 10);
	system = strtoll(at, NULL, 10);
	return (user + system) * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static int64_t read_schedstat(struct time_reader *reader)
{
	char text[128];

	return time_source_read_text(reader, text, sizeof(text)) ? strtoll(text, NULL, 10) : -1;
}

static int open_perf(struct time_reader *reader, struct error *why)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK};

	reader->fd = perf_event_open(&attr, reader->pid);
	if (reader->fd == -EACCES || reader->fd == -EPERM)
		return error_say(why, reader->fd, "needs root");
	return reader->fd < 0 ? reader->fd : 0;
}

static int64_t read_perf(struct time_reader *reader)
{
	int64_t ns;

	return read(reader->fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : -1;
}

/* The page has the time of the last switch and how to convert cycles since then, if the kernel
 * provides both. */
static int open_perf_page(struct time_reader *reader, struct error *why)
{
	int r = open_perf(reader, why);
	struct perf_event_mmap_page *page;

	if (r < 0)
		return r;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, reader->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	reader->page = page;
	if (!page->cap_user_time)
		return error_say(why, -ENOTSUP, "it has no time (cap_user_time is 0)");
	return 0;
}

/* As linux/perf_event.h describes it. */
static int64_t read_perf_page(struct time_reader *reader)
{
	const struct perf_event_mmap_page *page = reader->page;
	uint64_t cycles, ns, whole, rest;
	uint32_t before;

	do {
		before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		cycles = (uint64_t)cycles_now();
		if (page->cap_user_time_short)
			cycles = page->time_cycles +
				 ((cycles - page->time_cycles) & page->time_mask);
		whole = cycles >> page->time_shift;
		rest = cycles & ((UINT64_C(1) << page->time_shift) - 1);
		ns = page->time_enabled + page->time_offset + whole * page->time_mult +
		     (rest * page->time_mult >> page->time_shift);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != before);
	return (int64_t)ns;
}

/* The cgroup in which the process is anyway: others in it count as well. */
static int open_cpu_stat(struct time_reader *reader, struct error *why)
{
	_cleanup_(freep) char *directory = NULL;
	int r = cgroup_of(reader->pid, &directory, why);

	if (r < 0)
		return error_say(why, r, "no cgroup v2");
	reader->fd = path_open(AT_FDCWD, O_RDONLY, "%s/cpu.stat", directory);
	return reader->fd < 0 ? reader->fd : 0;
}

static int64_t read_cgroup(struct time_reader *reader)
{
	char text[1024], *at;

	if (!time_source_read_text(reader, text, sizeof(text)) ||
		!(at = strstr(text, "usage_usec ")))
		return -1;
	return strtoll(at + strlen("usage_usec "), NULL, 10) * NS_PER_US;
}

static int open_taskstats(struct time_reader *reader, struct error *why)
{
	struct error long_why;
	int64_t now;
	int r = taskstats_link_new(&reader->link, &long_why);

	if (r < 0 && r != -EPERM)
		return error_say(why, r, "%s", long_why.text);
	now = r < 0 ? r : time_read(reader);
	return now < 0 ? error_say(why, -EPERM, "needs root") : 0;
}

static int64_t read_taskstats(struct time_reader *reader)
{
	struct taskstats_fields fields;

	return taskstats_link_ask_one(reader->link, reader->pid ?: getpid(), &fields, NULL) < 0
		       ? -1
		       : (int64_t)fields.run_ns;
}

static int open_device(struct time_reader *reader, const char *path, struct error *why)
{
	reader->fd = path_open(AT_FDCWD, O_RDONLY, "%s", path);
	if (reader->fd == -ENOENT)
		return error_say(why, -ENOENT, "there is no %s", path);
	if (reader->fd == -EACCES || reader->fd == -EPERM)
		return error_say(why, reader->fd, "%s: needs root", path);
	if (reader->fd == -EBUSY)
		return error_say(why, -EBUSY, "%s: another program uses it", path);
	return reader->fd < 0 ? reader->fd : 0;
}

/* The registers of the High Precision Event Timer (IA-PC HPET Specification 1.0a, 2.3). */
enum { HPET_PERIOD = 0x4, HPET_COUNTER = 0xf0 };

static int open_hpet(struct time_reader *reader, struct error *why)
{
	int r = open_device(reader, "/dev/hpet", why);
	void *page;

	if (r < 0)
		return r;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, reader->fd, 0);
	if (page == MAP_FAILED)
		return error_say(why, -errno,
			"the kernel does not map it (hpet_mmap=1 on its command line)");
	reader->page = page;
	reader->period_fs = *(const volatile uint32_t *)((const char *)page + HPET_PERIOD);
	return reader->period_fs > 0 ? 0 : error_say(why, -ENOTSUP, "it has no period");
}

static int64_t read_hpet(struct time_reader *reader)
{
	enum { FS_PER_NS = 1000000 };
	const uint64_t period_fs = reader->period_fs;
	uint64_t count = *(const volatile uint64_t *)((const char *)reader->page + HPET_COUNTER);

	return (int64_t)(count / FS_PER_NS * period_fs + count % FS_PER_NS * period_fs / FS_PER_NS);
}

static int open_rtc(struct time_reader *reader, struct error *why)
{
	return open_device(reader, "/dev/rtc0", why);
}

static int64_t read_rtc(struct time_reader *reader)
{
	struct rtc_time now;
	struct tm tm;

	if (ioctl(reader->fd, RTC_RD_TIME, &now) < 0)
		return -1;
	tm = (struct tm){.tm_sec = now.tm_sec,
		.tm_min = now.tm_min,
		.tm_hour = now.tm_hour,
		.tm_mday = now.tm_mday,
		.tm_mon = now.tm_mon,
		.tm_year = now.tm_year};
	return timegm(&tm) * NS_PER_S;
}

#if defined(__x86_64__)
static int64_t read_rdtsc(struct time_reader *reader)
{
	return (int64_t)__rdtsc();
}

static int open_rdtscp(struct time_reader *reader, struct error *why)
{
	unsigned int a, b, c, d = 0;

	if (__get_cpuid(0x80000001, &a, &b, &c, &d) && d & 1U << 27)
		return 0;
	return error_say(why, -ENOTSUP, "this processor has no such instruction");
}

static int64_t read_rdtscp(struct time_reader *reader)
{
	unsigned int cpu;

	return (int64_t)__rdtscp(&cpu);
}
#elif defined(__aarch64__)
static int64_t read_cntvct(struct time_reader *reader)
{
	int64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now)::"memory");
	return now;
}
#endif

static int open_emp_clock(struct time_reader *reader, struct error *why)
{
	uint64_t ns;

	return reader->pid != 0 && emp_clock_thread_ns_of(reader->pid, &ns) < 0 ? -errno : 0;
}

static int64_t read_emp_clock(struct time_reader *reader)
{
	return (int64_t)emp_clock_thread_ns();
}

static int64_t read_emp_clock_of(struct time_reader *reader)
{
	uint64_t ns;

	return emp_clock_thread_ns_of(reader->pid, &ns) < 0 ? -1 : (int64_t)ns;
}

#define POSIX_CLOCK(id, scope_of, other)                                                \
	{                                                                               \
		"clock_gettime(" #id ")", scope_of, .of_others = other, .argument = id, \
						    open_clock, time_source_read_clock  \
	}

const struct time_source time_sources[] = {
#if defined(__x86_64__)
	{"rdtsc", TIME_OF_SYSTEM, .cycles = true, .read = read_rdtsc},
	{"rdtscp", TIME_OF_SYSTEM, .cycles = true, .open = open_rdtscp, .read = read_rdtscp},
#elif defined(__aarch64__)
	{"cntvct_el0", TIME_OF_SYSTEM, .cycles = true, .read = read_cntvct},
#endif
	{"emp-clock", TIME_OF_CALLER, .of_others = true, .open = open_emp_clock,
		.read = read_emp_clock, .read_of = read_emp_clock_of},
	POSIX_CLOCK(CLOCK_MONOTONIC, TIME_OF_SYSTEM, false),
	POSIX_CLOCK(CLOCK_MONOTONIC_RAW, TIME_OF_SYSTEM, false),
	POSIX_CLOCK(CLOCK_REALTIME, TIME_OF_SYSTEM, false),
	POSIX_CLOCK(CLOCK_BOOTTIME, TIME_OF_SYSTEM, false),
	POSIX_CLOCK(CLOCK_THREAD_CPUTIME_ID, TIME_OF_CALLER, false),
	POSIX_CLOCK(CLOCK_PROCESS_CPUTIME_ID, TIME_OF_CALLER, true),
	{TIME_REFERENCE, TIME_OF_CALLER, .argument = RUSAGE_SELF, .read = read_rusage},
	{"getrusage(RUSAGE_THREAD)", TIME_OF_CALLER, .argument = RUSAGE_THREAD,
		.read = read_rusage},
	{"getrusage(RUSAGE_CHILDREN)", TIME_OF_CHILDREN, .argument = RUSAGE_CHILDREN,
		.read = read_rusage},
	{"times()", TIME_OF_CALLER, .read = read_times},
	{"/proc/PID/stat", TIME_OF_CALLER, .of_others = true, .open = open_proc, .read = read_stat},
	{"/proc/PID/schedstat", TIME_OF_CALLER, .of_others = true, .open = open_proc,
		.read = read_schedstat},
	{"perf task-clock", TIME_OF_CALLER, .of_others = true, .relative = true, .open = open_perf,
		.read = read_perf},
	{"perf task-clock, mapped page", TIME_OF_CALLER, .open = open_perf_page,
		.read = read_perf_page},
	{"cgroup cpu.stat", TIME_OF_CGROUP, .open = open_cpu_stat, .read = read_cgroup},
	{"taskstats", TIME_OF_CALLER, .of_others = true, .open = open_taskstats,
		.read = read_taskstats},
	{"HPET", TIME_OF_SYSTEM, .open = open_hpet, .read = read_hpet},
	{"RTC", TIME_OF_SYSTEM, .open = open_rtc, .read = read_rtc},
};

const size_t n_time_sources = ELEMENTS(time_sources);

int time_reader_open(
	struct time_reader *ret, const struct time_source *source, pid_t pid, struct error *why)
{
	struct time_reader reader = {.source = source, .pid = pid, .fd = -1};
	int r;

	*why = (struct error){};
	r = source->open ? source->open(&reader, why) : 0;
	if (r < 0) {
		time_reader_close(&reader);
		return *why->text ? r : error_say(why, r, "%s", strerror(-r));
	}
	*ret = reader;
	return 0;
}

void time_reader_close(struct time_reader *reader)
{
	if (reader->page)
		munmap(reader->page, (size_t)sysconf(_SC_PAGESIZE));
	if (reader->fd >= 0)
		close(reader->fd);
	taskstats_link_free(reader->link);
	*reader = (struct time_reader){.fd = -1};
}
