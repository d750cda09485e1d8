/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb status. */
#pragma once

#include "lib/base/error.h"

int status_verb(int argc, char **argv, struct error *err);
