/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_port.h"

/* A port whose build has no flags of its own (an Arduino sketch) puts the sizes into a file beside this one. */
#ifdef __has_include
#if __has_include("replay_sizes.h")
#include "replay_sizes.h"
#endif
#endif
#include "replay_app.h"

static replay_app_t app;

int replay_port_start(const char *name, tsim_write_fn write, void *context) {
  return replay_app_start(&app, name, write, context);
}

int replay_port_take(uint8_t byte) { return replay_app_take(&app, byte); }
