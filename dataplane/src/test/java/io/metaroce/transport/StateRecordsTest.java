// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.SpecFiles;
import io.metaroce.memory.RegionTable;
import io.metaroce.wire.NetAddress;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an endpoint reserves is what the specification's table of state says, and nothing beside it. */
@Requirement("MR-LIM-020")
class StateRecordsTest {
    private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([0-9,]+|(?:[0-9]+ x )?[A-Z_]+(?: / 8)?|[0-9]+, and [0-9]+ a plane) \\| ([^|]*) \\|$");

    private static EndpointConfig config(int planes) {
        EndpointConfig config = Peers.config(5);
        config.localAddresses = new NetAddress[planes];
        config.sourcePorts = new int[planes][];
        for (int plane = 0; plane < planes; plane++) {
            config.localAddresses[plane] = TestNetwork.address(1, plane);
            config.sourcePorts[plane] = new int[] {50_000};
        }
        return config;
    }

    /** Record to bytes, as stated. */
    private static Map<String, Long> stated(EndpointConfig config) throws Exception {
        String text = Files.readString(SpecFiles.directory().resolve("07-limits.md"));
        Map<String, Long> stated = new LinkedHashMap<>();
        for (String line : text.substring(text.indexOf("## State")).split("\n")) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                long bytes = 1;
                for (String factor : row.group(2).replace(" / 8", "").replaceFirst(", and .*", "").replace(",", "").split(" x ")) {
                    bytes *= switch (factor) {
                        case "STREAM_WINDOW" -> config.streamWindowPackets / 8;
                        case "SHARED_RECEIVES" -> config.sharedReceivesPerStream;
                        case "SEGMENTS" -> config.maxSegments;
                        case "INLINE" -> config.maxInlineBytes;
                        case "RECEIVES" -> config.receiveQueueDepth;
                        case "MAX_READS" -> Limits.MAX_READS;
                        default -> Long.parseLong(factor);
                    };
                }
                stated.put(row.group(1), bytes);
            }
        }
        return stated;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void everyRecordHasAtMostTheBytesStated(int planes) throws Exception {
        EndpointConfig config = config(planes);
        Map<String, Long> stated = stated(config);
        List<StateRecords.Kind> kinds = new Endpoint(config, new RegionTable()).stateRecords();
        assertTrue(kinds.size() >= 12, kinds.toString());
        for (StateRecords.Kind kind : kinds) {
            assertTrue(stated.containsKey(kind.name()), () -> "the specification does not know the " + kind.name() + ", only " + stated.keySet());
            long most = stated.get(kind.name()) + (kind.name().startsWith("parked") ? 24L * planes : 0);
            assertEquals(most, kind.statedBytes(), kind.name());
            assertTrue(kind.isWithin(), kind.toString());
        }
    }

    @Test
    void nothingElseIsReserved() {
        Endpoint endpoint = new Endpoint(config(2), new RegionTable());
        List<StateRecords.Kind> kinds = endpoint.stateRecords();
        long sum = kinds.stream().mapToLong(StateRecords.Kind::reservedBytes).sum();
        // Each kind begins on a cache line.
        long rounding = 64L * kinds.size();
        assertTrue(endpoint.stateBytes() >= sum && endpoint.stateBytes() <= sum + rounding, endpoint.stateBytes() + " for " + sum);
    }
}
