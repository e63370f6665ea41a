// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import io.metaroce.simulator.host.Host;
import io.metaroce.simulator.host.HostPlan;
import io.metaroce.simulator.host.HostTransport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A transport by its name and switches: {@code rocev2+dcqcn+pfc+qps=4}.
 *
 * @param pfc whether the fabric pauses
 * @param trim whether the fabric trims
 */
public record Peers(String name, boolean pfc, boolean trim, HostPlan.Factory factory) {
    /** The production transport. */
    public static final String OWN = "metaroce";
    /** What the command's help says. */
    public static final String HELP = "metaroce, rocev2[+dcqcn][+pfc][+qps=N], irn[+dcqcn][+qps=N], "
            + "uec[+rccc][+trim][+reps|+bitmap|+oblivious][+paths=N], "
            + "mrc[+trim][+paths=N], falcon[+paths=N][+delay=US], srd[+paths=N]";

    /** @throws IllegalArgumentException that names what is wrong */
    public static Peers named(String name) {
        List<String> switches = new ArrayList<>(Arrays.asList(name.split("\\+")));
        String kind = switches.removeFirst();
        boolean pfc = switches.remove("pfc");
        boolean trim = switches.remove("trim");
        HostPlan.Factory factory = kind.equals(OWN) ? Host::make : of(model(kind, switches, trim));
        if (!switches.isEmpty()) {
            throw new IllegalArgumentException("transport '" + name + "' has no switch '" + switches.getFirst() + "'; there are: " + HELP);
        }
        return new Peers(name, pfc, trim, factory);
    }

    private static Model model(String kind, List<String> switches, boolean trim) {
        return switch (kind) {
            case "rocev2" -> new RoceV2(switches.remove("dcqcn"), number(switches, "qps", 1));
            case "irn" -> new Irn(switches.remove("dcqcn"), number(switches, "qps", 1));
            case "uec" -> new Uec(switches.remove("rccc"), trim, oneOf(switches, "mixed", "reps", "bitmap", "oblivious"),
                    number(switches, "paths", 64));
            case "mrc" -> new Mrc(trim, number(switches, "paths", 128));
            case "falcon" -> new Falcon(number(switches, "paths", Falcon.LABELS), number(switches, "delay", Falcon.DELAY_US));
            case "srd" -> new Srd(number(switches, "paths", 64));
            default -> throw new IllegalArgumentException("no transport '" + kind + "'; there are: " + HELP);
        };
    }

    /** Which of the switches is there; the first one is what it is without any. */
    private static String oneOf(List<String> switches, String... names) {
        for (String name : names) {
            if (switches.remove(name)) {
                return name;
            }
        }
        return names[0];
    }

    private static int number(List<String> switches, String name, int otherwise) {
        for (String s : switches) {
            if (s.startsWith(name + "=")) {
                switches.remove(s);
                int value = Integer.parseInt(s.substring(name.length() + 1));
                if (value < 1 || value > 256) {
                    throw new IllegalArgumentException("'" + s + "' is outside 1..256");
                }
                return value;
            }
        }
        return otherwise;
    }

    private static HostPlan.Factory of(Model model) {
        return plan -> {
            HostTransport[] hosts = new HostTransport[plan.connections().length];
            for (int h = 0; h < hosts.length; h++) {
                hosts[h] = new PeerHost(h, plan, model);
            }
            return hosts;
        };
    }
}
