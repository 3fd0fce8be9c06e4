#include "replay_port.h"

#include "replay_app.h"

static replay_app_t app;

int replay_port_start(const char *name, tsim_write_fn write, void *context) {
  return replay_app_start(&app, name, write, context);
}

int replay_port_take(uint8_t byte) { return replay_app_take(&app, byte); }
