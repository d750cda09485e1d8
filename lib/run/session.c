/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session of a tool that takes samples: see session.h. */
#include "lib/run/session.h"

#include "lib/base/terminal.h"
#include "lib/base/tool.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/digest.h"

#include <poll.h>
#include <pthread.h>

static bool wait_for_book(const char *sentence, void *data)
{
	if (sentence)
		fprintf(stderr, "%s%s (^C ends the run)\n", terminal_is(stderr) ? "\r\033[K" : "",
			terminal_text(sentence));
	return !interrupt_pending();
}

/* Measurements on the same CPUs would disturb each other. */
static int wait_for_turn(
	struct run_session *s, const char *book, enum run_lock lock, struct error *err)
{
	enum { PAUSE_MS = 250 };
	const char *otherwise = "";
	bool said = false;

	if (lock == RUN_LOCK_FREE)
		otherwise = "; --ignore-lock measures at the same time";

	while (true) {
		struct pollfd interrupts = {.fd = interrupt_fd, .events = POLLIN};
		struct error who;
		int r = turn_take(&s->turn_fd, book, s->cpus, &who);

		if (r < 0)
			return error_say(err, r, "%s", who.text);
		if (r > 0)
			return 0;
		if (lock == RUN_LOCK_IGNORED) {
			s->beside = xstrdup(who.text);
			return 0;
		}
		if (!said)
			fprintf(stderr,
				"Waiting for %s, which measures on the same CPUs\n"
				"(^C ends this%s)\n",
				who.text, otherwise);
		said = true;
		if (poll(&interrupts, 1, PAUSE_MS) > 0 && interrupt_pending())
			return error_say(
				err, -EINTR, "interrupted before the first sample was taken");
	}
}

int run_session_open(struct run_session *s, const char *db, enum book_mode mode, enum run_lock lock,
	struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	struct error err2;
	int r = paths_book(db, &path, err);

	if (r < 0)
		return r;
	if (lock == RUN_LOCK_FREE && (r = lock_look(path, &err2)) < 0)
		return error_say(err, r, "%s, or measure anyway with --ignore-lock", err2.text);
	r = lock == RUN_LOCK_TAKEN ? 0 : wait_for_turn(s, path, lock, err);
	if (r == 0)
		r = book_open(&s->book, path, mode, err);
	if (r < 0)
		return r;
	book_on_wait(s->book, wait_for_book, NULL);
	if (lock == RUN_LOCK_TAKEN)
		r = lock_take(&s->lock_fd, book_file(s->book), err);
	/* with the lock, so that no other measurement begins */
	return r == 0 && lock == RUN_LOCK_TAKEN ? wait_for_turn(s, path, lock, err) : r;
}

/* SHA-256 of INC, which the caller frees; NULL: it is not there. */
static char *inc_digest(void)
{
	_cleanup_(freep) char *path = NULL;
	char digest[DIGEST_SIZE];

	if (suite_file_find("emp-inc", &path, NULL) < 0 || digest_of_file(path, digest) < 0)
		return NULL;
	return xstrdup(digest);
}

/* The document that "emp-setup VERB --json" prints, and its exit status (1 is an error). */
static int ask_setup(const char *verb, json_t **ret, int *ret_status, struct error *err)
{
	char *const argv[] = {(char *)"emp-setup", (char *)verb, (char *)"--json", NULL};
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct subprocess setup = {.argv = argv,
		.environment = environ,
		.output_max = 64 << 20,
		.ends_on_signals = true};
	json_error_t e;
	json_t *json;
	int status, r;

	r = suite_file_find(argv[0], &path, err);
	setup.path = path;
	if (r == 0)
		r = subprocess_run(&setup, &text, &status, err);
	if (r < 0)
		return r;
	if (WIFSIGNALED(status))
		return error_say(err, -EPROTO, "emp-setup %s", process_end_text(status));
	*ret_status = WEXITSTATUS(status);
	if (*ret_status == STATUS_ERROR)
		return error_say(
			err, -EPROTO, "'emp-setup %s' failed (see its message above)", verb);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return error_say(
			err, -EPROTO, "'emp-setup %s --json' printed no JSON: %s", verb, e.text);
	*ret = json;
	return 0;
}

