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

/** Whoever sees that a record is available sees all that was written to it. */
@JCStressTest
@State
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "not yet published")
@Outcome(id = "7, 8", expect = Expect.ACCEPTABLE, desc = "published, whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "a record that is not whole")
public class RingPublishes {
    private final SpscRing ring = RingMemory.ring(2);
    private final SpscRing.Producer producer = ring.producer();
    private final SpscRing.Consumer consumer = ring.consumer();

    @Actor
    public void produce() {
        producer.claim(1);
        RawMemory.putLong(producer.record(0), 7);
        RawMemory.putLong(producer.record(0) + 8, 8);
        producer.publish(1);
    }

    @Actor
    public void consume(JJ_Result r) {
        boolean ready = consumer.available(1) == 1;
        r.r2 = ready ? RawMemory.getLong(consumer.record(0) + 8) : -1;
        r.r1 = ready ? RawMemory.getLong(consumer.record(0)) : -1;
    }
}
