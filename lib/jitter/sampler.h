/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that wants all of one CPU: it reads the processor's counter in a loop and keeps each gap between two readings
 * that is over the threshold, with whether the kernel ran in it (lib/host/cpu/processor.h). */
#pragma once

#include "lib/base/error.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gap {
	uint64_t start, end; /* readings of the counter */
	bool kernel;         /* it ran; if that is known */
};

struct sampler {
	int cpu;
	uint64_t threshold; /* ticks; 0: ten times the smallest gap */
	/* set when sampler_start() returns */
	pid_t tid;
	uint64_t smallest;
	bool kernel_known;
	uint64_t renewal; /* ticks that setting the mark of the kernel takes */
	uint64_t first;   /* reading; set when sampler_go() returns */
	uint64_t last;    /* reading; set when sampler_stop() returns */

	struct gap *ring; /* gaps from `taken` to `given` */
	_Alignas(64) atomic_size_t given;
	uint64_t dropped, dropped_ticks; /* the ring was full */
	_Alignas(64) atomic_size_t taken;
	_Alignas(64) atomic_bool stop;
	pthread_t thread;
	sem_t ready, go;
	bool running;
	int failed; /* -errno: it could not be pinned */
};

/* Starts the thread, which measures the smallest gap and then waits. */
int sampler_start(struct sampler *sampler, struct error *err);
/* Begins, and waits until it has begun. */
void sampler_go(struct sampler *sampler);
/* Ends the thread; its gaps can still be taken. */
void sampler_stop(struct sampler *sampler);
void sampler_clear(struct sampler *sampler);

/* The next gap. */
bool sampler_take(struct sampler *sampler, struct gap *ret);
