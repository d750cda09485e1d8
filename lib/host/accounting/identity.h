/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program and the systemd unit of a process, so that the user can act on a finding ("stop
 * apt-daily.timer"). They are looked up once for each process, and cached until it ends or executes
 * another program. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

struct identity;

/* Texts live as long as the identity; NULL: not known. */
struct identified {
	const char *exe;  /* path */
	const char *unit; /* "cron.service", "session-3.scope" */
};

struct identity *identity_new(void);
void identity_free(struct identity *identity);
DEFINE_FREEP(identity)

/* Of a living process. `start_ns` and `name` distinguish it from an earlier one with the same pid,
 * and from itself before it executed another program. `name` NULL: it has ended, and is known if it
 * was looked up while it was alive. */
struct identified identity_of(
	struct identity *identity, pid_t pid, uint64_t start_ns, const char *name);

/* The process has ended, or executed another program. */
void identity_forget(struct identity *identity, pid_t pid);

/* The unit of a cgroup that may have been removed since: the first that it was told. NULL: none.
 * `unit`: what to learn; NULL: nothing. */
const char *identity_cgroup_unit(struct identity *identity, uint64_t cgroup, const char *unit);

/* The program at `path` as in /proc, with links resolved. */
const char *identity_program(struct identity *identity, const char *path);

/* The program that is this file, found by `name` in the usual directories for programs; NULL if it
 * is not there. */
const char *identity_program_of_file(
	struct identity *identity, const char *name, uint64_t device, uint64_t inode);

/* A copy of `text` that lives as long as the identity. */
const char *identity_keep(struct identity *identity, const char *text);

/* Whether `name` (of a cgroup) is a unit that processes run in: "x.service", "x.scope",
 * "x.socket"… */
bool identity_is_unit(const char *name);

/* The unit in the text of /proc/PID/cgroup, copied to `ret`, which is as large as the text: in a
 * path of the v2 or systemd's own hierarchy, what comes after the slices, as sd_pid_get_unit(3) has
 * it without loading its libraries; or, as in a container, the last part that is a unit. False:
 * there is none. */
bool identity_parse_cgroup(const char *text, char *ret);
