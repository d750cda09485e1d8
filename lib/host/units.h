/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The services, timers, sockets and paths of systemd, asked over D-Bus. The only file that includes sd-bus,
 * so timesyncd's own answer comes from here too. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct units; /* a connection to the system's manager */

/* One loaded unit, as systemctl list-units --all shows it. */
struct unit {
	char *name;
	char *description;
	char *load;       /* "loaded", "not-found", "masked"… */
	char *active;     /* "active", "inactive", "failed", "activating"… */
	char *sub;        /* "running", "waiting", "dead"… */
	char *file_state; /* "enabled", "static", "generated"…; "" where there is no file */
};

struct unit_list {
	struct unit *items; /* by name */
	size_t n;
};

/* -ENOTCONN with a sentence where systemd does not run or does not answer. */
int units_open(struct units **ret, struct error *err);
void units_free(struct units *units);
DEFINE_FREEP(units)

/* All loaded services, timers, sockets and paths, with the states of their files. */
int units_list(struct units *units, struct unit_list *ret, struct error *err);
void unit_list_clear(struct unit_list *list);
const struct unit *unit_list_find(const struct unit_list *list, const char *name); /* NULL: not loaded */

/* Running, or on its way to it: it may take CPU time, or start what does. */
bool unit_is_up(const struct unit *unit);
bool unit_is_kind(const char *name, const char *suffix); /* ".timer" */

/* The timers, sockets and paths that start a service: NULL where there is none, else ends with NULL, and the
 * caller frees it with strings_free. */
int units_triggers(struct units *units, const char *name, char ***ret, struct error *err);
void strings_free(char **strings);
static inline void strings_freep(char ***strings)
{
	strings_free(*strings);
}

/* When a timer elapses next: ns since 1970, 0: never. */
int units_timer_next(struct units *units, const char *name, int64_t *ret_realtime_ns, struct error *err);

/* Whether systemd-timesyncd has an answer from a server: 1 yes, 0 no. `ret_server` (the caller frees it) is
 * NULL if it has none. */
int units_timesync(struct units *units, char **ret_server, struct error *err);
