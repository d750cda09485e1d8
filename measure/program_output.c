/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs write, kept and compared: see program_output.h. */
#include "measure/program_output.h"

#include "lib/base/argv.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"
#include "lib/record/run.h"

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A thread that moves what the program writes from a pipe to the file. It hashes nothing. */
struct output_drain {
	int from, to;
	pthread_t thread;
	/* held from when there is something in the pipe until it is in the file */
	pthread_mutex_t moving;
};

static void *drain_to_memory(void *data)
{
	struct output_drain *d = data;
	struct pollfd readable = {.fd = d->from, .events = POLLIN};
	ssize_t n = 1;

	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) {
		if (poll(&readable, 1, -1) < 0 && errno != EINTR)
			break;
		pthread_mutex_lock(&d->moving);
		n = splice(d->from, NULL, d->to, NULL, 1 << 20, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		pthread_mutex_unlock(&d->moving);
	}
	return NULL;
}

/* Waits until the pipe is empty and the thread has written what it took from it. */
static void drain_wait(struct output_drain *d)
{
	int left = 1;

	while (left > 0) {
		pthread_mutex_lock(&d->moving);
		if (ioctl(d->from, FIONREAD, &left) < 0)
			left = 0;
		pthread_mutex_unlock(&d->moving);
		if (left > 0)
			sched_yield();
	}
}

static int open_drain(struct program_output *o, struct error *err)
{
	struct output_drain *d;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot make a pipe for the output");
	o->stdout_fd = fds[1];
	d = xmalloc(sizeof(*d));
	*d = (struct output_drain){
		.from = fds[0], .to = o->memory, .moving = PTHREAD_MUTEX_INITIALIZER};
	r = pthread_create(&d->thread, NULL, drain_to_memory, d);
	if (r != 0) {
		close(d->from);
		free(d);
		return error_os(err, -r, "cannot drain the output");
	}
	o->drain = d;
	return 0;
}

int program_output_open(struct program_output *o, const char *where, int fd, struct error *err)
{
	*o = PROGRAM_OUTPUT_NONE;
	o->memory = memfd_create("output", MFD_CLOEXEC);
	if (o->memory < 0)
		return error_os(err, -errno, "cannot keep what the programs write");
	if (!strcmp(where, "pipe"))
		return open_drain(o, err);
	o->stdout_fd = o->memory;
	o->shown = fd < 0;
	o->forward = strcmp(where, "null") != 0 ? fd : -1;
	return 0;
}

void program_output_close(struct program_output *o)
{
	if (o->stdout_fd != o->memory)
		closep(&o->stdout_fd); /* ends the thread */
	if (o->drain) {
		pthread_join(o->drain->thread, NULL);
		close(o->drain->from);
		free(o->drain);
	}
	closep(&o->memory);
	free(o->items);
	*o = PROGRAM_OUTPUT_NONE;
}

int program_output_begin(struct program_output *o, struct error *err)
{
	const int files[] = {o->memory, o->forward};

	if (o->drain) /* of processes that were left behind */
		drain_wait(o->drain);
	for (size_t i = 0; i < ELEMENTS(files); i++)
		if (files[i] >= 0 && lseek(files[i], 0, SEEK_SET) == 0 &&
			ftruncate(files[i], 0) < 0 && errno != EINVAL)
			return error_os(err, -errno, "cannot empty the output");
	return 0;
}

static int hash_file(int fd, char ret[DIGEST_SIZE], struct error *err)
{
	void *data = MAP_FAILED;
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_size == 0) {
		digest_of("", 0, ret);
		return 0;
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return error_os(err, -errno, "cannot read what a program wrote");
	digest_of(data, (size_t)st.st_size, ret);
	munmap(data, (size_t)st.st_size);
	return 0;
}

/* The command's standard output is compared, its errors are shown. */
static int run_check(
	struct written *w, int memory, const char *check, char *const *shell, struct error *err)
{
	_cleanup_(argv_freep) char **argv = argv_for_shell(shell, check);
	_cleanup_(closep) int out = memfd_create("checked output", MFD_CLOEXEC);
	_cleanup_(closep) int in = open(
		text_brief("/proc/self/fd/%d", memory), O_RDONLY | O_CLOEXEC);
	const struct subprocess command = {
		.argv = argv, .stdin_fd = in, .stdout_fd = out, .ends_on_signals = true};
	int status, r;

	if (in < 0 || out < 0)
		return error_os(err, -errno, "cannot give --check what a program wrote");
	r = subprocess_run(&command, NULL, &status, err);
	if (r < 0)
		return error_prefix(err, r, "--check");
	w->status = process_exit_status(status);
	return hash_file(out, w->digest, err);
}

int program_output_take(struct program_output *o, uint32_t sample, const char *check,
	char *const *shell, struct error *err)
{
	struct written w = {.sample = sample};
	int r;

	if (o->memory < 0)
		return 0;
	if (o->drain)
		drain_wait(o->drain);
	r = check ? run_check(&w, o->memory, check, shell, err)
		  : hash_file(o->memory, w.digest, err);
	if (r == 0)
		*array_add(o->items, o->n) = w;
	return r;
}

int program_output_copy(struct program_output *o, struct error *err)
{
	const int to = o->shown ? STDOUT_FILENO : o->forward;
	struct stat st;
	off_t at = 0;

	if (o->memory < 0 || to < 0 || fstat(o->memory, &st) < 0)
		return 0;
	fflush(stdout);
	while (at < st.st_size) {
		char part[65536];
		ssize_t n = pread(o->memory, part, sizeof(part), at), done = 0, k;

		for (; done < n; done += k) {
			k = write(to, part + done, (size_t)(n - done));
			if (k < 0 && errno == EPIPE) /* nobody reads on */
				return 0;
			if (k < 0 && errno != EINTR)
				return error_os(err, -errno, "cannot copy what a program wrote");
			k = k < 0 ? 0 : k;
		}
		if (n <= 0)
			break;
		at += n;
	}
	return 0;
}

const struct written *program_output_usual(const struct program_output *o)
{
	const struct written *usual = NULL;
	size_t most = 0;

	for (size_t i = 0; i < o->n; i++) {
		size_t alike = 0;

		for (size_t k = 0; k < o->n; k++)
			alike += !strcmp(o->items[i].digest, o->items[k].digest);
		if (alike > most) {
			most = alike;
			usual = &o->items[i];
		}
	}
	return usual;
}

/* "sample 2", "samples 2, 5, 9"; the first ones of many. */
static char *list_samples(const struct program_output *o, const char *usual_digest)
{
	enum { MOST = 8 };
	_cleanup_(freep) char *list = NULL;
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct written *w = &o->items[i];

		if (usual_digest ? !strcmp(w->digest, usual_digest) : w->status == 0)
			continue;
		if (n++ < MOST)
			text_append(&list, ", ", "%u", w->sample);
	}
	return list ? text_format("sample%s %s%s", n > 1 ? "s" : "", list, n > MOST ? ", …" : "")
		    : NULL;
}

char *program_output_unlike(const struct program_output *o)
{
	return o->n > 0 ? list_samples(o, program_output_usual(o)->digest) : NULL;
}

char *program_output_refused(const struct program_output *o)
{
	return list_samples(o, NULL);
}

char *program_output_digest(const struct program_output *o)
{
	_cleanup_(freep) char *unlike = program_output_unlike(o),
			      *refused = program_output_refused(o);

	if (o->n == 0)
		return NULL;
	if (refused)
		return xstrdup(OUTPUT_FAILED);
	return xstrdup(unlike ? OUTPUT_VARIES : o->items[0].digest);
}
