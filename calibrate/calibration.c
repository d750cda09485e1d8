/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration in progress: see calibration.h. */
#include "calibrate/calibration.h"

#include "lib/base/xalloc.h"
#include "calibrate/calibrate.h"
#include "calibrate/screen.h"

#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/host/systemd/logind.h"
#include "lib/host/systemd/service.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"
#include "lib/run/patience.h"

#include <string.h>

void calibration_clear(struct calibration *c)
{
	observer_close(&c->observer);
	closep(&c->inhibitor);
	book_free(c->book);
	lock_release(&c->lock);
	calibration_plan_clear(&c->plan);
	free(c->inc);
	free(c->notes);
	free(c->digest);
}

char *calibration_resume_command(const struct calibration *c)
{
	return text_format(
		"emp-calibrate%s resume %lld", calibrate_db(), (long long)c->plan.phases[SHORT_PHASE].run);
}

int calibration_open(struct calibration *c, struct error *err)
{
	int r;

	r = suite_tool_find("inc", &c->inc, err);
	if (r == 0)
		r = book_open(&c->book, calibrate_options.db, BOOK_WRITE, err);
	if (r < 0)
		return r;
	patience_begin(c->book);
	return lock_take(&c->lock, book_file(c->book), err);
}

uint32_t calibration_samples(struct calibration *c, int which)
{
	_cleanup_(run_clear) struct run run = {};
	struct error ignored;

	if (!c->plan.phases[which].run ||
		book_get_run(c->book, c->plan.phases[which].run, &run, &ignored) < 0)
		return 0;
	return run.n_samples;
}

int64_t calibration_left_ns(struct calibration *c)
{
	int64_t ns = 0;

	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		const struct calibration_phase *phase = &c->plan.phases[i];
		uint32_t there = calibration_samples(c, i);

		if (there < phase->samples)
			ns = saturate_add(ns,
				saturate_multiply(phase->samples - there, c->pace_ns[i] ?: phase->length_ns));
	}
	return ns;
}

/* Blocks sleep and shutdown, and tells systemd that the service has started. */
static void announce(struct calibration *c)
{
	struct error why = {};

	c->inhibitor = inhibit_sleep("emp-calibrate", "a calibration runs", &why);
	screen_plan(c, c->inhibitor < 0 ? why.text : NULL);
	notify_ready();
}

static int set_owner(struct calibration *c, bool ours, struct error *err)
{
	char self[PROCESS_REF_SIZE];

	free(c->plan.owner);
	c->plan.owner = ours ? xstrdup(process_ref_self(self)) : NULL;
	return book_update_calibration(c->book, &c->plan, err);
}

int calibration_run(struct calibration *c, struct error *err)
{
	struct error ignored;
	int r = 0;

	announce(c);
	if (c->plan.id)
		r = set_owner(c, true, err);
	for (int i = 0; r == 0 && i < CALIBRATION_PHASES; i++)
		r = phase_do(c, i, err);
	notify_stopping();
	if (r == 0)
		r = conclude(c, err);
	if (r < 0) {
		if (c->plan.id)
			set_owner(c, false, &ignored);
		return r;
	}
	if (set_owner(c, false, err) < 0 || book_checkpoint(c->book, err) < 0)
		return STATUS_ERROR;
	return r;
}
