/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow: what was there stays, new elements are zero, memory is kept where it is asked
 * for. */
#include "tests/unit/check.h"

#include <sys/wait.h>

struct item {
	int64_t number;
	char name[24];
};

TEST(elements_stay_and_new_ones_are_zero)
{
	_cleanup_(freep) struct item *items = NULL;
	size_t n = 0;

	for (int i = 0; i < 1000; i++) {
		struct item *item = array_add(items, n);

		assert_non_null(item);
		assert_ptr_equal(item, &items[i]);
		assert_int_equal(item->number, 0);
		assert_string_equal(item->name, "");
		item->number = i;
		memset(item->name, 'x', sizeof(item->name) - 1);
	}
	assert_int_equal(n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i].number, i);
}

TEST(an_array_of_exactly_its_size_grows)
{
	_cleanup_(freep) int64_t *items = calloc(3, sizeof(*items));
	size_t n = 3;

	*array_add(items, n) = 7; /* an overflow here is the sanitizer's to find */
	*array_add(items, n) = 8;
	assert_int_equal(n, 5);
	assert_int_equal(items[3], 7);
	assert_int_equal(items[4], 8);
}

TEST(a_refilled_array_keeps_its_memory)
{
	_cleanup_(freep) int64_t *items = NULL;
	size_t n = 0, capacity = 0;
	int64_t *first;

	while (n < 100)
		*array_add_reused(items, n, capacity) = 1;
	first = items;
	assert_int_equal(capacity, 128);
	n = 0;
	assert_ptr_equal(array_add_reused(items, n, capacity), first);
	assert_int_equal(items[0], 0);
	assert_int_equal(items[99], 1);
	assert_int_equal(capacity, 128);
}

/* Under ASan, too, an allocation that is too large fails as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

TEST(without_memory_the_process_ends_with_one_sentence)
{
	_cleanup_(freep) char *items = strdup("abc");
	size_t n = 3, length;
	char text[100];
	int pipe_fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(pipe_fds[1], STDERR_FILENO);
		array_grow(&items, &n, NULL, SIZE_MAX / 2);
		_exit(0);
	}
	close(pipe_fds[1]);
	length = fread(text, 1, sizeof(text) - 1, fdopen(pipe_fds[0], "r"));
	text[length] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_string_equal(text, "test_array: out of memory\n");
	assert_int_equal(WEXITSTATUS(status), 1);
}
