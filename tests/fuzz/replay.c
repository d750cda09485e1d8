/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives a fuzzer's function every file of a directory, once. */
#include "lib/base/cleanup.h"

#include <dirent.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int replay(const char *directory, const char *name)
{
	_cleanup_(fclosep) FILE *file = NULL;
	_cleanup_(freep) uint8_t *bytes = malloc(1 << 20);
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	if (!file || !bytes) {
		perror(path);
		return -1;
	}
	printf("%s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, 1 << 20, file));
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(closedirp) DIR *directory = argc > 1 ? opendir(argv[1]) : NULL;
	struct dirent *entry;
	int n = 0;

	if (!directory) {
		fprintf(stderr, "usage: replay DIRECTORY\n");
		return 2;
	}
	while ((entry = readdir(directory)))
		if (*entry->d_name != '.') {
			if (replay(argv[1], entry->d_name) < 0)
				return 1;
			n++;
		}
	printf("%d documents\n", n);
	return n == 0;
}
