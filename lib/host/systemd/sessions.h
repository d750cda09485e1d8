/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Desktop sessions, as logind knows them. */
#pragma once

#include "lib/base/error.h"

/* The users of sessions with a display (login screens too); a user with two is there twice. Ends with NULL; freed with
 * strings_free. None where logind does not run. */
int sessions_desktops(char ***ret, struct error *err);
