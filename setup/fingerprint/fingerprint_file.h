/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of the kernel as a value of a fingerprint. */
#pragma once

#include <jansson.h>

/* The text of a file below root_fd, null where it cannot be read. */
json_t *fingerprint_file(int root_fd, const char *path);
