/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting, stopping and masking units: see units.h.
 *
 * systemd answers a request with a job, and later sends a signal with the result of the job. Calls over D-Bus do
 * not ask a password agent, nor run systemd-sysv-install as systemctl does. */
#include "lib/host/systemd/units_internal.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-login.h>

enum { JOB_TIMEOUT_S = 100 }; /* systemd itself gives a unit 90 s to stop */

/* The job to wait for. */
struct job {
	const char *path;
	char result[32]; /* "": not ended */
};

/* A job may end before we know its name, so signals are handled only in wait_for. */
static int job_removed(sd_bus_message *m, void *data, sd_bus_error *said)
{
	struct job *job = data;
	const char *path, *result;

	if (sd_bus_message_read(m, "uoss", NULL, &path, NULL, &result) < 0)
		return 0;
	if (job->path && !strcmp(path, job->path))
		snprintf(job->result, sizeof(job->result), "%s", result);
	return 0;
}

static int wait_for(struct units *units, struct job *job)
{
	int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + JOB_TIMEOUT_S * NS_PER_S;

	while (!job->result[0]) {
		int r = sd_bus_process(units->bus, NULL);

		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -ETIMEDOUT;
		r = sd_bus_wait(units->bus, 1000000);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

static int run_job(struct units *units, const char *verb, const char *name, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	struct job job = {};
	int r = sd_bus_match_signal(units->bus, &slot, MANAGER, "JobRemoved", job_removed, &job);

	if (r >= 0) { /* fails from the second time on: we are subscribed already */
		sd_bus_call_method(units->bus, MANAGER, "Subscribe", NULL, NULL, "");
		r = sd_bus_call_method(units->bus, MANAGER, verb, &said, &reply, "ss", name, "replace");
	}
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &job.path);
	if (r < 0)
		return error_say(err, r, "%s", said.message ?: strerror(-r));
	r = wait_for(units, &job);
	if (r < 0)
		return error_os(err, r, "systemd did not finish the job");
	if (strcmp(job.result, "done") != 0 && strcmp(job.result, "skipped") != 0)
		return error_say(err, -ECANCELED, "systemd's job ended with '%s'", job.result);
	return 0;
}

int units_set(struct units *units, const char *name, bool active, struct error *err)
{
	return run_job(units, active ? "StartUnit" : "StopUnit", name, err);
}

int units_mask(struct units *units, const char *name, bool persistent, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(
		units->bus, MANAGER, "MaskUnitFiles", &said, NULL, "asbb", 1, name, !persistent, 0);

	return r < 0 ? error_say(err, r, "cannot mask it: %s", said.message ?: strerror(-r)) : 0;
}

int units_unmask(struct units *units, const char *name, bool persistent, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(
		units->bus, MANAGER, "UnmaskUnitFiles", &said, NULL, "asb", 1, name, !persistent);

	return r < 0 ? error_say(err, r, "cannot unmask it: %s", said.message ?: strerror(-r)) : 0;
}

int units_reload(struct units *units, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(units->bus, MANAGER, "Reload", &said, NULL, "");

	return r < 0 ? units_failed(err, r, &said, "systemd could not reload its files") : 0;
}

int units_file_state(struct units *units, const char *name, char **ret, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *state;
	int r = sd_bus_call_method(units->bus, MANAGER, "GetUnitFileState", &said, &reply, "s", name);

	if (r < 0)
		return units_failed(err, r, &said, "cannot ask systemd for the state of a unit's file");
	r = sd_bus_message_read(reply, "s", &state);
	if (r < 0)
		return error_os(err, r, "cannot read systemd's answer");
	*ret = strdup(state);
	return *ret ? 0 : -ENOMEM;
}

bool units_is_up(struct units *units, const char *name)
{
	_cleanup_(freep) char *active = NULL;
	struct error ignored;

	return units_text(units, name, "ActiveState", &active, &ignored) == 0 &&
	       strcmp(active, "inactive") != 0 && strcmp(active, "failed") != 0;
}

char *units_own(void)
{
	char *unit = NULL;

	return sd_pid_get_unit(0, &unit) < 0 ? NULL : unit;
}
