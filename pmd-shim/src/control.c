/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up calls of drivers whose interrupt thread works on the same state without a lock.
 *
 * When a memif peer leaves, the driver frees what belongs to the connection on DPDK's interrupt thread; stopping or closing the port
 * frees the same (DPDK 22.11 and 24.11 alike). Run at the same time, both free it: the heap is torn. An alarm's callback runs on the
 * interrupt thread too, so what is done there cannot meet the driver's own work.
 */
#include <pthread.h>
#include <rte_alarm.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;

static void on_interrupt_thread(void *argument) {
  struct mrpmd_call *call = argument;
  int result = call->work(call);
  pthread_mutex_lock(&lock);
  call->result = result;
  call->done = 1;
  pthread_cond_broadcast(&finished);
  pthread_mutex_unlock(&lock);
}

int mrpmd_call_beside_interrupts(struct mrpmd_call *call) {
  call->done = 0;
  int rc = rte_eal_alarm_set(1, on_interrupt_thread, call);
  if (rc != 0) return rc;
  pthread_mutex_lock(&lock);
  while (!call->done) pthread_cond_wait(&finished, &lock);
  pthread_mutex_unlock(&lock);
  return call->result;
}
