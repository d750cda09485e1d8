/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the disturbance counters: see counters.h. */
#include "lib/run/counters.h"

#include "lib/host/system/kernel.h"

/* Files stay open and are read with pread, outside the program's time. */

enum {
	TEXT_SIZE = 65536,   /* /proc/stat of a few hundred CPUs */
	MAX_THROTTLES = 128, /* files: of a larger machine, the first 64 CPUs are read */
};

/* Reading takes about 0.1 ms, too long for each sample of a short program. */
static const int64_t PERIOD_NS = 100 * NS_PER_MS;
/* A reading older than this cannot begin a sample. */
static const int64_t FRESH_NS = NS_PER_MS;

struct counter_reader {
	int cpu;
	int stat_fd, vmstat_fd, pressure_fd;
	int throttle_fds[MAX_THROTTLES];
	int n_throttles;
	int msr_fd, temperature_fd;
	struct holdback *holdback;
	uint64_t actual, base; /* cycles, of APERF and MPERF; 0: not known */
	struct counters last;
	/* CLOCK_BOOTTIME when `last` was read: a sample in which the machine slept is long */
	int64_t last_ns;
	bool pending; /* a sample has ended since then */
	/* as far as it is of interest: the kernel writes only what is asked for */
	size_t vmstat_size;
	int64_t tick_ns;
	char text[TEXT_SIZE];
};

static void open_throttles(struct counter_reader *reader, int root_fd)
{
	static const char *const counts[] = {"core", "package"};
	int first = reader->cpu < 0 ? 0 : reader->cpu,
	    last = reader->cpu < 0 ? MAX_THROTTLES / 2 - 1 : reader->cpu;

	for (int cpu = first; cpu <= last; cpu++)
		for (size_t i = 0; i < ELEMENTS(counts); i++) {
			int fd = path_open(root_fd, O_RDONLY,
				"/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count",
				cpu, counts[i]);

			if (fd >= 0)
				reader->throttle_fds[reader->n_throttles++] = fd;
			else if (reader->cpu < 0 && cpu > 0)
				return;
		}
}

struct counter_reader *counters_open(int root_fd, int cpu)
{
	struct counter_reader *reader = xmalloc(sizeof(*reader));
	enum { DEVICES = 32 };
	static const char *const drivers[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};

	*reader = (struct counter_reader){
		.cpu = cpu,
		.stat_fd = path_open(root_fd, O_RDONLY, "/proc/stat"),
		.vmstat_fd = path_open(root_fd, O_RDONLY, "/proc/vmstat"),
		.pressure_fd = path_open(root_fd, O_RDONLY, "/proc/pressure/cpu"),
		/* registers of the pinned CPU: root's, with the kernel's module msr; virtual
		 * machines have none */
		.msr_fd = cpu < 0 ? -1 : path_open(root_fd, O_RDONLY, "/dev/cpu/%d/msr", cpu),
		.temperature_fd = -1,
		.holdback = holdback_open(root_fd),
		.last = COUNTERS_NONE,
		.vmstat_size = TEXT_SIZE - 1,
		.tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK),
	};
	open_throttles(reader, root_fd);
	/* The sensor of the processor: the first temperature of the first hwmon device of a driver
	 * for processors. */
	for (int i = 0; i < DEVICES && reader->temperature_fd < 0; i++) {
		_cleanup_(freep) char *name = path_text(
			root_fd, "/sys/class/hwmon/hwmon%d/name", i);

		for (size_t k = 0; name && k < ELEMENTS(drivers) && reader->temperature_fd < 0; k++)
			if (!strcmp(name, drivers[k]))
				reader->temperature_fd = path_open(root_fd, O_RDONLY,
					"/sys/class/hwmon/hwmon%d/temp1_input", i);
	}
	return reader;
}

void counter_reader_free(struct counter_reader *reader)
{
	if (!reader)
		return;
	closep(&reader->stat_fd);
	closep(&reader->vmstat_fd);
	closep(&reader->pressure_fd);
	closep(&reader->msr_fd);
	closep(&reader->temperature_fd);
	for (int i = 0; i < reader->n_throttles; i++)
		close(reader->throttle_fds[i]);
	holdback_free(reader->holdback);
	free(reader);
}

/* The text of a file up to `capacity`; "" if it cannot be read. */
static const char *reread_file(struct counter_reader *reader, int fd, size_t capacity)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, reader->text, capacity, 0);

	reader->text[n > 0 ? n : 0] = '\0';
	return reader->text;
}

/* The line that begins with `name`; NULL: there is none. */
static const char *counter_line(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; *text; text = strchrnul(text, '\n'), text += *text == '\n')
		if (!strncmp(text, name, len))
			return text;
	return NULL;
}

/* A number that cannot be right is not known. */
static void set_scaled(struct counters *s, enum counter which, int64_t value, int64_t scale)
{
	int64_t scaled;

	if (value >= 0 && !__builtin_mul_overflow(value, scale, &scaled))
		s->value[which] = scaled;
}

/* 0: the processor has no such register. */
static uint64_t read_register(const struct counter_reader *reader, off_t number)
{
	uint64_t value;

	if (reader->msr_fd < 0 ||
		pread(reader->msr_fd, &value, sizeof(value), number) != sizeof(value))
		return 0;
	return value;
}

