// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Records of named values as lines of JSON and CSV. Values are texts, {@code Long} or {@code Double}. */
public final class Records {
    private Records() {
    }

    /** One object on one line. */
    public static String json(Map<String, Object> fields) {
        return fields.entrySet().stream().map(e -> quoted(e.getKey()) + ":" + (e.getValue() instanceof String s ? quoted(s) : number(e.getValue())))
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** The first line of a CSV file. */
    public static String csvHead(Map<String, Object> fields) {
        return String.join(",", fields.keySet());
    }

    public static String csv(Map<String, Object> fields) {
        return fields.values().stream().map(v -> v instanceof String s ? csvText(s) : number(v)).collect(Collectors.joining(","));
    }

    /** Reads what {@link #json} wrote; null: it is something else, or half a line. */
    public static Map<String, Object> parse(String line) {
        Map<String, Object> fields = new LinkedHashMap<>();
        Matcher m = FIELD.matcher(line);
        int at = 1;
        while (m.find(at) && m.start() == at) {
            String name = unquoted(m.group(1));
            if (m.group(2) != null) {
                fields.put(name, unquoted(m.group(2)));
            } else if (m.group(3).matches("-?\\d+")) {
                fields.put(name, Long.parseLong(m.group(3)));
            } else {
                fields.put(name, m.group(3).equals("null") ? Double.NaN : Double.parseDouble(m.group(3)));
            }
            at = m.end();
        }
        return line.startsWith("{") && at == line.length() && line.endsWith("}") ? fields : null;
    }

    private static final String TEXT = "\"((?:[^\"\\\\]|\\\\.)*)\"";
    private static final Pattern FIELD = Pattern.compile(TEXT + ":(?:" + TEXT + "|([-0-9.]+|null))[,}]");

    private static String unquoted(String s) {
        return s.replaceAll("\\\\([\"\\\\])", "$1");
    }

    private static String csvText(String s) {
        return s.matches("[^,\"\n\r]*") ? s : '"' + s.replace("\"", "\"\"") + '"';
    }

    private static String quoted(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }

    private static String number(Object value) {
        return value instanceof Double d ? Double.isFinite(d) ? String.format(Locale.ROOT, "%.4f", d) : "null" : value.toString();
    }
}
