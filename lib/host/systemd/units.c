/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The units of systemd: see units.h. */
#include "lib/host/systemd/units_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-daemon.h>

static const char *const KINDS[] = {"*.service", "*.timer", "*.socket", "*.path"};

int units_failed(struct error *err, int r, const sd_bus_error *said, const char *doing)
{
	if (said && said->message)
		return error_say(err, r, "%s: %s", doing, said->message);
	return error_os(err, r, "%s", doing);
}

/* The manager's own socket, for root on a system without a message bus. */
static int open_private(sd_bus **ret, const char *socket)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(freep) char *address = text_format("unix:path=%s", socket);
	int r = address ? sd_bus_new(&bus) : -ENOMEM;

	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		*ret = TAKE(bus);
	return r;
}

int units_open(struct units **ret, struct error *err)
{
	_cleanup_(units_freep) struct units *units = xcalloc(1, sizeof(*units));
	int r;

	if (sd_booted() <= 0)
		return error_say(err, -ENOTCONN, "systemd does not run");
	r = sd_bus_open_system(&units->bus);
	if (r < 0 && geteuid() == 0)
		r = open_private(&units->bus, "/run/systemd/private");
	if (r < 0)
		return error_say(err, -ENOTCONN, "systemd does not answer over D-Bus: %s", strerror(-r));
	*ret = TAKE(units);
	return 0;
}

int units_open_user(struct units **ret, const char *socket, struct error *err)
{
	_cleanup_(units_freep) struct units *units = xcalloc(1, sizeof(*units));
	int r = units ? open_private(&units->bus, socket) : -ENOMEM;

	if (r < 0)
		return error_os(err, r, "the manager of a user does not answer at %s", socket);
	*ret = TAKE(units);
	return 0;
}

void units_free(struct units *units)
{
	if (!units)
		return;
	sd_bus_flush_close_unref(units->bus);
	free(units);
}

char *units_path(const char *name)
{
	char *path = NULL;

	return sd_bus_path_encode(OBJECT "/unit", name, &path) < 0 ? NULL : path;
}

int units_property(struct units *units, const char *name, const char *interface, const char *property,
	char type, void *ret, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(freep) char *path = units_path(name);
	int r;

	if (!path)
		return error_oom(err);
	if (type == 's')
		r = sd_bus_get_property_string(units->bus, SERVICE, path, interface, property, &said, ret);
	else
		r = sd_bus_get_property_trivial(
			units->bus, SERVICE, path, interface, property, &said, type, ret);
	if (r < 0)
		return error_say(err, r, "cannot ask systemd for %s of %s: %s", property, name,
			said.message ?: strerror(-r));
	return 0;
}

static void unit_clear(struct unit *unit)
{
	free(unit->name);
	free(unit->load);
	free(unit->active);
	free(unit->sub);
	free(unit->file_state);
}

void unit_list_clear(struct unit_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		unit_clear(&list->items[i]);
	free(list->items);
	*list = (struct unit_list){};
}

bool unit_is_kind(const char *name, const char *suffix)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, suffix);
}

bool units_state_is_up(const char *active)
{
	return strcmp(active, "inactive") != 0 && strcmp(active, "failed") != 0 &&
	       strcmp(active, "deactivating") != 0;
}

bool unit_is_up(const struct unit *unit)
{
	return units_state_is_up(unit->active);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->name, ((const struct unit *)b)->name);
}

const struct unit *unit_list_find(const struct unit_list *list, const char *name)
{
	const struct unit key = {.name = (char *)name};

	return list->n ? bsearch(&key, list->items, list->n, sizeof(key), by_name) : NULL;
}

static int add_unit(struct unit_list *list, const char *const text[4], struct error *err)
{
	struct unit *unit = array_add(list->items, list->n);

	*unit = (struct unit){xstrdup(text[0]), xstrdup(text[1]), xstrdup(text[2]), xstrdup(text[3])};
	if (!unit->name || !unit->load || !unit->active || !unit->sub)
		return error_oom(err);
	return 0;
}

