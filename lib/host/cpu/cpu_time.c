/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares from /proc/stat: see cpu_time.h. */
#include "lib/host/cpu/cpu_time.h"

#include <math.h>

/* Ticks of /proc/stat. */
struct cpu_time {
	uint64_t all, idle, stolen;
};

/* Of one CPU since the machine was started; zeros: not known. */
static struct cpu_time stat_line_read(const char *stat, int cpu)
{
	const char *line = stat ? strstr(stat, text_brief("cpu%d ", cpu)) : NULL;
	struct cpu_time time = {};
	uint64_t t[8];

	/* user, nice, system, idle, iowait, irq, softirq, steal */
	if (!line || sscanf(line,
			     "cpu%*d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			     " %" SCNu64 " %" SCNu64 " %" SCNu64,
			     &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return time;
	for (size_t i = 0; i < ELEMENTS(t); i++)
		time.all += t[i];
	time.idle = t[3] + t[4];
	time.stolen = t[7];
	return time;
}

/* What has come since, in ticks. The kernel's sums of idle times may go backwards. */
static double time_share(uint64_t before, uint64_t now, double all)
{
	return all > 0 ? fmin(1, fmax(0, (double)(int64_t)(now - before) / all)) : NAN;
}

char *cpu_time_text(void)
{
	return path_text(AT_FDCWD, "/proc/stat");
}

double cpu_time_stolen(const char *before, const char *now, int cpu)
{
	struct cpu_time a = stat_line_read(before, cpu), b = stat_line_read(now, cpu);

	return time_share(a.stolen, b.stolen, (double)b.all - (double)a.all);
}

double cpu_time_busy(const char *before, const char *now, int cpu)
{
	struct cpu_time a = stat_line_read(before, cpu), b = stat_line_read(now, cpu);

	return 1 - time_share(a.idle, b.idle, (double)b.all - (double)a.all);
}
