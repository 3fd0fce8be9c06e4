/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_task.h"

void app_main(void) { (void)replay_task_start(0); }
