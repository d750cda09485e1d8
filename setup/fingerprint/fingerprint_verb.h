/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb fingerprint. */
#pragma once

#include "lib/base/error.h"

int fingerprint_verb(int argc, char **argv, struct error *err);
