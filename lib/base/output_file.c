/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are written for the user: see output_file.h. */
#include "lib/base/output_file.h"

#include "lib/base/xalloc.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool is_standard_output(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

bool output_file_is_stream(const char *path)
{
	struct stat st;

	return is_standard_output(path) || !strcmp(path, "/dev/stderr") || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6) ||
	       (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static int say_cannot_write(int r, const char *path, struct error *err)
{
	return error_os(err, r, "cannot write '%s'", path);
}

/* A new file beside the target; -1 with errno. */
static int make_fresh(struct output_file *o, const struct stat *st, bool exists)
{
	const char *slash = strrchr(o->target, '/');
	size_t directory = slash ? (size_t)(slash - o->target) + 1 : 0;
	_cleanup_(freep) char *fresh = text_format("%.*s.emp-XXXXXX", (int)directory, o->target);
	_cleanup_(closep) int fd = mkostemp(fresh, O_CLOEXEC);
	mode_t mask = umask(0);
	bool kept;

	umask(mask);
	if (fd < 0)
		return -1;
	kept = !exists || (st->st_uid == geteuid() && st->st_gid == getegid()) ||
	       fchown(fd, st->st_uid, st->st_gid) == 0;
	if (!kept || fchmod(fd, exists ? st->st_mode & 07777 : 0666 & ~mask) < 0) {
		unlink(fresh);
		errno = EPERM;
		return -1;
	}
	o->fresh = TAKE(fresh);
	xalloc_unfinished(o->fresh);
	return TAKE_FD(fd);
}

static int output_open_file(struct output_file *o, const char *path, struct error *err)
{
	bool exists = false;
	struct stat st;
	int fd, r = paths_follow(path, PATH_WRITE, &o->target, &exists, &st, err);

	if (r < 0)
		return r;
	if (exists && S_ISDIR(st.st_mode))
		return error_say(err, -EISDIR, "cannot write '%s': it is a directory", path);
	fd = make_fresh(o, &st, exists);
	if (fd < 0 && exists && (errno == EPERM || errno == EACCES))
		o->in_place = (fd = open(o->target, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) >= 0;
	o->file = fd < 0 ? NULL : fdopen(fd, "w");
	return o->file ? 0 : say_cannot_write(-errno, path, err);
}

int output_file_open(struct output_file *ret, const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file o = {};
	int fd, r = 0;

	if (!*path)
		return say_cannot_write(-ENOENT, path, err);
	if (output_file_is_stream(path)) {
		fflush(stdout); /* what was printed comes first */
		fd = is_standard_output(path) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
					      : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		o.file = fd < 0 ? NULL : fdopen(fd, "w");
		if (!o.file)
			return say_cannot_write(-errno, path, err);
		o.target = xstrdup(path);
	} else
		r = output_open_file(&o, path, err);
	if (r == 0)
		*ret = TAKE_STRUCT(o);
	return r;
}

int output_file_commit(struct output_file *o, struct error *err)
{
	FILE *file = TAKE(o->file);
	int r = fflush(file) != 0 || (o->in_place && ftruncate(fileno(file), ftello(file)) < 0) ? -errno : 0;

	if (fclose(file) != 0 && r == 0)
		r = -errno;
	if (r == 0 && o->fresh && rename(o->fresh, o->target) < 0)
		r = -errno;
	if (r < 0)
		return say_cannot_write(r, o->target, err);
	xalloc_finished(o->fresh);
	free(TAKE(o->fresh));
	return 0;
}

void output_file_clear(struct output_file *o)
{
	if (o->file)
		fclose(o->file);
	if (o->fresh)
		unlink(o->fresh);
	xalloc_finished(o->fresh);
	free(o->fresh);
	free(o->target);
	*o = (struct output_file){};
}
