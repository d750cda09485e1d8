/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a backend of the accounting is: it takes images and collects exits; joining them, and telling what the
 * processes are, is the same for both. Only for lib/host/accounting*.c and its tests. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/accounting/identity.h"
#include "lib/host/accounting/snapshot_diff.h"
#include "lib/host/accounting/task_records.h"

struct accounting_options {
	enum accounting_backend backend;
	struct task_records_options watch; /* bpf */
	int receive_bytes;                 /* taskstats: buffer of each CPU; 0: as large as it should be */
};

/* A backend begins with this. */
struct backend {
	const struct backend_operations *operations;
};

struct backend_operations {
	const char *name;
	int poll_ms;
	bool tells_all_ends; /* a living task of the before image cannot go without being among the exits */
	bool sees_cgroups;   /* records have `cgroup` and RECORD_PROGRAM; else the program is found by descent
			      */

	void (*free)(struct backend *backend);
	int (*poll_fd)(const struct backend *backend);
	int (*before)(struct backend *backend, uint64_t cgroup_id, struct error *err);
	int (*drain)(struct backend *backend, struct error *err);

	/* `ret` lives until the next `before`. What was lost, or whether an image failed in part, goes into
	 * `usages`. */
	int (*after)(
		struct backend *backend, struct snapshots *ret, struct usages *usages, struct error *err);

	/* The parent of a living process, 0 if it is not known. */
	pid_t (*parent)(struct backend *backend, pid_t pid);

	/* What only this backend knows of an execution: it may complete `execution`, and fill `ret`. */
	void (*describe)(struct backend *backend, struct execution *execution, struct identified *ret);
};

/* `identity` outlives the backend. */
int accounting_bpf_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err);
int accounting_taskstats_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err);

int accounting_new_with(struct accounting **ret, const struct accounting_options *options, struct error *err);
