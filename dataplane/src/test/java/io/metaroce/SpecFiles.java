// SPDX-License-Identifier: Apache-2.0
package io.metaroce;

import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the directory {@code spec} of the project from wherever the tests run. */
public final class SpecFiles {
    private SpecFiles() {
    }

    public static Path directory() {
        for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
            if (Files.exists(p.resolve("spec/02-packets.md"))) {
                return p.resolve("spec");
            }
        }
        throw new IllegalStateException("no directory spec above " + Path.of("").toAbsolutePath());
    }
}
