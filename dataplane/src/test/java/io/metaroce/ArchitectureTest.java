// SPDX-License-Identifier: Apache-2.0
package io.metaroce;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The dependency rules of the house (README: "Packages"). */
class ArchitectureTest {
    /** Each may use only those before it. */
    private static final List<String> ORDER = List.of("wire", "memory", "ring", "transport", "crypto", "port", "core", "verbs", "daemon", "cli");

    private static final Set<String> CLOCKS = Set.of("java.lang.System.nanoTime", "java.lang.System.currentTimeMillis",
            "java.time.Instant.now", "java.time.LocalDateTime.now", "java.time.LocalTime.now", "java.time.ZonedDateTime.now",
            "java.time.OffsetDateTime.now", "java.time.Clock.systemUTC", "java.time.Clock.systemDefaultZone", "java.time.Clock.system");

    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages("io.metaroce");
        assertFalse(classes.isEmpty(), "no classes were found");
    }

    @Test
    void packagesUseOnlyThoseAboveThem() {
        for (int i = 0; i < ORDER.size(); i++) {
            String[] below = ORDER.subList(i + 1, ORDER.size()).stream().map(ArchitectureTest::inside).toArray(String[]::new);
            if (below.length > 0) {
                noClasses().that().resideInAPackage(inside(ORDER.get(i))).should().dependOnClassesThat().resideInAnyPackage(below)
                        .allowEmptyShould(true).check(classes);
            }
        }
    }

    @Test
    void transportUsesOnlyWireAndMemory() {
        noClasses().that().resideInAPackage(inside("transport")).should().dependOnClassesThat(
                resideInAPackage("io.metaroce..").and(describe("are not transport, wire or memory",
                        c -> !resideInAnyPackage(inside("transport"), inside("wire"), inside("memory")).test(c))))
                .check(classes);
        noClasses().that().resideInAPackage(inside("transport")).should().dependOnClassesThat(
                describe("are not of Java or this project", c -> !c.isPrimitive() && !c.isArray()
                        && !resideInAnyPackage("java..", "io.metaroce..").test(c)))
                .check(classes);
    }

    @Test
    void transportHasNoInputOutputThreadOrRandomness() {
        noClasses().that().resideInAPackage(inside("transport")).should().dependOnClassesThat().resideInAnyPackage(
                "java.net..", "java.io..", "java.nio.channels..", "java.nio.file..", "java.util.concurrent..", "java.util.random..",
                "java.security..").check(classes);
        noClasses().that().resideInAPackage(inside("transport")).should().dependOnClassesThat(
                describe("are Thread or Random", c -> Set.of("java.lang.Thread", "java.util.Random", "java.util.SplittableRandom")
                        .contains(c.getFullName()))).check(classes);
    }

    @Test
    void cryptographyIsInOnePackage() {
        noClasses().that().resideOutsideOfPackage(inside("crypto")).should().dependOnClassesThat().resideInAnyPackage("javax.crypto..")
                .check(classes);
    }

    @Test
    @Requirement("MR-GEN-013")
    void onlyCoreReadsTheClock() {
        noClasses().that().resideOutsideOfPackage(inside("core")).should().accessTargetWhere(
                describe("read a clock", (JavaAccess<?> access) -> readsClock(access.getTarget()))).check(classes);
    }

    private static boolean readsClock(AccessTarget target) {
        String name = target.getOwner().getFullName() + "." + target.getName();
        return CLOCKS.contains(name) || name.equals("java.util.Date.<init>");
    }

    private static String inside(String name) {
        return "io.metaroce." + name + "..";
    }
}
