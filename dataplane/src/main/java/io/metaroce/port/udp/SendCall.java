// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

/** The system call behind {@link UdpSender}, apart so that tests can let it fail. */
interface SendCall {
    /** sendmmsg without waiting: how many of {@code count} mmsghdr were sent, at least 1, or minus the errno of the first. */
    int sendmmsg(int socket, long messages, int count);
}
