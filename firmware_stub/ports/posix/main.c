/* SPDX-License-Identifier: Apache-2.0 */
/* The replay firmware as a process: on stdin and stdout, or with --pty on a pseudo terminal whose name it prints. */
#define _XOPEN_SOURCE 600
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "../common/replay_app.h"

static replay_app_t app;

typedef struct descriptors {
  int in;
  int out;
} descriptors_t;

static int write_all(void *context, const void *data, size_t size) {
  const descriptors_t *port = (const descriptors_t *)context;
  const char *bytes = (const char *)data;
  while (size > 0u) {
    const ssize_t count = write(port->out, bytes, size);
    if (count <= 0) {
      return -1;
    }
    bytes += count;
    size -= (size_t)count;
  }
  return 0;
}

/* Make the terminal a plain byte pipe. */
static void make_raw(int descriptor) {
  struct termios settings;
  if (tcgetattr(descriptor, &settings) == 0) {
    cfmakeraw(&settings);
    (void)tcsetattr(descriptor, TCSANOW, &settings);
  }
}

static int open_pty(descriptors_t *port) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    (void)fprintf(stderr, "no pseudo terminal: %s\n", strerror(errno));
    return -1;
  }
  const char *name = ptsname(master);
  /* Kept open: the master would report an error whenever nobody else has the other side open. */
  const int other = open(name, O_RDWR | O_NOCTTY);
  if (other < 0) {
    (void)fprintf(stderr, "%s: %s\n", name, strerror(errno));
    return -1;
  }
  make_raw(other);
  (void)printf("%s\n", name);
  (void)fflush(stdout);
  port->in = master;
  port->out = master;
  return 0;
}

int main(int argc, char **argv) {
  descriptors_t port = {STDIN_FILENO, STDOUT_FILENO};
  if (argc > 1 && strcmp(argv[1], "--pty") == 0 && open_pty(&port) != 0) {
    return EXIT_FAILURE;
  }
  if (replay_app_start(&app, "replay/posix", write_all, &port) != TSIM_OK) {
    return EXIT_FAILURE;
  }
  uint8_t bytes[256];
  ssize_t count = read(port.in, bytes, sizeof bytes);
  while (count > 0) {
    for (ssize_t i = 0; i < count; ++i) {
      if (replay_app_take(&app, bytes[i]) == TSIM_E_WRITE) {
        return EXIT_FAILURE;
      }
    }
    count = read(port.in, bytes, sizeof bytes);
  }
  return EXIT_SUCCESS;
}
