/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply has changed and what was there before: see journal.h. */
#include "setup/apply/journal.h"

#include "lib/base/array.h"
#include "lib/base/json_fields.h"
#include "lib/base/text.h"
#include "setup/audit/check_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const char *directory = "/var/lib/emp-setup";

static const char FILE_NAME[] = "journal", NEW_NAME[] = "journal.new";

void journal_set_directory(const char *path)
{
	directory = path;
}

void entry_clear(struct entry *e)
{
	free(e->id);
	free(e->name);
	free(e->old);
	free(e->want);
	free(e->held);
	*e = (struct entry){};
}

struct kernel_setting entry_setting(const struct entry *e)
{
	const struct check *check = check_rows_find(e->id);

	return (struct kernel_setting){
		AT_FDCWD, e->name, e->file_kind, check && !entry_is_kept(e) ? check->setting.write : NULL};
}

void journal_clear(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		entry_clear(&j->entries[i]);
	free(j->entries);
	free(j->boot_id);
	*j = (struct journal){};
}

char *journal_boot_id(void)
{
	char *id = NULL;

	return text_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &id) < 0 ? NULL : id;
}

bool journal_is_stale(const struct journal *j)
{
	_cleanup_(freep) char *now = journal_boot_id();

	return now && j->boot_id && strcmp(now, j->boot_id) != 0;
}

void journal_compact(struct journal *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].name)
			j->entries[kept++] = j->entries[i];
	j->n = kept;
}

size_t journal_drop_stale(struct journal *j)
{
	size_t n = j->n;

	if (!journal_is_stale(j))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!j->entries[i].persistent)
			entry_clear(&j->entries[i]);
	journal_compact(j);
	free(j->boot_id);
	j->boot_id = journal_boot_id();
	return n - j->n;
}

struct entry *journal_find(const struct journal *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (!strcmp(j->entries[i].name, name))
			return &j->entries[i];
	return NULL;
}

int journal_add(struct journal *j, struct entry *entry, struct error *err)
{
	struct entry *added = array_add(j->entries, j->n);

	if (!added) {
		entry_clear(entry);
		return error_oom(err);
	}
	*added = *entry;
	*entry = (struct entry){};
	return 0;
}

static json_t *entry_json(const struct entry *e)
{
	return json_pack("{s:i, s:s, s:s, s:i, s:s, s:s, s:s?, s:i, s:b}", "kind", (int)e->kind, "id", e->id,
		"name", e->name, "knob", (int)e->file_kind, "old", e->old, "want", e->want, "held", e->held,
		"block", (int)e->block, "for_good", e->persistent);
}

static int write_line(FILE *file, json_t *line)
{
	int r = line ? json_dumpf(line, file, JSON_COMPACT) : -1;

	json_decref(line);
	return r < 0 || fputc('\n', file) < 0 ? -EIO : 0;
}

static int write_lines(const struct journal *j, FILE *file)
{
	int r = write_line(file, json_pack("{s:s, s:i, s:s?, s:I}", "format", "emp-journal", "version", 1,
					 "boot_id", j->boot_id, "since_ns", (json_int_t)j->since_ns));

	for (size_t i = 0; r == 0 && i < j->n; i++)
		r = write_line(file, entry_json(&j->entries[i]));
	if (r == 0 && (fflush(file) != 0 || fsync(fileno(file)) < 0))
		r = -errno;
	return r;
}

/* Its own entry in its parent is made durable, too. */
static int open_directory(struct error *err)
{
	_cleanup_(freep) char *parent = strndup(directory, (size_t)(strrchr(directory, '/') - directory));
	_cleanup_(closep) int parent_fd = -1;
	int fd;

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

static int save_in(int dir_fd, const struct journal *j)
{
	_cleanup_(fclosep) FILE *file = NULL;
	int fd = openat(dir_fd, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), r;

	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return -errno;
	r = write_lines(j, file);
	if (r == 0 && (renameat(dir_fd, NEW_NAME, dir_fd, FILE_NAME) < 0 || fsync(dir_fd) < 0))
		r = -errno;
	return r;
}

int journal_save(const struct journal *j, struct error *err)
{
	_cleanup_(closep) int dir_fd = open_directory(err);
	int r;

	if (dir_fd < 0)
		return dir_fd;
	r = save_in(dir_fd, j);
	if (r < 0) {
		unlinkat(dir_fd, NEW_NAME, 0);
		rmdir(directory); /* stays if an older journal is in it */
		return error_os(err, r, "cannot write %s/%s", directory, FILE_NAME);
	}
	return 0;
}

int journal_mark(const struct journal *j, size_t i, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, FILE_NAME), *line = NULL;
	_cleanup_(json_decrefp)
		json_t *mark = json_pack("{s:I, s:s?}", "mark", (json_int_t)i, "held", j->entries[i].held);
	_cleanup_(freep) char *text = mark ? json_dumps(mark, JSON_COMPACT) : NULL;
	_cleanup_(closep) int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW) : -1;
	ssize_t n;

	line = text ? text_format("%s\n", text) : NULL;
	if (!line)
		return error_oom(err);
	n = fd < 0 ? -1 : write(fd, line, strlen(line)); /* one write: complete, or the last one */
	if (n < 0 || (j->entries[i].persistent && fdatasync(fd) < 0))
		return error_os(err, -errno, "cannot write to %s", path);
	return 0;
}

