// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a connection in the slab (spec: "State"). A record is 512 B, its planes apart ({@link PlaneRecord}). */
final class ConnectionRecord {
    static final int BYTES = 512;

    /* States. */
    static final int FREE = 0;
    static final int INIT_SENT = 1;
    static final int COOKIE_SENT = 2;
    /** Responder after ACCEPT, before the first packet that proves the initiator has it. */
    static final int HALF_OPEN = 3;
    static final int ESTABLISHED = 4;
    /** The application asked for a graceful close; posted work is still being finished. */
    static final int DRAINING = 5;
    static final int CLOSE_SENT = 6;
    /** Closed by the peer; stays for a moment to answer a repeated CLOSE. */
    static final int LINGER = 7;
    /** PARK is repeated until the peer has parked, or one of us has something to do. */
    static final int PARKING = 8;

    /** Bit of ACK_NOW above those of planes. */
    static final int TELL = 1 << Limits.MAX_PLANES;

    private static final Layout L = new Layout("connection", BYTES);
    /* First cache line: who it is, and where its parts are. */
    static final int POOL_LINK = L.i64();
    /** What the application calls the connection, and what its peer calls it while it is parked: the CID that it had first. */
    static final int HANDLE = L.i32();
    static final int STATE = L.i32();
    /** Slot in the pool. */
    static final int INDEX = L.i32();
    static final int LOCAL_CID = L.i32();
    static final int REMOTE_CID = L.i32();
    /** XORed into the checksum of packets sent to us, and of those we send. */
    static final int LOCAL_TAG = L.i32();
    static final int REMOTE_TAG = L.i32();
    static final int PLANES = L.i32();
    static final int PATHS_PER_PLANE = L.i32();
    static final int PAYLOAD_MTU = L.i32();
    static final int FIRST_PLANE = L.i64();
    static final int FIRST_PATH = L.i64();
    /* Second: turns, what is owed in acknowledgements. */
    static final int PROTECTION_DOMAIN = L.i32();
    static final int READY_NEXT = L.i64();
    static final int URGENT_NEXT = L.i64();
    static final int LAST_RX_NS = L.i64();
    static final int LAST_TX_NS = L.i64();
    /** When the first plane's acknowledgement has waited for long enough; 0: none waits. */
    static final int ACK_DEADLINE = L.i64();
    /** Bit a plane that owes an acknowledgement at once, and {@link #TELL} for what is not about a plane. */
    static final int ACK_NOW = L.i32();
    /** Bit a plane: an acknowledgement of this plane has news. */
    static final int DIRTY_PLANES = L.i32();
    /* Third: what is sent. Streams with unsent packets, in turn; packets of dead paths, to go on any live path. */
    static final int STREAMS_HEAD = L.i64();
    static final int STREAMS_TAIL = L.i64();
    static final int ORPHAN_HEAD = L.i64();
    static final int CHECK_NS = L.i64();
    /** Packets out, over all planes. */
    static final int IN_FLIGHT = L.i32();
    static final int UNSENT_PACKETS = L.i32();
    /** Paths that are neither good nor idle: probing or draining. */
    static final int SICK_PATHS = L.i32();
    static final int PROBES_WANTED = L.i32();
    static final int INTEGRITY = L.i32();
    /** {@link Sealing#SEALED} if what is sent and received is encrypted; {@link Sealing#RESUMING} while an encrypted one has no keys yet. */
    static final int SEALED = L.i32();
    static final int ACK_EVERY = L.i32();
    static final int ACK_TURN = L.i32();
    /* Fourth: what every packet or turn looks at and seldom changes. */
    /** Something of the peer's has arrived since the handshake. */
    static final int CONFIRMED = L.i32();
    /** Reason for which the connection is to be aborted at its next turn, or 0. */
    static final int ABORT_REASON = L.i32();
    /** Bits of {@link Handshake}: a control datagram to send. */
    static final int CONTROL = L.i32();
    static final int NAK_COUNT = L.i32();
    static final int NEWS_COUNT = L.i32();
    static final int KEEPALIVES = L.i32();
    /** Something is to be told or asked about planes. */
    static final int PLANE_NEWS = L.i32();
    /** Some plane is being measured, or no plane carries what is under way, since then. */
    static final int SIZE_NEWS = L.i32();
    /** Payload of a full packet of messages that begin now; what routes must carry while messages with larger ones live, and how many these are. */
    static final int PACKET_BYTES = L.i32();
    static final int ROUTE_BYTES = L.i32();
    static final int LARGER_WORK = L.i32();
    static final int STREAM_WINDOW = L.i32();
    static final int PEER_BUFFER = L.i32();
    static final int PEER_DUPLICATES = L.i32();
    /** Twice as many as came twice, and 1 while that is not told. */
    static final int DUPLICATES = L.i32();
    /** Streams refused for want of room, told once in the next acknowledgement. */
    static final int REFUSED_COUNT = L.i32();
    /* Fifth: what packets look at, and what a message touches. */
    static final int HANDSHAKE_START_NS = L.i64();
    /** Stream of the last packet with ACK_REQUEST, while packets before it are missing; 0: none are. In the place of the above, once established. */
    static final int ASKED_STREAM = HANDSHAKE_START_NS;
    /** When to look for streams that wait for credit, or have a Read to answer and found no work record; 0: none. */
    static final int WAITERS_NS = L.i64();
    /** Streams with a NAK not yet confirmed by the peer, then those with credit to tell, then those to confirm or ask. */
    static final int NAK_HEAD = L.i64();
    static final int NEWS_HEAD = L.i64();
    /** All streams of the connection. */
    static final int ALL_STREAMS = L.i64();
    static final int ORPHAN_TAIL = L.i64();
    static final int WORK_REQUESTS = L.i32();
    /** Set while the initiator role is ours. */
    static final int INITIATOR = L.i32();
    /* What is rarely touched. */
    static final int KEEPALIVE_TX_NS = L.i64();
    /** Some stream cannot go on and waits for room to say so. */
    static final int RESET_WAIT = L.i32();
    /** When what is not confirmed is told again by itself. */
    static final int NAK_REPEAT_NS = L.i64();
    /* Negotiated. */
    static final int MAX_STREAMS = L.i32();
    static final int PEER_MAX_READS = L.i32();
    /* Handshake and close. */
    static final int NONCE = L.i64();
    static final int COOKIE = L.i64Array(2);
    /* Where the initiator's INIT came from and is answered: plane, address, and the receive port that it told. */
    static final int ANSWER_HIGH = L.i64();
    static final int ANSWER_LOW = L.i64();
    static final int ANSWER_PORT = L.i32();
    static final int ANSWER_PLANE = L.i32();
    /** Told in INIT or ACCEPT, and the same in each repetition. */
    static final int START_SHARE_KBPS = L.i32();
    static final int RETRY_NS = L.i64();
    static final int RETRY_DELAY_NS = L.i64();
    static final int CLOSE_REASON = L.i32();
    static final int CLOSE_TRIES = L.i32();
    static final int SERVICE = L.i32();
    /** Shared receive queue of all streams to come, + 1; 0: none. */
    static final int SHARED_QUEUE = L.i32();
    /** ID and MSN of each of {@link #REFUSED_COUNT}. */
    static final int REFUSED = L.i32Array(2 * Limits.REFUSED_STREAMS);
    /** The application has the connection already: the handshake under way resumes it. */
    static final int KNOWN = L.i32();
    /** What the peer calls the parked connection. */
    static final int REMOTE_NAME = L.i32();
    /* The context that the connection had when it was parked, while it is being resumed. */
    static final int PARKED_CID = L.i32();
    static final int PARKED_LOCAL_TAG = L.i32();
    static final int PARKED_REMOTE_TAG = L.i32();
    /** The application closed it while it was being resumed. */
    static final int CLOSING = L.i32();
    static final int PARKED_NONCE = L.i64();
    /** Data packets both ways at the last look, and since when there are no more: where the cookie was before the connection was established. */
    static final int IDLE_PACKETS = COOKIE;
    static final int IDLE_SINCE_NS = COOKIE + 8;
    /* In the place of what only counts while a connection is being resumed. */
    static final int STUCK_SINCE_NS = PARKED_NONCE;
    /** How long after the time before {@link #NAK_REPEAT_NS} is. */
    static final int NAK_DELAY_NS = L.i32();
    /* Parity packets, see EndpointState.parities: the one that is being made; those that wait to be of use, and those that were, until that is told. */
    static final int PARITY_MADE = L.i32();
    static final int PARITY_HELD = L.i32();
    static final int PARITY_USED = L.i32();

    static {
        L.end();
    }

    private ConnectionRecord() {
    }
}
