/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An audit for people. */
#pragma once

#include "setup/audit/audit.h"

#include <stdio.h>

/* With `verbose` also why each check matters, and who advises it. */
int audit_print(const struct audit *audit, FILE *file, bool verbose, struct error *err);
