/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying settings and putting them back: the journal of what was changed, the report of what
 * became of each change, the plan of an apply, and the restore, which compares with the state
 * before the first change. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/json.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/systemd/units.h"
#include "setup/audit/audit.h"
#include "setup/options.h"

/* The host's lock, which emp-calibrate takes too: settings do not change while samples are
 * taken. */
#define SETUP_LOCK "/run/emp-setup"

/* What apply has changed and what was there before, on disk before the first change is made. Each
 * line has its length, a checksum and JSON: a head, an entry for each change, the head again, and
 * marks that are appended when an entry was carried out. A file that ends in the middle of a mark
 * is valid. Of a damaged file, all that can be read is read. */

enum entry_kind {
	ENTRY_FILE, /* a setting: name is its path */
	ENTRY_UNIT, /* a unit of systemd: old and want are "active" or "inactive" */
	/* of a damaged journal: name and old as far as they can be read; want says what is the
	 * matter */
	ENTRY_LOST,
};

/* Which of the old limits nobody has asked for: what was read was the hardware's, or that of a
 * turbo switch. Without LIMITS_KNOWN, that is not known; LIMITS_LIFTED: apply was about to find
 * it out. */
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
	char *held;       /* the value after we had set it; NULL: not recorded */
	char *last;       /* of a file, until `held` is recorded: its value before this apply */
	int limits;       /* LIMITS_…, of SETTING_LIMITS */
	enum block block;
	bool persistent; /* the block survives a reboot */
	char *owners;    /* see owner_new; NULL: a plain apply */
	/* what it held when the first --for of those that run began, where a plain apply owns it,
	 * too: they go back to this. NULL: none of them runs */
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
	bool taken;                          /* by this restore; */
	const char *back;                    /* then the value to go back to: old or prior */
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

void entry_clear(struct entry *entry);

/* The owners of an entry: it is restored when the last one is gone. A plain apply owns what it
 * sets until a restore, and a process of apply --for as long as it runs, however it ends. What
 * is left alone has none. */

/* This process as an owner; the caller frees it. */
char *owner_new(void);
bool entry_has_owner(const struct entry *entry, const char *owner);
void entry_add_owner(struct entry *entry, const char *owner);
void entry_add_owners(struct entry *entry, const struct entry *of);
/* Also removes those that have ended. */
void entry_remove_owner(struct entry *entry, const char *owner);
/* Whether a plain apply owns it; a process of apply --for that owns it and runs (0: none);
 * whether all owners were killed. */
bool entry_is_applied(const struct entry *entry);
pid_t entry_needed_by(const struct entry *entry);
bool entry_is_abandoned(const struct entry *entry);

/* What a file held when an apply had set it, or was about to; NULL: not known. */
static inline const char *entry_last(const struct entry *entry)
{
	return entry->held ?: entry->last;
}

/* Whether apply came as far as this: before that, the value wanted is somebody else's. */
static inline bool entry_is_reached(const struct entry *entry)
{
	return entry->held || entry->begun;
}

/* Limits that apply has recorded, and was killed before it changed anything: what they hold is
 * what they are to hold. */
static inline bool entry_is_untouched(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE && entry->file_kind == SETTING_LIMITS && !entry->limits &&
	       entry->last && !entry_is_reached(entry);
}

/* The setting of an ENTRY_FILE; it points into the entry. */
struct kernel_setting entry_setting(const struct entry *entry);
/* `now`, which somebody else has set, becomes the value to go back to; of limits, what they have
 * changed. */
void entry_adopt(struct entry *entry, const char *now);
/* Sets `limits` of an entry whose old value is what holds now, by lifting the limits: the caller
 * writes them again. `wider`: the old value may be of a moment when more was possible. 0 if the
 * kernel refuses it. */
void entry_find_limits(struct entry *entry, bool wider);
/* Whether `now` of limits has one that is neither our value nor `back`, nor what the hardware and
 * the switches of turbo leave. It lifts the limits to see that; `last` or `held` then has what
 * these leave, where it is not somebody else's. */
bool entry_has_others_limit(struct entry *entry, const char *back);
/* What to write for limits to be `value` again; the caller frees it. It has no limit where
 * nobody has asked for one. */
char *entry_limits(const struct entry *entry, const char *value);
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

/* What became of each change. */

enum outcome {
	OUTCOME_WILL_CHANGE, /* of a plan */
	OUTCOME_STAYS,       /* of a plan: it is as wanted */
	OUTCOME_CHANGED,
	OUTCOME_ALREADY, /* it was as wanted before */
	OUTCOME_ABSENT,  /* this machine has no such thing */
	OUTCOME_REFUSED, /* by the kernel, by systemd, or by the policy */
	OUTCOME_CLAMPED, /* accepted, but the kernel set another value */
	OUTCOME_RESTORED,
	OUTCOME_LEFT_ALONE, /* somebody else has changed it since */
	OUTCOME_FAILED,     /* it could not be restored */
	OUTCOME_FORGOTTEN,  /* either of the two with --forget: it is of no journal any more */
	OUTCOME_DIFFERENT,  /* after a restore: not as it was before the first apply */
	N_OUTCOMES,
};

