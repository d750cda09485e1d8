/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of this folder share. It stands alone, as the library does: lib/base has its own
 * NS_PER_S. */
#pragma once

#include <stdint.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else /* glibc before 2.32 */
#define __libc_single_threaded 0
#endif

/* Of the functions that programs may call; all others are hidden. */
#define CLOCK_PUBLIC __attribute__((visibility("default")))

#define CLOCK_NS_PER_S UINT64_C(1000000000)
