/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the result of a load is shown: on the screen, and as a JSON document of the format `emp-load`. */
#pragma once

#include "measure/load/session.h"

#include <stdio.h>

void load_report_print(FILE *file, const struct load_session *session);
int load_report_export(const struct load_session *session, const char *path, struct error *err);

/* What a load would do: `emp-load check`. */
void load_print(FILE *file, const struct load *load);
