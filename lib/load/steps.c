/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out the steps of a script: see steps.h. */
#include "lib/load/steps.h"

#include "lib/base/xalloc.h"
#include "lib/base/clock.h"
#include "lib/base/random.h"
#include "lib/host/process/process.h"
#include "lib/host/process/start.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { BLOCK = 1 << 20 };

static const char fill_file[] = "emp-load-flush";

int steps_begin(
	struct steps *ret, const struct script *script, uint64_t seed, bool show_output, struct error *err)
{
	*ret = (struct steps){.script = script, .random = seed, .output = -1};
	ret->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (ret->null < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	ret->output = show_output ? -1 : ret->null;
	return 0;
}

static int64_t most_to_fill(const struct script *script)
{
	int64_t most = 0;

	for (size_t i = 0; i < script->n_steps; i++)
		if (script->steps[i].fill_bytes > most)
			most = script->steps[i].fill_bytes;
	return most;
}

int steps_make_files(const struct steps *steps, struct error *err)
{
	int64_t left = most_to_fill(steps->script);
	_cleanup_(freep) char *block = xcalloc(1, BLOCK);
	_cleanup_(closep) int fd = -1;

	if (left == 0)
		return 0;
	fd = open(fill_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (ssize_t n = 0; fd >= 0 && left > 0; left -= n) {
		n = write(fd, block, left < BLOCK ? (size_t)left : BLOCK);
		if (n < 0)
			break;
	}
	return left > 0 || fsync(fd) < 0 ? error_os(err, -errno, "cannot write the file that flush reads")
					 : 0;
}

static int fill(int64_t bytes, struct error *err)
{
	_cleanup_(freep) char *block = xmalloc(BLOCK);
	_cleanup_(closep) int fd = open(fill_file, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	while (fd >= 0 && bytes > 0 && n > 0) {
		n = read(fd, block, bytes < BLOCK ? (size_t)bytes : BLOCK);
		bytes -= n;
	}
	return fd < 0 || n < 0 ? error_os(err, -errno, "cannot read the file of flush") : 0;
}

static int drop(struct error *err)
{
	_cleanup_(closep) int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	sync(); /* what is not written yet cannot be dropped */
	if (fd < 0 || write(fd, "1", 1) != 1)
		return error_os(err, -errno, "cannot drop the page cache, which only root may");
	return 0;
}

static int64_t draw(uint64_t *random, const struct think *think)
{
	double uniform = random_unit(random);

	if (think->exponential)
		return (int64_t)(-log(1 - uniform) * (double)think->low_ns);
	return think->low_ns + (int64_t)(uniform * (double)(think->high_ns - think->low_ns));
}

static void pause_for(int64_t ns)
{
	struct timespec left = {ns / NS_PER_S, ns % NS_PER_S};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static int wait_for(struct steps *s, const struct step *step, pid_t pid, struct error *err)
{
	struct rusage usage;
	char end[PROCESS_END_SIZE];
	int status;

	if (wait4(pid, &status, 0, &usage) < 0)
		return error_os(err, -errno, "cannot wait for '%s'", step->argv[0]);
	s->major_faults += usage.ru_majflt;
	if (usage.ru_maxrss * 1024 > s->max_rss_bytes)
		s->max_rss_bytes = usage.ru_maxrss * 1024;
	if (WIFSIGNALED(status) || (status != 0 && !s->script->ignore_failure))
		return error_say(err, -ECANCELED, "line %d, '%.80s', %s", step->line, step->text,
			process_end_text(end, status));
	return 0;
}

static int run(struct steps *s, const struct step *step, struct error *err)
{
	_cleanup_(closep) int input = step->input ? open(step->input, O_RDONLY | O_CLOEXEC) : -1;
	struct spawn spawn = {
		.argv = step->argv,
		.path = step->path,
		.cpu = -1,
		.stdin_fd = step->input ? input : s->null,
		.stdout_fd = s->output,
		.stderr_fd = s->output,
		.wait_unused = true,
	};
	_cleanup_(closep) int pidfd = -1;
	struct started started;
	int r;

	if (step->input && input < 0)
		return error_os(err, -errno, "line %d: cannot open '%s'", step->line, step->input);
	r = start_program(&spawn, &started, err);
	if (r < 0)
		return error_prefix(err, r, "line %d", step->line);
	pidfd = started.pidfd;
	return wait_for(s, step, started.pid, err);
}

static int take(struct steps *s, const struct step *step, struct error *err)
{
	switch (step->kind) {
	case STEP_THINK:
		pause_for(draw(&s->random, &step->think));
		return 0;
	case STEP_DROP:
		return drop(err);
	case STEP_FILL:
		return fill(step->fill_bytes, err);
	default:
		return run(s, step, err);
	}
}

int steps_take(struct steps *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->script->n_steps; i++)
		r = take(s, &s->script->steps[i], err);
	return r;
}
