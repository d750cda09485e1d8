/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts by BPF against /proc, on the real kernel: as root. */
#include "tests/unit/check.h"

#include "lib/base/text.h"
#include "lib/host/system/counters_bpf.h"
#include "tests/machine/burning.h"

#include <fcntl.h>
#include <string.h>

static struct machine_counter *open_counts(int cpu)
{
	struct machine_counter *counts = NULL;
	struct error err = {};

	if (machine_counter_open(&counts, cpu, &err) < 0)
		fail_msg("%s", err.text);
	return counts;
}

static struct machine_counts read_counts(struct machine_counter *counts)
{
	struct machine_counts count;
	struct error err = {};

	if (machine_counter_read(counts, &count, &err) < 0)
		fail_msg("%s", err.text);
	return count;
}

/* A number of the line of a file that begins with `name`. */
static long long tell(const char *path, const char *name, int field)
{
	_cleanup_(freep) char *text = NULL;
	const char *line = NULL;

	assert_int_equal(text_read_file(AT_FDCWD, path, &text), 0);
	for (char *at = text; at && !line; at = strchr(at, '\n'), at += at != NULL)
		if (!strncmp(at, name, strlen(name)))
			line = at + strlen(name);
	assert_non_null(line);
	for (; field > 0; field--) {
		line += strspn(line, " ");
		line += strcspn(line, " ");
	}
	return strtoll(line, NULL, 10);
}

/* Pages that are in no memory, only in a file. */
static void fetch_pages(void)
{
	enum { SIZE = 64 * 4096 };
	char path[] = "machine-counts-XXXXXX";
	_cleanup_(closep) int fd = mkstemp(path);
	static const char zeros[SIZE];
	volatile char *pages;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, zeros, SIZE), SIZE);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	pages = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	for (int at = 0; at < SIZE; at += 4096)
		(void)pages[at];
	munmap((void *)pages, SIZE);
}

static void major_faults_are_those_of_vmstat(void **state)
{
	_cleanup_(machine_counter_freep) struct machine_counter *counts = open_counts(-1);
	long long outer = tell("/proc/vmstat", "pgmajfault ", 0), inner;
	struct machine_counts before = read_counts(counts), after;

	inner = tell("/proc/vmstat", "pgmajfault ", 0);
	fetch_pages();
	inner = tell("/proc/vmstat", "pgmajfault ", 0) - inner;
	after = read_counts(counts);
	outer = tell("/proc/vmstat", "pgmajfault ", 0) - outer;
	print_message("%lld major faults, by /proc %lld to %lld\n",
		(long long)(after.major_faults - before.major_faults), inner, outer);
	assert_true(inner > 0);
	assert_true(after.major_faults - before.major_faults >= inner);
	assert_true(after.major_faults - before.major_faults <= outer);
	assert_int_equal(after.swapped_in, tell("/proc/vmstat", "pswpin ", 0));
	assert_int_equal(after.swapped_out, tell("/proc/vmstat", "pswpout ", 0));
}

/* /proc tells in ticks, and cuts. */
static void times_are_those_of_stat(void **state)
{
	const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int cpu = n_cpus > 1 ? 0 : -1; cpu < n_cpus; cpu++) {
		_cleanup_(machine_counter_freep) struct machine_counter *counts = open_counts(cpu);
		struct machine_counts before = read_counts(counts), after;
		long long user, steal;
		char name[16] = "cpu ";

		if (cpu >= 0)
			snprintf(name, sizeof(name), "cpu%d ", cpu);
		burning_pin(cpu < 0 ? 0 : cpu);
		burning_until(CLOCK_MONOTONIC, clock_ns(CLOCK_MONOTONIC) + 100 * NS_PER_MS);
		user = tell("/proc/stat", name, 0);
		steal = tell("/proc/stat", name, 7);
		after = read_counts(counts);
		assert_true(after.user_ns - before.user_ns > 20 * NS_PER_MS);
		assert_in_range(after.user_ns / tick_ns, user, user + 2);
		assert_in_range(after.steal_ns / tick_ns, steal, steal + 2);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(major_faults_are_those_of_vmstat),
		cmocka_unit_test(times_are_those_of_stat),
	};
	_cleanup_(machine_counter_freep) struct machine_counter *counts = NULL;
	struct error err = {};

	if (machine_counter_open(&counts, -1, &err) < 0)
		return check_cannot_run(err.text);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
