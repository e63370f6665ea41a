// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.port.ImpairmentConfig.Outage;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ImpairmentConfigTest {
    @Test
    void readsEverything() {
        long never = ImpairmentConfig.NEVER;
        assertEquals(new ImpairmentConfig(0.01, 0.001, 1e-5, 0.5, 100_000, 50_500, 2_000_000, 99,
                List.of(new Outage(2, -1, 1_000_000_000, never, 3_000_000_000L, never), new Outage(0, 3, never, 1000, never, never),
                    new Outage(1, -1, 0, never, never, 20))),
            ImpairmentConfig.parse("loss=0.01, dup=0.1%,corrupt=1e-5,ce=50%,delay=100us,jitter=50.5us,skew=2ms,held=99,"
                + "blockplane=2@1s..3s,blockpath=0/3@1000pkt..,blockplane=1@..20pkt"));
        assertEquals(ImpairmentConfig.NONE, ImpairmentConfig.parse(""));
        assertEquals(new Outage(4, -1, 0, never, never, never), ImpairmentConfig.parse("blockplane=4").outages().getFirst());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "loss=0.01", "loss=0.01,dup=0.001,corrupt=1.0E-5,ce=0.5,delay=100000ns,jitter=50500ns,skew=7ns,held=99,"
        + "blockplane=2@1000000000ns..3000000000ns,blockpath=0/3@1000pkt..,blockplane=1@..20pkt"})
    void printsAsItReads(String text) {
        assertEquals(text, ImpairmentConfig.parse(text).toString());
    }

    @Test
    void outagesBeginAndEnd() {
        Outage timed = ImpairmentConfig.parse("blockplane=0@10ns..20ns").outages().getFirst();
        assertFalse(timed.isActive(9, 0));
        assertTrue(timed.isActive(10, 0));
        assertTrue(timed.isActive(19, 5));
        assertFalse(timed.isActive(20, 5));
        Outage counted = ImpairmentConfig.parse("blockplane=0@2pkt..4pkt").outages().getFirst();
        assertFalse(counted.isActive(0, 1));
        assertTrue(counted.isActive(0, 2));
        assertFalse(counted.isActive(0, 4));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "los=1|unknown impairment 'los'; known: loss, dup, corrupt, ce, delay, jitter, skew, held, blockplane, blockpath",
        "loss|impairment 'loss' has no value; write name=value, names: loss, dup, corrupt, ce, delay, jitter, skew, held, blockplane, blockpath",
        "loss=2|impairment loss=2.0 is outside 0..1",
        "loss=-1|impairment loss=-1.0 is outside 0..1",
        "loss=NaN|impairment loss=NaN is outside 0..1",
        "dup=often|impairment dup=often: expected a probability, as in 0.01 or 1%",
        "delay=100|impairment delay=100: expected a time with its unit, as in 100us",
        "delay=-1us|impairment delay=-1us: expected a time with its unit, as in 100us",
        "jitter=us|impairment jitter=us: expected a time with its unit, as in 100us",
        "held=0|impairment held=0 is outside 1..1048576",
        "held=many|impairment held=many: expected a whole number",
        "blockplane=1/2|impairment blockplane=1/2: write a plane number, as in 2@1s..3s",
        "blockpath=1|impairment blockpath=1: write plane/index, as in 0/3@1s..2s",
        "blockplane=1@2s|impairment blockplane=1@2s: a period is from..until, as in 1s..3s or 1000pkt..",
        "loss=0.1,,dup=0.1|impairment '' has no value; write name=value, names: loss, dup, corrupt, ce, delay, jitter, skew, held, blockplane, blockpath"})
    void saysWhatIsWrong(String text, String message) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> ImpairmentConfig.parse(text)).getMessage());
    }
}