static int parse_units(sd_bus_message *reply, struct unit_list *list, struct error *err)
{
	const char *text[4];
	int r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");

	while (r >= 0) {
		r = sd_bus_message_read(reply, "(ssssssouso)", &text[0], NULL, &text[1], &text[2], &text[3],
			NULL, NULL, NULL, NULL, NULL);
		if (r <= 0)
			break;
		r = add_unit(list, text, err);
		if (r < 0)
			return r;
	}
	return r < 0 ? error_os(err, r, "cannot read systemd's list of units") : 0;
}

static int add_file_states(struct units *units, struct unit_list *list, struct error *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct unit *unit = &list->items[i];
		int r;

		if (strcmp(unit->load, "not-found"))
			r = units_property(units, unit->name, SERVICE ".Unit", "UnitFileState", 's',
				&unit->file_state, err);
		else
			r = (unit->file_state = xstrdup("")) ? 0 : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

int units_list(struct units *units, struct unit_list *ret, struct error *err)
{
	_cleanup_(unit_list_clear) struct unit_list list = {};
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = sd_bus_call_method(units->bus, MANAGER, "ListUnitsByPatterns", &said, &reply, "asas", 0,
		ELEMENTS(KINDS), KINDS[0], KINDS[1], KINDS[2], KINDS[3]);

	if (r < 0)
		return units_failed(err, r, &said, "cannot ask systemd for its units");
	r = parse_units(reply, &list, err);
	if (r < 0)
		return r;
	if (list.n > 0)
		qsort(list.items, list.n, sizeof(*list.items), by_name);
	r = add_file_states(units, &list, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(list);
	return 0;
}

void strings_free(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

/* "/usr/lib/systemd/system/cron.service", "enabled" */
static bool is_plain_file(const char *path, const char *state)
{
	return strncmp(state, "masked", strlen("masked")) != 0 && strcmp(state, "alias") != 0 &&
	       !strstr(path, "@.");
}

static int parse_files(sd_bus_message *reply, char ***names, size_t *n, struct error *err)
{
	const char *path, *state;
	int r = sd_bus_message_enter_container(reply, 'a', "(ss)");

	while (r >= 0 && (r = sd_bus_message_read(reply, "(ss)", &path, &state)) > 0) {
		const char *slash = strrchr(path, '/');
		char **name;

		if (!slash || !is_plain_file(path, state))
			continue;
		name = array_add(*names, *n);
		if (!name || !(*name = xstrdup(slash + 1)))
			return error_oom(err);
	}
	return r < 0 ? error_os(err, r, "cannot read systemd's list of unit files") : 0;
}

int units_files(struct units *units, char ***ret, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(strings_freep) char **names = NULL;
	size_t n = 0;
	int r = sd_bus_call_method(units->bus, MANAGER, "ListUnitFilesByPatterns", &said, &reply, "asas", 0,
		ELEMENTS(KINDS), KINDS[0], KINDS[1], KINDS[2], KINDS[3]);

	if (r < 0)
		return units_failed(err, r, &said, "cannot ask systemd for its unit files");
	r = parse_files(reply, &names, &n, err);
	if (r == 0 && !array_add(names, n)) /* the NULL at the end */
		r = error_oom(err);
	if (r < 0)
		return r;
	*ret = TAKE(names);
	return 0;
}

int units_names(struct units *units, const char *name, const char *property, char ***ret, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(freep) char *path = units_path(name);
	int r;

	if (!path)
		return error_oom(err);
	r = sd_bus_get_property_strv(units->bus, SERVICE, path, SERVICE ".Unit", property, &said, ret);
	if (r == -EBADR) { /* of a newer systemd */
		*ret = NULL;
		return 0;
	}
	if (r < 0)
		return units_failed(err, r, &said, "cannot ask systemd for the dependencies of a unit");
	return 0;
}

int units_text(struct units *units, const char *name, const char *property, char **ret, struct error *err)
{
	return units_property(units, name, SERVICE ".Unit", property, 's', ret, err);
}

bool units_flag(struct units *units, const char *name, const char *property, bool otherwise)
{
	struct error ignored;
	int flag = otherwise;

	units_property(units, name, SERVICE ".Unit", property, 'b', &flag, &ignored);
	return flag;
}

int units_service_type(struct units *units, const char *name, char **ret, struct error *err)
{
	return units_property(units, name, SERVICE ".Service", "Type", 's', ret, err);
}

int units_cpu_ns(struct units *units, const char *name, int64_t *ret, struct error *err)
{
	uint64_t ns = UINT64_MAX;
	int r = units_property(units, name, SERVICE ".Service", "CPUUsageNSec", 't', &ns, err);

	if (r < 0)
		return r;
	*ret = ns > INT64_MAX ? -1 : (int64_t)ns;
	return 0;
}

int units_timer_next(struct units *units, const char *name, int64_t *ret_realtime_ns, struct error *err)
{
	uint64_t realtime_us = 0, monotonic_us = 0;
	int64_t next = 0;
	int r = units_property(
		units, name, SERVICE ".Timer", "NextElapseUSecRealtime", 't', &realtime_us, err);

	if (r == 0)
		r = units_property(
			units, name, SERVICE ".Timer", "NextElapseUSecMonotonic", 't', &monotonic_us, err);
	if (r < 0)
		return r;
	if (realtime_us > 0 && realtime_us < INT64_MAX / 1000)
		next = (int64_t)realtime_us * 1000;
	if (monotonic_us > 0 && monotonic_us < INT64_MAX / 1000) {
		int64_t then = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
			       (int64_t)monotonic_us * 1000;

		next = next && next < then ? next : then;
	}
	*ret_realtime_ns = next;
	return 0;
}

/* A property of timesyncd, without starting it by asking. */
static int timesync_get(struct units *units, const char *property, sd_bus_message **ret, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
	int r = sd_bus_message_new_method_call(units->bus, &call, "org.freedesktop.timesync1",
		"/org/freedesktop/timesync1", "org.freedesktop.DBus.Properties", "Get");

	if (r >= 0)
		r = sd_bus_message_set_auto_start(call, 0);
	if (r >= 0)
		r = sd_bus_message_append(call, "ss", "org.freedesktop.timesync1.Manager", property);
	if (r >= 0)
		r = sd_bus_call(units->bus, call, 0, &said, ret);
	return r < 0 ? units_failed(err, r, &said, "cannot ask systemd-timesyncd") : 0;
}

int units_timesync(struct units *units, char **ret_server, struct error *err)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL, *server = NULL;
	uint32_t leap, stratum;
	uint64_t packets;
	const char *name = NULL;
	int ignored, r;

	r = timesync_get(units, "NTPMessage", &message, err);
	if (r == 0)
		r = timesync_get(units, "ServerName", &server, err);
	if (r < 0)
		return r;
	r = sd_bus_message_read(server, "v", "s", &name);
	if (r >= 0)
		r = sd_bus_message_enter_container(message, 'v', "(uuuuittayttttbtt)");
	if (r >= 0)
		r = sd_bus_message_enter_container(message, 'r', "uuuuittayttttbtt");
	if (r >= 0)
		r = sd_bus_message_read(message, "uuuu", &leap, NULL, NULL, &stratum);
	if (r >= 0)
		r = sd_bus_message_skip(message, "ittayttt");
	if (r >= 0)
		r = sd_bus_message_read(message, "tbt", NULL, &ignored, &packets);
	if (r < 0)
		return error_os(err, r, "cannot read the answer of systemd-timesyncd");
	*ret_server = name && *name ? xstrdup(name) : NULL;
	return packets > 0 && !ignored && leap != 3 && stratum > 0 && stratum < 16;
}
