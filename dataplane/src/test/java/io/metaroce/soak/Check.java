// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.util.List;

/** What the model checks, with the requirements that a violation would break. */
enum Check {
    WRITE_BYTES("MR-OP-001", "MR-STR-020", "MR-STR-021", "MR-STR-024", "MR-LOSS-001", "MR-LOSS-002", "MR-LOSS-005", "MR-ACK-016"),
    RECEIVE_BYTES("MR-OP-010", "MR-OP-011", "MR-STR-023", "MR-STR-021"),
    RECEIVE_OF_WRITE("MR-OP-012", "MR-STR-023"),
    IMMEDIATE("MR-OP-013"),
    READ_BYTES("MR-READ-002", "MR-READ-003", "MR-READ-006"),
    READ_AFTER_WRITE("MR-READ-002"),
    ZERO_LENGTH("MR-OP-002"),
    ORDER("MR-STR-022", "MR-STR-003", "MR-STR-004"),
    REFUSED_CAUSE("MR-ERR-001", "MR-ERR-002", "MR-ERR-003", "MR-ERR-004", "MR-ERR-005", "MR-ERR-020", "MR-ERR-030"),
    NO_STREAM("MR-ERR-012"),
    FLUSHED("MR-ERR-022", "MR-ERR-024", "MR-ERR-030", "MR-ERR-032", "MR-ERR-033"),
    LOST("MR-CON-031", "MR-CON-033", "MR-CON-045"),
    REGION_GONE("MR-READ-008", "MR-ERR-009"),
    MEMORY("MR-ERR-009", "MR-ERR-010", "MR-STR-013", "MR-STR-021"),
    CONNECTED("MR-CON-003", "MR-CON-004", "MR-CON-005", "MR-CON-006", "MR-CON-012", "MR-CON-013", "MR-CON-014"),
    REFUSED("MR-CON-007", "MR-CON-016", "MR-CON-017"),
    CLOSED("MR-CON-030", "MR-CON-032", "MR-CON-033", "MR-CON-034"),
    FAILED("MR-CON-027", "MR-CON-031", "MR-CON-041", "MR-CON-044", "MR-CON-045"),
    SHARE("MR-SHARE-010"),
    WINDOW("MR-PAR-009"),
    NO_VIOLATION("MR-PATH-013", "MR-PATH-023", "MR-STR-010", "MR-STR-012", "MR-PAR-001", "MR-PAR-005", "MR-CRED-002", "MR-READ-001",
            "MR-ACK-014", "MR-ACK-017"),
    PROGRESS("MR-LOSS-010", "MR-LOSS-011", "MR-LOSS-020", "MR-LOSS-021", "MR-LOSS-022", "MR-LOSS-023", "MR-LOSS-030", "MR-LOSS-031",
            "MR-CRED-001", "MR-CRED-003", "MR-CRED-004", "MR-CRED-005", "MR-CRED-007", "MR-READ-009", "MR-STR-025"),
    NOTHING_LEFT("MR-CON-015", "MR-CON-034", "MR-LIM-002", "MR-LIM-020");

    final List<String> requirements;

    Check(String... requirements) {
        this.requirements = List.of(requirements);
    }
}
