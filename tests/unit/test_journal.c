/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal of applied settings. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/system/digest.h"
#include "setup/apply/journal.h"

#include <signal.h>
#include <sys/resource.h>

static struct error err;

static char place[80], file[96];

static int make(void **state)
{
	tree_make(state);
	snprintf(place, sizeof(place), "%s/emp", tree.path);
	snprintf(file, sizeof(file), "%s/journal", place);
	journal_directory = place;
	return 0;
}

#define TEST_OF_JOURNAL(name) TEST_WITH(name, make, tree_remove)

static struct entry entry(const char *name, const char *old, const char *want)
{
	return (struct entry){.id = strdup("test"),
		.name = strdup(name),
		.old = strdup(old),
		.want = strdup(want)};
}

static struct journal filled(void)
{
	struct journal j = {.boot_id = journal_boot_id(), .since_ns = 77};
	struct entry b = entry("b.service", "active", "inactive");

	b.kind = ENTRY_UNIT;
	b.block = BLOCK_DROP_IN;
	b.persistent = true;
	*array_add(j.entries, j.n) = entry("/a", "1", "0");
	*array_add(j.entries, j.n) = b;
	return j;
}

TEST_OF_JOURNAL(what_is_saved_is_loaded_again)
{
	_cleanup_(journal_clear) struct journal j = filled(), k = {};

	assert_int_equal(journal_load(&k, &err), 0); /* nothing is applied */
	assert_int_equal(k.n, 0);
	assert_int_equal(journal_save(&j, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_int_equal(k.n, 2);
	assert_int_equal(k.since_ns, 77);
	assert_string_equal(k.entries[0].old, "1");
	assert_null(k.entries[0].held);
	assert_int_equal(k.entries[1].kind, ENTRY_UNIT);
	assert_int_equal(k.entries[1].block, BLOCK_DROP_IN);
	assert_true(k.entries[1].persistent);
	assert_false(journal_is_stale(&k));
	assert_int_equal(journal_remove(&err), 0);
	assert_int_equal(access(place, F_OK), -1);
}

TEST_OF_JOURNAL(settings_of_all_kinds_are_loaded_again)
{
	_cleanup_(journal_clear) struct journal j = {.boot_id = journal_boot_id()}, k = {};

	for (int kind = SETTING_PLAIN; kind <= SETTING_CPUSET; kind++) {
		struct entry e = entry("/a", "1", "0");

		e.file_kind = (enum kernel_setting_kind)kind;
		*array_add(j.entries, j.n) = e;
	}
	assert_int_equal(journal_save(&j, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_false(k.damaged);
	assert_int_equal(k.n, j.n);
	for (size_t i = 0; i < k.n; i++)
		assert_int_equal(k.entries[i].file_kind, i);
}

TEST_OF_JOURNAL(any_number_of_lines_may_be_joined)
{
	static const char line[] = "0 e3b0c44298fc1c14 X";
	static char text[20000 * sizeof(line)];
	_cleanup_(journal_clear) struct journal j = {};

	for (char *to = text; to < text + sizeof(text) - sizeof(line);)
		to = stpcpy(to, line);
	tree_put("emp/journal", text);
	assert_int_equal(journal_load(&j, &err), 1);
	assert_true(j.damaged);
}

TEST_OF_JOURNAL(a_mark_records_the_value_of_an_entry)
{
	_cleanup_(journal_clear) struct journal j = filled(), k = {};
	FILE *f;

	assert_int_equal(journal_save(&j, &err), 0);
	j.entries[0].held = strdup("5");
	assert_int_equal(journal_mark(&j, 0, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_string_equal(k.entries[0].held, "5");
	assert_false(k.entries[0].begun);
	journal_clear(&k);
	j.entries[0].begun = true;
	assert_int_equal(journal_mark(&j, 0, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_true(k.entries[0].begun);
	journal_clear(&k);
	f = fopen(file, "a");
	/* a power cut in the middle of the next */
	fputs("23 0123456789abcdef {\"mark\":0,\"he", f);
	fclose(f);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_string_equal(k.entries[0].held, "5");
}

/* The journal that a file with this text is. */
static struct journal loaded(const char *text)
{
	struct journal j = {};

	tree_put("emp/journal", text);
	assert_int_equal(journal_load(&j, &err), 1);
	return j;
}

/* How many entries of a loaded journal say that something is lost. */
static size_t count_lost(const struct journal *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->entries[i].kind == ENTRY_LOST;
	return n;
}

TEST_OF_JOURNAL(of_a_file_that_is_not_a_journal_all_is_lost)
{
	static const char *const rows[] = {"", "nonsense\n", "{\"format\":\"else\"}\n", "\n\n",
		("{\"format\":\"emp-journal\",\"version\":1,\"since_ns\":1}\n{\"kind\":0}\n"
		 "{\"mark\":0}\n")};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		_cleanup_(journal_clear) struct journal j = loaded(rows[i]);

		assert_true(j.damaged);
		assert_int_equal(count_lost(&j), 1);
		assert_int_equal(j.n, 1);
		assert_string_equal(err.text, "");
	}
}

static const char OLD[] =
	"{\"format\":\"emp-journal\",\"version\":1,\"boot_id\":\"b\",\"since_ns\":5}\n"
	"{\"kind\":0,\"id\":\"nmi\",\"name\":\"/a\",\"knob\":0,\"old\":\"1\",\"want\":\"0\","
	"\"block\":0,\"for_good\":false}\n"
	"{\"kind\":1,\"id\":\"svc.units\",\"name\":\"b.service\",\"knob\":0,\"old\":\"active\","
	"\"want\":\"inactive\",\"block\":1,\"for_good\":true}\n"
	"{\"mark\":1,\"held\":\"inactive\"}\n";

TEST_OF_JOURNAL(a_journal_of_0_1_0_is_read)
{
	/* a power cut */
	_cleanup_(freep) char *text = text_format("%s{\"mark\":0,\"held\":\"0", OLD);
	_cleanup_(journal_clear) struct journal j = loaded(text);

	assert_false(j.damaged);
	assert_int_equal(j.n, 2);
	assert_int_equal(j.since_ns, 5);
	assert_null(j.entries[0].held);
	assert_string_equal(j.entries[1].held, "inactive");
	assert_int_equal(j.entries[1].block, BLOCK_MASK);
	assert_true(j.entries[1].persistent);
}

TEST_OF_JOURNAL(a_torn_mark_in_a_journal_of_0_1_0_loses_no_entry)
{
	_cleanup_(freep) char *text = text_format(
		"%s{\"mark\":0,\"he{\"mark\":1,\"held\":\"inactive\"}\n", OLD);
	_cleanup_(journal_clear) struct journal j = loaded(text);

	assert_int_equal(j.n, 2);
	assert_int_equal(count_lost(&j), 0);
}

TEST_OF_JOURNAL(a_damaged_entry_of_0_1_0_is_lost_and_the_rest_is_read)
{
	_cleanup_(freep) char *text = strdup(OLD);
	_cleanup_(journal_clear) struct journal j = {};

	*strstr(text, "\"want\"") = '\r';
	j = loaded(text);
	assert_true(j.damaged);
	assert_int_equal(j.n, 3);
	assert_string_equal(j.entries[0].name, "b.service");
	/* its mark has the number that it had */
	assert_string_equal(j.entries[0].held, "inactive");
	assert_int_equal(j.entries[1].kind, ENTRY_LOST);
	assert_string_equal(j.entries[1].name, "/a");
	assert_string_equal(j.entries[1].old, "1");
	assert_non_null(strstr(
		j.entries[2].want, "1 of 2 changes cannot be read; 'journalctl -t emp-setup'"));
}

TEST_OF_JOURNAL(a_journal_of_a_newer_version_is_refused)
{
	static const char json[] = "{\"format\":\"emp-journal\",\"version\":3}";
	struct journal j = {};
	char digest[DIGEST_SIZE];
	_cleanup_(freep) char *line = NULL;

	digest_of(json, strlen(json), digest);
	line = text_format("%zu %.16s %s\n", strlen(json), digest, json);
	tree_put("emp/journal", line);
	assert_int_equal(journal_load(&j, &err), -EPROTONOSUPPORT);
	assert_string_equal(
		err.text, "the journal was written by a newer emp-setup; use that version");
}

TEST_OF_JOURNAL(what_is_lost_stays_in_the_journal_that_is_saved_again)
{
	_cleanup_(journal_clear) struct journal j = loaded("nonsense\n"), k = {};

	assert_int_equal(journal_save(&j, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_int_equal(count_lost(&k), 1);
	assert_true(k.since_ns > 0);
	assert_string_equal(k.entries[0].ways, "--forget drops it");
	assert_null(strstr(k.entries[0].want, "--forget"));
}

/* Loads it from the first `size` bytes of `text`: either every entry is there and as it was, or
 * something is said to be lost; and what is there is as it was. */
static void check_damaged(
	const char *text, size_t size, const struct journal *whole, const char *how, size_t at)
{
	_cleanup_(journal_clear) struct journal j = {};
	FILE *f = fopen(file, "w");
	size_t n = 0;

	fwrite(text, 1, size, f);
	fclose(f);
	assert_int_equal(journal_load(&j, &err), 1);
	for (size_t i = 0; i < j.n; i++) {
		const struct entry *there = &j.entries[i], *was = journal_find(whole, there->name);

		if (there->kind == ENTRY_LOST)
			continue;
		n++;
		if (!was || strcmp(was->old, there->old) != 0 || was->block != there->block ||
			was->kind != there->kind || was->persistent != there->persistent ||
			(there->held && strcmp(was->held, there->held) != 0))
			fail_msg("%s at byte %zu: entry %zu is another", how, at, i);
	}
	if (n < whole->n && (count_lost(&j) == 0 || !j.damaged))
		fail_msg("%s at byte %zu: %zu of %zu entries, and none is said to be lost", how, at,
			n, whole->n);
}

TEST_OF_JOURNAL(a_byte_that_is_damaged_loses_no_entry_unseen)
{
	static const int flips[] = {0x01, 0x02, 0x08, 0x20, 0x80};
	_cleanup_(journal_clear) struct journal whole = filled();
	char text[4096];
	size_t size;
	FILE *f;

	assert_int_equal(journal_save(&whole, &err), 0);
	for (size_t i = 0; i < whole.n; i++) {
		whole.entries[i].held = strdup(whole.entries[i].want);
		assert_int_equal(journal_mark(&whole, i, &err), 0);
	}
	f = fopen(file, "r");
	size = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_true(size > 500 && size < sizeof(text));
	for (size_t i = 0; i < size; i++) {
		char byte = text[i];

		check_damaged(text, i, &whole, "cut off", i);
		text[i] = '\0';
		check_damaged(text, size, &whole, "a NUL", i);
		text[i] = '\n';
		check_damaged(text, size, &whole, "a new line", i);
		for (size_t k = 0; k < ELEMENTS(flips); k++) {
			text[i] = (char)(byte ^ flips[k]);
			check_damaged(text, size, &whole, "a flip", i);
		}
		text[i] = byte;
	}
	for (size_t i = 0; i + 64 < size; i += 16) { /* a sector that was never written */
		char copy[4096];

		memcpy(copy, text, size);
		memset(copy + i, 0, 64);
		check_damaged(copy, size, &whole, "64 NULs", i);
	}
}

TEST_OF_JOURNAL(a_mark_that_does_not_fit_leaves_the_journal_as_it_was)
{
	struct rlimit room, before;
	_cleanup_(journal_clear) struct journal j = filled(), k = {};
	struct stat st;

	assert_int_equal(journal_save(&j, &err), 0);
	assert_int_equal(stat(file, &st), 0);
	getrlimit(RLIMIT_FSIZE, &before);
	/* a write is cut off there */
	room = (struct rlimit){(rlim_t)st.st_size + 10, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	j.entries[0].held = strdup("5");
	setrlimit(RLIMIT_FSIZE, &room);
	assert_int_equal(journal_mark(&j, 0, &err), -ENOSPC);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_int_equal(journal_mark(&j, 0, &err), 0);
	assert_int_equal(journal_load(&k, &err), 1);
	assert_false(k.damaged);
	assert_string_equal(k.entries[0].held, "5");
}

TEST_OF_JOURNAL(a_reboot_leaves_only_persistent_entries)
{
	_cleanup_(journal_clear) struct journal j = filled();

	assert_int_equal(journal_drop_stale(&j), 0);
	strcpy(j.boot_id, "another");
	assert_true(journal_is_stale(&j));
	assert_int_equal(journal_drop_stale(&j), 1);
	assert_int_equal(j.n, 1);
	assert_string_equal(j.entries[0].name, "b.service");
	assert_false(journal_is_stale(&j));
}
