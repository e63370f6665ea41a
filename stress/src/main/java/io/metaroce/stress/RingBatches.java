// SPDX-License-Identifier: Apache-2.0
package io.metaroce.stress;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.ring.SpscRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A batch appears as a whole or not at all, and two batches in their order. */
@JCStressTest
@State
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "neither batch yet")
@Outcome(id = "2, 12", expect = Expect.ACCEPTABLE, desc = "the first batch")
@Outcome(id = "3, 123", expect = Expect.ACCEPTABLE, desc = "both")
@Outcome(expect = Expect.FORBIDDEN, desc = "a part of a batch, or the wrong order")
public class RingBatches {
    private final SpscRing ring = RingMemory.ring(4);
    private final SpscRing.Producer producer = ring.producer();
    private final SpscRing.Consumer consumer = ring.consumer();

    @Actor
    public void produce() {
        producer.claim(3);
        RawMemory.putLong(producer.record(0), 1);
        RawMemory.putLong(producer.record(1), 2);
        producer.publish(2);
        RawMemory.putLong(producer.record(0), 3);
        producer.publish(1);
    }

    @Actor
    public void consume(JJ_Result r) {
        int n = consumer.available(4);
        r.r1 = n;
        for (int i = 0; i < n; i++) {
            r.r2 = 10 * r.r2 + RawMemory.getLong(consumer.record(i));
        }
        consumer.release(n);
    }
}
