// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

/**
 * What a scenario is made of: its seed, the faults it may use, the most operations it may begin, and the most hosts (2 or more). The same profile is the same
 * scenario, to the nanosecond.
 */
record Profile(long seed, int faults, int operations, int hosts) {
    static final int ANY = 1_000_000;

    static Profile of(long seed) {
        return new Profile(seed, Fault.ALL, ANY, ANY);
    }

    boolean allows(Fault f) {
        return (faults & f.bit()) != 0;
    }

    Profile without(Fault f) {
        return new Profile(seed, faults & ~f.bit(), operations, hosts);
    }

    /** The scenario of the time when this fault was not thought of yet. */
    Profile before(Fault f) {
        return new Profile(seed, faults & f.bit() - 1, operations, hosts);
    }

    Profile atMost(int most) {
        return new Profile(seed, faults, most, hosts);
    }

    Profile seeded(long other) {
        return new Profile(other, faults, operations, hosts);
    }

    Profile amongst(int most) {
        return new Profile(seed, faults, operations, most);
    }

    /** The one command that runs it again. */
    String command() {
        StringBuilder s = new StringBuilder("scripts/soak --seed ").append(seed);
        StringBuilder without = new StringBuilder();
        for (Fault f : Fault.values()) {
            if (!allows(f)) {
                without.append(without.isEmpty() ? " --without " : ",").append(f.name().toLowerCase());
            }
        }
        s.append(without);
        if (operations != ANY) {
            s.append(" --operations ").append(operations);
        }
        if (hosts != ANY) {
            s.append(" --hosts ").append(hosts);
        }
        return s.toString();
    }
}
