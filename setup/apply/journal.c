/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal in memory, and its file: see journal.h. A line of the file is "LENGTH DIGEST JSON":
 * the number of bytes of the JSON, and the first digits of their SHA-256. A file of 0.1.0 has the
 * JSON only. */
#include "setup/apply/journal.h"

#include "lib/document/document.h"
#include "lib/host/cpu/cpupower.h"
#include "lib/host/system/digest.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/record/fields.h"
#include "setup/audit/checks.h"

enum { MOST_LIMITS = LIMITS_KNOWN | LIMITS_NO_MIN | LIMITS_NO_MAX | LIMITS_LIFTED };

/* The members of an entry's line, with their names of 0.1.0, which had no numbers. */
static const struct field entry_fields[] = {
	{.name = "entry",
		FIELD_INT64,
		offsetof(struct entry, number),
		sizeof(int64_t),
		FIELD_OPTIONAL,
		-1},
	{FIELD(entry, FIELD_INT, kind), .max = ENTRY_LOST},
	{FIELD(entry, FIELD_TEXT, id)},
	{FIELD(entry, FIELD_TEXT, name)},
	{.name = "knob",
		FIELD_INT,
		offsetof(struct entry, file_kind),
		sizeof(int),
		.max = SETTING_CPUSET},
	{FIELD(entry, FIELD_TEXT, old)},
	{FIELD(entry, FIELD_TEXT, want)},
	{FIELD(entry, FIELD_TEXT, ways), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_TEXT, held), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_TEXT, last), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_INT, limits), .presence = FIELD_OPTIONAL, .max = MOST_LIMITS},
	{FIELD(entry, FIELD_INT, block), .max = BLOCK_DROP_IN},
	{.name = "for_good", FIELD_BOOL, offsetof(struct entry, persistent), sizeof(bool)},
	{FIELD(entry, FIELD_TEXT, owners), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_TEXT, prior), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_TEXT, with), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_TEXT, theirs), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_BOOL, unblocked), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_BOOL, adopted), .presence = FIELD_OPTIONAL},
	{FIELD(entry, FIELD_BOOL, begun), .presence = FIELD_OPTIONAL},
};
static const struct field_table entry_table = FIELD_TABLE(entry, "", entry_fields);

void entry_clear(struct entry *e)
{
	fields_clear(&entry_table, e);
	free(e->why);
	free(e->now);
	free(e->result.held);
	*e = (struct entry){};
}

struct kernel_setting entry_setting(const struct entry *e)
{
	struct kernel_setting setting = {AT_FDCWD, e->name, e->file_kind};
	const struct check *check = check_rows_find(e->id);

	if (e->file_kind == SETTING_LIMITS)
		setting.write = cpufreq_write_limits;
	else if (check && !entry_is_kept(e))
		setting.write = check->setting.write;
	return setting;
}

char *entry_read(const struct entry *e, struct units *units)
{
	struct kernel_setting file = entry_setting(e);
	char *now = NULL;

	if (e->kind == ENTRY_UNIT && units)
		now = xstrdup(units_is_up(units, e->name) ? "active" : "inactive");
	else if (e->kind == ENTRY_FILE && kernel_setting_read(&file, &now) < 0)
		now = NULL;
	return now;
}

void journal_clear(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		entry_clear(&j->entries[i]);
	free(j->entries);
	free(j->boot_id);
	*j = (struct journal){};
}

struct entry *journal_find(const struct journal *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].name && !strcmp(j->entries[i].name, name))
			return &j->entries[i];
	return NULL;
}

void journal_compact(struct journal *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].name)
			j->entries[kept++] = j->entries[i];
	j->n = kept;
}

char *journal_boot_id(void)
{
	return path_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
}

