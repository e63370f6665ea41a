// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.Main;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How to start this command again as another process: same Java, same flags, same class path. */
final class OwnJava {
    private OwnJava() {
    }

    static List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (isForAll(flag)) {
                command.add(flag);
            }
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(arguments);
        return command;
    }

    /** Debuggers, agents, and a file that is written at the end belong to this process alone. */
    static boolean isForAll(String flag) {
        return !flag.startsWith("-agent") && !flag.startsWith("-javaagent") && !flag.startsWith("-XX:AOTCacheOutput");
    }
}
