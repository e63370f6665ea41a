// SPDX-License-Identifier: Apache-2.0
package io.metaroce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/** Keeps the requirement identifiers of {@code spec/} in order, and the table of the tests that name them. */
class RequirementIndexTest {
    private final Path directory = SpecFiles.directory();
    private final RequirementIndex index;

    RequirementIndexTest() throws IOException {
        index = new RequirementIndex(directory);
    }

    @Test
    void identifiersAreUniqueAndEveryMustHasOne() {
        assertTrue(index.problems.isEmpty(), () -> String.join("\n", index.problems));
    }

    @Test
    void everyRequirementSaysHowBindingItIs() {
        for (RequirementIndex.Entry e : index.entries.values()) {
            assertTrue(!e.level().equals("none"), () -> e.id() + " in " + e.file() + " has no MUST, SHOULD or MAY");
        }
    }

    @Test
    void everyIdentifierMentionedIsDefined() {
        for (Map.Entry<String, TreeSet<String>> mention : index.mentions.entrySet()) {
            assertTrue(index.entries.containsKey(mention.getKey()),
                    () -> mention.getKey() + " is mentioned in " + mention.getValue() + " and defined nowhere");
        }
    }

    @Test
    void theCommittedIndexIsCurrent() throws Exception {
        Path file = directory.resolve(RequirementIndex.INDEX_FILE);
        String page = index.page(annotatedTests());
        if (Boolean.getBoolean("spec.writeIndex")) {
            Files.writeString(file, page);
        }
        assertTrue(page.equals(Files.readString(file)), "spec/requirements.md is out of date: run this test with -Dspec.writeIndex=true");
    }

    @Test
    void testsNameRequirementsThatExist() throws Exception {
        Map<String, TreeSet<String>> tests = annotatedTests();
        for (Map.Entry<String, TreeSet<String>> test : tests.entrySet()) {
            assertTrue(index.entries.containsKey(test.getKey()), () -> test.getValue() + " name " + test.getKey() + ", which spec/ does not define");
        }
    }

    @Test
    void everyMustHasATest() throws Exception {
        assertEquals(new TreeSet<>(), index.untestedMusts(annotatedTests().keySet()), "name them in @Requirement of a test that fails when they are broken");
    }

    /** Identifier to the tests that name it, over all compiled test classes. */
    private static Map<String, TreeSet<String>> annotatedTests() throws Exception {
        Path root = Path.of(RequirementIndexTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Map<String, TreeSet<String>> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                String name = root.relativize(file).toString().replace(file.getFileSystem().getSeparator(), ".").replaceAll("\\.class$", "");
                Class<?> type = Class.forName(name, false, RequirementIndexTest.class.getClassLoader());
                collect(type, type.getSimpleName(), found);
                for (Method method : type.getDeclaredMethods()) {
                    collect(method, type.getSimpleName() + "#" + method.getName(), found);
                }
            }
        }
        return found;
    }

    private static void collect(AnnotatedElement element, String name, Map<String, TreeSet<String>> into) {
        Requirement requirement = element.getAnnotation(Requirement.class);
        if (requirement != null) {
            assertTrue(element instanceof Class || AnnotationSupport.isAnnotated(element, Testable.class), () -> name + " names requirements but is no test");
            assertFalse(AnnotationSupport.isAnnotated(element, Disabled.class), () -> name + " names requirements but is not run");
            Arrays.stream(requirement.value()).forEach(id -> into.computeIfAbsent(id, _ -> new TreeSet<>()).add(name));
        }
    }
}
