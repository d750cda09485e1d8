/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb verify. */
#pragma once

#include "lib/base/error.h"

int verify_verb(int argc, char **argv, struct error *err);
