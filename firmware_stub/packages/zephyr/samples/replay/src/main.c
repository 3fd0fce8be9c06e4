/* SPDX-License-Identifier: Apache-2.0 */
/* The replay is a thread of its own, on the console's UART. */
int main(void) { return 0; }
