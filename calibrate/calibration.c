/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration at work, but for its sampling (phase.c) and its profile (conclude.c): see calibration.h. */
#include "calibrate/calibration.h"

#include "calibrate/calibrate.h"

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/host/systemd/inhibit.h"
#include "lib/host/systemd/notify.h"
#include "lib/host/process/process_ref.h"
#include "lib/run/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

void calibration_clear(struct calibration *w)
{
	observer_close(&w->observer);
	closep(&w->inhibitor);
	book_free(w->book);
	lock_release(&w->lock);
	calibration_plan_clear(&w->plan);
	free(w->book_path);
	free(w->inc);
	free(w->notes);
	free(w->digest);
}

FILE *calibration_talk(void)
{
	return calibrate_options.json ? stderr : stdout;
}

char *calibration_resume_command(const struct calibration *w)
{
	const char *db = calibrate_options.db;

	return text_format("emp-calibrate%s%s resume %lld", db ? " --db " : "", db ?: "",
		(long long)w->plan.phases[SHORT_PHASE].run);
}

int calibration_open(struct calibration *w, const char *what, struct error *err)
{
	_cleanup_(freep) char *path = NULL, *words = NULL;
	int r;

	r = calibrate_find_inc(&w->inc, err);
	if (r < 0)
		return r;
	r = calibrate_open_book(BOOK_WRITE, &w->book, &w->book_path, err);
	if (r < 0)
		return r;
	r = lock_path(w->book_path, &path, err);
	if (r < 0)
		return r;
	words = text_format("emp-calibrate %s", what);
	return lock_take(&w->lock, path, words ?: "emp-calibrate", err);
}

static int check_audit(struct calibration *w, struct error *err)
{
	_cleanup_(json_decrefp) json_t *audit = NULL;
	_cleanup_(freep) char *off = NULL;
	bool fit;
	int r;

	r = environment_audit(&audit, &fit, err);
	if (r < 0)
		return r;
	if (fit) {
		fprintf(calibration_talk(), "Audit: fit\n");
		return 0;
	}
	r = environment_audit_off(audit, &off, err);
	if (r < 0)
		return r;
	if (!w->plan.anyway)
		return error_say(err, STATUS_NOT_FIT,
			"the audit says that this machine is not fit for timing (%s): see 'emp-setup audit', or go on with --anyway",
			off);
	fprintf(calibration_talk(), "Audit: not fit (%s); calibrating anyway, and the runs say so\n", off);
	w->notes = text_format("audit: not fit (%s), run anyway", off);
	return w->notes ? 0 : error_os(err, -ENOMEM, "cannot keep the audit");
}

static int open_observer(struct calibration *w, struct error *err)
{
	const struct observer *o = &w->observer;
	enum observer_backend backend;
	int r;

	r = observer_backend_parse(w->plan.backend, "--accounting", &backend, err);
	if (r == 0)
		r = observer_open(&w->observer, backend, w->plan.cpu, err);
	if (r < 0)
		return r;
	if (!o->accounting) {
		*err = o->no_accounting;
		return error_prefix(err, -EPERM, "a calibration must see what other processes do");
	}
	fprintf(calibration_talk(), "Observer: %s", accounting_name(o->accounting));
	if (accounting_why(o->accounting))
		fprintf(calibration_talk(), " (%s)", accounting_why(o->accounting));
	fprintf(calibration_talk(), "; process time from %s", observer_pt_source(o));
	if (!o->cgroup)
		fprintf(calibration_talk(), " (%s)", o->no_cgroup.text);
	fputc('\n', calibration_talk());
	return 0;
}

int calibration_prepare(struct calibration *w, struct error *err)
{
	int r;

	r = w->plan.cpu >= 0 ? pinning_check(w->plan.cpu, AT_FDCWD, err) : 0;
	if (r == 0)
		r = check_audit(w, err);
	if (r != 0)
		return r;
	r = environment_take(w->book, &w->environment, &w->digest, err);
	return r < 0 ? r : open_observer(w, err);
}

