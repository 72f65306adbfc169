/*
 * Preloaded into a redis-server, this library shifts the wall clock that the server
 * sees by the number of microseconds in the file CLOCK_SKEW_FILE: a signed 64-bit
 * integer in this machine's byte order, which a test changes while the server runs.
 * Clocks such as CLOCK_MONOTONIC stay as they are, as they do when the real wall clock
 * is set.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *skew;

__attribute__((constructor)) static void map_skew(void) {
  const char *path = getenv("CLOCK_SKEW_FILE");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *page = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *skew, PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    perror("CLOCK_SKEW_FILE");
    exit(1);
  }
  skew = page;
}

/* Makes the system call itself, because this library replaces the functions of libc. */
static int64_t now(long *nanoseconds) {
  struct timespec ts;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
  *nanoseconds = ts.tv_nsec % 1000;
  return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000 + (skew ? *skew : 0);
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
  long rest;
  int64_t us = now(&rest);
  (void)zone;
  tv->tv_sec = us / 1000000;
  tv->tv_usec = us % 1000000;
  return 0;
}

int clock_gettime(clockid_t id, struct timespec *ts) {
  if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)
    return (int)syscall(SYS_clock_gettime, id, ts);
  long rest;
  int64_t us = now(&rest);
  ts->tv_sec = us / 1000000;
  ts->tv_nsec = us % 1000000 * 1000 + rest;
  return 0;
}

time_t time(time_t *t) {
  long rest;
  time_t seconds = now(&rest) / 1000000;
  if (t)
    *t = seconds;
  return seconds;
}
