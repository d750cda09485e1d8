/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of the book: see paths.h. */
#include "lib/base/paths.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int paths_default_book(char **ret, struct error *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	char *path;

	if (geteuid() == 0)
		path = xstrdup("/var/lib/emp/emp.db");
	else if (data && data[0] == '/')
		path = text_format("%s/emp/emp.db", data);
	else if (home && home[0] == '/')
		path = text_format("%s/.local/share/emp/emp.db", home);
	else
		return error_say(err, -ENOENT,
			"HOME is not set to your home directory; name the lab book with --db or EMP_DB");
	*ret = path;
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

char *paths_inc_constant(const char *book)
{
	return text_format("%s.inc", book);
}

/* Whether `owner` may have put something into this directory in order to mislead this user. */
static bool is_strangers(const char *in, uid_t owner)
{
	struct stat st;

	return stat(*in ? in : ".", &st) == 0 && st.st_mode & S_ISVTX && st.st_mode & (S_IWOTH | S_IWGRP) &&
	       owner != geteuid() && owner != st.st_uid;
}

int paths_follow(const char *path, enum path_use use, char **ret, bool *ret_exists, struct stat *ret_st,
	struct error *err)
{
	enum { MAX_LINKS = 40 }; /* as the kernel */
	const char *to = use == PATH_WRITE ? "write" : "read";
	_cleanup_(freep) char *done = xstrdup(""),
			      *rest = xstrdup(path); /* without links; still to be followed */
	char target[PATH_MAX];

	*ret_exists = false;
	for (int links = 0; *rest;) {
		size_t slashes = strspn(rest, "/"), end = slashes + strcspn(rest + slashes, "/");
		_cleanup_(freep) char *at = text_format("%s%.*s", done, (int)end, rest),
				      *more = xstrdup(rest + end);
		_cleanup_(freep) char *in = text_format("%s%.*s", done, (int)slashes, rest);
		bool last = !more[strspn(more, "/")];
		ssize_t n;

		*ret_exists = lstat(at, ret_st) == 0;
		if (!*ret_exists && (errno != ENOENT || !last))
			return error_os(err, -errno, "cannot %s '%s'", to, path);
		if (*ret_exists && (S_ISLNK(ret_st->st_mode) || (last && use == PATH_WRITE)) &&
			is_strangers(in, ret_st->st_uid))
			return error_say(err, -EACCES,
				"cannot %s '%s': '%s' belongs to another user, in a directory that all may write to",
				to, path, at);
		free(TAKE(rest));
		if (!*ret_exists || !S_ISLNK(ret_st->st_mode)) {
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

int paths_check(const char *path, enum path_use use, struct error *err)
{
	_cleanup_(freep) char *target = NULL;
	struct stat st;
	bool exists;

	return paths_follow(path, use, &target, &exists, &st, err);
}
