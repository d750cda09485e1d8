/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What killed processes leave behind, and the guard that cleans up after one. */
#include "tests/unit/holder.h"
#include "tests/unit/scratch.h"

#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/leftovers.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

static const char *in_scratch(const struct scratch *s, const char *name)
{
	return text_brief("%s/%s", s->directory, name);
}

static bool exists(const struct scratch *s, const char *name)
{
	return access(in_scratch(s, name), F_OK) == 0;
}

/* Returns its name. */
static const char *make_directory(const struct scratch *s, const char *name)
{
	assert_int_equal(mkdir(in_scratch(s, name), 0700), 0);
	return name;
}

static void touch_file(int directory_fd, const void *name)
{
	close(openat(directory_fd, name, O_WRONLY | O_CREAT, 0600));
}

/* The pid of a child that has ended. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static const char *make_load_directory(const struct scratch *s, pid_t pid, unsigned long started)
{
	return make_directory(s, text_brief("emp-load-%d-%lu-AbCd12", pid, started));
}

/* A new one is made after those of dead owners are removed. Returns its path, without the lock; the
 * caller frees it. */
static char *make_next(struct scratch *s)
{
	char *path = NULL;
	int fd = -1;

	assert_done(s, leftover_directory_make(s->directory, &path, &fd, &s->err));
	close(fd);
	return path;
}

TEST_IN_DIRECTORY(directories_of_dead_owners_go_with_all_that_is_in_them)
{
	const char *name = make_load_directory(s, dead_pid(), 7);

	make_directory(s, text_brief("%s/1", name));
	free(make_next(s));
	assert_false(exists(s, name));
}

TEST_IN_DIRECTORY(directories_of_living_owners_stay)
{
	_cleanup_(freep) char *mine = make_next(s), *other = make_next(s);

	assert_string_not_equal(mine, other);
	assert_int_equal(access(mine, F_OK), 0);
}

TEST_IN_DIRECTORY(a_reused_process_id_does_not_keep_a_directory)
{
	const char *name = make_load_directory(s, getpid(), process_ref_start_ticks(getpid()) - 1);

	free(make_next(s));
	assert_false(exists(s, name));
}

TEST_IN_DIRECTORY(what_is_locked_has_an_owner_whatever_its_name_says)
{
	const char *name = make_load_directory(s, dead_pid(), 7);
	_cleanup_(closep) int fd = open(in_scratch(s, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	free(make_next(s));
	assert_true(exists(s, name));
}

TEST_IN_DIRECTORY(what_only_looks_like_one_stays)
{
	static const char *const names[] = {"emp-load-backup", "emp-load-1-2-AbCd1",
		"emp-load-1-2-AbCd123", "emp-load-x-2-AbCd12", "my-emp-load-1-2-AbCd12",
		"emp-load-1-2-AbCd12.old"};

	for (size_t i = 0; i < ELEMENTS(names); i++)
		make_directory(s, names[i]);
	free(make_next(s));
	for (size_t i = 0; i < ELEMENTS(names); i++)
		assert_true(exists(s, names[i]));
}

static bool start_guard(const void *directory)
{
	struct error err;

	return guard_new(touch_file, *(const int *)directory, "killed", &err) >= 0;
}

TEST_IN_DIRECTORY(a_guard_acts_when_its_owner_is_killed)
{
	_cleanup_(closep) int directory = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = holder_start(start_guard, &directory);

	assert_false(exists(s, "killed"));
	holder_kill(pid);
	while (!exists(s, "killed")) /* meson's time limit ends it */
		usleep(1000);
}

TEST_IN_DIRECTORY(a_guard_has_acted_when_it_is_freed)
{
	_cleanup_(closep) int directory = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int guard = guard_new(touch_file, directory, "freed", &s->err);

	assert_done(s, guard < 0 ? guard : 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* it is no child of ours */
	guard_free(guard);
	assert_true(exists(s, "freed"));
}
