/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A backend of the accounting: it takes snapshots and collects exits. Comparing the snapshots and identifying the
 * processes is the same for both. Only for lib/host/accounting and its tests. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/accounting/accounting_bpf.h"
#include "lib/host/accounting/identity.h"
#include "lib/host/accounting/snapshot_diff.h"

struct accounting_options {
	enum accounting_backend backend;
	struct task_records_options tasks; /* bpf */
	int receive_bytes;                 /* taskstats: buffer of each CPU; 0: the default */
};

/* A backend begins with this. */
struct backend {
	const struct backend_operations *operations;
};

struct backend_operations {
	enum accounting_backend id;
	int poll_ms;
	bool reports_all_exits; /* each task of the first snapshot is in the second or among the exits */
	bool sees_cgroups;      /* records have `cgroup` and RECORD_PROGRAM; else descent decides */

	void (*free)(struct backend *backend);
	int (*poll_fd)(const struct backend *backend);
	int (*before)(struct backend *backend, const struct task_scope *scope, struct error *err);
	int (*drain)(struct backend *backend, struct error *err);

	/* `ret` is valid until the next `before`. Sets all of `usages` but the items and the wait. */
	int (*after)(
		struct backend *backend, struct snapshots *ret, struct usages *usages, struct error *err);

	/* The parent of a living process, 0 if it is not known. */
	pid_t (*parent)(struct backend *backend, pid_t pid);

	/* See accounting_own_wait; NULL: not known. */
	int64_t (*own_wait)(const struct backend *backend);

	/* Adds what only this backend knows about a process to `process` and `ret`. */
	void (*describe)(struct backend *backend, struct process_diff *process, struct identified *ret);
};

/* `identity` outlives the backend. */
int accounting_bpf_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err);
int accounting_taskstats_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err);

int accounting_new_with(struct accounting **ret, const struct accounting_options *options, struct error *err);
