/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure: what its files share. */
#pragma once

#include "lib/host/observe.h"
#include "lib/protocol/make.h"

#include <jansson.h>

struct measure_options {
	const char *db, *profile, *export_json;
	bool json, quiet, ignore_failure, show_output;
	int cpu; /* -1: not pinned */
	int warm_ups, samples;
	int64_t timeout_ns, linger_ns;
	enum observer_backend backend;
};

/* One command, measured. */
struct measured {
	char *command; /* as a person would type it */
	struct discarding result;
	struct sample *samples; /* all, in order */
	size_t n_samples;
	char *environment_digest;
	char *profile_digest; /* of the environment the profile was made in; NULL: none or unknown */
	char *backend_why;    /* why the observer is not bpf, or sees nobody; NULL: nothing to say */
	char *cgroup_why;     /* why PT is wait4's; NULL: it is the cgroup's */
	int64_t observer_ns;  /* a sample */
	int64_t lost;
	int failures, left_behind, killed;
};

/* Runs the command and reads the result back from the book. 0, or a status of lib/base/tool.h with a
 * sentence. */
int measure_command(
	const struct measure_options *options, char *const *argv, struct measured *ret, struct error *err);
void measured_clear(struct measured *measured);

/* For people, on standard output. */
void show_measured(const struct measured *measured, const struct measure_options *options);

/* hyperfine's document with an "emp" object in each result. */
int export_document(const struct measured *measured, size_t n, json_t **ret, struct error *err);

/* Writes it to `path` whole or not at all. */
int export_file(const json_t *document, const char *path, struct error *err);

static inline void measured_clearp(struct measured *measured)
{
	measured_clear(measured);
}
