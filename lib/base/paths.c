/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files by name: see paths.h. */
#include "lib/base/base.h"
#include "lib/base/interrupt.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>

int paths_default_book(char **ret, struct error *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (geteuid() == 0)
		*ret = xstrdup("/var/lib/emp/emp.db");
	else if (data && data[0] == '/')
		*ret = text_format("%s/emp/emp.db", data);
	else if (home && home[0] == '/')
		*ret = text_format("%s/.local/share/emp/emp.db", home);
	else
		return error_say(err, -ENOENT,
			"HOME is not set to your home directory; name the lab book with --db or "
			"EMP_DB");
	return 0;
}

int paths_book(const char *option, char **ret, struct error *err)
{
	const char *named = option && *option ? option : getenv("EMP_DB");

	if (!named || !*named)
		return paths_default_book(ret, err);
	*ret = xstrdup(named);
	return 0;
}

static char *book_file; /* NULL: none is known */

void paths_keep_apart(const char *book)
{
	free(book_file);
	book_file = xstrdup(book);
}

int paths_check_apart(const char *path, int standard_fd, struct error *err)
{
	static const char *const beside[] = {"", "-wal", "-shm", "-journal", "-pending"};
	struct stat st, its;

	if (!book_file || (standard_fd >= 0 ? fstat(standard_fd, &st) : stat(path, &st)) < 0)
		return 0;
	for (size_t i = 0; i < ELEMENTS(beside); i++) {
		_cleanup_(freep) char *name = text_format("%s%s", book_file, beside[i]);

		if (stat(name, &its) == 0 && st.st_dev == its.st_dev && st.st_ino == its.st_ino)
			return error_say(err, -EBUSY, "'%s' is %s in use; name another file", path,
				i ? "a file of the lab book that is" : "the lab book that is");
	}
	return 0;
}

/* Whether another user may have put this file, `st`, into its directory in order to mislead this
 * one. The kernel refuses that only with its fs.protected_* settings. */
static bool may_mislead(const struct stat *st, const char *directory)
{
	struct stat in;

	if (stat(*directory ? directory : ".", &in) < 0)
		return false;
	if (!(in.st_mode & S_ISVTX) || !(in.st_mode & (S_IWOTH | S_IWGRP)))
		return false;
	return st->st_uid != geteuid() && st->st_uid != in.st_uid;
}

/* Follows the links in a path, also to a file that does not exist yet: *ret has none, and the
 * caller frees it; *ret_exists and *ret_st are of the file. -EACCES with a sentence: a link (or, to
 * write, the file) belongs to another user, in a directory that all may write to. */
static int paths_follow(const char *path, enum path_use use, char **ret, bool *ret_exists,
	struct stat *ret_st, struct error *err)
{
	enum { MAX_LINKS = 40 }; /* as the kernel */
	const char *to = use == PATH_WRITE ? "write" : "read";
	_cleanup_(freep) char *done = xstrdup("");   /* without links */
	_cleanup_(freep) char *rest = xstrdup(path); /* still to be followed */
	char target[PATH_MAX];

	*ret_exists = false;
	for (int links = 0; *rest;) {
		size_t slashes = strspn(rest, "/"), end = slashes + strcspn(rest + slashes, "/");
		_cleanup_(freep) char *at = text_format("%s%.*s", done, (int)end, rest);
		_cleanup_(freep) char *more = xstrdup(rest + end);
		_cleanup_(freep) char *in = text_format("%s%.*s", done, (int)slashes, rest);
		bool last = !more[strspn(more, "/")], is_link;
		ssize_t n;

		*ret_exists = lstat(at, ret_st) == 0;
		if (!*ret_exists && (errno != ENOENT || !last))
			return error_os(err, -errno, "cannot %s '%s'", to, path);
		is_link = *ret_exists && S_ISLNK(ret_st->st_mode);
		if (*ret_exists && (is_link || (last && use != PATH_READ)) &&
			may_mislead(ret_st, in))
			return error_say(err, -EACCES,
				"cannot %s '%s': '%s' belongs to another user, in a directory that "
				"all may write to",
				to, path, at);

		free(TAKE(rest));
		if (!is_link) {
			free(done);
			done = TAKE(at);
			rest = TAKE(more);
			continue;
		}
		n = readlink(at, target, sizeof(target) - 1);
		if (n < 0 || ++links > MAX_LINKS)
			return error_os(err, n < 0 ? -errno : -ELOOP, "cannot %s '%s'", to, path);
		target[n] = '\0';
		free(done);
		done = *target == '/' ? xstrdup("") : TAKE(in);
		rest = text_format("%s%s", target, more);
	}
	*ret = TAKE(done);
	return 0;
}

