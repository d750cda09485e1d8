/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What should stand still while a sample is taken: see counters.h. Files stay open and are read with pread:
 * a reading is a handful of system calls, outside the program's time. */
#include "lib/host/system/counters.h"

#include "lib/base/clock.h"
#include "lib/host/clock/kernel_clock.h"
#include "lib/host/system/counters_bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

enum {
	TEXT_SIZE = 65536,   /* /proc/stat of a few hundred CPUs */
	MAX_THROTTLES = 128, /* files: on a larger machine the first 64 CPUs must do */
};

struct counter_reader {
	int cpu;
	struct machine_counter *counts; /* NULL: they are read from stat and vmstat */
	int stat_fd, vmstat_fd, pressure_fd;
	int throttle_fds[MAX_THROTTLES];
	int n_throttles;
	size_t vmstat_size; /* as far as it is of interest: the kernel writes only what is asked for */
	int64_t tick_ns;
	char text[TEXT_SIZE];
};

static int open_below(int root_fd, const char *path)
{
	return openat(root_fd, path + (root_fd != AT_FDCWD), O_RDONLY | O_CLOEXEC);
}

static void open_throttles(struct counter_reader *reader, int root_fd)
{
	static const char *const counts[] = {"core", "package"};
	int first = reader->cpu < 0 ? 0 : reader->cpu,
	    last = reader->cpu < 0 ? MAX_THROTTLES / 2 - 1 : reader->cpu;

	for (int cpu = first; cpu <= last; cpu++)
		for (size_t i = 0; i < ELEMENTS(counts); i++) {
			char path[128];
			int fd;

			snprintf(path, sizeof(path),
				"/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count", cpu,
				counts[i]);
			fd = open_below(root_fd, path);
			if (fd >= 0)
				reader->throttle_fds[reader->n_throttles++] = fd;
			else if (reader->cpu < 0 && cpu > 0)
				return;
		}
}

void counter_reader_free(struct counter_reader *reader)
{
	if (!reader)
		return;
	machine_counter_free(reader->counts);
	closep(&reader->stat_fd);
	closep(&reader->vmstat_fd);
	closep(&reader->pressure_fd);
	for (int i = 0; i < reader->n_throttles; i++)
		close(reader->throttle_fds[i]);
	free(reader);
}

/* The text of a file up to `room`; "" if it cannot be read. */
static const char *reread(struct counter_reader *reader, int fd, size_t capacity)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, reader->text, capacity, 0);

	reader->text[n > 0 ? n : 0] = '\0';
	return reader->text;
}

/* The line that begins with `name`; NULL: there is none. */
static const char *find_line(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; *text; text = strchrnul(text, '\n'), text += *text == '\n')
		if (!strncmp(text, name, len))
			return text;
	return NULL;
}

/* Both in ticks. */
static bool read_times(struct counter_reader *reader, long long *ret_user, long long *ret_steal)
{
	const char *text = reread(reader, reader->stat_fd, reader->cpu < 0 ? 512 : TEXT_SIZE - 1);
	char name[16] = "cpu ";

	if (reader->cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d ", reader->cpu);
	text = find_line(text, name);
	return text && sscanf(text, "%*s %lld %*d %*d %*d %*d %*d %*d %lld", ret_user, ret_steal) == 2;
}

static void read_steal(struct counter_reader *reader, struct counters *s)
{
	long long user, steal;

	if (read_times(reader, &user, &steal))
		counters_set(s, COUNTER_STEAL, steal * reader->tick_ns);
}

static void read_memory(struct counter_reader *reader, struct counters *s)
{
	static const struct {
		const char *name;
		enum counter which;
	} rows[] = {
		/* as they stand in the file */
		{"pswpin ", COUNTER_SWAPPED_IN},
		{"pswpout ", COUNTER_SWAPPED_OUT},
		{"pgmajfault ", COUNTER_MAJOR_FAULTS},
	};
	enum { GROWTH = 256 }; /* of the numbers in front */
	const char *text = reread(reader, reader->vmstat_fd, reader->vmstat_size);
	size_t end = 0;

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		const char *at = find_line(text, rows[i].name);

		if (at)
			counters_set(s, rows[i].which, strtoll(at + strlen(rows[i].name), NULL, 10));
		end = at ? (size_t)(at - text) : TEXT_SIZE; /* the last one; should it be out of view, all */
	}
	reader->vmstat_size = end + GROWTH < TEXT_SIZE ? end + GROWTH : TEXT_SIZE - 1;
}

