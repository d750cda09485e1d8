/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of timers: see units.h. */
#include "lib/host/systemd/units_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

void timer_setting_clear(struct timer_setting *setting)
{
	free(setting->text);
	free(setting->calendar);
	*setting = (struct timer_setting){};
}

/* "infinity" is the greatest of all. */
static int64_t ns_of(uint64_t us)
{
	return saturate_multiply(us, NS_PER_US);
}

/* TimersMonotonic: which line ("OnUnitActiveUSec" for OnUnitActiveSec=), how long, when next. */
static int read_monotonic(sd_bus_message *m, FILE *text, struct timer_setting *ret)
{
	const char *base;
	uint64_t us;
	int r = sd_bus_message_enter_container(m, 'a', "(stt)");

	while (r >= 0 && (r = sd_bus_message_read(m, "(stt)", &base, &us, NULL)) > 0) {
		char time[TEXT_TIME_SIZE];

		/* the bus says OnUnitActiveUSec for the file's OnUnitActiveSec */
		fprintf(text, "%s%.*sSec=%s", ftell(text) > 0 ? ", " : "",
			(int)(strlen(base) - strlen("USec")), base, text_duration(time, ns_of(us)));
		if (!strncmp(base, "OnUnit", strlen("OnUnit")))
			ret->every_ns = ns_of(us);
	}
	return r;
}

static int read_calendar(sd_bus_message *m, FILE *text, struct timer_setting *ret)
{
	const char *spec;
	int n = 0, r = sd_bus_message_enter_container(m, 'a', "(sst)");

	while (r >= 0 && (r = sd_bus_message_read(m, "(sst)", NULL, &spec, NULL)) > 0) {
		fprintf(text, "%sOnCalendar=%s", ftell(text) > 0 ? ", " : "", spec);
		free(TAKE(ret->calendar));
		ret->calendar = ++n == 1 ? xstrdup(spec) : NULL;
	}
	return r;
}

static int read_setting(
	struct units *units, const char *path, FILE *text, struct timer_setting *ret, sd_bus_error *said)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *monotonic = NULL, *calendar = NULL;
	uint64_t spread_us;
	int r;

	r = sd_bus_get_property(
		units->bus, SERVICE, path, SERVICE ".Timer", "TimersMonotonic", said, &monotonic, "a(stt)");
	if (r >= 0)
		r = read_monotonic(monotonic, text, ret);
	if (r >= 0)
		r = sd_bus_get_property(units->bus, SERVICE, path, SERVICE ".Timer", "TimersCalendar", said,
			&calendar, "a(sst)");
	if (r >= 0)
		r = read_calendar(calendar, text, ret);
	if (r >= 0)
		r = sd_bus_get_property_trivial(units->bus, SERVICE, path, SERVICE ".Timer",
			"RandomizedDelayUSec", said, 't', &spread_us);
	if (r >= 0)
		ret->spread_ns = ns_of(spread_us);
	return r;
}

int units_timer_setting(struct units *units, const char *name, struct timer_setting *ret, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(timer_setting_clear) struct timer_setting setting = {};
	_cleanup_(freep) char *path = units_path(name), *text = NULL;
	size_t size;
	FILE *file = path ? xopen_memstream(&text, &size) : NULL;
	int r;

	r = read_setting(units, path, file, &setting, &said);
	text_stream_close(file, &text);
	if (r < 0)
		return units_failed(err, r, &said, "cannot ask systemd for the setting of a timer");
	setting.text = TAKE(text);
	*ret = TAKE_STRUCT(setting);
	return 0;
}
