/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The units that apply will stop, and the time daemon that it will start.
 *
 * A service is stopped together with its triggers (a socket, path or timer would start it again)
 * and with what requires it: systemd stops that too. If any of these must not be touched, the
 * service stays as well.
 *
 * Timers are stopped first. Then, for each service: what needs it or was started after it (systemd,
 * too, stops these first when it shuts down), what would start it again, and the service itself. In
 * another order, a unit may wait for one that is gone (cups-browsed asks avahi for 25 s), or start
 * it again.
 *
 * Last comes what systemd stops by itself when nothing needs it any more (StopWhenUnneeded=). */
#pragma once

#include "setup/apply/plan.h"

/* Adds them to a plan that has no files yet. */
int plan_units(struct plan *plan, struct error *err);
