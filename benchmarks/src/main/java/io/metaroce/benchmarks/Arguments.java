// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** Arguments of the form key=value. */
final class Arguments {
    private final List<String> given = new ArrayList<>();

    Arguments(String[] args) {
        for (String arg : args) {
            if (arg.indexOf('=') > 0) {
                given.add(arg);
            }
        }
    }

    List<String> given() {
        return given;
    }

    String text(String key, String otherwise) {
        String found = otherwise;
        for (String arg : given) {
            if (arg.startsWith(key + "=")) {
                found = arg.substring(key.length() + 1);
            }
        }
        return found;
    }

    int integer(String key, int otherwise) {
        return Integer.parseInt(text(key, Integer.toString(otherwise)));
    }
}
