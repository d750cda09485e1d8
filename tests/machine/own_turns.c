/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_turns FILE THREADS MS: each thread takes so much CPU time, and notes from when to when it ran
 * (CLOCK_MONOTONIC), as it saw by its clock; the spans are appended to the file as lines. */
#include "lib/base/base.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 8, MOST_SPANS = 10000 };
static const int64_t GAP_NS = 100 * NS_PER_US;

struct thread {
	pthread_t id;
	int64_t length_ns;
	int64_t from_ns[MOST_SPANS], to_ns[MOST_SPANS];
	int n;
};

static void *run_and_note(void *data)
{
	struct thread *t = data;
	int64_t last_ns = clock_ns(CLOCK_MONOTONIC);

	t->from_ns[0] = last_ns;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < t->length_ns && t->n < MOST_SPANS - 1) {
		int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (now_ns - last_ns > GAP_NS) {
			t->to_ns[t->n++] = last_ns;
			t->from_ns[t->n] = now_ns;
		}
		last_ns = now_ns;
	}
	t->to_ns[t->n++] = last_ns;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct thread threads[MOST_THREADS];
	int n = argc == 4 ? atoi(argv[2]) : 0;
	FILE *file;

	if (n < 1 || n > MOST_THREADS)
		return 2;
	for (int i = 0; i < n; i++) {
		threads[i].length_ns = atoi(argv[3]) * NS_PER_MS;
		if (pthread_create(&threads[i].id, NULL, run_and_note, &threads[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
	file = fopen(argv[1], "a");
	if (!file)
		return 1;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < threads[i].n; k++)
			fprintf(file, "%lld %lld\n", (long long)threads[i].from_ns[k],
				(long long)threads[i].to_ns[k]);
	return fclose(file) == 0 ? 0 : 1;
}
