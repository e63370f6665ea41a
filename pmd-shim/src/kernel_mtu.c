/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MTU of the kernel's interfaces that devices lie on (af_packet, af_xdp). Drivers set it when they are told a device's MTU, to less as
 * well as to more, and never back. Others may use the interface: here it is only raised, and lowered again when the device is closed.
 */
#define _GNU_SOURCE
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

/* Interface and MTU before and after it was raised, of each port; before 0: was not raised. */
static struct {
  unsigned interface;
  int before, raised;
} kept[RTE_MAX_ETHPORTS];

/* Reads (to 0) or sets the MTU of an interface; returns what it is then, or 0. */
static int interface_mtu(unsigned interface, int to) {
  struct ifreq request;
  memset(&request, 0, sizeof(request));
  if (interface == 0 || if_indextoname(interface, request.ifr_name) == NULL) return 0;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  request.ifr_mtu = to;
  int rc = ioctl(fd, to == 0 ? SIOCGIFMTU : SIOCSIFMTU, &request);
  close(fd);
  return rc == 0 ? request.ifr_mtu : 0;
}

int mrpmd_kernel_mtu_set(uint16_t port, unsigned interface, uint32_t mtu) {
  int before = interface_mtu(interface, 0);
  if (before != 0 && before >= (int)mtu) return 0;
  int rc = rte_eth_dev_set_mtu(port, (uint16_t)mtu);
  int now = interface_mtu(interface, 0);
  if (before != 0 && now != before) {
    if (kept[port].before == 0) kept[port].before = before;
    kept[port].interface = interface;
    kept[port].raised = now;
  }
  return rc;
}

void mrpmd_kernel_mtu_restore(uint16_t port) {
  /* Whoever set it since knew what for. */
  if (kept[port].before != 0 && interface_mtu(kept[port].interface, 0) == kept[port].raised) {
    interface_mtu(kept[port].interface, kept[port].before);
  }
  kept[port].before = 0;
}