int paths_check(const char *path, enum path_use use, char **ret, struct error *err)
{
	_cleanup_(freep) char *target = NULL;
	struct stat st;
	bool exists;
	int r = paths_follow(path, use, &target, &exists, &st, err);

	if (r == 0 && ret)
		*ret = TAKE(target);
	return r;
}

int paths_check_kind(const char *path, struct error *err)
{
	const char *kind = "a device";
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		kind = "a directory";
	else if (S_ISFIFO(st.st_mode))
		kind = "a named pipe";
	else if (S_ISSOCK(st.st_mode))
		kind = "a socket";
	else if (S_ISLNK(st.st_mode))
		kind = "a symbolic link";
	return error_say(err, -EINVAL,
		"'%s' is %s, and EMP keeps a file of its own there; move it away", path, kind);
}

bool output_file_is_standard(const char *path)
{
	static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (!strcmp(path, names[i]))
			return true;
	return false;
}

int stream_flush(FILE *file)
{
	if (ferror(file)) {
		clearerr(file);
		return fputc('\n', file) == EOF || fflush(file) != 0 ? -errno : -EIO;
	}
	return fflush(file) != 0 ? -errno : 0;
}

int output_standard_keep(int *ret_fd, struct error *err)
{
	_cleanup_(closep) int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0 || fflush(stdout) != 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return error_os(err, -errno, "cannot keep standard output for the document");
	*ret_fd = TAKE_FD(fd);
	return 0;
}

void output_standard_end(int fd)
{
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
}

