// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.util.List;

/**
 * What a scenario may reach: a check of the model or of the wire that was made, or a situation that counters or the wire show to have
 * come up, with the requirements that say what must happen then.
 */
enum Check {
    WRITE_BYTES("MR-OP-001", "MR-STR-020", "MR-STR-021", "MR-STR-024", "MR-LOSS-001", "MR-LOSS-002", "MR-LOSS-005", "MR-ACK-016"),
    RECEIVE_BYTES("MR-OP-010", "MR-OP-011", "MR-STR-023", "MR-STR-021"),
    RECEIVE_OF_WRITE("MR-OP-012", "MR-STR-023"),
    IMMEDIATE("MR-OP-013"),
    READ_BYTES("MR-READ-002", "MR-READ-003", "MR-READ-006"),
    READ_AFTER_WRITE("MR-READ-002"),
    COMPARE_SWAP("MR-ATOM-001", "MR-ATOM-002", "MR-ATOM-003", "MR-ATOM-006", "MR-ATOM-007"),
    FETCH_ADD("MR-ATOM-001", "MR-ATOM-002", "MR-ATOM-003", "MR-ATOM-006", "MR-ATOM-007"),
    INVALIDATE("MR-OP-020", "MR-OP-021"),
    UNSIGNALED("MR-COMP-001"),
    FENCE("MR-STR-026"),
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
    /** The receiving end, which counts what breaks the rules, has counted nothing. */
    NO_VIOLATION("MR-PATH-013", "MR-STR-010", "MR-PAR-001", "MR-PAR-005", "MR-PAR-010", "MR-CRED-002", "MR-READ-001"),
    PROGRESS("MR-LOSS-005", "MR-CRED-003", "MR-CRED-007", "MR-READ-009", "MR-STR-025"),
    PATHS_RETURN("MR-LOSS-023", "MR-LOSS-024", "MR-LOSS-032"),
    INLINE("MR-MEM-007"),
    SEGMENTS("MR-MEM-006"),
    LOCAL_INVALIDATE("MR-MEM-002", "MR-MEM-005"),
    REGISTERED_ANEW("MR-MEM-002", "MR-MEM-003"),
    LOCAL_ERROR("MR-MEM-004", "MR-ERR-014", "MR-ERR-040"),
    ENDED_BY_PEER("MR-ERR-041", "MR-ERR-042", "MR-ERR-043"),
    NOT_READY("MR-CRED-008"),
    KEY_CHANGE("MR-SEAL-030", "MR-SEAL-032"),
    /* Seen on the wire, and checked there. */
    DATA("MR-PATH-004", "MR-PATH-005", "MR-STR-002", "MR-STR-003", "MR-STR-004", "MR-PKT-002", "MR-PKT-004", "MR-PKT-005", "MR-PKT-006",
            "MR-PAR-001", "MR-ENC-006", "MR-ENC-008"),
    REPEATED("MR-LOSS-001", "MR-LOSS-002", "MR-PKT-007", "MR-CC-031"),
    ANSWERED("MR-READ-011", "MR-READ-012"),
    NEW_ROUTE("MR-PATH-007", "MR-PATH-010", "MR-PATH-011", "MR-PATH-020"),
    PROBED("MR-LOSS-010", "MR-LOSS-011", "MR-PATH-027"),
    IN_ORDER("MR-ACK-001", "MR-ACK-004"),
    GAP("MR-ACK-002", "MR-PKT-010", "MR-PKT-011"),
    OTHER_PLANE("MR-ACK-007", "MR-LOSS-033"),
    CREDIT("MR-CRED-001"),
    CREDIT_REQUEST("MR-CRED-004", "MR-CRED-005"),
    NAK("MR-ACK-010", "MR-ERR-020", "MR-ERR-021"),
    STREAM_RESET("MR-ERR-040", "MR-ERR-041"),
    CONFIRM("MR-ERR-031"),
    SHARES_TOGETHER("MR-SHARE-011"),
    INIT("MR-CON-001", "MR-CON-002", "MR-CON-003"),
    INIT_WITH_COOKIE("MR-CON-004", "MR-CON-012"),
    CHALLENGED("MR-CON-006", "MR-CON-009"),
    CLOSE_SENT("MR-CON-030", "MR-CON-031", "MR-CON-032"),
    RESET_SENT("MR-CON-041", "MR-CON-042"),
    SEALED("MR-SEAL-020", "MR-SEAL-021"),
    /* Shown by counters. */
    MARKED("MR-ENC-013", "MR-ACK-006", "MR-CC-012"),
    PATH_DEAD("MR-LOSS-020", "MR-LOSS-022", "MR-LOSS-023"),
    PLANE_DEAD("MR-LOSS-030", "MR-LOSS-031", "MR-LOSS-032", "MR-LOSS-034"),
    DUPLICATE("MR-STR-013", "MR-PATH-024", "MR-PATH-025"),
    CORRUPT("MR-CRC-001", "MR-CRC-002"),
    BAD_COOKIE("MR-CON-006"),
    FORGED("MR-CON-008", "MR-CON-035"),
    UNKNOWN("MR-CON-020", "MR-CON-021"),
    NOTHING_LEFT("MR-CON-015", "MR-CON-034", "MR-LIM-002", "MR-LIM-020");

    final List<String> requirements;

    Check(String... requirements) {
        this.requirements = List.of(requirements);
    }
}
