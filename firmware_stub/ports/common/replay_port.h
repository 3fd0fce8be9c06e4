/* SPDX-License-Identifier: Apache-2.0 */
/* replay_port: the replay firmware behind two functions, for ports whose main program is C++ or lives elsewhere. */
#ifndef REPLAY_PORT_H_
#define REPLAY_PORT_H_

#include "tsim_frame.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start and say hello. Return TSIM_OK or a negative TSIM_E_... */
int replay_port_start(const char *name, tsim_write_fn write, void *context);

/* Take a received byte. */
int replay_port_take(uint8_t byte);

#ifdef __cplusplus
}
#endif

#endif /* REPLAY_PORT_H_ */
