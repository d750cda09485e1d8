/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: the process is killed after a chosen one of its steps, each of which is something that the
 * outside can see. So a test can walk through all moments at which a power cut may come. */
#pragma once

void crash_point_kill_after(int n); /* 0: never */
void crash_point(void);
