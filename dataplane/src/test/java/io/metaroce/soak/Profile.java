// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

/**
 * What a scenario is made of: its seed, the faults it may use and the most operations it may begin. The same profile is the same
 * scenario, to the nanosecond.
 */
record Profile(long seed, int faults, int operations) {
    static final int ANY = 1_000_000;

    static Profile of(long seed) {
        return new Profile(seed, Fault.ALL, ANY);
    }

    boolean allows(Fault f) {
        return (faults & f.bit()) != 0;
    }

    Profile without(Fault f) {
        return new Profile(seed, faults & ~f.bit(), operations);
    }

    Profile atMost(int most) {
        return new Profile(seed, faults, most);
    }

    /** The one command that runs it again. */
    String command() {
        StringBuilder s = new StringBuilder("scripts/soak --seed ").append(seed).append(" --runs 1");
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
        return s.toString();
    }
}
