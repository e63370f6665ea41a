// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds and loads {@code libmetaroce_pmd.so}, once a process. Thread-safe.
 *
 * <p>Looked for, in this order: the file named by system property {@code metaroce.pmd}; the file named by environment variable
 * {@code METAROCE_PMD}; {@code pmd-shim/build/} under the working directory, under the folder of this class's jar, and under
 * the folders above each of them. A named file that is missing is an error: nothing else is tried.
 */
public final class PmdLibrary {
    public static final String FILE_NAME = "libmetaroce_pmd.so";

    private static final String BUILT = "pmd-shim/build/" + FILE_NAME;
    private static final String REMEDY = "DPDK ports need DPDK 22.11 or later (Debian: apt install libdpdk-dev dpdk) and the shim "
            + "built by scripts/build-shim; UDP ports need neither";

    private static Path loaded;

    private PmdLibrary() {
    }

    /**
     * Loads the library unless that was done before.
     *
     * @return the file
     * @throws PmdUnavailableException if there is none, it cannot be loaded, or it has another ABI than these bindings
     */
    public static synchronized Path load() {
        if (loaded == null) {
            Path file = find();
            try {
                System.load(file.toString());
            } catch (UnsatisfiedLinkError e) {
                throw new PmdUnavailableException("cannot load " + file + ": " + e.getMessage() + ". " + REMEDY, e);
            }
            int abi = PmdShim.mrpmd_abi_version();
            if (abi != PmdShim.MRPMD_ABI_VERSION()) {
                throw new PmdUnavailableException(file + " has ABI " + abi + ", these bindings need " + PmdShim.MRPMD_ABI_VERSION()
                        + ": run scripts/build-shim again", null);
            }
            loaded = file;
        }
        return loaded;
    }

    /** The DPDK version behind the library, such as "DPDK 22.11.11". */
    public static String dpdkVersion() {
        load();
        return PmdShim.mrpmd_dpdk_version().getString(0);
    }

    private static Path find() {
        for (String named : new String[] {System.getProperty("metaroce.pmd"), System.getenv("METAROCE_PMD")}) {
            if (named != null && !named.isBlank()) {
                Path file = Path.of(named).toAbsolutePath();
                if (!Files.isRegularFile(file)) {
                    throw new PmdUnavailableException("metaroce.pmd or METAROCE_PMD names " + file + ", which is not a file", null);
                }
                return file;
            }
        }
        List<Path> tried = new ArrayList<>();
        for (Path start : starts()) {
            for (Path folder = start; folder != null; folder = folder.getParent()) {
                Path file = folder.resolve(BUILT);
                if (Files.isRegularFile(file)) {
                    return file;
                }
            }
            tried.add(start);
        }
        throw new PmdUnavailableException("no " + BUILT + " in or above " + tried + ". " + REMEDY, null);
    }

    private static List<Path> starts() {
        List<Path> starts = new ArrayList<>();
        starts.add(Path.of("").toAbsolutePath());
        CodeSource source = PmdLibrary.class.getProtectionDomain().getCodeSource();
        if (source != null) {
            try {
                starts.add(Path.of(source.getLocation().toURI()).toAbsolutePath());
            } catch (URISyntaxException | IllegalArgumentException e) {
                // A location that is no file: the working directory remains.
            }
        }
        return starts;
    }
}
