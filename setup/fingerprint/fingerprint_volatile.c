/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volatile part of a fingerprint: see fingerprint.h. It may explain a run with odd times. */
#include "setup/fingerprint/fingerprint.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/host/clock/kernel_clock.h"
#include "lib/host/process/process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>

extern char **environ;

/* How many packages dpkg has installed, and a digest of its list; null on other systems. */
static json_t *packages(int root_fd)
{
	_cleanup_(freep) char *text = NULL;
	char digest[DIGEST_SIZE];
	json_int_t n = 0;

	if (text_read_file(root_fd, "/var/lib/dpkg/status", &text) < 0)
		return json_null();
	for (const char *p = text; (p = strstr(p, "\nStatus: install ok installed\n")); p++)
		n++;
	digest_of(text, strlen(text), digest);
	return json_pack("{s:I, s:s}", "installed", n, "digest", digest);
}

static json_int_t lines(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	json_int_t n = 0;

	if (text_read_file(root_fd, path, &text) < 0 || !*text)
		return 0;
	for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		n++;
	return n;
}

static json_t *clock_part(int root_fd)
{
	struct clock_state clock;

	if (root_fd != AT_FDCWD)
		return json_null();
	kernel_clock_read(&clock);
	if (!clock.known)
		return json_null();
	return json_pack("{s:b, s:f, s:I}", "kernel_says_synchronised", clock.synchronised, "rate_ppm",
		clock.frequency_ppm, "max_error_us", (json_int_t)clock.max_error_us);
}

/* The name of the file system, or its number as in statfs(2). */
static json_t *working_directory(void)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} known[] = {{0xef53, "ext4"}, {0x01021994, "tmpfs"}, {0x58465342, "xfs"}, {0x9123683e, "btrfs"},
		{0x794c7630, "overlay"}, {0x6969, "nfs"}, {0x2fc12fc1, "zfs"}};
	struct statfs fs;
	char number[24];

	if (statfs(".", &fs) < 0)
		return json_null();
	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (known[i].magic == (unsigned long)fs.f_type)
			return json_string(known[i].name);
	snprintf(number, sizeof(number), "0x%lx", (unsigned long)fs.f_type);
	return json_string(number);
}

json_t *fingerprint_volatile(int root_fd, const struct machine *m)
{
	char moment[TEXT_TIME_SIZE];
	size_t n;
	json_int_t n_bytes = 0;

	free(processes_read(root_fd, &n));
	for (char **e = environ; *e; e++)
		n_bytes += (json_int_t)strlen(*e) + 1;
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:{s:s, s:s}}",
		"taken", text_moment(moment, clock_ns(CLOCK_REALTIME)), "host_name",
		fingerprint_file(root_fd, "/proc/sys/kernel/hostname"), "uptime_s",
		fingerprint_file(root_fd, "/proc/uptime"), "load", fingerprint_file(root_fd, "/proc/loadavg"),
		"processes", (json_int_t)n, "modules", lines(root_fd, "/proc/modules"), "memory_bytes",
		(json_int_t)m->memory_bytes, "perf_event_max_sample_rate",
		fingerprint_file(root_fd, "/proc/sys/kernel/perf_event_max_sample_rate"), "preemption",
		fingerprint_file(root_fd, "/sys/kernel/debug/sched/preempt"), "base_slice_ns",
		fingerprint_file(root_fd, "/sys/kernel/debug/sched/base_slice_ns"), "clock",
		clock_part(root_fd), "working_directory_on", working_directory(), "environment_bytes",
		n_bytes, "packages", packages(root_fd), "emp", "version", EMP_VERSION, "compiler",
		__VERSION__);
}
