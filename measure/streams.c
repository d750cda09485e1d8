/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of a session read and write: see streams.h. */
#include "measure/streams.h"

#include "lib/base/interrupt.h"

#include <pthread.h>
#include <sys/mman.h>

/* Of a pipe for programs that do less when they see /dev/null: moves its pages there without
 * reading them. */
static void *discard_pipe(void *data)
{
	int from = (int)(intptr_t)data, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (null >= 0 && splice(from, NULL, null, NULL, 1 << 20, SPLICE_F_MOVE) > 0)
		;
	return NULL;
}

const char *streams_place(const struct session *s, const struct command *command)
{
	if (command->output)
		return command->output;
	return s->options->show_output ? "inherit" : "null";
}

/* A pipe that a thread empties. It is open until this process ends. */
static int open_pipe(int *ret_fd, struct error *err)
{
	pthread_t thread;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot make a pipe for the output");
	*ret_fd = fds[1];
	r = pthread_create(&thread, NULL, discard_pipe, (void *)(intptr_t)fds[0]);
	if (r != 0)
		return error_os(err, -r, "cannot drain the output");
	pthread_detach(thread);
	return 0;
}

static int open_output_file(const char *path, int *ret_fd, struct error *err)
{
	int r = output_file_is_stream(path) ? 0 : paths_check(path, PATH_WRITE, NULL, err);

	if (r == 0)
		r = paths_check_apart(path, -1, err);
	if (r < 0)
		return r;
	*ret_fd = interrupt_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	return 0;
}

int streams_open_output(
	struct session *s, const struct command *command, int *ret, struct error *err)
{
	const char *where = streams_place(s, command);
	struct output *output;
	int r = 0;

	for (size_t i = 0; i < s->n_outputs; i++)
		if (!strcmp(s->outputs[i].where, where)) {
			*ret = s->outputs[i].fd;
			return 0;
		}
	output = array_add(s->outputs, s->n_outputs);
	*output = (struct output){where, -1};
	*ret = -1;

	if (!strcmp(where, "inherit"))
		return 0;
	if (!strcmp(where, "pipe"))
		r = open_pipe(&output->fd, err);
	else if (!strcmp(where, "null"))
		output->fd = fcntl(s->null, F_DUPFD_CLOEXEC, 0);
	else
		r = open_output_file(where, &output->fd, err);
	if (r < 0)
		return r;
	if (output->fd < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to write", where);
	*ret = output->fd;
	return 0;
}

int streams_open_errors(int *ret_fd, struct error *err)
{
	int fd = memfd_create("standard error", MFD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0)
		return error_os(
			err, -errno, "cannot keep what the programs write to standard error");
	*ret_fd = fd;
	return 0;
}

int streams_open_input(const char *file, int *ret_fd, struct error *err)
{
	struct stat st;

	*ret_fd = open(file,
		/* a pipe is refused without waiting for its writer */
		O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*ret_fd < 0 || fcntl(*ret_fd, F_SETFL, 0) < 0 || fstat(*ret_fd, &st) < 0)
		return error_os(err, -errno, "cannot open '%s' for the programs to read", file);
	if (S_ISDIR(st.st_mode))
		return error_say(err, -EISDIR, "--input '%s' is a directory", file);
	return 0;
}

int streams_open(struct session *s, struct error *err)
{
	const char *input = s->options->input;
	int r;

	s->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->null < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	r = streams_open_errors(&s->errors, err);
	if (r < 0)
		return r;
	input = input && strcmp(input, "null") ? input : "/dev/null";
	r = streams_open_input(input, &s->in, err);
	if (r == 0 && lseek(s->in, 0, SEEK_SET) < 0)
		return error_say(err, -EINVAL,
			"'%s' cannot be read from its beginning for each sample: it must be a file",
			input);
	return r;
}
