// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.Main;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnJavaTest {
    @Test
    void otherProcessesShareFlagsButNotWhatIsOfOneProcess() {
        assertTrue(OwnJava.isForAll("-Xmx512m"));
        assertTrue(OwnJava.isForAll("-XX:AOTCache=target/metaroce.aot"));
        for (String own : List.of("-agentlib:jdwp=server=y", "-javaagent:x.jar", "-XX:AOTCacheOutput=target/metaroce.aot")) {
            assertFalse(OwnJava.isForAll(own), own);
        }
    }

    @Test
    void theCommandEndsWithItsArguments() {
        List<String> command = OwnJava.command(List.of("perf", "server"));
        assertEquals(List.of(Main.class.getName(), "perf", "server"), command.subList(command.size() - 3, command.size()));
    }
}
