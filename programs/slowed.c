/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program made slower by a known share of its own CPU time, for studies of tools that compare two
 * programs.
 *
 *   emp-slowed NAME SHARE FILE COMMAND [ARGUMENT...]
 *
 * runs COMMAND with its standard streams at /dev/null, and then increments a register (INC) until
 * the increments have taken SHARE (0.02: 2 %) of the CPU time that COMMAND and emp-slowed itself
 * had used before. So the CPU time of both together is longer by this share than with SHARE 0, also
 * where the machine's speed changes from one execution to the next. A line of FILE says what was
 * done: NAME, the CPU time before the increments and that of the increments, in ns. Static, so that
 * its own start takes next to no time. */
#include "lib/base/base.h"
#include "lib/host/cpu/increments.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PER_TURN = 64, TURNS = 64 }; /* 4096 increments, one or two microseconds */
INCREMENT_LOOP(slowed_increment, PER_TURN)

static int64_t timeval_as_ns(struct timeval t)
{
	return t.tv_sec * NS_PER_S + t.tv_usec * NS_PER_US;
}

/* Runs the command; its CPU time and its exit status as a shell gives it. */
static int slowed_run(char **argv, int64_t *ret_ns, int *ret_status, struct error *err)
{
	posix_spawn_file_actions_t streams;
	struct rusage used;
	int status, r;
	pid_t pid;

	posix_spawn_file_actions_init(&streams);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(
			&streams, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
	r = posix_spawnp(&pid, argv[0], &streams, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&streams);
	if (r > 0)
		return error_os(err, -r, "cannot run %s", argv[0]);
	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return error_os(err, -errno, "cannot wait for %s", argv[0]);
	*ret_ns = timeval_as_ns(used.ru_utime) + timeval_as_ns(used.ru_stime);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

static int slowed(char **argv, int *ret_status, struct error *err)
{
	int64_t begun_ns, now_ns, before_ns = 0, long_ns;
	char *end;
	double share = strtod(argv[2], &end);
	int fd, r;

	if (*end || !(share >= 0 && share <= 1))
		return error_say(err, -EINVAL, "'%s' is no share from 0 to 1", argv[2]);
	fd = open(argv[3], O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return error_os(err, -errno, "cannot write to %s", argv[3]);
	r = slowed_run(argv + 4, &before_ns, ret_status, err);
	if (r < 0)
		return r;

	begun_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	before_ns += begun_ns;
	long_ns = (int64_t)(share * (double)before_ns);
	for (now_ns = begun_ns; now_ns - begun_ns < long_ns;) {
		slowed_increment(TURNS);
		now_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
	if (dprintf(fd, "%s %" PRId64 " %" PRId64 "\n", argv[1], before_ns, now_ns - begun_ns) < 0)
		return error_os(err, -errno, "cannot write to %s", argv[3]);
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = {};
	int status = 0;

	if (argc < 5) {
		fputs("usage: emp-slowed NAME SHARE FILE COMMAND [ARGUMENT...]\n", stderr);
		return 1;
	}
	if (slowed(argv, &status, &err) < 0) {
		fprintf(stderr, "emp-slowed: %s\n", err.text);
		return 1;
	}
	return status;
}