static void read_throttles(struct counter_reader *reader, struct counters *s)
{
	int64_t sum = 0;

	for (int i = 0; i < reader->n_throttles; i++)
		sum += strtoll(reread(reader, reader->throttle_fds[i], 32), NULL, 10);
	if (reader->n_throttles > 0)
		counters_set(s, COUNTER_THROTTLES, sum);
}

static void read_pressure(struct counter_reader *reader, struct counters *s)
{
	const char *total = strstr(reread(reader, reader->pressure_fd, 128), "total=");

	if (total) /* of the first line: somebody waited */
		counters_set(s, COUNTER_CPU_PRESSURE, strtoll(total + 6, NULL, 10) * NS_PER_US);
}

static void read_counts(struct counter_reader *reader, struct counters *s)
{
	struct machine_counts count;
	struct error ignored;

	if (machine_counter_read(reader->counts, &count, &ignored) < 0)
		return;
	counters_set(s, COUNTER_STEAL, count.steal_ns);
	counters_set(s, COUNTER_SWAPPED_IN, count.swapped_in);
	counters_set(s, COUNTER_SWAPPED_OUT, count.swapped_out);
	counters_set(s, COUNTER_MAJOR_FAULTS, count.major_faults);
}

/* By /proc, as far as it tells. */
static bool read_slowly(struct counter_reader *reader, struct machine_counts *ret)
{
	struct counters memory = {};
	long long user, steal;

	read_memory(reader, &memory);
	*ret = (struct machine_counts){
		.swapped_in = memory.value[COUNTER_SWAPPED_IN],
		.swapped_out = memory.value[COUNTER_SWAPPED_OUT],
		.major_faults = memory.value[COUNTER_MAJOR_FAULTS],
	};
	if (!read_times(reader, &user, &steal) || !counters_know(&memory, COUNTER_MAJOR_FAULTS))
		return false;
	ret->user_ns = user * reader->tick_ns;
	ret->steal_ns = steal * reader->tick_ns;
	return true;
}

static void open_counts(struct counter_reader *reader)
{
	_cleanup_(machine_counter_freep) struct machine_counter *counts = NULL;
	struct machine_counts before, count, after;
	struct error ignored;

	if (machine_counter_open(&counts, reader->cpu, &ignored) < 0 || !read_slowly(reader, &before) ||
		machine_counter_read(counts, &count, &ignored) < 0 || !read_slowly(reader, &after))
		return;
	if (machine_counts_agree(&count, &before, &after, reader->tick_ns))
		reader->counts = TAKE(counts);
}

int counters_open(struct counter_reader **ret, int root_fd, int cpu, bool by_bpf, struct error *err)
{
	struct counter_reader *reader = malloc(sizeof(*reader));

	if (!reader)
		return error_os(err, -ENOMEM, "cannot watch the machine");
	*reader = (struct counter_reader){
		.cpu = cpu,
		.stat_fd = open_below(root_fd, "/proc/stat"),
		.vmstat_fd = open_below(root_fd, "/proc/vmstat"),
		.pressure_fd = open_below(root_fd, "/proc/pressure/cpu"),
		.vmstat_size = TEXT_SIZE - 1,
		.tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK),
	};
	open_throttles(reader, root_fd);
	if (by_bpf)
		open_counts(reader);
	*ret = reader;
	return 0;
}

void counters_read(struct counter_reader *reader, struct counters *ret)
{
	struct clock_state clock;

	*ret = (struct counters){};
	if (reader->counts) {
		read_counts(reader, ret);
	} else {
		read_steal(reader, ret);
		read_memory(reader, ret);
	}
	read_throttles(reader, ret);
	read_pressure(reader, ret);
	counters_set(ret, COUNTER_SUSPENDED, clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
	clock_read(&clock);
	if (clock.known)
		counters_set(ret, COUNTER_CLOCK_RATE, (int64_t)(clock.frequency_ppm * 1000));
}

struct counters counters_between(const struct counters *before, const struct counters *after)
{
	struct counters moved = {.known = before->known & after->known};

	for (int i = 0; i < N_COUNTERS; i++)
		if (counters_know(&moved, i))
			moved.value[i] = after->value[i] - before->value[i];
	/* two clocks cannot be read at one moment: what is less than a millisecond is that */
	if (moved.value[COUNTER_SUSPENDED] < NS_PER_MS)
		moved.value[COUNTER_SUSPENDED] = 0;
	return moved;
}
