/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a journal: see journal.h. What its lines are made of is in journal_text.c. */
#include "setup/apply/journal_text.h"

#include "lib/base/xalloc.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *directory = "/var/lib/emp-setup";

static const char FILE_NAME[] = "journal", NEW_NAME[] = "journal.new", BESIDE_NAME[] = "before";

void journal_set_directory(const char *path)
{
	directory = path;
}

/* Its own entry in its parent is made durable, too. */
static int open_directory(struct error *err)
{
	_cleanup_(freep) char *parent = xstrndup(directory, (size_t)(strrchr(directory, '/') - directory));
	_cleanup_(closep) int parent_fd = -1;
	int fd = paths_check(directory, PATH_WRITE, err);

	if (fd < 0)
		return fd;
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make %s", directory);
	parent_fd = parent ? open(*parent ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_os(err, -errno, "cannot open %s", directory);
	if (parent_fd >= 0)
		fsync(parent_fd);
	return fd;
}

static int write_journal(const struct journal *j, FILE *file)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < j->n + 2; i++) {
		_cleanup_(freep) char *line = journal_line(j, i);

		r = !line ? -ENOMEM : fputs(line, file) < 0 ? -errno : 0;
	}
	return r;
}

/* The journal, or if that is NULL the text. */
static int save_in(int dir_fd, const char *name, const struct journal *j, const char *text)
{
	_cleanup_(fclosep) FILE *file = NULL;
	int fd = openat(dir_fd, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), r;

	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return -errno;
	r = j ? write_journal(j, file) : fputs(text, file) < 0 ? -errno : 0;
	if (r == 0 && (fflush(file) != 0 || fsync(fileno(file)) < 0))
		r = -errno;
	if (r == 0 && (renameat(dir_fd, NEW_NAME, dir_fd, name) < 0 || fsync(dir_fd) < 0))
		r = -errno;
	return r;
}

static int save(const char *name, const struct journal *j, const char *text, struct error *err)
{
	_cleanup_(closep) int dir_fd = open_directory(err);
	int r;

	if (dir_fd < 0)
		return dir_fd;
	r = save_in(dir_fd, name, j, text);
	if (r < 0) {
		unlinkat(dir_fd, NEW_NAME, 0);
		if (faccessat(dir_fd, FILE_NAME, F_OK, 0) < 0)
			unlinkat(dir_fd, BESIDE_NAME, 0);
		rmdir(directory); /* stays if an older journal is in it */
		return error_os(err, r, "cannot write %s/%s", directory, name);
	}
	return 0;
}

int journal_save(const struct journal *j, struct error *err)
{
	return save(FILE_NAME, j, NULL, err);
}

int journal_save_beside(const char *text, struct error *err)
{
	return save(BESIDE_NAME, NULL, text, err);
}

char *journal_load_beside(void)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, BESIDE_NAME);
	char *text = NULL;

	return path && text_read_file(AT_FDCWD, path, &text) == 0 ? text : NULL;
}

/* A line that did not fit is removed again. */
static int append(int fd, const char *line, bool durable)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t len = strlen(line);
	ssize_t n = write(fd, line, len);
	int r = n < 0 ? -errno : (size_t)n < len ? -ENOSPC : 0;

	if (r == 0 && durable && fdatasync(fd) < 0)
		r = -errno;
	if (r < 0 && n > 0 && ftruncate(fd, end) < 0)
		return -errno;
	return r;
}

int journal_mark(const struct journal *j, size_t i, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, FILE_NAME);
	_cleanup_(freep) char *line = journal_mark_line(j, i);
	_cleanup_(closep) int fd = -1;
	int r;

	if (!line)
		return error_oom(err);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	r = fd < 0 ? -errno : append(fd, line, j->entries[i].persistent);
	return r < 0 ? error_os(err, r, "cannot write to %s", path) : 0;
}

int journal_remove(struct error *err)
{
	_cleanup_(closep) int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dir_fd < 0)
		return errno == ENOENT ? 0 : error_os(err, -errno, "cannot open %s", directory);
	if (unlinkat(dir_fd, FILE_NAME, 0) < 0 && errno != ENOENT)
		return error_os(err, -errno, "cannot remove %s/%s", directory, FILE_NAME);
	unlinkat(dir_fd, BESIDE_NAME, 0);
	unlinkat(dir_fd, NEW_NAME, 0); /* of an interrupted save */
	fsync(dir_fd);
	if (rmdir(directory) < 0 && errno != ENOTEMPTY)
		return error_os(err, -errno, "cannot remove %s", directory);
	return 0;
}

int journal_load(struct journal *ret, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, FILE_NAME);
	_cleanup_(journal_clear) struct journal j = {};
	_cleanup_(fclosep) FILE *file = path ? fopen(path, "re") : NULL;
	int r = path ? -errno : -ENOMEM;

	if (!file && r == -ENOENT)
		return 0;
	if (!file && r == -EACCES)
		return error_say(err, r, "only root can read %s", path);
	if (!file)
		return error_os(err, r, "cannot read %s", path ?: FILE_NAME);
	r = journal_parse(&j, file, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(j);
	return 1;
}
