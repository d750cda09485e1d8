/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's integers, by the names that libbpf's helpers expect in front of them. Only for BPF programs,
 * which take no header of the machine that builds them. */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
