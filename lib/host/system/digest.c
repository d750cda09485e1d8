/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256: see digest.h. The only file that includes nettle. */
#include "lib/host/system/digest.h"

#include <nettle/sha2.h>

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
