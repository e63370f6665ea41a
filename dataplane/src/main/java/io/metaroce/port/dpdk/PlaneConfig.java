// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.Objects;

/**
 * One plane of a {@link DpdkPort}: a DPDK device with one IP address.
 *
 * @param device       name ("net_memif0"), PCI address or number of a device that the EAL arguments make, or device arguments
 *                     ("net_memif0,role=client,...") of one that the port makes itself
 * @param address      this plane's IPv4 or IPv6 address
 * @param prefixLength bits of the address that on-link hosts share
 * @param gateway      next hop for all others, null for none
 * @param vlan         VLAN identifier 1 to 4094 that frames carry, 0 for untagged frames
 */
public record PlaneConfig(String device, InetAddress address, int prefixLength, InetAddress gateway, int vlan) {
    public PlaneConfig {
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(address, "address");
        int bits = address instanceof Inet4Address ? 32 : 128;
        if (prefixLength < 0 || prefixLength > bits) {
            throw new IllegalArgumentException("prefix length " + prefixLength + " is outside 0.." + bits);
        }
        if (gateway != null && gateway instanceof Inet4Address != address instanceof Inet4Address) {
            throw new IllegalArgumentException("gateway " + gateway + " and address " + address + " are of different families");
        }
        if (vlan < 0 || vlan > 4094) {
            throw new IllegalArgumentException("VLAN " + vlan + " is outside 0..4094");
        }
    }

    public PlaneConfig(String device, InetAddress address, int prefixLength) {
        this(device, address, prefixLength, null, 0);
    }

    /**
     * Parses {@code DEVICE@ADDRESS[/PREFIX][@GATEWAY][#VLAN]}, such as {@code net_af_packet0,iface=eth1@10.0.0.1/24@10.0.0.254#7}.
     * The prefix is 24 bits for IPv4 and 64 for IPv6 unless given. Addresses are literal.
     *
     * @throws IllegalArgumentException if the text is none of that
     */
    public static PlaneConfig parse(String text) {
        String rest = text;
        int vlan = 0;
        int hash = rest.lastIndexOf('#');
        if (hash >= 0) {
            vlan = number(rest.substring(hash + 1), text);
            rest = rest.substring(0, hash);
        }
        String[] parts = rest.split("@");
        if (parts.length < 2 || parts.length > 3 || parts[0].isEmpty()) {
            throw new IllegalArgumentException("'" + text + "' is not DEVICE@ADDRESS[/PREFIX][@GATEWAY][#VLAN]");
        }
        int slash = parts[1].indexOf('/');
        InetAddress address = literal(slash < 0 ? parts[1] : parts[1].substring(0, slash), text);
        int prefix = slash >= 0 ? number(parts[1].substring(slash + 1), text) : address instanceof Inet4Address ? 24 : 64;
        return new PlaneConfig(parts[0], address, prefix, parts.length == 3 ? literal(parts[2], text) : null, vlan);
    }

    /**
     * The same at another address of the same family.
     *
     * @throws IllegalArgumentException if it is of the other
     */
    PlaneConfig at(InetAddress other) {
        if (other instanceof Inet4Address != isIpv4()) {
            throw new IllegalArgumentException(other.getHostAddress() + " is of another family than " + address.getHostAddress()
                    + ", to which prefix and gateway belong");
        }
        return new PlaneConfig(device, other, prefixLength, gateway, vlan);
    }

    boolean isIpv4() {
        return address instanceof Inet4Address;
    }

    private static int number(String digits, String text) {
        try {
            return Integer.parseInt(digits);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + digits + "' in '" + text + "' is no number", e);
        }
    }

    private static InetAddress literal(String address, String text) {
        try {
            return InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + address + "' in '" + text + "' is no IP address", e);
        }
    }
}
