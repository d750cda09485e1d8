/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: kills the process at a chosen one of its crash points, which follow each change that the outside
 * can see. So a test can try all moments at which a power cut may come. */
#pragma once

void crash_point_kill_after(int n); /* 0: never */
void crash_point(void);
