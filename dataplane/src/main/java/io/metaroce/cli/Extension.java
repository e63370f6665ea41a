// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

/**
 * A subcommand that another module brings along, found by {@link java.util.ServiceLoader}: the object is annotated as picocli's
 * {@code Command} and runs like the commands of this module.
 */
public interface Extension {
    /** The annotated command, a new one each time. */
    Object command();
}
