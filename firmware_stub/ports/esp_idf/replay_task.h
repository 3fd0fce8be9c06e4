/* SPDX-License-Identifier: Apache-2.0 */
/* The replay firmware as a task on a UART of an ESP32. */
#ifndef REPLAY_TASK_H_
#define REPLAY_TASK_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Start the task on UART port (0 is the console's). Return 0, or -1 when the driver or the task refuses. */
int replay_task_start(int port);

#ifdef __cplusplus
}
#endif

#endif /* REPLAY_TASK_H_ */
