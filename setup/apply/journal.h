/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal: what apply has changed and what was there before, on disk before the first change is
 * made. Apply, restore and status know of a change only what an entry of it says.
 *
 * Each line of its file has its length, a checksum and JSON: a head, an entry for each change, the
 * head again, and marks that are appended when an entry was carried out. A file that ends in the
 * middle of a mark is valid. Of a damaged file, all that can be read is read. */
#pragma once

#include "lib/host/system/kernel.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/systemd/units.h"

enum entry_kind {
	ENTRY_FILE, /* a setting: name is its path */
	ENTRY_UNIT, /* a unit of systemd: old and want are "active" or "inactive" */
	/* of a damaged journal: name and old as far as they can be read; want says what is the
	 * matter, and ways, where there are any, what to do about it */
	ENTRY_LOST,
};

/* Which of the old limits nobody has set: the value that was read was the hardware's own limit, or
 * that of a turbo switch. Without LIMITS_KNOWN, that is not known; LIMITS_LIFTED: apply was about
 * to find it out. */
enum { LIMITS_KNOWN = 1, LIMITS_NO_MIN = 2, LIMITS_NO_MAX = 4, LIMITS_LIFTED = 8 };

/* How a unit is kept from being started again. */
enum block {
	BLOCK_NONE,
	BLOCK_MASK,
	/* a condition that never holds: a unit with a file in /etc cannot be masked */
	BLOCK_DROP_IN,
};

struct entry {
	enum entry_kind kind;
	char *id;   /* of the check */
	char *name; /* a path, or a unit; NULL: it is done with, and journal_compact removes it */
	enum kernel_setting_kind file_kind;
	char *old, *want; /* want "": apply does not set it, see entry_is_kept */
	char *ways;       /* of ENTRY_LOST; else NULL */
	char *held;       /* the value after we had set it; NULL: not recorded */
	char *last;       /* of a file, until `held` is recorded: its value before this apply */
	int limits;       /* LIMITS_…, of SETTING_LIMITS */
	enum block block;
	bool persistent; /* the block survives a reboot */
	char *owners;    /* see owner_new; NULL: a plain apply */
	/* where a plain apply and processes of apply --for own it: its value when the first of
	 * these processes began, which it gets back when the last one ends. NULL: no such process
	 * runs */
	char *prior;
	bool unblocked; /* of a unit with `prior`: its `block` was not there then */
	char *with;     /* the unit of the policy that this one was stopped with; NULL: none */
	char *theirs;   /* limits that a restore was about to set again for others; else NULL */
	bool adopted;   /* `old` is what somebody else had set while it was applied */
	bool begun;     /* apply has set it, or was about to */
	int64_t number; /* in the file, for its marks */

	/* While it is planned, carried out, restored or shown; not in the file. */
	/* what is lost when the unit is stopped, or the setting made */
	const char *loses;
	bool was_blocked;                    /* before this apply */
	bool was_set;                        /* the unit, by an earlier apply */
	bool done;                           /* the unit is as wanted */
	char *why;                           /* else: what prevented it */
	char *now;                           /* the value of now; NULL: it could not be read */
	bool changed_externally;             /* somebody else has changed it since */
	bool gained;                         /* this apply is a new owner */
	bool taken;                          /* by this restore */
	const char *back;                    /* of one that is taken: restored to old or prior */
	struct kernel_setting_result result; /* of the restore */
};

struct journal {
	char *boot_id;    /* of the boot that the entries belong to */
	int64_t since_ns; /* since 1970 */
	struct entry *entries;
	size_t n;
	bool damaged;    /* lines of the file could not be read */
	bool incomplete; /* what was lost with them is in entries of ENTRY_LOST */
};

/* A file that loses its value while another one is set, such as a governor's settings: it is only
 * restored. */
static inline bool entry_is_kept(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE && !*entry->want;
}

/* What a file held when an apply had set it, or was about to; NULL: not known. */
static inline const char *entry_last(const struct entry *entry)
{
	return entry->held ?: entry->last;
}

/* Whether apply has begun to set it. If it has not, and the value wanted is there, somebody else
 * has set it. */
static inline bool entry_is_reached(const struct entry *entry)
{
	return entry->held || entry->begun;
}

/* Limits of an apply that was killed after it had saved the journal, and before it changed them:
 * they still have the value to go back to. */
static inline bool entry_is_untouched(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE && entry->file_kind == SETTING_LIMITS && !entry->limits &&
	       entry->last && !entry_is_reached(entry);
}

/* The setting of an ENTRY_FILE; it points into the entry. */
struct kernel_setting entry_setting(const struct entry *entry);
/* What it holds now: a file's value, or whether a unit is up. NULL: not known; the caller frees
 * it. */
char *entry_read(const struct entry *entry, struct units *units);

extern const char *journal_directory; /* "/var/lib/emp-setup"; tests have another */

/* 1: there is one, 0: nothing is applied. A damaged one is no failure. */
int journal_load(struct journal *ret, struct error *err);
void journal_clear(struct journal *journal);
/* NULL: no such entry */
struct entry *journal_find(const struct journal *journal, const char *name);
/* Removes cleared entries. */
void journal_compact(struct journal *journal);

/* The whole journal, atomically and durably; the directory is made if it does not exist. */
int journal_save(const struct journal *journal, struct error *err);
/* Appends to the journal that was saved or loaded that entry `i` was set, and to what
 * (entry->held). After a failure the file is as before. */
int journal_mark(const struct journal *journal, size_t i, struct error *err);
/* The same of entry->theirs. */
int journal_mark_theirs(const struct journal *journal, size_t i, struct error *err);
/* Replaces a file in that directory, atomically and durably. text NULL: it is not UTF-8. */
int journal_save_file(const char *name, const char *text, struct error *err);
#define JOURNAL_BEFORE "before" /* of the snapshot; removed with the journal */
/* Removes the files and the directory. */
int journal_remove(struct error *err);

/* The id of this boot; the caller frees it. */
char *journal_boot_id(void);
/* Whether the entries belong to an earlier boot: then settings are as the boot made them. */
bool journal_is_stale(const struct journal *journal);
/* Drops what a reboot has undone, and returns how many entries that were. */
size_t journal_drop_stale(struct journal *journal);

void entry_clear(struct entry *entry);
