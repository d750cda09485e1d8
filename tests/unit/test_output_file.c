/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are written for the user: what stays of the old one, links, and what is in the way. */
#include "tests/unit/scratch.h"

#include "lib/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int write_text(const char *path, const char *text, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = output_file_open(&output, path, err);

	if (r < 0)
		return r;
	fputs(text, output.file);
	return output_file_commit(&output, err);
}

static void assert_content(const char *path, const char *expected)
{
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(path_read_text(AT_FDCWD, NULL, &text, "%s", path), 0);
	assert_string_equal(text, expected);
}

/* What is in the directory, "." and ".." included. */
static int count_files(const char *path)
{
	_cleanup_(closedirp) DIR *directory = opendir(path);
	int n = 0;

	while (readdir(directory))
		n++;
	return n;
}

TEST_IN_DIRECTORY(the_mode_of_the_old_file_is_kept_and_a_new_one_has_that_of_the_umask)
{
	mode_t mask = umask(027);
	struct stat st;

	assert_done(s, write_text(s->path, "one", &s->err));
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(chmod(s->path, 0600), 0);
	assert_done(s, write_text(s->path, "two", &s->err));
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_content(s->path, "two");
	umask(mask);
}

TEST_IN_DIRECTORY(without_commit_the_old_file_stays_and_nothing_else)
{
	struct output_file output = {};
	int n;

	assert_done(s, write_text(s->path, "old", &s->err));
	n = count_files(s->directory);
	assert_done(s, output_file_open(&output, s->path, &s->err));
	fputs("new", output.file);
	fflush(output.file);
	assert_content(s->path, "old");
	output_file_clear(&output);
	assert_content(s->path, "old");
	assert_int_equal(count_files(s->directory), n);
}

TEST_IN_DIRECTORY(a_link_stays_and_what_it_names_is_written_also_if_it_is_not_there_yet)
{
	_cleanup_(freep) char *target = text_format("%s/target", s->directory);
	struct stat st;

	assert_int_equal(symlink("target", s->path), 0);
	for (int i = 0; i < 2; i++) {
		assert_done(s, write_text(s->path, i ? "two" : "one", &s->err));
		assert_content(target, i ? "two" : "one");
		assert_int_equal(lstat(s->path, &st), 0);
		assert_true(S_ISLNK(st.st_mode));
	}
	unlink(target);
	assert_int_equal(symlink("target", target), 0);
	assert_int_equal(write_text(s->path, "three", &s->err), -ELOOP);
	unlink(target);
}

TEST_IN_DIRECTORY(a_predictable_name_in_the_way_is_not_followed)
{
	_cleanup_(freep) char *trap = text_format("%s.new-%d", s->path, getpid());
	_cleanup_(freep) char *victim = text_format("%s/victim", s->directory);

	assert_done(s, write_text(victim, "theirs", &s->err));
	assert_int_equal(symlink(victim, trap), 0);
	assert_done(s, write_text(s->path, "ours", &s->err));
	assert_content(victim, "theirs");
	unlink(trap);
	unlink(victim);
}

TEST_IN_DIRECTORY(a_pipe_is_written_directly)
{
	char text[8] = "";
	int fd;

	assert_int_equal(mkfifo(s->path, 0600), 0);
	assert_true(output_file_is_stream(s->path));
	fd = open(s->path, O_RDWR);
	assert_done(s, write_text(s->path, "piped", &s->err));
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "piped");
	close(fd);
}

TEST_IN_DIRECTORY(directories_and_missing_ones_are_named)
{
	_cleanup_(freep) char *path = text_format("%s/none/file", s->directory);

	assert_int_equal(write_text(s->directory, "", &s->err), -EISDIR);
	assert_says(s, "it is a directory");
	assert_int_equal(write_text(path, "", &s->err), -ENOENT);
	assert_says(s, "cannot write");
}

/* As a user who may write the file, but not make one beside it: in place, and no longer than it
 * should be. */
static int write_as_other(const char *path, const char *text)
{
	pid_t pid = fork();
	struct error err = {};
	int status;

	if (pid == 0)
		_exit(setgid(65534) < 0 || setuid(65534) < 0 || write_text(path, text, &err) < 0);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST_IN_DIRECTORY(where_owner_or_directory_do_not_allow_another_file_it_is_written_in_place)
{
	struct stat before, after;

	if (geteuid() != 0)
		skip();
	assert_done(s, write_text(s->path, "a long text", &s->err));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chmod(s->directory, i ? 0777 : 0755), 0);
		assert_int_equal(chmod(s->path, 0666), 0);
		assert_int_equal(stat(s->path, &before), 0);
		assert_int_equal(write_as_other(s->path, i ? "y" : "xx"), 0);
		assert_int_equal(stat(s->path, &after), 0);
		assert_int_equal(after.st_ino, before.st_ino);
		assert_int_equal(after.st_uid, 0);
		assert_content(s->path, i ? "y" : "xx");
	}
}

TEST_IN_DIRECTORY(root_keeps_the_owner)
{
	struct stat st;

	if (geteuid() != 0)
		skip();
	assert_done(s, write_text(s->path, "theirs", &s->err));
	assert_int_equal(chown(s->path, 65534, 65533), 0);
	assert_done(s, write_text(s->path, "still theirs", &s->err));
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65533);
}

TEST_IN_DIRECTORY(what_another_user_put_into_a_directory_for_all_is_refused)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(s->directory, 01777), 0);
	assert_int_equal(symlink("/etc/emp-must-not-be-made", s->path), 0);
	assert_int_equal(lchown(s->path, 65534, 65534), 0);
	assert_int_equal(write_text(s->path, "", &s->err), -EACCES);
	assert_says(s, "belongs to another user, in a directory that all may write to");
	unlink(s->path);
	assert_done(s, write_text(s->path, "", &s->err));
	assert_int_equal(chown(s->path, 65534, 65534), 0);
	assert_int_equal(write_text(s->path, "", &s->err), -EACCES);
}
