/* SPDX-License-Identifier: Apache-2.0 */
/* What the board's RAM leaves for an arena, and how many buffers can be planned: 88 bytes each beside it. */
#ifndef REPLAY_SIZES_H_
#define REPLAY_SIZES_H_

#ifdef __AVR__
#define REPLAY_APP_ARENA_SIZE 512u
#define REPLAY_APP_BUFFER_LIMIT 4u
#else
#define REPLAY_APP_ARENA_SIZE 98304u
#define REPLAY_APP_BUFFER_LIMIT 256u
#endif

#endif /* REPLAY_SIZES_H_ */
