/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preparation before the first sample: see prepare.h. */
#include "calibrate/prepare.h"

#include "calibrate/calibrate.h"
#include "calibrate/screen.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/host/process/pinning.h"
#include "lib/run/environment.h"

#include <errno.h>
#include <fcntl.h>

static int check_audit(struct calibration *c, struct error *err)
{
	_cleanup_(json_decrefp) json_t *audit = NULL;
	_cleanup_(freep) char *off = NULL;
	bool fit;
	int r;

	r = environment_audit(&audit, &fit, err);
	if (r < 0)
		return r;
	if (fit) {
		screen_print("Audit: fit\n");
		return 0;
	}
	r = environment_audit_off(audit, &off, err);
	if (r < 0)
		return r;
	if (!c->plan.anyway)
		return error_say(err, STATUS_NOT_FIT,
			"this machine is not fit for timing (%s): see 'emp-setup audit', or use --ignore-audit",
			off);
	screen_audit_ignored(off);
	c->notes = text_format("audit: not fit (%s), ignored", off);
	return 0;
}

static int open_observer(struct calibration *c, struct error *err)
{
	const struct observer *o = &c->observer;
	enum accounting_backend backend;
	const char *why;
	int r;

	r = accounting_backend_parse(c->plan.backend, "--accounting", &backend, err);
	if (r == 0)
		r = observer_open(&c->observer, backend, c->plan.cpu, err);
	if (r < 0)
		return r;
	if (!o->accounting) {
		*err = o->no_accounting;
		return error_prefix(err, -EPERM, "a calibration needs accounting");
	}
	why = accounting_why(o->accounting);
	if (why || calibrate_options.verbose)
		screen_print("Accounting: %s%s%s%s\n", observer_backend_name(o), why ? " (" : "", why ?: "",
			why ? ")" : "");
	if (!o->cgroup)
		screen_print("Process times come from wait4: %s\n", o->no_cgroup.text);
	return 0;
}

int prepare_machine(struct calibration *c, struct error *err)
{
	int r;

	r = c->plan.cpu >= 0 ? pinning_check(c->plan.cpu, AT_FDCWD, err) : 0;
	if (r == 0)
		r = check_audit(c, err);
	if (r == 0)
		r = environment_take(c->book, &c->environment, &c->digest, err);
	return r != 0 ? r : open_observer(c, err);
}

int prepare_constant(struct calibration *c, int64_t environment, struct error *err)
{
	_cleanup_(freep) char *digest = NULL;
	struct constant_request request = {
		.book = c->book,
		.environment = environment ?: c->environment,
		.inc_path = c->inc,
		.observer = &c->observer,
		.cpu = c->plan.cpu,
	};
	int r;

	r = book_get_environment(c->book, request.environment, &digest, NULL, err);
	if (r < 0)
		return r;
	request.environment_digest = digest;
	r = constant_get(&request, &c->constant, err);
	if (r == 0)
		screen_print("INC: %.3fe9 iterations/s (%s)\n", c->constant.per_second / 1e9,
			c->constant.found_now ? "measured now" : "measured before");
	return r;
}
