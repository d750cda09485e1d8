/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this EMP was built with, and what it finds on this machine. */
#pragma once

#include "lib/base/base.h"

int version_print(struct error *err);
