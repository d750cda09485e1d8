/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of what feeds and limits the processor: battery or mains, power limits, cooling.
 * See checks.h. */
#include "setup/audit/checks.h"

/* What all supplies say. Each port of a laptop with a USB-C charger is a supply of type USB; the
 * supplies of mice and phones have the scope "Device". */
struct supplies {
	bool battery;     /* of the machine */
	bool charges;     /* at least one of them */
	bool idle;        /* it is full, or is kept from charging */
	char *discharges; /* the names of those that do; NULL: none */
	char *online;     /* the adapters that say so */
	bool mains;       /* there is an adapter that is only for this */
};

static void supply_read(struct supplies *s, int root_fd, const char *directory)
{
	_cleanup_(freep) char *type = path_text(root_fd, "%s/type", directory),
			      *scope = path_text(root_fd, "%s/scope", directory),
			      *status = path_text(root_fd, "%s/status", directory);
	const char *name = strrchr(directory, '/') + 1;

	if (!type || (scope && !strcmp(scope, "Device")))
		return;
	if (!strcmp(type, "Battery")) {
		if (path_int(root_fd, "%s/present", directory) == 0)
			return;
		s->battery = true;
		if (!status)
			return;
		s->charges |= !strcmp(status, "Charging");
		s->idle |= !strcmp(status, "Full") || !strcmp(status, "Not charging");
		if (!strcmp(status, "Discharging"))
			text_append(&s->discharges, ", ", "%s", name);
		return;
	}
	/* USB_C, USB_PD… are older names of USB */
	if (!strncmp(type, "USB", 3) || text_has_word("Mains Wireless BrickID", type)) {
		s->mains |= !strcmp(type, "Mains");
		/* 2: at a voltage that was negotiated */
		if (path_int(root_fd, "%s/online", directory) > 0)
			text_append(&s->online, ", ", "%s", name);
	}
}

DECIDER(check_power_supply)
{
	_cleanup_(paths_clear) struct paths found = paths_expand(
		f->root_fd, "/sys/class/power_supply/*");
	_cleanup_(freep) char *discharges = NULL, *online = NULL;
	struct supplies s = {};

	for (size_t i = 0; i < found.n; i++)
		supply_read(&s, f->root_fd, found.items[i]);
	discharges = s.discharges;
	online = s.online;
	if (discharges && online)
		finding_set(ret, CHECK_OFF, "on battery: %s discharges, although %s is plugged in",
			discharges, online);
	else if (discharges)
		finding_set(ret, CHECK_OFF, "on battery");
	else if (online || s.charges)
		finding_set(ret, CHECK_OK, "plugged in");
	else if (s.mains && s.battery) /* one that was full may say so for a while */
		finding_set(ret, CHECK_OFF, "on battery");
	else if (s.idle)
		finding_set(ret, CHECK_OK, "plugged in");
	else if (s.battery)
		finding_set(ret, CHECK_UNKNOWN, "the battery does not say whether it discharges");
	else
		finding_set_absent(ret, f,
			s.mains ? "no battery is reported"
				: "no battery or power adapter is reported");
}

/* Cooling devices that slow the processor down while their state is not 0. Fans and the like
 * cool it. */
DECIDER(check_power_cooling)
{
	static const char *const slow[] = {"Processor", "intel_powerclamp", "cpufreq-",
		"thermal-cpufreq-", "idle-", "thermal-idle-"};
	_cleanup_(paths_clear) struct paths devices = paths_expand(
		f->root_fd, "/sys/class/thermal/cooling_device[0-9]*");
	_cleanup_(freep) char *active = NULL;
	size_t n = 0;

	for (size_t i = 0; i < devices.n; i++) {
		_cleanup_(freep) char *type = path_text(f->root_fd, "%s/type", devices.items[i]);
		int64_t state = path_int(f->root_fd, "%s/cur_state", devices.items[i]),
			most = path_int(f->root_fd, "%s/max_state", devices.items[i]);
		bool counts = false;

		for (size_t k = 0; type && k < ELEMENTS(slow); k++)
			counts |= !strncmp(type, slow[k], strlen(slow[k]));
		n += counts;
		if (counts && state > 0)
			text_append(
				&active, ", ", "%s at %" PRId64 " of %" PRId64, type, state, most);
	}
	if (n == 0)
		finding_set_absent(ret, f, "no device slows the processor to cool it");
	else
		finding_set(ret, active ? CHECK_OFF : CHECK_OK, "%s", active ?: "none is active");
}

