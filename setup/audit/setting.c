/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a setting: see setting.h. */
#include "setup/audit/setting.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <string.h>

int setting_read(struct setting_files *ret, int root_fd, const struct setting *setting, struct error *err)
{
	_cleanup_(freep) char **paths = NULL;
	size_t n = 0;

	if (kernel_setting_expand(root_fd, setting->pattern, &paths, &n) < 0)
		return error_os(err, -ENOMEM, "cannot list %s", setting->pattern);
	ret->items = calloc(n + 1, sizeof(*ret->items));
	for (size_t i = 0; i < n && ret->items; i++) {
		struct kernel_setting file = {.root_fd = root_fd, .path = paths[i], .kind = setting->kind};

		ret->items[i].path = paths[i];
		ret->items[i].error = kernel_setting_read(&file, &ret->items[i].value);
	}
	ret->n = n;
	return ret->items ? 0 : error_os(err, -ENOMEM, "cannot read %s", setting->pattern);
}

void setting_files_clear(struct setting_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->items[i].path);
		free(files->items[i].value);
	}
	free(files->items);
	*files = (struct setting_files){};
}

char *setting_want(const struct setting *setting, const struct facts *facts, const char *path)
{
	return setting->want_of ? setting->want_of(facts, path) : strdup(setting->want);
}