/* A fingerprint that a thread asks for, and the digest of INC. */
struct environment_question {
	pthread_t thread;
	json_t *document;
	char *inc_digest; /* of INC; NULL: it is not there */
	int r;
	struct error err;
};

static void *ask_fingerprint(void *data)
{
	struct environment_question *q = data;
	int status;

	q->inc_digest = inc_digest();
	q->r = ask_setup("fingerprint", &q->document, &status, &q->err);
	return NULL;
}

void run_session_ask_environment(struct run_session *s)
{
	s->question = xcalloc(1, sizeof(*s->question));
	if (pthread_create(&s->question->thread, NULL, ask_fingerprint, s->question) != 0)
		free(TAKE(s->question)); /* it is asked for when it is needed */
}

int run_session_environment(struct run_session *s, struct error *err)
{
	_cleanup_(freep) struct environment_question *q = TAKE(s->question);
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(freep) char *text = NULL;
	const char *digest, *machine;
	struct json_fields f;
	int r;

	if (q) {
		pthread_join(q->thread, NULL);
	} else {
		q = xcalloc(1, sizeof(*q));
		ask_fingerprint(q);
	}
	document = q->document;
	s->inc_digest = q->inc_digest;
	if (q->r < 0) {
		*err = q->err;
		return q->r;
	}
	f = json_fields_begin(document, (struct json_location){"the fingerprint"}, err);
	json_fields_text(&f, "digest", &digest);
	json_fields_text(&f, "machine", &machine);
	if (f.r < 0)
		return f.r;
	text = json_dumps(document, JSON_COMPACT | JSON_PRESERVE_ORDER);
	r = book_put_environment(s->book, digest, machine, text, &s->environment, err);
	if (r == 0)
		s->environment_digest = xstrdup(digest);
	return r;
}

void run_session_close(struct run_session *s)
{
	if (s->question) {
		pthread_join(s->question->thread, NULL);
		json_decref(s->question->document);
		free(s->question->inc_digest);
		free(s->question);
	}
	observer_close(&s->observer);
	free(s->environment_digest);
	free(s->inc_digest);
	book_free(s->book);
	closep(&s->lock_fd);
	closep(&s->turn_fd);
	free(s->beside);
	*s = RUN_SESSION_NEW;
}

void run_session_describe(const struct run_session *s, char *const *argv, struct run *run)
{
	run->command = run_command_json(argv);
	run->backend = xstrdup(s->observer.backend);
	run->pt_source = xstrdup(s->observer.pt_source);
	run->wait_source = xstrdup(s->observer.wait_source);
	run->resolution_ns = 1;
	run->environment = s->environment;
	run->inc_digest = text_copy(s->inc_digest);
}

int environment_audit(char **ret_off, struct error *err)
{
	_cleanup_(json_decrefp) json_t *audit = NULL;
	json_t *checks, *check;
	size_t i;
	struct json_fields f;
	int status, r = ask_setup("audit", &audit, &status, err);

	if (r < 0)
		return r;
	*ret_off = NULL;
	if (status == STATUS_DONE)
		return 0;
	f = json_fields_begin(audit, (struct json_location){"the audit"}, err);
	checks = json_fields_array(&f, "checks");
	if (f.r < 0)
		return f.r;
	json_array_foreach (checks, i, check) {
		const char *id = json_string_value(json_object_get(check, "id"));
		const char *level = json_string_value(json_object_get(check, "level"));
		const char *state = json_string_value(json_object_get(check, "state"));

		if (id && level && state && !strcmp(level, "A") && !strcmp(state, "off"))
			text_append(ret_off, ", ", "%s", id);
	}
	*ret_off = *ret_off ?: xstrdup("");
	return 0;
}
