// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import java.util.Arrays;

/** Max-min fair rates: all rise together until a link is full or a demand is met; whoever is stopped stays, the others go on. */
final class MaxMin {
    /** Rates that differ by less are the same. */
    private static final double EQUAL = 1e-9;

    private MaxMin() {
    }

    /**
     * @param capacities of links
     * @param uses by flow: its links
     * @param demands by flow; infinite where it takes what it gets
     * @return rate of each flow, in the unit of the capacities
     */
    static double[] rates(double[] capacities, int[][] uses, double[] demands) {
        int n = uses.length;
        double[] rates = new double[n];
        double[] left = capacities.clone();
        boolean[] stopped = new boolean[n];
        for (int open = n; open > 0;) {
            int[] users = new int[left.length];
            double step = Double.POSITIVE_INFINITY;
            for (int f = 0; f < n; f++) {
                if (!stopped[f]) {
                    step = Math.min(step, demands[f] - rates[f]);
                    Arrays.stream(uses[f]).forEach(l -> users[l]++);
                }
            }
            for (int l = 0; l < left.length; l++) {
                step = users[l] == 0 ? step : Math.min(step, left[l] / users[l]);
            }
            for (int l = 0; l < left.length; l++) {
                left[l] -= step * users[l];
            }
            for (int f = 0; f < n; f++) {
                if (!stopped[f]) {
                    rates[f] += step;
                    boolean full = Arrays.stream(uses[f]).anyMatch(l -> left[l] <= EQUAL * capacities[l]);
                    if (full || rates[f] >= demands[f] * (1 - EQUAL)) {
                        stopped[f] = true;
                        open--;
                    }
                }
            }
        }
        return rates;
    }
}
