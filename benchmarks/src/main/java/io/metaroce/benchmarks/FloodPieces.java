// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Short pieces of a run, some of them under a flood, and what they come to. Pieces in which others had the core do not count, nor do those
 * of the flood in which its source had no core to flood from: less than half came in than in most.
 */
final class FloodPieces {
    /** Part of a piece's time that the thread may be off its core. */
    private static final double AWAY = 0.05;
    /** Undisturbed pieces of either kind that a median needs. */
    static final int ENOUGH = 200;

    /**
     * @param packets of the transfer, {@code strangers} that were dropped
     * @param receiverNs spent in the receiver, {@code wallNs} in all
     */
    private record Piece(long packets, long strangers, long receiverNs, long wallNs) {
        double nsAPacket() {
            return (double) receiverNs / packets;
        }
    }

    private final List<Piece> calm = new ArrayList<>();
    private final List<Piece> flooded = new ArrayList<>();

    /** @param awayNs of {@code wallNs} in which the thread did not run */
    void add(boolean isFlooded, long packets, long strangers, long receiverNs, long wallNs, long awayNs) {
        if (packets > 0 && awayNs < AWAY * wallNs && (isFlooded || strangers == 0)) {
            (isFlooded ? flooded : calm).add(new Piece(packets, strangers, receiverNs, wallNs));
        }
    }

    /** Whether medians mean something: on a busy machine most pieces are disturbed. */
    boolean areEnough() {
        return calm.size() >= ENOUGH && fullyFlooded().size() >= ENOUGH;
    }

    private List<Piece> fullyFlooded() {
        double full = quantile(flooded, Piece::strangers, 0.9) / 2;
        return flooded.stream().filter(p -> p.strangers() >= full && p.strangers() > 0).toList();
    }

    /**
     * Figures as {@code name=number}: share of the core kept in percent, the receiver's nanoseconds for a packet of the transfer without and
     * with the flood, strangers taken a second and for each packet, nanoseconds for each, and in how many pieces of how many the flood was full.
     */
    String summary() {
        List<Piece> fully = fullyFlooded();
        if (calm.isEmpty() || fully.isEmpty()) {
            throw new IllegalStateException("no piece of " + calm.size() + " and " + flooded.size() + " was undisturbed");
        }
        double without = quantile(calm, Piece::nsAPacket, 0.5);
        double with = quantile(fully, Piece::nsAPacket, 0.5);
        double strangers = quantile(fully, p -> (double) p.strangers() / p.packets(), 0.5);
        return String.format(Locale.ROOT, "kept=%.2f without_ns=%.1f with_ns=%.1f taken_mpps=%.4f a_packet=%.3f drop_ns=%.1f pieces=%d of %d, %d calm", 100 * without / with, without, with,
                quantile(fully, p -> 1e3 * p.strangers() / p.wallNs(), 0.5), strangers, Math.max(0, with - without) / strangers, fully.size(), flooded.size(),
                calm.size());
    }

    private static double quantile(List<Piece> pieces, ToDoubleFunction<Piece> figure, double at) {
        double[] sorted = pieces.stream().sorted(Comparator.comparingDouble(figure)).mapToDouble(figure).toArray();
        return sorted.length == 0 ? 0 : sorted[(int) (at * (sorted.length - 1))];
    }
}
