/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the book before SQLite opens it, and those beside it: see book_paths.h. */
#include "lib/book/book_paths.h"

#include "lib/book/book_internal.h"

#include <grp.h>
#include <sys/stat.h>

char *book_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : slash - path);
}

/* Whether a new file can be made at `path`: the directories of the user's own book are made, others
 * must be there. */
static int check_new(const char *path, const char *directory, struct error *err)
{
	_cleanup_(freep) char *by_default = NULL, *part = xstrdup(directory);
	struct stat st;

	if (stat(directory, &st) == 0 || errno != ENOENT)
		return 0;
	if (paths_default_book(&by_default, NULL) < 0 || strcmp(path, by_default))
		return error_say(err, -ENOENT,
			"cannot make the lab book '%s': there is no directory '%s'; make it first, "
			"or name another file with --db or EMP_DB",
			path, directory);
	for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) { /* mkdir -p */
		if (slash)
			*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return error_os(err, -errno,
				"cannot make the directory '%s' for the lab book", part);
		if (!slash)
			return 0;
		*slash = '/';
	}
}

int book_make_file(const char *path, struct error *err)
{
	bool root = geteuid() == 0;
	const struct group *group;
	_cleanup_(closep) int fd = -1;

	if (access(path, F_OK) == 0)
		return 0;
	group = root ? getgrnam("emp") : NULL;
	/* root's has the command lines of all users; SQLite gives its other files the same mode and
	 * group */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, root ? 0600 : 0644);
	if (fd < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make the lab book '%s'", path);
	if (fd >= 0 && group && fchown(fd, (uid_t)-1, group->gr_gid) == 0)
		fchmod(fd, 0660);
	return 0;
}

off_t book_file_size(const char *path, const char *suffix)
{
	_cleanup_(freep) char *name = text_format("%s%s", path, suffix);
	struct stat st;

	return stat(name, &st) == 0 ? st.st_size : 0;
}

/* Finds the file of the book, and checks it and the files that SQLite and EMP keep with it, as both
 * open any file of these names, and SQLite applies what is in them, also for a reader. Those of the
 * book's owner are as good as the book. */
static int check_paths(struct book *book, struct error *err)
{
	static const char *const beside[] = {"-wal", "-shm", "-journal", "-pending", ".copying"};
	enum path_use use = book->mode == BOOK_WRITE ? PATH_WRITE : PATH_READ;
	_cleanup_(freep) char *file = NULL;
	struct stat st, its;
	int r = paths_check(book->path, use, &file, err);

	for (size_t i = 0; r == 0 && i < ELEMENTS(beside); i++) {
		_cleanup_(freep) char *name = text_format("%s%s", file, beside[i]);
		bool owners = stat(file, &st) == 0 && lstat(name, &its) == 0 &&
			      st.st_uid == its.st_uid;

		r = paths_check(name, use == PATH_READ && !owners ? PATH_FIND : use, NULL, err);
		if (r == 0)
			r = paths_check_kind(name, err);
	}
	if (r < 0)
		return error_prefix(err, r, "the lab book");
	free(book->file);
	book->file = TAKE(file);
	paths_keep_apart(book->file);
	return 0;
}

/* What SQLite would report with other words, of a file that is there. */
static int check_kind(const char *path, const struct stat *st, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return error_say(err, -EISDIR,
			"'%s' is a directory; name the lab book in it, such as '%s%semp.db'", path,
			path, path[strlen(path) - 1] == '/' ? "" : "/");
	if (!S_ISREG(st->st_mode))
		return error_say(err, -EINVAL,
			"'%s' is not a regular file, and so not a lab book; name another with --db "
			"or EMP_DB",
			path);
	if (st->st_size == 1) /* SQLite takes it for an empty file */
		return error_say(err, -EINVAL,
			"'%s' is not a lab book: it is not an SQLite database; name another file "
			"with --db or EMP_DB",
			path);
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return error_os(err, -errno, "cannot read the lab book '%s'", path);
	return 0;
}

/* Whether this process may write the file, which may be missing, and its directory. */
static int check_writable(const struct book *book, bool there, struct error *err)
{
	_cleanup_(freep) char *directory = book_directory(book->file);

	if (there && faccessat(AT_FDCWD, book->path, W_OK, AT_EACCESS) < 0)
		return error_os(err, -errno,
			"the lab book '%s' cannot be written; ask for write permission, or name "
			"another with --db or EMP_DB",
			book->path);
	if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0)
		return error_os(err, -errno,
			"the directory '%s' of the lab book '%s' cannot be written, and SQLite "
			"keeps the book's log there; ask for write permission, or name another "
			"file with --db or EMP_DB",
			directory, book->path);
	return 0;
}

int book_check_file(struct book *book, struct error *err)
{
	const char *path = book->path;
	_cleanup_(freep) char *directory = book_directory(path);
	struct stat st;
	bool there = stat(path, &st) == 0;
	int r = 0;

	if (!there && errno != ENOENT)
		return error_os(err, -errno, "cannot open the lab book '%s'", path);
	if (!there && book->mode == BOOK_READ)
		return error_say(err, -ENOENT,
			"there is no lab book '%s' yet; emp-calibrate, emp-measure or emp-analyze "
			"import makes it, and --db FILE or EMP_DB names another",
			path);
	if (!there)
		r = check_new(path, directory, err);
	if (r >= 0)
		r = check_paths(book, err);
	if (r >= 0 && there)
		r = check_kind(path, &st, err);
	if (r < 0 || book->mode == BOOK_READ)
		return r;

	r = check_writable(book, there, err);
	if (r >= 0 && !there)
		r = book_make_file(path, err);
	/* again: somebody else may just have made what was missing */
	return r < 0 ? r : check_paths(book, err);
}

char *book_free_name(const char *beginning)
{
	char *name = xstrdup(beginning);
	struct stat st;

	for (int i = 2; lstat(name, &st) == 0; i++) {
		free(name);
		name = text_format("%s-%d", beginning, i);
	}
	return name;
}
