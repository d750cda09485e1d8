/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-setup reports about this machine: see environment.h. */
#include "lib/run/environment.h"

#include "lib/base/xalloc.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* The document that "emp-setup VERB --json" prints, and its exit status (1 is an error). */
static int ask(const char *verb, json_t **ret, int *ret_status, struct error *err)
{
	char *const argv[] = {(char *)"emp-setup", (char *)verb, (char *)"--json", NULL};
	_cleanup_(freep) char *text = NULL;
	json_error_t e;
	json_t *json;
	int r;

	r = suite_tool_run("emp-setup", argv, &text, ret_status, err);
	if (r < 0)
		return r;
	if (*ret_status == STATUS_ERROR)
		return error_say(err, -EPROTO, "'emp-setup %s' failed (see its message above)", verb);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return error_say(err, -EPROTO, "'emp-setup %s --json' printed no JSON: %s", verb, e.text);
	*ret = json;
	return 0;
}

struct environment_question {
	pthread_t thread;
	bool answered;
	json_t *document;
	int r;
	struct error err;
};

static void *ask_fingerprint(void *data)
{
	struct environment_question *q = data;
	int status;

	q->r = ask("fingerprint", &q->document, &status, &q->err);
	return NULL;
}

struct environment_question *environment_ask(void)
{
	struct environment_question *q = xcalloc(1, sizeof(*q));

	if (pthread_create(&q->thread, NULL, ask_fingerprint, q) != 0) {
		ask_fingerprint(q);
		q->answered = true;
	}
	return q;
}

static void wait_for_answer(struct environment_question *q)
{
	if (!q->answered)
		pthread_join(q->thread, NULL);
	q->answered = true;
}

void environment_question_free(struct environment_question *q)
{
	if (!q)
		return;
	wait_for_answer(q);
	json_decref(q->document);
	free(q);
}

int environment_take(struct book *book, int64_t *ret_id, char **ret_digest, struct error *err)
{
	_cleanup_(environment_question_freep) struct environment_question *q = environment_ask();

	return environment_answer(q, book, ret_id, ret_digest, err);
}

int environment_answer(struct environment_question *q, struct book *book, int64_t *ret_id, char **ret_digest,
	struct error *err)
{
	_cleanup_(freep) char *text = NULL, *copy = NULL;
	const char *digest, *machine;
	struct json_fields f;
	int r;

	if (!q)
		return error_oom(err);
	wait_for_answer(q);
	if (q->r < 0) {
		*err = q->err;
		return q->r;
	}
	f = json_fields_begin(q->document, (struct json_location){"the fingerprint"}, err);
	json_fields_text(&f, "digest", &digest);
	json_fields_text(&f, "machine", &machine);
	if (f.r < 0)
		return f.r;
	text = json_dumps(q->document, JSON_COMPACT | JSON_PRESERVE_ORDER);
	copy = xstrdup(digest);
	if (!text || !copy)
		return error_os(err, -ENOMEM, "cannot store the fingerprint");
	r = book_put_environment(book, digest, machine, text, ret_id, err);
	if (r < 0)
		return r;
	*ret_digest = TAKE(copy);
	return 0;
}

int environment_audit(json_t **ret, bool *ret_fit, struct error *err)
{
	int r, status;

	r = ask("audit", ret, &status, err);
	if (r < 0)
		return r;
	*ret_fit = status == STATUS_DONE;
	return 0;
}

int environment_audit_off(const json_t *audit, char **ret, struct error *err)
{
	json_t *checks, *check;
	char *text = NULL;
	size_t i, size;
	FILE *memory;
	struct json_fields f;

	f = json_fields_begin(audit, (struct json_location){"the audit"}, err);
	json_fields_array(&f, "checks", &checks);
	if (f.r < 0)
		return f.r;
	memory = xopen_memstream(&text, &size);
	if (!memory)
		return error_os(err, -errno, "cannot read the audit");
	json_array_foreach (checks, i, check) {
		const char *id = json_string_value(json_object_get(check, "id"));
		const char *level = json_string_value(json_object_get(check, "level"));
		const char *state = json_string_value(json_object_get(check, "state"));

		if (id && level && state && !strcmp(level, "A") && !strcmp(state, "off"))
			fprintf(memory, "%s%s", ftell(memory) > 0 ? ", " : "", id);
	}
	text_stream_close(memory, &text);
	*ret = text;
	return 0;
}
