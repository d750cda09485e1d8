/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file as a value: see fingerprint_file.h. */
#include "setup/fingerprint/fingerprint_file.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

json_t *fingerprint_file(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = NULL;

	if (text_read_file(root_fd, path, &text) < 0)
		return json_null();
	return json_string(text) ?: json_null(); /* not UTF-8 */
}
