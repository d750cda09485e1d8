/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting, stopping and masking units: see units.h.
 *
 * systemd answers a request with a job, and later sends a signal with the result of the job. Calls over D-Bus do
 * not ask a password agent, nor run systemd-sysv-install as systemctl does. */
#include "lib/host/systemd/units_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-login.h>

enum { JOB_TIMEOUT_S = 100 };

static const uint64_t LONGEST_STOP_US = UINT64_C(3600) * 1000000;

/* The job to wait for. */
struct job {
	const char *unit;
	bool start;
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

/* How long a job may take. systemd kills what has not stopped within its TimeoutStopSec, and then waits as long
 * again. */
static int64_t patience_ns(struct units *units, const char *name)
{
	uint64_t stop_us = 0;
	struct error ignored;

	if (!unit_is_kind(name, ".service") ||
		units_property(units, name, SERVICE ".Service", "TimeoutStopUSec", 't', &stop_us, &ignored) <
			0 ||
		stop_us > LONGEST_STOP_US)
		stop_us = 0;
	return JOB_TIMEOUT_S * NS_PER_S + 2 * (int64_t)stop_us * NS_PER_US;
}

static int wait_for(struct units *units, struct job *job)
{
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), patience = patience_ns(units, job->unit);

	while (!job->result[0]) {
		int64_t waited_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
		int r = sd_bus_process(units->bus, NULL);

		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (waited_ns >= patience)
			return -ETIMEDOUT;
		r = units->waiting ? units->waiting(units->waiting_data, job->unit, job->start, waited_ns)
				   : 0;
		if (r < 0)
			return r;
		r = sd_bus_wait(units->bus, 200000);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

/* While systemd reloads its files it answers nobody: longer than the 25 s of sd-bus on a busy machine. */
static sd_bus *patient_bus(struct units *units)
{
	sd_bus_set_method_call_timeout(units->bus, JOB_TIMEOUT_S * UINT64_C(1000000));
	return units->bus;
}

void units_set_waiting(struct units *units, units_waiting *waiting, void *data)
{
	units->waiting = waiting;
	units->waiting_data = data;
}

static int run_job(struct units *units, const char *name, bool start, const char *mode, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	struct job job = {.unit = name, .start = start};
	int r = sd_bus_match_signal(patient_bus(units), &slot, MANAGER, "JobRemoved", job_removed, &job);

	if (r >= 0) { /* fails from the second time on: we are subscribed already */
		sd_bus_call_method(units->bus, MANAGER, "Subscribe", NULL, NULL, "");
		r = sd_bus_call_method(units->bus, MANAGER, start ? "StartUnit" : "StopUnit", &said, &reply,
			"ss", name, mode);
	}
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &job.path);
	if (r < 0)
		return error_say(err, r, "%s", said.message ?: strerror(-r));
	r = wait_for(units, &job);
	if (r == -ETIMEDOUT)
		return error_say(err, r, "systemd has not finished %s it", start ? "starting" : "stopping");
	if (r < 0)
		return error_os(err, r, "cannot wait for systemd to %s it", start ? "start" : "stop");
	if (strcmp(job.result, "done") != 0 && strcmp(job.result, "skipped") != 0)
		return error_say(err, -ECANCELED, "systemd's job ended with '%s'", job.result);
	return 0;
}

/* A usual start also starts everything that the unit wants or requires, the basic system included, and so what the
 * administrator had stopped. That is the second choice, for a unit that does not start alone. */
int units_set(struct units *units, const char *name, bool active, struct error *err)
{
	int r;

	if (!active)
		return run_job(units, name, false, "replace", err);
	r = run_job(units, name, true, "ignore-requirements", err);
	if (r >= 0 || r == -ETIMEDOUT || r == -EINTR)
		return r;
	return run_job(units, name, true, "replace", err);
}

int units_mask(struct units *units, const char *name, bool persistent, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(
		patient_bus(units), MANAGER, "MaskUnitFiles", &said, NULL, "asbb", 1, name, !persistent, 0);

	return r < 0 ? error_say(err, r, "cannot mask it: %s", said.message ?: strerror(-r)) : 0;
}

int units_unmask(struct units *units, const char *name, bool persistent, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(
		patient_bus(units), MANAGER, "UnmaskUnitFiles", &said, NULL, "asb", 1, name, !persistent);

	return r < 0 ? error_say(err, r, "cannot unmask it: %s", said.message ?: strerror(-r)) : 0;
}

int units_reload(struct units *units, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(patient_bus(units), MANAGER, "Reload", &said, NULL, "");

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
	*ret = xstrdup(state);
	return 0;
}

bool units_is_up(struct units *units, const char *name)
{
	_cleanup_(freep) char *active = NULL;
	struct error ignored;

	return units_text(units, name, "ActiveState", &active, &ignored) == 0 && units_state_is_up(active);
}

char *units_own(void)
{
	char *unit = NULL;

	return sd_pid_get_unit(0, &unit) < 0 ? NULL : unit;
}
