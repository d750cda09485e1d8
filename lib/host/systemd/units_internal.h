/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files units*.c share. */
#pragma once

#include "lib/host/systemd/units.h"

#include <systemd/sd-bus.h>

#define SERVICE "org.freedesktop.systemd1"
#define OBJECT "/org/freedesktop/systemd1"
#define MANAGER SERVICE, OBJECT, SERVICE ".Manager"

struct units {
	sd_bus *bus;
	units_waiting *waiting; /* NULL: nobody is told */
	void *waiting_data;
};

/* The object of a unit; the caller frees it. NULL: no memory. */
char *units_path(const char *name);

/* A text or trivial property; `type` as in sd-bus. */
int units_property(struct units *units, const char *name, const char *interface, const char *property,
	char type, void *ret, struct error *err);

/* Of an ActiveState; what is still stopping is down. */
bool units_state_is_up(const char *active);

/* The other side's message, or else that of errno. */
int units_failed(struct error *err, int r, const sd_bus_error *said, const char *doing);
