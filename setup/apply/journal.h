/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply has changed and what was there before, on disk before the first change is made. Each line has its
 * length, a checksum and JSON: a head, an entry for each change, the head again, and marks that are appended when an
 * entry was carried out. A file that ends in the middle of a mark is valid. Of a damaged file, all that can be read is
 * read. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/lock.h"

#include <stdbool.h>
#include <stdint.h>

enum entry_kind {
	ENTRY_FILE, /* a setting: name is its path */
	ENTRY_UNIT, /* a unit of systemd: old and want are "active" or "inactive" */
	ENTRY_LOST, /* of a damaged journal: name and old as far as they can be read; want says what is the matter */
};

/* How a unit is kept from being started again. */
enum block {
	BLOCK_NONE,
	BLOCK_MASK,
	BLOCK_DROP_IN, /* a condition that never holds: a unit with a file in /etc cannot be masked */
};

struct entry {
	enum entry_kind kind;
	char *id;   /* of the check */
	char *name; /* a path, or a unit */
	enum kernel_setting_kind file_kind;
	char *old, *want; /* want "": apply does not set it, see entry_is_kept */
	char *held;       /* the value after we had set it; NULL: not recorded */
	enum block block;
	bool persistent;   /* the block survives a reboot */
	int64_t number;    /* in the file, for its marks */
	const char *loses; /* of a plan: what is lost when the unit is stopped; not in the file */
};

struct journal {
	char *boot_id;    /* of the boot that the entries belong to */
	int64_t since_ns; /* since 1970 */
	struct entry *entries;
	size_t n;
	bool damaged; /* lines of the file could not be read; what was lost with them is in entries of ENTRY_LOST */
};

/* A file that loses its value while another one is set, such as a governor's settings: it is only restored. */
static inline bool entry_is_kept(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE && !*entry->want;
}

/* Another state directory, for tests. */
void journal_set_directory(const char *directory);

/* 1: there is one, 0: nothing is applied. A damaged one is no failure. */
int journal_load(struct journal *ret, struct error *err);
void journal_clear(struct journal *journal);
void entry_clear(struct entry *entry);
/* Removes cleared entries. */
void journal_compact(struct journal *journal);

/* The setting of an ENTRY_FILE; it points into the entry. */
struct kernel_setting entry_setting(const struct entry *entry);

/* Takes `entry` over. */
void journal_add(struct journal *journal, struct entry *entry);
/* Whether entries of ENTRY_LOST are in it. */
bool journal_is_incomplete(const struct journal *journal);
struct entry *journal_find(const struct journal *journal, const char *name); /* NULL: no such entry */

/* The whole journal, atomically and durably; the directory is made if it does not exist. */
int journal_save(const struct journal *journal, struct error *err);
/* Appends that entry `i` was set, and to what (entry->held). After a failure the file is as before. */
int journal_mark(const struct journal *journal, size_t i, struct error *err);
/* A text beside the journal, that is removed with it: saved atomically, and loaded (NULL: there is none; the caller
 * frees it). */
int journal_save_beside(const char *text, struct error *err);
char *journal_load_beside(void);
/* Removes the files and the directory. */
int journal_remove(struct error *err);

/* Whether the entries belong to an earlier boot: then settings are as the boot made them. */
bool journal_is_stale(const struct journal *journal);
/* Drops what a reboot has undone, and returns how many entries that were. */
size_t journal_drop_stale(struct journal *journal);

/* The id of this boot; the caller frees it. */
char *journal_boot_id(void);

/* The host's lock, which emp-calibrate takes too: settings do not change while samples are taken. */
int journal_lock(struct lock *ret, struct error *err);
