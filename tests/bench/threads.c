/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads [--locked|--children] INCREMENTS...: a thread for each operand, which increments a number so
 * often, as a program to be timed that uses several CPUs. --locked: in parts of some 0.1 ms, each
 * while it holds the one lock, so that the others sleep. --children: processes in place of threads.
 * duet_pairs.py times it. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };
static const long PART = 200000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool locked;

static void *work(void *data)
{
	for (long left = *(long *)data; left > 0; left -= PART) {
		if (locked)
			pthread_mutex_lock(&lock);
		for (long i = left < PART ? left : PART; i > 0; i--)
			__asm__ volatile("");
		if (locked)
			pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool children = argc > 1 && !strcmp(argv[1], "--children");
	int first = argc > 1 && argv[1][0] == '-' ? 2 : 1;
	pthread_t threads[MOST];
	long increments[MOST];

	locked = argc > 1 && !strcmp(argv[1], "--locked");
	for (int i = first; i < argc && i < MOST; i++) {
		increments[i] = atol(argv[i]);
		if (!children) {
			if (pthread_create(&threads[i], NULL, work, &increments[i]) != 0)
				return 1;
		} else if (fork() == 0) {
			work(&increments[i]);
			_exit(0);
		}
	}
	for (int i = first; i < argc && i < MOST; i++)
		if (children)
			wait(NULL);
		else
			pthread_join(threads[i], NULL);
	return 0;
}