bool journal_is_stale(const struct journal *j)
{
	_cleanup_(freep) char *now = journal_boot_id();

	return now && j->boot_id && strcmp(now, j->boot_id) != 0;
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

/* The lines of the file. */

enum { DIGITS = 16 };

/* The line for some JSON, which it takes over; the caller frees it. NULL: a text in it is not
 * UTF-8. */
static char *make_line(json_t *json)
{
	_cleanup_(freep) char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	char digest[DIGEST_SIZE];

	json_decref(json);
	if (!text)
		return NULL;
	digest_of(text, strlen(text), digest);
	return text_format("%zu %.*s %s\n", strlen(text), DIGITS, digest, text);
}

/* What is known of a file so far. */
struct reading {
	struct journal *journal;
	struct journal lost; /* entries of ENTRY_LOST, of lines that cannot be read */
	int64_t n_expected;  /* entries; -1: no head that has it */
	bool has_head;
	bool has_digests;  /* it is not of 0.1.0 */
	int64_t n_entries; /* readable or not; of a file without digests */
};

/* A head; -EINVAL: it is none. */
static int take_head(struct reading *reading, const json_t *line, struct error *err)
{
	const char *format = json_string_value(json_object_get(line, "format"));
	const json_int_t version = json_integer_value(json_object_get(line, "version"));
	const json_t *entries = json_object_get(line, "entries");
	struct journal *j = reading->journal;

	if (!format || strcmp(format, "emp-journal") != 0 ||
		(version != 1 && !reading->has_digests))
		return -EINVAL;
	if (version > 2)
		return error_say(err, -EPROTONOSUPPORT,
			"the journal was written by a newer emp-setup; use that version");
	free(j->boot_id);
	j->boot_id = text_copy(json_string_value(json_object_get(line, "boot_id")));
	j->since_ns = json_integer_value(json_object_get(line, "since_ns"));
	reading->has_head = true;
	reading->n_expected = entries ? json_integer_value(entries) : -1;
	return 0;
}

/* A mark; that of a lost entry has no effect. */
static void take_mark(struct journal *j, const json_t *line)
{
	const json_int_t number = json_integer_value(json_object_get(line, "mark"));
	const json_int_t limits = json_integer_value(json_object_get(line, "limits"));
	const char *theirs = json_string_value(json_object_get(line, "theirs"));

	for (size_t i = 0; i < j->n; i++) {
		struct entry *e = &j->entries[i];

		if (e->number != number)
			continue;
		if (theirs) {
			free(e->theirs);
			e->theirs = xstrdup(theirs);
			continue;
		}
		free(e->held);
		e->held = text_copy(json_string_value(json_object_get(line, "held")));
		e->begun = json_is_true(json_object_get(line, "begun"));
		if (limits > 0)
			e->limits = (int)limits & MOST_LIMITS;
	}
}

static int take_entry(struct reading *reading, const json_t *line, struct error *err)
{
	struct json_fields f = json_fields_begin(line, (struct json_location){"the journal"}, err);
	struct journal *j = reading->journal;
	struct entry e = {};

	document_read_fields(&f, &entry_table, &e);
	if (f.r < 0) {
		entry_clear(&e);
		return f.r;
	}
	if (e.number < 0)
		e.number = reading->n_entries;
	reading->n_entries++;
	j->incomplete |= e.kind == ENTRY_LOST;
	*array_add(j->entries, j->n) = e;
	return 0;
}

/* Takes the head, an entry or a mark. -EINVAL: it is no line of a journal. */
static int take_line(struct reading *reading, const json_t *line, struct error *err)
{
	if (json_object_get(line, "format"))
		return take_head(reading, line, err);
	if (!json_object_get(line, "mark"))
		return take_entry(reading, line, err);
	take_mark(reading->journal, line);
	return 0;
}

/* A text member of a line that is not valid JSON; the caller frees it. NULL: it cannot be found. */
static char *find_member(const char *line, size_t len, const char *name)
{
	_cleanup_(freep) char *key = text_format("\"%s\":", name);
	const char *start = memmem(line, len, key, strlen(key));
	_cleanup_(json_decrefp) json_t *value = NULL;

	if (!start)
		return NULL;
	start += strlen(key);
	value = json_loadb(start, len - (size_t)(start - line),
		JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, NULL);
	return text_copy(json_string_value(value));
}

static void add_lost(struct journal *j, char *name, char *old, char *why)
{
	*array_add(j->entries, j->n) = (struct entry){.kind = ENTRY_LOST,
		.id = xstrdup("journal"),
		.name = name,
		.old = old,
		.want = why,
		.persistent = true,
		.number = -1};
}

/* The JSON of a line that is as it was written; NULL: it is not. The blank in the format may match
 * the line's end, too. */
static json_t *check_line(const char *line, size_t len, size_t *ret_used)
{
	char digest[DIGEST_SIZE], written[DIGITS + 1];
	size_t size;
	int start = 0;

	if (sscanf(line, "%zu %16[0-9a-f] %n", &size, written, &start) != 2 ||
		(size_t)start > len || size > len - (size_t)start)
		return NULL;
	digest_of(line + start, size, digest);
	if (strncmp(digest, written, DIGITS) != 0)
		return NULL;
	*ret_used = (size_t)start + size;
	return json_loadb(line + start, size, 0, NULL);
}

/* Takes the line, or what can be read of it where it is damaged. `json`: NULL if it is no JSON. */
static int read_line(struct reading *reading, const json_t *json, const char *line, size_t len,
	bool ended, struct error *err)
{
	static const char MARK[] = "{\"mark\":";
	const size_t most = strlen(MARK);
	struct error why = {};
	const int r = json ? take_line(reading, json, &why) : -EINVAL;
	char *name;

	if (r < 0 && r != -EINVAL)
		*err = why;
	if (r != -EINVAL)
		return r;
	reading->journal->damaged |= ended;
	reading->n_entries += !reading->has_digests &&
			      strncmp(line, MARK, len < most ? len : most) != 0;
	name = find_member(line, len, "name");
	if (name)
		add_lost(&reading->lost, name, find_member(line, len, "old") ?: xstrdup(""),
			xstrdup("its line in the journal is damaged"));
	return 0;
}

/* A line without its end. It is two or more if the end of the first is damaged. The last one of a
 * file may end in its middle: it is a mark then. */
static int read_joined(
	struct reading *reading, const char *line, size_t len, bool ended, struct error *err)
{
	for (;;) {
		size_t used = len;
		_cleanup_(json_decrefp) json_t *json = check_line(line, len, &used);
		int r;

		if (json)
			reading->has_digests = true;
		else if (!reading->has_digests)
			json = json_loadb(line, len, 0, NULL);
		r = read_line(reading, json, line, len, ended, err);
		if (r < 0 || used >= len)
			return r;
		reading->journal->damaged = true;
		line += used + 1;
		len -= used + 1;
	}
}

#define LOOK                                                                                \
	"; 'journalctl -t emp-setup' lists what was set, 'emp-setup audit' what still is, " \
	"'systemctl list-unit-files --state=masked,masked-runtime' what is masked"

/* Adds what is missing to the journal. */
static void add_missing(struct reading *reading)
{
	struct journal *j = reading->journal;
	const int64_t n = (int64_t)j->n;
	const int64_t expected = reading->has_digests ? reading->n_expected : reading->n_entries;
	char *why;

	if (reading->has_head && expected <= n)
		return;
	j->damaged = j->incomplete = true;
	for (size_t i = 0; i < reading->lost.n; i++)
		*array_add(j->entries, j->n) = TAKE_STRUCT(reading->lost.entries[i]);
	if (reading->has_head)
		why = text_format(
			"%d of %d changes cannot be read" LOOK, (int)(expected - n), (int)expected);
	else
		why = xstrdup("how many changes were made cannot be read" LOOK);
	add_lost(j, xstrdup("-"), xstrdup(""), why);
	j->entries[j->n - 1].ways = xstrdup("--forget drops it");
}

/* The files. */

const char *journal_directory = "/var/lib/emp-setup";

static const char FILE_NAME[] = "journal", NEW_NAME[] = "journal.new";

int journal_load(struct journal *ret, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", journal_directory, FILE_NAME),
			      *line = NULL;
	_cleanup_(journal_clear) struct journal j = {};
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	struct reading reading = {.journal = &j, .n_expected = -1};
	size_t capacity = 0;
	struct stat st;
	ssize_t n;
	int r = 0;

	if (!file && errno == ENOENT)
		return 0;
	if (!file && errno == EACCES)
		return error_say(err, -EACCES, "only root can read %s", path);
	if (!file)
		return error_os(err, -errno, "cannot read %s", path);
	while (r == 0 && (n = getline(&line, &capacity, file)) > 0) {
		bool ended = line[n - 1] == '\n';

		r = read_joined(&reading, line, (size_t)n - ended, ended, err);
	}
	if (r == 0 && ferror(file))
		r = error_os(err, -EIO, "cannot read the journal");
	if (r == 0)
		add_missing(&reading);
	for (size_t i = 0; j.damaged && i < j.n; i++)
		j.entries[i].begun = true; /* its mark may be lost */
	journal_clear(&reading.lost);
	if (r < 0)
		return r;
	if (j.since_ns <= 0 && fstat(fileno(file), &st) == 0)
		j.since_ns = st.st_mtim.tv_sec * NS_PER_S;
	*ret = TAKE_STRUCT(j);
	return 1;
}

int journal_save_file(const char *name, const char *text, struct error *err)
{
	_cleanup_(freep) char *parent = xstrndup(
		journal_directory, (size_t)(strrchr(journal_directory, '/') - journal_directory));
	_cleanup_(closep) int parent_fd = -1, dir_fd = -1;
	int r = paths_check(journal_directory, PATH_WRITE, NULL, err);

	if (r < 0)
		return r;
	/* The directory's own entry in its parent is made durable, too. */
	if (mkdir(journal_directory, 0700) < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make %s", journal_directory);
	parent_fd = open(*parent ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir_fd = open(journal_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir_fd < 0)
		return error_os(err, -errno, "cannot open %s", journal_directory);
	if (parent_fd >= 0)
		fsync(parent_fd);
	r = text ? 0 : -EILSEQ;
	if (r == 0) { /* all of the new one is on disk before it gets the name */
		int fd = openat(dir_fd, NEW_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
		_cleanup_(fclosep) FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

		if (!file || fputs(text, file) < 0 || fflush(file) != 0 || fsync(fd) < 0 ||
			renameat(dir_fd, NEW_NAME, dir_fd, name) < 0 || fsync(dir_fd) < 0)
			r = -errno;
	}
	if (r < 0) {
		unlinkat(dir_fd, NEW_NAME, 0);
		if (faccessat(dir_fd, FILE_NAME, F_OK, 0) < 0)
			unlinkat(dir_fd, JOURNAL_BEFORE, 0);
		rmdir(journal_directory); /* stays if an older journal is in it */
		return error_os(err, r, "cannot write %s/%s", journal_directory, name);
	}
	return 0;
}

static json_t *head_new(const struct journal *j)
{
	return json_pack("{s:s, s:i, s:s?, s:I, s:I}", "format", "emp-journal", "version", 2,
		"boot_id", j->boot_id, "since_ns", (json_int_t)j->since_ns, "entries",
		(json_int_t)j->n);
}

/* Takes over `json`. False: a text in it is not UTF-8. */
static bool write_line(FILE *stream, json_t *json)
{
	_cleanup_(freep) char *line = make_line(json);

	fputs(line ?: "", stream);
	return line;
}

int journal_save(const struct journal *j, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *stream = xopen_memstream(&text, &size);
	bool valid = write_line(stream, head_new(j));

	for (size_t i = 0; i < j->n; i++) {
		j->entries[i].number = (int64_t)i;
		valid &= write_line(stream, document_new(&entry_table, &j->entries[i]));
	}
	valid &= write_line(stream, head_new(j));
	text_stream_close(stream, &text);
	return journal_save_file(FILE_NAME, valid ? text : NULL, err);
}

/* What does not fit on the disk is removed again. */
static int append_line(int fd, const char *line, bool persistent)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	const size_t length = strlen(line);
	const ssize_t n = write(fd, line, length);
	int r = 0;

	if (n < 0)
		r = -errno;
	else if ((size_t)n < length)
		r = -ENOSPC;
	if (r == 0 && persistent && fdatasync(fd) < 0)
		r = -errno;
	if (r < 0 && n > 0 && ftruncate(fd, end) < 0)
		r = -errno;
	return r;
}

/* Takes over `mark`. */
static int append_mark(json_t *mark, bool persistent, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/%s", journal_directory, FILE_NAME);
	_cleanup_(freep) char *line = make_line(mark);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	int r = 0;

	if (fd < 0)
		r = -errno;
	else if (!line)
		r = -EILSEQ;
	else
		r = append_line(fd, line, persistent);
	return r < 0 ? error_os(err, r, "cannot write to %s", path) : 0;
}

int journal_mark(const struct journal *j, size_t i, struct error *err)
{
	const struct entry *e = &j->entries[i];

	return append_mark(json_pack("{s:I, s:s?, s:i, s:b}", "mark", (json_int_t)e->number, "held",
				   e->held, "limits", e->limits, "begun", e->begun),
		e->persistent, err);
}

int journal_mark_theirs(const struct journal *j, size_t i, struct error *err)
{
	const struct entry *e = &j->entries[i];

	return append_mark(
		json_pack("{s:I, s:s}", "mark", (json_int_t)e->number, "theirs", e->theirs), false,
		err);
}

int journal_remove(struct error *err)
{
	_cleanup_(closep) int dir_fd = open(
		journal_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dir_fd < 0 && errno == ENOENT)
		return 0;
	if (dir_fd < 0)
		return error_os(err, -errno, "cannot open %s", journal_directory);
	if (unlinkat(dir_fd, FILE_NAME, 0) < 0 && errno != ENOENT)
		return error_os(err, -errno, "cannot remove %s/%s", journal_directory, FILE_NAME);
	unlinkat(dir_fd, JOURNAL_BEFORE, 0);
	unlinkat(dir_fd, NEW_NAME, 0); /* of an interrupted save */
	fsync(dir_fd);
	if (rmdir(journal_directory) < 0 && errno != ENOTEMPTY)
		return error_os(err, -errno, "cannot remove %s", journal_directory);
	return 0;
}
