// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.Extension;

/** Brings {@code sim} into the {@code metaroce} command. */
public final class SimExtension implements Extension {
    @Override
    public Object command() {
        return new SimCommand();
    }
}
