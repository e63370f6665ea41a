// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PlanTest {
    @Test
    void travelsAsText() {
        Plan plan = new Plan(Op.SEND, 4096, 3, 5, 10, true, true, false, false);
        assertEquals(plan, Plan.from(Message.decode(plan.toMessage().encode())));
    }

    @Test
    void aSlotNeverGetsTheSameContentsTwiceInARow() {
        for (int slots = 1; slots <= Plan.MAX_SLOTS; slots++) {
            Plan plan = new Plan(Op.WRITE, 64, 2, 1, slots, true, false, false, false);
            assertTrue(plan.sources() <= 17, "few contents are enough: " + plan.sources());
            for (int message = 0; message < 1000; message++) {
                assertNotEquals(RunMemory.sourceOf(message, 1, plan.sources()), RunMemory.sourceOf(message + slots, 1, plan.sources()));
            }
        }
    }

    @Test
    void limitsAreNamed() {
        refused("size", new Plan(Op.WRITE, 0, 1, 1, 1, true, false, false, false));
        refused("streams", new Plan(Op.WRITE, 64, 1024, 1, 1, true, false, false, false));
        refused("slots", new Plan(Op.WRITE, 64, 1, 1, 257, true, false, false, false));
        refused("depth", new Plan(Op.WRITE, 64, 1, 3, 2, true, false, false, false));
        refused("in flight", new Plan(Op.WRITE, 64, 1000, 5, 10, true, false, false, false));
        refused("memory", new Plan(Op.WRITE, 1 << 30, 1, 2, 4, true, false, false, false));
        refused("one-way", new Plan(Op.WRITE, 64, 1, 1, 4, true, false, false, true));
        refused("one-way", new Plan(Op.READ, 64, 1, 1, 4, false, false, false, true));
        refused("ping-pong", new Plan(Op.WRITE, 64, 1, 1, 4, true, false, true, false));
    }

    private static void refused(String what, Plan plan) {
        String message = assertThrows(IllegalArgumentException.class, plan::check).getMessage();
        assertTrue(message.contains(what), message);
    }

    @Test
    void anotherVersionIsRefusedByName() {
        Message hello = new Plan(Op.WRITE, 64, 1, 1, 4, true, false, false, false).toMessage().put("version", 2);
        assertEquals("the peer's perf conversation has version 2, this side speaks 1",
                assertThrows(IllegalArgumentException.class, () -> Plan.from(hello)).getMessage());
    }

    @Test
    void aDamagedMessageIsRefusedByName() {
        Message hello = Message.decode("hello\nversion=1\nop=write\nsize=many".getBytes());
        assertEquals("the peer's 'hello' message has no number in 'size'",
                assertThrows(IllegalArgumentException.class, () -> Plan.from(hello)).getMessage());
        assertEquals("the peer's 'hello' message lacks 'version'",
                assertThrows(IllegalArgumentException.class, () -> Plan.from(new Message(Message.HELLO))).getMessage());
        assertThrows(IllegalArgumentException.class, () -> Message.decode("hello\nnonsense".getBytes()));
    }

    @Test
    void anOfferTravelsAsText() {
        Plan plan = new Plan(Op.READ, 64, 1, 1, 4, true, false, false, false);
        Offer offer = new Offer(0x7fff_1234_5678L, 0xdeadbeef, new int[] {1, -1, 0x8000_0000});
        Message message = new Message(Message.READY);
        offer.putInto(message);
        Offer back = Offer.from(Message.decode(message.encode()), plan);
        assertEquals(offer.address(), back.address());
        assertEquals(offer.key(), back.key());
        assertEquals(-1, back.checksums()[1]);
        message.put("checksums", "1,2");
        assertThrows(IllegalArgumentException.class, () -> Offer.from(message, plan));
    }
}
