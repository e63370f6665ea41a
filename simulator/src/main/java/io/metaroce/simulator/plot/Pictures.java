// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.plot;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.internal.chartpart.Chart;

/** A directory that charts are drawn into, each as SVG and as PNG. Needs a font on the machine, but no screen. */
public final class Pictures {
    private final Path directory;

    /**
     * @param directory is made if it is not there
     * @throws CliException if it cannot be made
     */
    public Pictures(Path directory) {
        System.setProperty("java.awt.headless", "true");
        this.directory = directory;
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new CliException(ExitCode.USAGE, "cannot make the directory " + directory + ": " + e.getMessage());
        }
    }

    /**
     * @param name of the files, without what follows the dot
     * @throws CliException if they cannot be written, or no font is there
     */
    public void save(Chart<?, ?> chart, String name) {
        String file = directory.resolve(name).toString();
        try {
            VectorGraphicsEncoder.saveVectorGraphic(chart, file, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
            BitmapEncoder.saveBitmap(chart, file, BitmapEncoder.BitmapFormat.PNG);
        } catch (IOException e) {
            throw new CliException(ExitCode.FAILED, "cannot write " + file + ": " + e.getMessage());
        } catch (LinkageError | InternalError e) {
            throw new CliException(ExitCode.ENVIRONMENT, "pictures need a font (Debian: apt install fontconfig fonts-dejavu-core): " + e.getMessage());
        }
    }
}
