/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's log: passed on to a file descriptor or dropped, with its last lines kept for error texts. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char recent[768];
static size_t recent_length;
static int log_fd = -1;

static ssize_t log_write(void *cookie, const char *text, size_t size) {
  (void)cookie;
  pthread_mutex_lock(&lock);
  /* The first lines name the cause: later ones are its consequences. */
  size_t room = sizeof(recent) - recent_length;
  size_t kept = size < room ? size : room;
  memcpy(recent + recent_length, text, kept);
  recent_length += kept;
  pthread_mutex_unlock(&lock);
  if (log_fd >= 0 && write(log_fd, text, size) < 0) {
    /* A log that cannot be written is no reason to stop. */
  }
  return (ssize_t)size;
}

static ssize_t discard(void *cookie, const char *text, size_t size) {
  (void)cookie;
  (void)text;
  return (ssize_t)size;
}

static FILE *caller_stdout, *caller_stderr;

void mrpmd_streams_take(void) {
  cookie_io_functions_t log = {.write = log_write}, nowhere = {.write = discard};
  FILE *errors = fopencookie(NULL, "w", log), *out = fopencookie(NULL, "w", nowhere);
  caller_stdout = stdout;
  caller_stderr = stderr;
  if (errors != NULL) stderr = errors;
  if (out != NULL) stdout = out;
}

void mrpmd_streams_give_back(void) {
  FILE *errors = stderr, *out = stdout;
  stderr = caller_stderr;
  stdout = caller_stdout;
  if (errors != stderr) fclose(errors);
  if (out != stdout) fclose(out);
}

int mrpmd_log_open(int32_t fd, uint32_t level) {
  cookie_io_functions_t functions = {.write = log_write};
  FILE *stream = fopencookie(NULL, "w", functions);
  if (stream == NULL) return -errno;
  setvbuf(stream, NULL, _IOLBF, 512);
  log_fd = fd;
  rte_log_set_global_level(level);
  return rte_openlog_stream(stream);
}

void mrpmd_log_mark(void) {
  pthread_mutex_lock(&lock);
  recent_length = 0;
  pthread_mutex_unlock(&lock);
}

int mrpmd_fail(char *error, uint32_t error_size, int code, const char *format, ...) {
  if (code < 0) code = -code;
  if (error == NULL || error_size == 0) return -code;
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(error, error_size, format, arguments);
  va_end(arguments);
  if (n < 0) n = 0;
  size_t used = (size_t)n < error_size ? (size_t)n : error_size - 1;
  n = snprintf(error + used, error_size - used, ": %s", rte_strerror(code));
  used += n > 0 && used + (size_t)n < error_size ? (size_t)n : 0;
  pthread_mutex_lock(&lock);
  if (recent_length > 0) {
    n = snprintf(error + used, error_size - used, "; DPDK says: %.*s", (int)recent_length, recent);
    used += n > 0 && used + (size_t)n < error_size ? (size_t)n : 0;
  }
  pthread_mutex_unlock(&lock);
  for (char *c = error; *c != 0; c++) {
    if (*c == '\n' && c[1] == 0) *c = 0;
    else if (*c == '\n') *c = ' ';
  }
  return -code;
}
