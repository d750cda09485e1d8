/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An observation of the neighbour as a screen and as an emp-neighbour document. */
#pragma once

#include "lib/base/json.h"
#include "lib/neighbour/observation.h"

void neighbour_observation_print(const struct neighbour_observation *observation);
/* The members of the document but its header; the caller owns it. */
json_t *neighbour_observation_json(const struct neighbour_observation *observation);