int calibration_constant(struct calibration *w, int64_t environment, struct error *err)
{
	_cleanup_(freep) char *digest = NULL;
	struct constant_request request = {
		.book = w->book,
		.book_path = w->book_path,
		.environment = environment ?: w->environment,
		.inc_path = w->inc,
		.observer = &w->observer,
		.cpu = w->plan.cpu,
	};
	int r;

	r = book_get_environment(w->book, request.environment, &digest, NULL, err);
	if (r < 0)
		return r;
	request.environment_digest = digest;
	r = constant_get(&request, &w->constant, err);
	if (r == 0)
		fprintf(calibration_talk(), "INC: %.0f iterations a second in environment %.16s (%s)\n",
			w->constant.per_second, digest,
			w->constant.found_now ? "found now, and stored" : "stored before");
	return r;
}

uint32_t phase_samples(struct calibration *w, int which)
{
	_cleanup_(run_clearp) struct run run = {};
	struct error ignored;

	if (!w->plan.phases[which].run ||
		book_get_run(w->book, w->plan.phases[which].run, &run, &ignored) < 0)
		return 0;
	return run.n_samples;
}

int64_t calibration_left_ns(struct calibration *w)
{
	int64_t ns = 0;

	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		const struct calibration_phase *phase = &w->plan.phases[i];
		uint32_t there = phase_samples(w, i);

		if (there < phase->samples)
			ns += (phase->samples - there) * (w->pace_ns[i] ?: phase->length_ns);
	}
	return ns;
}

static void print_plan(struct calibration *w)
{
	char length[2][TEXT_TIME_SIZE], takes[TEXT_TIME_SIZE], ends[TEXT_TIME_SIZE];
	const struct calibration_phase *phases = w->plan.phases;
	int64_t ns = calibration_left_ns(w);

	for (int i = 0; i < CALIBRATION_PHASES; i++)
		if (phase_samples(w, i) < phases[i].samples)
			ns += phases[i].length_ns; /* a warm-up */
	fprintf(calibration_talk(),
		"Plan: INC%s x %u and INC%s x %u, each after one warm-up: %s%s, until %s\n",
		text_seconds(length[0], phases[0].length_ns), phases[0].samples,
		text_seconds(length[1], phases[1].length_ns), phases[1].samples, text_duration(takes, ns),
		phases[0].run ? " left" : "", text_moment(ends, clock_ns(CLOCK_REALTIME) + ns));
}

void calibration_announce(struct calibration *w, struct error *err)
{
	struct error why = {};

	print_plan(w);
	w->inhibitor = inhibit_sleep("emp-calibrate", "a calibration runs", &why);
	if (w->inhibitor >= 0)
		fprintf(calibration_talk(),
			"Sleep and shutdown are held off until it ends (systemd-inhibit --list)\n");
	else
		fprintf(calibration_talk(), "Sleep and shutdown are not held off: %s\n", why.text);
	fflush(calibration_talk());
	notify_ready();
}

static int set_owner(struct calibration *w, bool ours, struct error *err)
{
	char self[PROCESS_REF_SIZE];

	free(w->plan.owner);
	w->plan.owner = ours ? strdup(process_ref_self(self)) : NULL;
	return book_update_calibration(w->book, &w->plan, err);
}

int calibration_run(struct calibration *w, struct error *err)
{
	struct error ignored;
	int r = 0;

	if (w->plan.id)
		r = set_owner(w, true, err);
	for (int i = 0; r == 0 && i < CALIBRATION_PHASES; i++)
		r = phase_do(w, i, err);
	notify_stopping();
	if (r == 0)
		r = calibration_conclude(w, err);
	if (r >= 0) {
		int done = set_owner(w, false, err);

		r = done < 0 ? done : r;
	} else if (w->plan.id)
		set_owner(w, false, &ignored);
	if (r >= 0 && book_checkpoint(w->book, err) < 0)
		return STATUS_ERROR;
	return r;
}
