// SPDX-License-Identifier: Apache-2.0
package io.metaroce;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The requirements that {@code spec/*.md} states: each begins with its identifier in bold and brackets and ends with its list
 * item or table row.
 */
final class RequirementIndex {
    static final String INDEX_FILE = "requirements.md";
    private static final Pattern DEFINITION = Pattern.compile("\\*\\*\\[(MR-[A-Z]+-\\d{3})]\\*\\*");
    private static final Pattern MENTION = Pattern.compile("MR-[A-Z]+-\\d{3}");
    private static final Pattern LEVEL = Pattern.compile("\\b(MUST|SHOULD|MAY)\\b");

    /** A requirement: where it stands, and how binding it is. A table row takes the binding of its table's head, MUST. */
    record Entry(String id, String file, String level, String text) {
    }

    final Map<String, Entry> entries = new TreeMap<>();
    final List<String> problems = new ArrayList<>();
    /** Identifiers mentioned anywhere, with the files that do. */
    final Map<String, TreeSet<String>> mentions = new TreeMap<>();

    RequirementIndex(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(RequirementIndex::isText).sorted().toList()) {
                read(file.getFileName().toString(), Files.readString(file));
            }
        }
    }

    private static boolean isText(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(".md") && !name.equals(INDEX_FILE);
    }

    private void read(String file, String text) {
        Matcher mention = MENTION.matcher(text);
        while (mention.find()) {
            mentions.computeIfAbsent(mention.group(), _ -> new TreeSet<>()).add(file);
        }
        for (String paragraph : text.split("\\n\\s*\\n(?! )|\\n(?=- )|\\n(?=\\|)")) {
            Matcher m = DEFINITION.matcher(paragraph);
            boolean found = false;
            while (m.find()) {
                found = true;
                define(new Entry(m.group(1), file, level(paragraph), body(paragraph.substring(m.end()))));
            }
            if (!found && paragraph.matches("(?s).*\\bMUST\\b.*") && !paragraph.startsWith("|") && !file.equals("README.md")) {
                problems.add(file + ": a MUST without identifier: " + body(paragraph));
            }
        }
    }

    private void define(Entry entry) {
        Entry before = entries.put(entry.id, entry);
        if (before != null) {
            problems.add(entry.id + " is defined in " + before.file + " and again in " + entry.file);
        }
    }

    private static String level(String paragraph) {
        if (paragraph.startsWith("|")) {
            return "MUST";
        }
        Matcher m = LEVEL.matcher(paragraph);
        return m.find() ? m.group() : "none";
    }

    private static String body(String text) {
        return text.replaceAll("\\s+", " ").replaceAll("^ ?\\|?|\\|? *$", "").strip();
    }

    /**
     * The index page, as it should be committed. It holds no totals: lines that every change touches would set all branches against one
     * another.
     */
    String page(Map<String, TreeSet<String>> tests) {
        StringBuilder page = new StringBuilder("""
                # Requirement index

                Written by `RequirementIndexTest` (with `-Dspec.writeIndex=true`); do not edit. The binding text is in the file named. A class
                without a method stands for all its tests.

                | Identifier | Level | File | Begins | Tests |
                |---|---|---|---|---|
                """);
        for (Entry e : entries.values()) {
            page.append("| ").append(e.id).append(" | ").append(e.level).append(" | [").append(e.file).append("](").append(e.file).append(") | ")
                    .append(beginning(e.text)).append(" | ").append(String.join(", ", tests.getOrDefault(e.id, new TreeSet<>()))).append(" |\n");
        }
        return page.toString();
    }

    TreeSet<String> untestedMusts(Set<String> tested) {
        return entries.values().stream().filter(e -> e.level.equals("MUST") && !tested.contains(e.id)).map(Entry::id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String beginning(String text) {
        String plain = text.replaceAll("\\[([^]]+)]\\([^)]*\\)", "$1").replace("|", "/").replaceAll("```.*", "");
        if (plain.length() <= 80) {
            return plain;
        }
        return plain.substring(0, plain.lastIndexOf(' ', 80)) + " ...";
    }
}
