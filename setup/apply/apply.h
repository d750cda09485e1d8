/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb apply. */
#pragma once

#include "lib/base/error.h"

int apply_verb(int argc, char **argv, struct error *err);
