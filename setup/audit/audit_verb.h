/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb audit. */
#pragma once

#include "lib/base/error.h"

int audit_verb(int argc, char **argv, struct error *err);
