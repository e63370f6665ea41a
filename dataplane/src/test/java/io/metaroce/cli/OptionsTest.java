// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the command says to wrong options, and with which exit code: one line, no trace. */
class OptionsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "perf|say 'server', 'client HOST', 'demo' or --local",
        "frob|Unmatched argument",
        "perf --local --op frob|--op",
        "perf --local --size 3X|'3X' is not a number of bytes",
        "perf --local --size 0|--size 0 is outside",
        "perf --local --size 2G|--size 2147483648 is outside",
        "perf --local --planes 9|--planes 9 is outside 1..8",
        "perf --local --planes 4 --paths 6|--paths 6 is not a multiple of --planes 4",
        "perf --local --seconds 1 --iterations 5|exclude each other",
        "perf --local --seconds 0|--seconds 0.0 is outside",
        "perf --local --iterations 0|--iterations 0 is not positive",
        "perf --local --intervals 10ms|--intervals needs --json",
        "perf --local --json --intervals 10|'10' is not a time with its unit",
        "perf --local --json --intervals 1us --seconds 10|makes more than",
        "perf --local --loss 1.5|--loss 1.5 is outside",
        "perf --local --mtu 100|--mtu 100 is outside",
        "perf --local --latency --depth 4|leave out --depth",
        "perf --local --latency --bidirectional|exclude each other",
        "perf --local --streams 1024|--streams 1024 is outside",
        "perf --local --depth 200|--depth 200 is outside",
        "perf --local --streams 1000 --depth 100|messages in flight 100000",
        "perf --local --size 1G --streams 4|memory for the run",
        "perf --local --block-plane 1@1|names none of the 1 planes",
        "perf --local --block-plane x@1|'x@1' is not PLANE@SECONDS",
        "perf --local --impair foo=1|unknown impairment 'foo'",
        "perf --local --eal x|--eal needs --port dpdk",
        "perf --local --bind 127.0.0.1 --planes 2|--bind names 1 addresses for 2 planes",
        "perf --local --rate 5|--rate 5 is outside",
        "perf --local --hdr /no/such/folder/x|--hdr /no/such/folder/x is in a folder",
        "perf client|HOST",
        "perf client 127.0.0.1:99999|no port from 1 to 65535",
        "perf server --udp-port 70000|--udp-port 70000 is outside",
        "perf demo --seconds 0|--seconds 0.0 is outside"})
    void wrongOptionsGiveOneLineAndCode2(String arguments, String expected) {
        assertEquals(ExitCode.USAGE, run(arguments.split(" ")));
        assertTrue(err.toString().startsWith("error: "), err.toString());
        assertTrue(err.toString().contains(expected), err.toString());
        assertEquals(1, err.toString().lines().count(), err.toString());
        assertEquals("", out.toString());
    }

    @ParameterizedTest
    @CsvSource({"--help", "perf --help", "perf server --help", "perf client --help", "perf demo --help"})
    void helpIsEverywhere(String arguments) {
        assertEquals(ExitCode.OK, run(arguments.split(" ")));
        assertTrue(out.toString().startsWith("Usage: metaroce"), out.toString());
        assertEquals("", err.toString());
    }

    @Test
    void helpNamesTheExitCodes() {
        run("--help");
        for (String code : new String[] {"  0 ", "  1 ", "  2 ", "  3 ", "  4 ", "  130 "}) {
            assertTrue(out.toString().contains(code), code);
        }
    }

    @Test
    void versionIsOneLine() {
        assertEquals(ExitCode.OK, run("--version"));
        assertTrue(out.toString().startsWith("metaroce "), out.toString());
        assertEquals(1, out.toString().lines().count());
    }

    @Test
    void anUnknownHostIsAPeerProblem() {
        assertEquals(ExitCode.PEER, run("perf", "client", "no-such-host.invalid"));
        assertEquals("error: host 'no-such-host.invalid' is not known", err.toString().strip());
    }
}
