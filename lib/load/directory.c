/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of a run of the load: see directory.h. */
#include "lib/load/directory.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/host/system/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

struct directory {
	char *path;
	int fd; /* locked */
};

/* Between mkdtemp and the lock, a neighbour may take the new one for abandoned. */
static int make(struct directory *d, const char *below)
{
	struct stat st;

	free(d->path);
	d->path = leftover_directory_name(below);
	if (!d->path)
		return -ENOMEM;
	if (!mkdtemp(d->path))
		return -errno;
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0 || flock(d->fd, LOCK_EX | LOCK_NB) < 0 || fstat(d->fd, &st) < 0 || st.st_nlink == 0)
		return -EAGAIN;
	return 0;
}

int directory_new(struct directory **ret, const char *below, struct error *err)
{
	_cleanup_(directory_freep) struct directory *d = xcalloc(1, sizeof(*d));
	_cleanup_(freep) char *whole = realpath(below, NULL); /* slaves enter their own */
	int r = whole ? -EAGAIN : -errno;

	d->fd = -1;
	if (whole)
		leftovers_remove_directories(whole);
	for (int i = 0; i < 100 && r == -EAGAIN; i++) {
		closep(&d->fd);
		r = make(d, whole);
	}
	if (r < 0)
		return error_os(err, r, "cannot make a directory in '%s'", below);
	*ret = TAKE(d);
	return 0;
}

void directory_free(struct directory *directory)
{
	if (!directory)
		return;
	if (directory->fd >= 0)
		leftover_directory_remove(directory->path);
	closep(&directory->fd);
	free(directory->path);
	free(directory);
}

int directory_add(const struct directory *directory, const char *name, char **ret, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory->path, name);

	if (mkdir(path, 0700) < 0)
		return error_os(err, -errno, "cannot make the directory '%s'", path);
	*ret = TAKE(path);
	return 0;
}
