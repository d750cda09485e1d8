/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of systemd over D-Bus (services, timers, sockets and paths, sessions, timesyncd's
 * answer), and what it is told: what the tools change on this machine. sd-bus and sd-journal are
 * included here only. */
#pragma once

#include "lib/base/argv.h"

struct units; /* a connection to a manager */

/* One loaded unit, as systemctl list-units --all shows it. */
struct unit {
	char *name;
	char *load;       /* "loaded", "not-found", "masked"… */
	char *active;     /* "active", "inactive", "failed", "activating"… */
	char *sub;        /* "running", "waiting", "dead"… */
	char *file_state; /* "enabled", "static", "generated"…; "" where there is no file */
	char **triggers;  /* what a timer, a socket or a path starts; NULL: of other kinds */
};

struct unit_list {
	struct unit *items; /* by name */
	size_t n;
};

/* `socket` NULL: the system's manager; or that of a user (/run/user/UID/systemd/private). -ENOTCONN
 * with a sentence where systemd does not run or does not answer. */
int units_open(struct units **ret, const char *socket, struct error *err);
/* Of the system's manager, for changes: root talks to it without the message bus, which may end
 * or be stopped midway. It knows no other services, such as timesyncd. */
int units_open_direct(struct units **ret, struct error *err);
void units_free(struct units *units);
DEFINE_FREEP(units)

/* All loaded services, timers, sockets and paths, with the states of their files. */
int units_list(struct units *units, struct unit_list *ret, struct error *err);
void unit_list_clear(struct unit_list *list);
/* NULL: not loaded */
const struct unit *unit_list_find(const struct unit_list *list, const char *name);

/* The names of all unit files of these kinds, loaded or not, but for masked ones, aliases and
 * templates. Ends with NULL; freed with argv_freep. */
int units_files(struct units *units, char ***ret, struct error *err);

/* Active, or on its way there: it may use CPU time, or start what does. What is still stopping will
 * be down. */
bool unit_is_up(const struct unit *unit);
bool unit_is_kind(const char *name, const char *suffix); /* ".timer" */

/* A property into a variable of its type: 's' a char * that the caller frees, 'b' an int, 't' a
 * uint64_t, 'a' names in a char ** that ends with NULL, may be NULL where there are none, and is
 * freed with argv_freep. `property` begins with its interface: "Unit.FragmentPath", "Service.Type",
 * "Unit.TriggeredBy" (what starts it), "Unit.ConsistsOf" (what is stopped with it). */
int units_get(struct units *units, const char *name, const char *property, char type, void *ret,
	struct error *err);
/* The units in several of its properties, whose names come without "Unit." and end with NULL; freed
 * with argv_freep. */
int units_related(struct units *units, const char *name, const char *const *properties, char ***ret,
	struct error *err);
bool names_have(char *const *names, const char *name); /* of such a list, or NULL */

/* One that is true or false, such as "Unit.CanStart": whether it can be started by itself; a unit
 * may refuse that, or be masked. `otherwise`: systemd does not say. */
bool units_flag(struct units *units, const char *name, const char *property, bool otherwise);

/* The same as unit_is_up for a unit of any kind, as it is now; one that cannot be asked for is not
 * up. */
bool units_is_up(struct units *units, const char *name);

/* The same, and a negative errno for one that cannot be asked for. */
int units_state(struct units *units, const char *name);

/* Whether a service lives as long as its name on the bus: others start it by a request, and it
 * may end by itself. */
bool units_is_of_bus(struct units *units, const char *name);

/* The state of a unit's file, loaded or not ("enabled", "disabled", "masked"…); NULL: it has no
 * file. The caller frees it. */
char *units_file_state(struct units *units, const char *name);

/* Called some times a second while a unit is started (active) or stopped. A negative errno ends the
 * wait, not systemd's work. */
typedef int units_waiting(void *data, const char *name, bool active, int64_t waited_ns);
void units_set_waiting(struct units *units, units_waiting *waiting, void *data);

