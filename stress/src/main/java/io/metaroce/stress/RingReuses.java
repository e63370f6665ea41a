// SPDX-License-Identifier: Apache-2.0
package io.metaroce.stress;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.ring.SpscRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** A record is not written again before its reader has given it back. */
@JCStressTest
@State
@Outcome(id = {"0, 0, 0", "0, 0, 1"}, expect = Expect.ACCEPTABLE, desc = "nothing seen yet; the record was not free again")
@Outcome(id = {"1, 1, 1", "1, 1, 2"}, expect = Expect.ACCEPTABLE, desc = "the first record, whole; its place was, or was not, used again")
@Outcome(expect = Expect.FORBIDDEN, desc = "overwritten while it was read")
public class RingReuses {
    private final SpscRing ring = RingMemory.ring(1);
    private final SpscRing.Producer producer = ring.producer();
    private final SpscRing.Consumer consumer = ring.consumer();

    @Actor
    public void produce(JJJ_Result r) {
        write(1);
        r.r3 = producer.claim(1) == 1 ? 2 : 1;
        if (r.r3 == 2) {
            write(2);
        }
    }

    private void write(long value) {
        producer.claim(1);
        RawMemory.putLong(producer.record(0), value);
        RawMemory.putLong(producer.record(0) + 8, value);
        producer.publish(1);
    }

    @Actor
    public void consume(JJJ_Result r) {
        if (consumer.available(1) == 1) {
            r.r1 = RawMemory.getLong(consumer.record(0));
            r.r2 = RawMemory.getLong(consumer.record(0) + 8);
            consumer.release(1);
        }
    }
}
