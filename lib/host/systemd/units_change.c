/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting, stopping and masking units: see units.h.
 *
 * systemd answers a request with a job, and says later, by a signal, how the job ended. Calls over D-Bus do
 * not ask a password agent, nor run what systemctl runs beside them (systemd-sysv-install). */
#include "lib/host/systemd/units_internal.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-login.h>
#include <time.h>

/* What is waited for. */
struct job {
	const char *path;
	char result[32]; /* "": not ended */
};

/* Jobs may end before we know their name, so every end is looked at only from inside the waiting. */
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

static int64_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int wait_for(struct units *units, struct job *job)
{
	int64_t deadline = now_s() + UNITS_JOB_TIMEOUT_S;

	while (!job->result[0]) {
		int r = sd_bus_process(units->bus, NULL);

		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (now_s() >= deadline)
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

	if (r >= 0) { /* refused from the second time on, as we are subscribed already */
		sd_bus_call_method(units->bus, MANAGER, "Subscribe", NULL, NULL, "");
		r = sd_bus_call_method(units->bus, MANAGER, verb, &said, &reply, "ss", name, "replace");
	}
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &job.path);
	if (r < 0)
		return error_say(err, r, "%s", said.message ?: strerror(-r));
	r = wait_for(units, &job);
	if (r < 0)
		return error_os(err, r, "systemd did not get it done");
	if (strcmp(job.result, "done") != 0 && strcmp(job.result, "skipped") != 0)
		return error_say(err, -ECANCELED, "systemd's job ended with '%s'", job.result);
	return 0;
}

int units_start(struct units *units, const char *name, struct error *err)
{
	return run_job(units, "StartUnit", name, err);
}

int units_stop(struct units *units, const char *name, struct error *err)
{
	return run_job(units, "StopUnit", name, err);
}

int units_mask(struct units *units, const char *name, bool for_good, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(
		units->bus, MANAGER, "MaskUnitFiles", &said, NULL, "asbb", 1, name, !for_good, 0);

	return r < 0 ? error_say(err, r, "cannot mask it: %s", said.message ?: strerror(-r)) : 0;
}

int units_unmask(struct units *units, const char *name, bool for_good, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(
		units->bus, MANAGER, "UnmaskUnitFiles", &said, NULL, "asb", 1, name, !for_good);

	return r < 0 ? error_say(err, r, "cannot unmask it: %s", said.message ?: strerror(-r)) : 0;
}

int units_reload(struct units *units, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(units->bus, MANAGER, "Reload", &said, NULL, "");

	return r < 0 ? units_failed(err, r, &said, "systemd could not read its files again") : 0;
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
