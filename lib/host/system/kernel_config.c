/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of the running kernel: see kernel_config.h. The only file that includes zlib. */
#include "lib/host/system/kernel_config.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

enum { MOST_CONFIG = 4 << 20 }; /* configurations have some 300 KiB */

/* gzread gives a file that is not compressed as it is. */
static int read_any(int fd, char **ret)
{
	gzFile file = gzdopen(fd, "rb");
	_cleanup_(freep) char *text = xmalloc(MOST_CONFIG + 1);
	int n;

	if (!file || !text) {
		if (file)
			gzclose(file);
		else
			close(fd);
		return -ENOMEM;
	}
	n = gzread(file, text, MOST_CONFIG);
	gzclose(file);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	*ret = TAKE(text);
	return 0;
}

static int read_path(char **ret, int root_fd, char *path)
{
	int fd = path ? openat(root_fd, text_below(root_fd, path), O_RDONLY | O_CLOEXEC) : -1;

	free(path);
	return fd < 0 ? -ENOENT : read_any(fd, ret);
}

int kernel_config_read(char **ret, int root_fd, const char *release)
{
	if (read_path(ret, root_fd, text_format("/boot/config-%s", release)) == 0)
		return 0;
	if (read_path(ret, root_fd, text_format("/lib/modules/%s/config", release)) == 0)
		return 0;
	return read_path(ret, root_fd, xstrdup("/proc/config.gz"));
}

char *kernel_config_get(const char *config, const char *option)
{
	size_t len = strlen(option);

	for (const char *p = config; (p = strstr(p, option)); p += len)
		if ((p == config || p[-1] == '\n') && p[len] == '=')
			return xstrndup(p + len + 1, strcspn(p + len + 1, "\n"));
	return xstrdup("n");
}
