// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.wire.Opcode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A 64-bit word that atomics change, and all that were tried on it. Executed one after the other, each exactly once and those of a
 * stream in its order, they must lead from the first value to the last; operands are random, so there is only one way. Of those whose
 * end is unknown any may have been executed, once.
 */
final class Word {
    private record Known(Message message, long original) {
        long after() {
            return result(message, original);
        }
    }

    final int index;
    private final long first;
    private final List<Known> known = new ArrayList<>();
    private final List<Message> doubtful = new ArrayList<>();

    Word(int index, long first) {
        this.index = index;
        this.first = first;
    }

    private static long result(Message m, long original) {
        return m.opcode == Opcode.FETCH_ADD ? original + m.operand : original == m.compare ? m.operand : original;
    }

    /** What it may well still be when an atomic posted now is executed. */
    long likely(HostMemory memory) {
        return memory.word(this);
    }

    /** It was executed: this value is what it returned. */
    void executed(Message m, long original) {
        known.add(new Known(m, original));
    }

    /** Nobody can tell whether it was executed. */
    void doubt(Message m) {
        doubtful.add(m);
    }

    /** What is wrong, or null. */
    String audit(long last) {
        Map<Long, List<Known>> at = new HashMap<>();
        for (Known k : known) {
            at.computeIfAbsent(k.original, v -> new ArrayList<>()).add(k);
        }
        if (leads(first, last, at, known.size(), new HashSet<>(), new HashMap<>(), new HashSet<>())) {
            return null;
        }
        return "the " + known.size() + " atomics that were answered on word " + index + ", and " + doubtful.size()
                + " in doubt, do not lead from its first value to its last, each once and in order";
    }

    private boolean leads(long value, long last, Map<Long, List<Known>> at, int left, Set<Message> used, Map<Side.Stream, Long> newest, Set<List<Object>> tried) {
        Known change = null;
        List<Known> here = at.getOrDefault(value, List.of());
        Map<Side.Stream, Long> then = new HashMap<>(newest);
        for (Known k : here) {
            if (k.after() != value) {
                if (change != null) {
                    return false;
                }
                change = k;
            } else if (k.message.id < newest.getOrDefault(k.message.from, 0L)) {
                return false;
            } else {
                then.merge(k.message.from, k.message.id, Math::max);
            }
        }
        left -= here.size();
        if (change != null) {
            if (change.message.id < then.getOrDefault(change.message.from, 0L)) {
                return false;
            }
            then.put(change.message.from, change.message.id);
            return leads(change.after(), last, at, left, used, then, tried);
        }
        if (left == 0 && value == last) {
            return true;
        }
        if (!tried.add(List.of(value, Set.copyOf(used)))) {
            return false;
        }
        for (Message m : doubtful) {
            long after = result(m, value);
            if (after != value && used.add(m)) {
                if (leads(after, last, at, left, used, then, tried)) {
                    return true;
                }
                used.remove(m);
            }
        }
        return false;
    }
}
