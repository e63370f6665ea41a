// SPDX-License-Identifier: Apache-2.0
package io.metaroce;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the requirements of {@code spec/} that a test, or all tests of a class, prove. {@link RequirementIndexTest} checks the names. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Requirement {
    /** Identifiers such as "MR-PATH-012". */
    String[] value();
}