struct report {
	struct report_row {
		enum outcome outcome;
		char *id, *name, *before, *now, *note;
	} *rows;
	size_t n;
	size_t count[N_OUTCOMES];
};

void report_clear(struct report *report);

/* before and now may be NULL; note is NULL or says why. */
void report_add(struct report *report, const char *id, const char *name, enum outcome outcome,
	const char *before, const char *now, const char *note);
/* The same for an entry, the values of a setting with their units. */
void report_entry(struct report *report, const struct entry *entry, enum outcome outcome,
	const char *before, const char *now, const char *note);

/* Where apply and restore print: the standard output of apply --for belongs to its command. */
FILE *report_file(void);
/* Prints a table and an empty line, or nothing where it has no rows. Files of one kind with equal
 * results share a row; what is as wanted or does not exist is left out unless `all`. */
void report_print(const struct report *report, FILE *file, bool all);
/* The document of apply and restore, with these members before the changes, which are taken over;
 * the caller owns it. */
json_t *report_document(const struct report *report, json_t *members);

/* From now on, standard error shows which unit apply or restore waits for, and for how long: on a
 * terminal one line that counts, elsewhere a line now and then. on_interrupt: INT, TERM and HUP end
 * the wait with -EINTR, see signals.h, and what that does ("undoes all"); NULL: they do not. */
void waiting_begin(struct units *units, const char *on_interrupt);
/* Clears the line, so that the next one takes its place. */
void waiting_end(void);

/* What apply will change, in this order: made out of what an audit gathered, before anything is
 * changed; and what became of it. */

/* Whether options.only, .skip and .isolate have an apply make this check. */
bool request_takes(const struct check *check);
/* -EINVAL if a name in these lists is no check that can be applied. */
int request_validate(struct error *err);

struct plan {
	struct facts facts;
	struct units *units;    /* NULL: systemd does not answer */
	struct journal journal; /* what was open before, and the new entries behind it */
	size_t n_open;          /* entries that were applied before */
	bool continued;         /* one of these has an owner */
	char *owner;            /* of what is added */
	size_t *order;          /* entries to carry out, by index */
	size_t n_order;
	struct unit_reasons busy; /* units that are not to be interrupted */
	struct report report;
};

/* The entry to carry out at place i. */
static inline struct entry *plan_entry(const struct plan *plan, size_t i)
{
	return &plan->journal.entries[plan->order[i]];
}

/* Adds what is to be changed to the open entries, and reports what will not be done. */
int plan_make(struct plan *plan, struct error *err);
void plan_clear(struct plan *plan);

/* Takes `entry` over. If the journal has one of this name, that keeps its old value and gets the
 * new wish. */
void plan_add(struct plan *plan, struct entry *entry);

/* Keeps the units of some entries from being started by anybody, as their `block` says, or ends
 * that; failures are reported. */
void entries_block(struct units *units, struct entry *const *entries, size_t n, bool blocked,
	struct report *report);
/* How a unit is described that is only kept from being started. */
static inline const char *entry_blocked_word(const struct entry *e)
{
	return e->block == BLOCK_DROP_IN ? "blocked" : "masked";
}
/* Whether it is so now; whether a file is a mask; and the name of our drop-ins. */
bool entry_is_blocked(const struct entry *entry);
bool path_is_mask(const char *path);
#define DROP_IN_NAME "90-emp-setup.conf"

/* Sets again what a restore that was killed has lost of somebody else's limits. */
void journal_set_others_limits(struct journal *journal);
/* Reads what the files of a journal hold now, and sets changed_externally. */
void journal_find_changed(struct journal *journal);
/* The same for units that apply was killed before: it sets changed_externally where somebody else
 * has stopped them, or started them, meanwhile. */
void journal_find_unreached(struct journal *journal, struct units *units);
/* Names of properties, which end with NULL: what a unit needs. */
extern const char *const units_needs[];

enum restore_scope {
	RESTORE_ALL,
	RESTORE_OWN,    /* what only this process of apply --for owns, or others that were killed */
	RESTORE_GAINED, /* what only this apply owns: it fails */
};

/* Restores entries of the journal, and shows the result; the caller holds the host's lock.
 * `applied`: for RESTORE_GAINED, the journal as it was saved last. A status of tool.h. */
int restore_locked(enum restore_scope scope, const struct journal *applied, struct error *err);

/* What a restore must leave as it was: the states of all units and of their files, masks and
 * drop-ins, and the files of cpufreq, SMT and CPUs. This takes it before the first change, and
 * writes it beside the journal; the end of a restore compares it. It is only for the report: what
 * restore does is in the journal. `list`: NULL where systemd does not answer. */
int snapshot_save(const struct unit_list *list, struct error *err);

/* For tests: kills the process at the crash point that --kill-after chooses. They follow each
 * change that the outside can see, so that a test can try all moments at which a power cut may
 * come. What the journal holds can be restored after any. */
void crash_point(void);
