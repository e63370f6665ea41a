/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts/generate-bindings reads for the libc socket calls. Linux, glibc, 64-bit. */
#include <features.h>
/* glibc declares bind and getsockname with a transparent union for GCC, which jextract cannot express; "no GCC" gives plain pointers. */
#undef __GNUC_PREREQ
#define __GNUC_PREREQ(major, minor) 0

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