/* Whether two names of files that do not exist yet are one: both stand in the same directory. */
static bool is_same_name(const char *a, const char *b)
{
	const char *name_a = strrchr(a, '/') ? strrchr(a, '/') + 1 : a,
		   *name_b = strrchr(b, '/') ? strrchr(b, '/') + 1 : b;
	_cleanup_(freep) char *in_a = text_format("%.*s.", (int)(name_a - a), a),
			      *in_b = text_format("%.*s.", (int)(name_b - b), b);
	struct stat of_a, of_b;

	return !strcmp(name_a, name_b) && stat(in_a, &of_a) == 0 && stat(in_b, &of_b) == 0 &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool output_is_shared(const char *a, const char *b)
{
	bool standard_a = output_file_is_standard(a), standard_b = output_file_is_standard(b),
	     there_a, there_b;
	struct stat of_a, of_b;

	if ((standard_a && standard_b) || (!strcmp(a, b) && !output_file_is_stream(a)))
		return true;
	there_a = (standard_a ? fstat(STDOUT_FILENO, &of_a) : stat(a, &of_a)) == 0;
	there_b = (standard_b ? fstat(STDOUT_FILENO, &of_b) : stat(b, &of_b)) == 0;
	if (!there_a || !there_b)
		return !there_a && !there_b && is_same_name(a, b);
	return !S_ISCHR(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

int output_files_apart(const char *const *paths, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; paths[i] && k < i; k++) {
			if (!paths[k] || !output_is_shared(paths[i], paths[k]))
				continue;
			if (output_file_is_standard(paths[i]) && output_file_is_standard(paths[k]))
				return error_say(err, -EINVAL,
					"two documents cannot share standard output: give all but "
					"one a file of its own");
			return error_say(err, -EINVAL, "two exports cannot share the file '%s'",
				output_file_is_standard(paths[i]) ? paths[k] : paths[i]);
		}
	return 0;
}

bool output_file_is_stream(const char *path)
{
	struct stat st;

	return output_file_is_standard(path) || !strcmp(path, "/dev/stderr") ||
	       !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/", 6) ||
	       (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

int output_file_open(struct output_file *ret, const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file o = {};
	bool exists = false, kept;
	struct stat st;
	int fd, r;

	if (!*path)
		return error_os(err, -ENOENT, "cannot write '%s'", path);
	r = paths_check_apart(path, output_file_is_standard(path) ? STDOUT_FILENO : -1, err);
	if (r < 0)
		return r;
	if (output_file_is_stream(path)) {
		fflush(stdout); /* what was printed comes first */
		o.target = xstrdup(path);
		fd = output_file_is_standard(path)
			     ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
			     : interrupt_open(AT_FDCWD, path, O_WRONLY | O_NOCTTY, 0);
	} else {
		r = paths_follow(path, PATH_WRITE, &o.target, &exists, &st, err);
		if (r < 0)
			return r;
		if (exists && S_ISDIR(st.st_mode))
			return error_say(
				err, -EISDIR, "cannot write '%s': it is a directory", path);

		/* a new file beside the target */
		const char *slash = strrchr(o.target, '/');
		size_t directory = slash ? (size_t)(slash - o.target) + 1 : 0;
		_cleanup_(freep) char *fresh = text_format(
			"%.*s.emp-XXXXXX", (int)directory, o.target);
		mode_t mask = umask(0);

		umask(mask);
		fd = mkostemp(fresh, O_CLOEXEC);
		kept = fd >= 0 && (!exists || (st.st_uid == geteuid() && st.st_gid == getegid()) ||
					  fchown(fd, st.st_uid, st.st_gid) == 0);
		if (kept && fchmod(fd, exists ? st.st_mode & 07777 : 0666 & ~mask) == 0) {
			o.fresh = TAKE(fresh);
			xalloc_unfinished(NULL, o.fresh);
		} else if (fd >= 0) {
			unlink(fresh);
			close(fd);
			fd = -1;
			errno = EPERM;
		}
		if (fd < 0 && exists && (errno == EPERM || errno == EACCES))
			o.in_place = (fd = open(o.target, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) >= 0;
	}
	o.file = fd < 0 ? NULL : interrupt_fdopen(fd, "w");
	if (!o.file)
		return error_os(err, -errno, "cannot write '%s'", path);
	*ret = TAKE_STRUCT(o);
	return 0;
}

int output_file_commit(struct output_file *o, struct error *err)
{
	FILE *file = TAKE(o->file);
	int r = stream_flush(file);

	if (r == 0 && o->in_place && ftruncate(fileno(file), ftello(file)) < 0)
		r = -errno;
	if (fclose(file) != 0 && r == 0)
		r = -errno;
	if (r == 0 && o->fresh && rename(o->fresh, o->target) < 0)
		r = -errno;
	if (r < 0 && output_file_is_standard(o->target))
		return error_os(err, r, "cannot write to standard output");
	if (r < 0)
		return error_os(err, r, "cannot write '%s'", o->target);
	xalloc_unfinished(o->fresh, NULL);
	free(TAKE(o->fresh));
	return 0;
}

void output_file_clear(struct output_file *o)
{
	if (o->file)
		fclose(o->file);
	if (o->fresh)
		unlink(o->fresh);
	xalloc_unfinished(o->fresh, NULL);
	free(o->fresh);
	free(o->target);
	*o = (struct output_file){};
}

void paths_clear(struct paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->items[i]);
	free(paths->items);
	*paths = (struct paths){};
}

/* Adds what matches `rest` below the directory `done`. An entry that ends the pattern is there;
 * other paths must be looked for. */
static void expand_from(struct paths *paths, int root_fd, const char *done, const char *rest)
{
	_cleanup_(freep) char *component = NULL, *path = NULL;
	struct dirent **entries = NULL;
	struct stat st;
	int n;

	if (!*rest) {
		if (fstatat(root_fd, text_below(root_fd, done), &st, 0) == 0)
			*array_add(paths->items, paths->n) = xstrdup(done);
		return;
	}
	rest += strspn(rest, "/");
	component = xstrndup(rest, strcspn(rest, "/"));
	rest += strlen(component);
	if (!strpbrk(component, "*?[")) {
		path = text_format("%s/%s", done, component);
		expand_from(paths, root_fd, path, rest);
		return;
	}
	n = scandirat(root_fd, text_below(root_fd, done), &entries, NULL, versionsort);
	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *entry = text_format("%s/%s", done, entries[i]->d_name);

		if (entries[i]->d_name[0] != '.' &&
			fnmatch(component, entries[i]->d_name, 0) == 0) {
			if (!*rest && entries[i]->d_type == DT_DIR)
				*array_add(paths->items, paths->n) = TAKE(entry);
			else
				expand_from(paths, root_fd, entry, rest);
		}
		free(entries[i]);
	}
	free(entries);
}

struct paths paths_expand(int root_fd, const char *pattern)
{
	struct paths paths = {};

	expand_from(&paths, root_fd, "", pattern);
	return paths;
}

size_t paths_count(int root_fd, const char *pattern)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(root_fd, pattern);

	return paths.n;
}

/* Small files of the kernel. */

/* `path`, of PATH_MAX bytes, is what was opened. */
static int path_vopen(int root_fd, int flags, char *path, const char *format, va_list args)
{
	int fd;

	if (vsnprintf(path, PATH_MAX, format, args) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = openat(root_fd, text_below(root_fd, path), flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What is longer is no text that somebody has written, but such as /dev/zero. */
#define LONGEST_TEXT ((size_t)64 << 20)

/* -errno without a sentence. `read_some`: as read(2). */
static int read_whole_text(int fd, ssize_t (*read_some)(int, void *, size_t), char **ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t size = 0, capacity = 4096;

	for (ssize_t n = 1; n > 0;) {
		if (size == capacity)
			capacity *= 2;
		text = xrealloc(text, capacity + 1);
		n = read_some(fd, text + size, capacity - size);
		if (n < 0)
			return -errno;
		size += (size_t)n;
		if (size > LONGEST_TEXT)
			return -EFBIG;
	}
	while (size > 0 && text[size - 1] == '\n')
		size--;
	text[size] = '\0';
	*ret = TAKE(text);
	return 0;
}

static int path_vread_text(
	int root_fd, struct error *err, char **ret, const char *format, va_list args)
{
	char path[PATH_MAX];
	_cleanup_(closep) int fd = path_vopen(root_fd, O_RDONLY, path, format, args);
	int r = fd < 0 ? fd : read_whole_text(fd, read, ret);

	return r < 0 ? error_os(err, r, "cannot read %s", path) : 0;
}

int file_read_text(const char *path, char **ret)
{
	_cleanup_(closep) int fd = paths_check_apart(path, -1, NULL) < 0
					   ? (errno = ETXTBSY, -1)
					   : interrupt_open(AT_FDCWD, path, O_RDONLY, 0);

	return fd < 0 ? -errno : read_whole_text(fd, interrupt_read, ret);
}

int path_read_text(int root_fd, struct error *err, char **ret, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = path_vread_text(root_fd, err, ret, format, args);
	va_end(args);
	return r;
}

char *path_text(int root_fd, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (path_vread_text(root_fd, NULL, &text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

int64_t path_int(int root_fd, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	int64_t value = -1;
	va_list args;

	va_start(args, format);
	if (path_vread_text(root_fd, NULL, &text, format, args) == 0)
		text_parse_int(text, "the file", INT64_MIN, INT64_MAX, &value, NULL);
	va_end(args);
	return value;
}

int path_open(int root_fd, int flags, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, format);
	fd = path_vopen(root_fd, flags, path, format, args);
	va_end(args);
	return fd;
}

int path_write(int root_fd, const char *value, const char *format, ...)
{
	_cleanup_(closep) int fd = -1;
	char path[PATH_MAX];
	va_list args;
	ssize_t n;

	va_start(args, format);
	fd = path_vopen(root_fd, O_WRONLY | O_TRUNC, path, format, args);
	va_end(args);
	if (fd < 0)
		return fd;
	n = write(fd, value, strlen(value));
	if (n < 0)
		return -errno;
	return (size_t)n < strlen(value) ? -EIO : 0;
}