/* Reads as much of the file as holds the numbers: the kernel writes only what is asked for. */
static void read_vmstat(struct counter_reader *reader, struct counters *now)
{
	enum { GROWTH = 256 }; /* of the numbers in front */
	static const struct {
		const char *name;
		enum counter which;
	} rows[] = {
		/* in the order of the file */
		{"pswpin ", COUNTER_SWAPPED_IN},
		{"pswpout ", COUNTER_SWAPPED_OUT},
		{"pgmajfault ", COUNTER_MAJOR_FAULTS},
	};
	const char *text = reread_file(reader, reader->vmstat_fd, reader->vmstat_size);
	size_t end = 0;

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		const char *at = counter_line(text, rows[i].name);

		if (at)
			set_scaled(now, rows[i].which, strtoll(at + strlen(rows[i].name), NULL, 10),
				1);
		/* up to the last one; if it was cut off, all */
		end = at ? (size_t)(at - text) : TEXT_SIZE;
	}
	reader->vmstat_size = end + GROWTH < TEXT_SIZE ? end + GROWTH : TEXT_SIZE - 1;
}

static void counters_read_all(struct counter_reader *reader)
{
	/* Intel SDM 4: IA32_APERF counts cycles at the actual clock, IA32_MPERF at the base
	 * frequency, neither while the CPU halts. */
	enum { SMI_COUNT = 0x34, MPERF = 0xe7, APERF = 0xe8 };
	struct counters now = COUNTERS_NONE;
	struct clock_state clock;
	char name[16] = "cpu ";
	int64_t smis, throttles = 0;
	const char *text;
	long long ticks;

	if (reader->cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d ", reader->cpu);
	text = reread_file(reader, reader->stat_fd, reader->cpu < 0 ? 512 : TEXT_SIZE - 1);
	text = counter_line(text, name);
	if (text && sscanf(text, "%*s %*d %*d %*d %*d %*d %*d %*d %lld", &ticks) == 1)
		set_scaled(&now, COUNTER_STEAL, ticks, reader->tick_ns);
	read_vmstat(reader, &now);

	for (int i = 0; i < reader->n_throttles; i++)
		throttles += (uint32_t)strtoul(
			reread_file(reader, reader->throttle_fds[i], 32), NULL, 10);
	if (reader->n_throttles > 0)
		now.value[COUNTER_THROTTLES] = throttles;

	text = strstr(reread_file(reader, reader->pressure_fd, 128), "total=");
	if (text) /* of the first line ("some") */
		set_scaled(&now, COUNTER_CPU_PRESSURE, strtoll(text + 6, NULL, 10), NS_PER_US);

	smis = (int64_t)read_register(reader, SMI_COUNT);
	if (smis)
		now.value[COUNTER_SMIS] = smis;
	reader->base = read_register(reader, MPERF);
	reader->actual = read_register(reader, APERF);
	text = reread_file(reader, reader->temperature_fd, 32);
	if (*text)
		now.value[COUNTER_TEMPERATURE] = strtoll(text, NULL, 10);

	reader->last_ns = clock_ns(CLOCK_BOOTTIME);
	now.value[COUNTER_SUSPENDED] = reader->last_ns - clock_ns(CLOCK_MONOTONIC);
	kernel_clock_read(&clock);
	if (clock.known)
		now.value[COUNTER_CLOCK_RATE] = (int64_t)(clock.frequency_ppm * 1000);
	reader->last = now;
	reader->pending = false;
}

void counters_begin(struct counter_reader *reader)
{
	if (!reader->pending && clock_ns(CLOCK_BOOTTIME) - reader->last_ns > FRESH_NS)
		counters_read_all(reader);
	holdback_begin(reader->holdback);
}

const struct holdback *counters_holdback(const struct counter_reader *reader)
{
	return reader->holdback;
}

/* How far the actual clock is from the base frequency, by the cycles of both. */
static int64_t speed_ppm(uint64_t actual, uint64_t base)
{
	return (int64_t)(((double)actual / (double)base - 1) * 1e6);
}

struct counters counters_end(struct counter_reader *reader)
{
	struct counters before = reader->last, changed = COUNTERS_NONE;
	uint64_t base = reader->base, actual = reader->actual;

	reader->pending = true;
	if (clock_ns(CLOCK_BOOTTIME) - reader->last_ns < PERIOD_NS)
		return changed;
	counters_read_all(reader);
	for (int i = 0; i < N_COUNTERS; i++)
		if (counters_know(&before, i) && counters_know(&reader->last, i))
			changed.value[i] = reader->last.value[i] - before.value[i];
	if (base > 0 && actual > 0 && reader->base > base && reader->actual > actual)
		changed.value[COUNTER_SPEED] = speed_ppm(
			reader->actual - actual, reader->base - base);
	/* differences below a millisecond arise because two clocks cannot be read at the same
	 * moment */
	if (counters_know(&changed, COUNTER_SUSPENDED) &&
		changed.value[COUNTER_SUSPENDED] < NS_PER_MS)
		changed.value[COUNTER_SUSPENDED] = 0;
	return changed;
}
