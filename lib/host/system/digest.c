/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256: see digest.h. The only file that includes nettle. */
#include "lib/host/system/digest.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <sys/mman.h>
#include <sys/stat.h>

void digest_of(const void *data, size_t size, char ret[DIGEST_SIZE])
{
	uint8_t bytes[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha;

	sha256_init(&sha);
	sha256_update(&sha, size, data);
	sha256_digest(&sha, sizeof(bytes), bytes);
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

int digest_of_file(const char *path, char ret[DIGEST_SIZE])
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) /* EINVAL: it is empty */
		return -errno;
	digest_of(data, (size_t)st.st_size, ret);
	munmap(data, (size_t)st.st_size);
	return 0;
}