DECIDER(check_power_uncore)
{
	const struct setting_files *files = check_files(check, f);
	const struct setting_file *other = NULL;

	for (size_t i = 0; i < files->n; i++)
		if (!other && files->items[i].value && files->items[i].want &&
			strcmp(files->items[i].value, files->items[i].want) != 0)
			other = &files->items[i];
	if (files->n == 0)
		finding_set_absent(ret, f, "the kernel does not control it");
	else if (other)
		finding_set(ret, CHECK_OFF, "%lld to %lld MHz",
			strtoll(other->value, NULL, 10) / 1000,
			strtoll(other->want, NULL, 10) / 1000);
	else
		finding_set(ret, CHECK_OK, "%lld MHz",
			files->items[0].value ? strtoll(files->items[0].value, NULL, 10) / 1000
					      : 0);
}

DECIDER(check_power_throttling)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(
		f->root_fd, SYS_CPU "cpu[0-9]*/thermal_throttle/*_throttle_count");
	int64_t n = -1; /* the sum over all CPUs, of their own and of the package's */

	for (size_t i = 0; i < paths.n; i++) {
		int64_t count = path_int(f->root_fd, "%s", paths.items[i]);

		if (count >= 0)
			n = (n < 0 ? 0 : n) + count;
	}
	if (n < 0)
		finding_set_absent(ret, f, "the processor does not count it");
	else if (n > 0)
		finding_set(
			ret, CHECK_OFF, "%s since the machine was started", text_count(n, "time"));
	else
		finding_set(ret, CHECK_OK, "never since the machine was started");
}

/* The sustained limit (RAPL) is the constraint called "long_term"; its maximum is what the
 * processor is made for. Parts of a package ("intel-rapl:0:1") have none of their own. */
DECIDER(check_power_limits)
{
	enum { CONSTRAINTS = 3, UW_PER_W = 1000000 };
	_cleanup_(paths_clear) struct paths zones = paths_expand(f->root_fd,
		"/sys/class/powercap/intel-rapl*:[0-9]*"); /* of registers, and of memory (-mmio) */
	_cleanup_(freep) char *low = NULL;
	bool known = false;

	for (size_t i = 0; i < zones.n * CONSTRAINTS; i++) {
		const char *zone = zones.items[i / CONSTRAINTS];
		int k = (int)(i % CONSTRAINTS);
		_cleanup_(freep) char *name = path_text(f->root_fd, "%s/name", zone),
				      *kind = path_text(
					      f->root_fd, "%s/constraint_%d_name", zone, k);
		int64_t limit = path_int(f->root_fd, "%s/constraint_%d_power_limit_uw", zone, k),
			most = path_int(f->root_fd, "%s/constraint_%d_max_power_uw", zone, k);

		if (strchr(strchr(zone, ':') + 1, ':') || !kind || strcmp(kind, "long_term") != 0 ||
			limit <= 0 || most <= 0)
			continue;
		known = true;
		if (limit < most)
			text_append(&low, ", ", "%s %" PRId64 " W of %" PRId64 " W", name ?: "?",
				limit / UW_PER_W, most / UW_PER_W);
	}
	if (!known)
		finding_set_absent(ret, f, "the kernel does not report the processor's power");
	else
		finding_set(ret, low ? CHECK_OFF : CHECK_OK, "%s",
			low ?: "as the processor is made for");
}