int journal_remove(struct error *err)
{
	_cleanup_(closep) int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dir_fd < 0)
		return errno == ENOENT ? 0 : error_os(err, -errno, "cannot open %s", directory);
	if (unlinkat(dir_fd, FILE_NAME, 0) < 0 && errno != ENOENT)
		return error_os(err, -errno, "cannot remove %s/%s", directory, FILE_NAME);
	unlinkat(dir_fd, NEW_NAME, 0); /* of an interrupted save */
	fsync(dir_fd);
	if (rmdir(directory) < 0 && errno != ENOTEMPTY)
		return error_os(err, -errno, "cannot remove %s", directory);
	return 0;
}

static void copy_text(struct json_fields *f, const char *name, char **ret)
{
	const char *text = NULL;

	json_fields_text_or_empty(f, name, &text);
	if (f->r < 0)
		return;
	*ret = strdup(text);
	if (!*ret)
		f->r = error_oom(f->err);
}

static char *copy_held(const json_t *line)
{
	const char *held = json_string_value(json_object_get(line, "held"));

	return held ? strdup(held) : NULL;
}

static int take_entry(struct journal *j, const json_t *line, struct error *err)
{
	struct json_fields f = json_fields_begin(line, (struct json_location){"the journal"}, err);
	struct entry e = {};
	int64_t kind = 0, file_kind = 0, block = 0;

	json_fields_int(&f, "kind", 0, INT_MAX, &kind);
	json_fields_int(&f, "knob", 0, INT_MAX, &file_kind);
	json_fields_int(&f, "block", 0, INT_MAX, &block);
	copy_text(&f, "id", &e.id);
	copy_text(&f, "name", &e.name);
	copy_text(&f, "old", &e.old);
	copy_text(&f, "want", &e.want);
	if (f.r < 0) {
		entry_clear(&e);
		return f.r;
	}
	e.held = copy_held(line);
	e.kind = (enum entry_kind)kind;
	e.file_kind = (enum kernel_setting_kind)file_kind;
	e.block = (enum block)block;
	e.persistent = json_is_true(json_object_get(line, "for_good"));
	return journal_add(j, &e, err);
}

static int take_mark(struct journal *j, const json_t *line, struct error *err)
{
	struct json_fields f = json_fields_begin(line, (struct json_location){"the journal"}, err);
	int64_t i;

	json_fields_int(&f, "mark", 0, INT64_MAX, &i);
	if (f.r < 0)
		return f.r;
	if ((size_t)i >= j->n)
		return error_say(err, -EINVAL, "the journal marks entry %d and has %zu", (int)i, j->n);
	free(j->entries[i].held);
	j->entries[i].held = copy_held(line);
	return 0;
}

static int take_head(struct journal *j, const json_t *line, struct error *err)
{
	const char *format = json_string_value(json_object_get(line, "format"));
	json_int_t version = json_integer_value(json_object_get(line, "version"));
	const char *boot_id = json_string_value(json_object_get(line, "boot_id"));

	if (!format || strcmp(format, "emp-journal") != 0)
		return error_say(err, -EINVAL, "%s/%s is not a journal of emp-setup", directory, FILE_NAME);
	if (version != 1)
		return error_say(err, -EINVAL, "%s/%s was written by a newer emp-setup; use that version",
			directory, FILE_NAME);
	j->boot_id = boot_id ? strdup(boot_id) : NULL;
	j->since_ns = json_integer_value(json_object_get(line, "since_ns"));
	return 0;
}

static int take_line(struct journal *j, const json_t *line, struct error *err)
{
	if (!j->since_ns)
		return take_head(j, line, err);
	return json_object_get(line, "mark") ? take_mark(j, line, err) : take_entry(j, line, err);
}

static int parse(struct journal *j, const char *text, struct error *err)
{
	for (int number = 1; *text; number++) {
		size_t len = strcspn(text, "\n");
		_cleanup_(json_decrefp) json_t *line = json_loadb(text, len, 0, NULL);
		int r;

		if (!line && !strchr(text, '\n') && number > 1)
			return 0; /* an incomplete mark: the entry counts as not marked */
		if (!line)
			return error_say(
				err, -EINVAL, "%s/%s, line %d, cannot be read", directory, FILE_NAME, number);
		r = take_line(j, line, err);
		if (r < 0)
			return r;
		text += len + (text[len] == '\n');
	}
	return j->since_ns ? 0 : error_say(err, -EINVAL, "%s/%s is empty", directory, FILE_NAME);
}

int journal_load(struct journal *ret, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, FILE_NAME), *text = NULL;
	_cleanup_(journal_clear) struct journal j = {};
	int r = path ? text_read_file(AT_FDCWD, path, &text) : -ENOMEM;

	if (r == -ENOENT)
		return 0;
	if (r == -EACCES)
		return error_say(err, r, "only root can read %s", path);
	if (r < 0)
		return error_os(err, r, "cannot read %s", path);
	r = parse(&j, text, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(j);
	return 1;
}

int journal_lock(struct lock *ret, struct error *err)
{
	return lock_take(ret, "/run/emp-setup", err);
}
