/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The environment of a run: runs emp-setup (lib/host/process/subprocess.h) for the machine's fingerprint, which is
 * stored in the book, and for the audit. */
#pragma once

#include "lib/base/json.h"
#include "lib/book/book.h"

struct environment_question;

/* Starts taking the fingerprint, while the caller prepares other things; no sample may run before the answer. NULL: no memory,
 * which environment_answer says. */
struct environment_question *environment_ask(void);
void environment_question_free(struct environment_question *question);
DEFINE_FREEP(environment_question)

/* Waits for it, and stores it: as environment_take. */
int environment_answer(struct environment_question *question, struct book *book, int64_t *ret_id,
	char **ret_digest, struct error *err);

/* Takes the fingerprint and stores it. The id in the book, and the digest (the caller frees it). */
int environment_take(struct book *book, int64_t *ret_id, char **ret_digest, struct error *err);

/* The audit's document. fit: its verdict. */
int environment_audit(json_t **ret, bool *ret_fit, struct error *err);

/* The ids of the audit's level A checks that are "off", with ", " between; the caller frees it. */
int environment_audit_off(const json_t *audit, char **ret, struct error *err);