/* Starts or stops it, and waits until that is done; one that is still stopping is started when it
 * has stopped. -ETIMEDOUT: systemd has not finished within 100 s, or the time that the unit may
 * take to stop; else what `waiting` returned. */
int units_set(struct units *units, const char *name, bool active, struct error *err);
/* Keeps a unit from being started, until the next boot or persistently; or does so no longer. Needs
 * units_reload after it. */
int units_mask(
	struct units *units, const char *name, bool masked, bool persistent, struct error *err);
int units_reload(struct units *units, struct error *err);

/* What is left of a unit that was stopped: with KillMode=process, for one, jobs of cron go on.
 * "backup (PID 77), tar (PID 79)"; the caller frees it. NULL: nothing. */
char *units_left(struct units *units, const char *name);
/* The same, of what the unit's last start began, within some seconds: another start would begin it
 * once more. */
char *units_left_of_start(struct units *units, const char *name);
/* Waits until nothing is left; what `waiting` returned. */
int units_wait_left(struct units *units, const char *name);

/* When a timer elapses next: ns since 1970; 0: never, or systemd does not say. */
int64_t units_timer_next(struct units *units, const char *name);

/* How much later it may start its service (AccuracySec), for systemd to start several together;
 * 0: not known. */
int64_t units_timer_accuracy(struct units *units, const char *name);

/* How often systemd starts a service, for comparison with how often it was observed. */
struct timer {
	char *name; /* "man-db.timer" */
	/* its setting as in its file: "OnUnitActiveSec=4h", "OnCalendar=*-*-* 06,18:00:00" */
	char *text;
	int64_t period_ns; /* 0: not regular, or not known */
	int64_t spread_ns; /* the random delay on top */
};

/* The timers that start `service`, as far as systemd describes them; timer_list_free frees the
 * array. */
struct timer *timer_list(struct units *units, const char *service, size_t *ret_n);
void timer_list_free(struct timer *timers, size_t n);

/* The time between all successive moments in what "systemd-analyze calendar --iterations=…" prints,
 * 0 if they are not equal or there are fewer than two. */
int64_t timer_period(const char *printed);

/* Whether systemd-timesyncd has an answer from a server: 1 yes, 0 no. `ret_server` (the caller
 * frees it) is NULL if it has none. */
int units_timesync(struct units *units, char **ret_server, struct error *err);

/* The users of sessions with a display (login screens too); a user with two is there twice. Ends
 * with NULL; freed with argv_freep. None where logind does not run. */
char **sessions_desktops(void);

/* Who holds off a shutdown or sleep now because work is going on, but EMP: "fwupd: firmware
 * update in progress", with ", " between. What only delays it, or replaces what a key does, does
 * not count. The caller frees it; NULL: nobody, or logind does not run. */
char *inhibitors_blocking(void);

/* The block locks of logind; the caller frees them with inhibitors_free. None: also if logind does
 * not run, or does not answer. */
struct inhibitor {
	char *what; /* "shutdown:sleep" */
	char *who, *why;
	pid_t pid;
};
struct inhibitor *inhibitors_read(size_t *ret_n);
void inhibitors_free(struct inhibitor *inhibitors, size_t n);

/* Holds off sleep and shutdown while something runs for days (systemd-inhibit --list shows it): a
 * descriptor to keep open as long as the hold is to last; the kernel ends it with the process.
 * Negative with a sentence if there is no logind or it refuses. */
int inhibit_sleep(const char *who, const char *why, struct error *err);

/* What the tools have changed on this machine, for the system's journal. Each kind has a message id
 * of its own (journalctl MESSAGE_ID=…). */
enum action { ACTION_APPLY, ACTION_SET, ACTION_STOP, ACTION_RESTORE, ACTION_RESTORE_ONE };

/* Does nothing where no journal runs. */
void action_log(enum action action, const char *format, ...) __attribute__((format(printf, 2, 3)));
