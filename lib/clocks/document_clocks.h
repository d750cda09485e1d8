/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration of the clocks as an emp-clocks document. */
#pragma once

#include "lib/base/json.h"
#include "lib/clocks/clocks.h"

/* NULL: no memory. */
json_t *clocks_as_json(const struct clocks *clocks);

/* The reverse. -EINVAL: a member is wrong; -EPROTONOSUPPORT: an unknown version. */
int clocks_from_json(const json_t *json, struct clocks *ret, struct error *err);
