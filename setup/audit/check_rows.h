/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit as rows, in the order of the protocol. */
#pragma once

#include "setup/audit/check.h"

extern const struct check check_rows[]; /* ends with {} */
extern const size_t n_check_rows;

/* NULL: there is no such check. */
const struct check *check_rows_find(const char *id);

/* The files of each row's setting, an array of n_check_rows (none where a row has no setting). */
int check_rows_read(struct setting_files **ret, int root_fd, struct error *err);
void check_rows_free(struct setting_files *files); /* NULL is fine */
