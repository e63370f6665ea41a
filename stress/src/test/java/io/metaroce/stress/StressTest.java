// SPDX-License-Identifier: Apache-2.0
package io.metaroce.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of {@code scripts/stress}: every JCStress test of the rings runs, and none sees what it forbids. */
class StressTest {
    private static final int MOST_SECONDS = 300;
    /** One configuration each, as compilers are not split. */
    private static final int TESTS = 3;

    @TempDir
    Path directory;

    @Test
    void nothingForbiddenIsSeen() throws Exception {
        Path output = directory.resolve("output.txt");
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), "org.openjdk.jcstress.Main"));
        command.addAll(List.of("-m", "quick", "-sc", "false", "-f", "1", "-iters", "3", "-time", "500", "-c", "2", "-r", directory.toString(), "-jvmArgs",
                "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Xmx256m"));
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            fail("not done after " + MOST_SECONDS + " s:\n" + Files.readString(output));
        }
        String text = Files.readString(output);
        assertEquals(0, process.exitValue(), text);
        Matcher summary = Pattern.compile("Results: (\\d+) planned; (\\d+) passed, (\\d+) failed, (\\d+) soft errs, (\\d+) hard errs")
                .matcher(text);
        String[] last = null;
        while (summary.find()) {
            last = new String[] {summary.group(1), summary.group(2), summary.group(3), summary.group(5)};
        }
        assertTrue(last != null, text);
        assertTrue(Integer.parseInt(last[0]) >= TESTS, text);
        assertEquals(last[0], last[1], text);
        assertEquals("0", last[2], text);
        assertEquals("0", last[3], text);
    }
}
