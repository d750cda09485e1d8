/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is released early is not released again at the end of its scope. */
#include "tests/unit/check.h"

#include "lib/base/argv.h"

#include <fcntl.h>

static int open_null(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(a_descriptor_that_is_closed_twice_is_not_somebody_elses)
{
	int other;

	{
		_cleanup_(closep) int fd = open_null();
		int was = fd;

		closep(&fd);
		assert_int_equal(fd, -1);
		other = open_null();
		assert_int_equal(other, was);
	}
	assert_int_equal(fcntl(other, F_GETFD), FD_CLOEXEC);
	close(other);
}

TEST(streams_directories_and_memory_are_released_once)
{
	_cleanup_(fclosep) FILE *file = fopen("/dev/null", "re");
	_cleanup_(closedirp) DIR *directory = opendir("/");
	_cleanup_(freep) char *text = xstrdup("text");
	char name[] = "sort";
	_cleanup_(argv_freep) char **words = argv_copy((char *[]){name, name, NULL});
	_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, "/dev/null");

	assert_int_equal(paths.n, 1);
	fclosep(&file);
	closedirp(&directory);
	freep(&text);
	argv_freep(&words);
	paths_clear(&paths);
	assert_null(file);
	assert_null(directory);
	assert_null(text);
	assert_null(words);
	assert_null(paths.items);
}

struct thing {
	int n_freed;
};

static void thing_free(struct thing *thing)
{
	if (thing)
		thing->n_freed++;
}
DEFINE_FREEP(thing)

TEST(an_object_is_freed_once)
{
	struct thing thing = {};

	{
		_cleanup_(thing_freep) struct thing *t = &thing;

		thing_freep(&t);
		assert_null(t);
	}
	assert_int_equal(thing.n_freed, 1);
}
