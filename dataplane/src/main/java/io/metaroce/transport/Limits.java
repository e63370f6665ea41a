// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Limits and default constants of the protocol, each with its reaction in spec: "Limits". */
public final class Limits {
    public static final int MAX_PLANES = 8;
    public static final int MAX_PATHS_PER_PLANE = 256;
    public static final int MIN_PAYLOAD_MTU = 256;
    public static final int MAX_PAYLOAD_MTU = 16_384;
    public static final int MAX_MESSAGE_BYTES = 1 << 30;
    public static final int MIN_STREAM_WINDOW = 64;
    public static final int MAX_STREAM_WINDOW = 65_536;
    /** PSNs a path may have between its oldest packet out and its newest. */
    public static final int PSN_WINDOW = 256;
    /** NAKs of a connection that may wait for confirmation; one more aborts it. */
    public static final int MAX_PENDING_NAKS = 24;
    /** Streams ended by us that may wait for confirmation; others keep to themselves that they cannot go on until there is room. */
    public static final int MAX_PENDING_RESETS = 8;
    /** Refusals of streams without room that one acknowledgement can tell; the others are told when their packets come again. */
    static final int REFUSED_STREAMS = 4;
    /** Where an acknowledgement comes every so many packets or more often, marks are not told at once. */
    static final int MARKS_WAIT_FOR = 4;
    /** Path blocks and control blocks in one acknowledgement. */
    public static final int MAX_PATH_BLOCKS = 8;
    /** Reads and atomics a stream may have in flight, a power of two. */
    public static final int MAX_READS = 16;

    /** Responses under way in a whole endpoint, at least; a quarter of the requests it may have posted, if that is more. The next waits. */
    static final int MIN_RESPONSES = 16;

    /* Encryption (spec: "Sealing", "Key generations"). */
    /** Packets sealed with one key. */
    public static final int KEY_PACKETS = 1 << 23;
    static final int KEY_PACKETS_MAX = 1 << 24;
    static final long FORGERIES_MAX = 1L << 48;
    /** Numbers of a lane that are remembered as opened or not. */
    static final int REPLAY_WINDOW = 512;

    /** Pieces of local memory that one message may have. */
    public static final int MAX_SEGMENTS = 64;
    /** Bytes that a message may have and be copied when posted. */
    public static final int MAX_INLINE_BYTES = 4096;

    /* Handshake and close. */
    static final long INIT_RETRY_NS = 20_000_000;
    static final long INIT_RETRY_MAX_NS = 160_000_000;
    static final long COOKIE_LIFE_NS = 10_000_000_000L;
    static final long HALF_OPEN_NS = 1_500_000_000L;
    static final int CLOSE_TRIES = 8;
    static final int NO_CONTEXT_RETRY_MS = 100;
    /** The same when a connection is being parked to make room. */
    static final int PARKING_RETRY_MS = 5;
    /** Nobody holds us off for longer. */
    static final long RETRY_AFTER_MAX_MS = 60_000;
    /** Idle for less, a connection is not parked to make room: it would be back at once. */
    static final long PARK_IDLE_MIN_NS = 1_000_000;
    /** A peer that goes on sending to a parked connection is told so at most this often. */
    static final long PARK_ANSWER_NS = 1_000_000;

    /* Loss and failure, in round trips. */
    static final float PROBE_AFTER_RTT = 1.5f;
    /** Packets of which one must have been lost lately for probes to go behind the last packets of messages and behind repeats. */
    static final int EARLY_PROBES_LOSS = 4096;
    /** Windows' worth of packets at a message's end that are followed by a probe each. */
    static final float PROBE_TAIL = 1.6f;
    /** After which an acknowledgement that the peer's probe knows nothing of counts as lost. */
    static final float UNHEARD_RTT = 1.25f;
    /** Path blocks of the acknowledgement before in one that so many packets waited for as make it due, and in one that was sent earlier. */
    static final int REPEATED_BLOCKS = 1;
    static final int REPEATED_BLOCKS_EARLY = 4;
    /** Parity packets that an endpoint makes or holds at a time; beyond them it does without. */
    static final int PARITIES = 32;
    /** Packets made from Parity packets that one acknowledgement tells; the next tells the others. */
    static final int REBUILT_TOLD = 4;
    /** Bandwidth-delay products' worth of packets at a message's end that Parity packets are made of, where packets are lost. */
    static final float PARITY_TAIL = 0.75f;
    static final float PROBE_AGAIN_RTT = 1.25f;
    /** After which the first probes are repeated where packets are lost: they may have been lost with what they were to tell of. */
    static final float EARLY_AGAIN_RTT = 0.5f;
    static final int EARLY_REPEATS = 2;
    static final int PROBES_TO_DEATH = 3;
    /** The same where hosts are slow and round trips are long anyway: rather sure than quick. */
    static final int PROBES_TO_DEATH_SLOW = 5;
    /** Probes without an answer, at doubling intervals, that end a path when nothing else moves either. */
    static final int PROBES_TO_DEATH_ALONE = 8;
    /** The same where hosts are slow: such a silence is most often the host's. */
    static final int PROBES_TO_DEATH_ALONE_SLOW = 11;
    /** How many times as long probes that are marked must go on before they show that nothing is heard. */
    static final int MARKED_PATIENCE = 8;
    /** Probes of one length without an answer, while the path lives, that count as proof that it does not pass. */
    static final int SIZE_TRIES = 6;
    /** Least time to wait for their answer, halved. */
    static final long SIZE_PATIENCE_NS = 100_000;
    /** After which a payload that did not pass is tried again; the same while messages wait for it. */
    static final int SIZE_RAISE_MS = 600_000;
    static final int SIZE_RAISE_STUCK_MS = 20;
    /** Long packets lost in a row on a path that lives: its route does not carry them. */
    static final int BLACK_HOLE = 8;
    /** Short probes answered by routes that do not answer long ones: the whole plane carries less. */
    static final int NARROW_ANSWERS = 3;
    static final float PLANE_DEAD_RTT = 1.4f;
    /** Most idle paths of its plane that are probed along with each probe of a silent path. */
    static final int NEIGHBOURS_ASKED = 3;
    static final long PROBING_MAX_NS = 100_000_000;
    /** Pause before credit is asked for again: round trips, at least this long, doubling up to a limit. */
    static final int CREDIT_ASK_RTT = 2;
    static final long CREDIT_ASK_MIN_NS = 10_000;
    static final long CREDIT_ASK_MAX_NS = 100_000_000;
    /** Time between looks at all streams of a connection for those that wait, for each stream looked at: some twenty times what it takes. */
    static final long WAITER_LOOK_NS = 100;
    /** Messages that one credit request may ask for. */
    static final int CREDIT_ASK_AHEAD = 64;
    /** Times between acknowledgements that do nothing but tell again what streams failed. */
    static final long NAK_REPEAT_MIN_NS = 200_000;
    static final long NAK_REPEAT_MAX_NS = 100_000_000;
    static final long READ_RETRY_NS = 50_000;
    static final long KEEPALIVE_NS = 400_000_000;
    /** Keepalives that must have stayed unanswered before silence counts as loss of the peer. */
    static final int KEEPALIVES_TO_DEATH = 2;
    /** A timer that goes off so late tells that this end was held up. */
    static final long HELD_UP_NS = 100_000_000;
    /** Silence that counts as loss of the peer even for an end that is held up again and again, in peer timeouts. */
    static final int HELD_UP_TIMEOUTS = 3;
    static final long LINGER_NS = 50_000_000;

    /* Congestion control (spec: "Sender control"). */
    static final float WINDOW_BDP = 1.8f;
    /** Packets beyond its share that a connection may have out, one of several of its sender, while it sees no queue. */
    static final float WINDOW_SLACK = 4f;
    static final float INCREASE_PER_RTT = 4f;
    /** The same as a part of the full window, if that is more: what is far away converges in as many round trips as what is near. */
    static final float INCREASE_PART = 1f / 128;
    /** Packets of a full window beyond which a peer is far: so many to start with. */
    static final float FAR_PACKETS = 2048;
    /** The same as a part of the full window, if that is more. */
    static final float FAR_START = 1f / 32;
    /** Packets by which windows to a far peer grow for each that is acknowledged, until packets are marked: they double each round trip. */
    static final float FAR_GROWTH = 2f;
    /** Part of the packets marked at which that ends. */
    static final float FAR_MARKED = 0.3f;
    /** Parts of a round trip, in each of which it is measured how much arrives. */
    static final int FAR_PARTS = 8;
    /** Times its window a round trip that a sender to a far peer may send: bursts of such windows fill any queue, and pauses leave the line idle. */
    static final float FAR_PACE = 0.65f;
    /** Part of its window by which a sender to a far peer may raise it in a round trip. */
    static final float FAR_INCREASE = 0.25f;
    /** In the place of {@link #CE_DECREASE}: marks come a round trip late, and for a round trip longer than they need. */
    static final float FAR_DECREASE = 0.05f;
    /** By how much the increase grows in each round trip without a mark, and for how many of them. */
    static final float FAR_HASTE = 0.5f;
    static final int FAR_HASTE_ROUNDS = 16;
    static final float CE_DECREASE = 0.1f;
    static final float DELAY_GAIN = 0.25f;
    /** The same for the first packets acknowledged on a route, of which nothing is known yet. */
    static final float FIRST_DELAY_GAIN = 0.9f;
    static final int FIRST_PACKETS = 3;
    /** Times the plane's smoothed RTT that a path may have whose packets are still in time for the end of a message. */
    static final float SLOW_PATH = 1.35f;
    static final float MIN_FACTOR_PACKETS = 0.1f;
    static final float MAX_FACTOR = 3f;
    static final float REVIVED_FACTOR = 0.75f;
    /* A route that loses more than this is bad: a multiple of what its plane loses, and so much more. */
    static final float BAD_ROUTE_RATIO = 1.5f;
    static final float BAD_ROUTE_MARGIN = 0.05f;
    /** Packets over which loss is reckoned: the more, the surer. */
    static final int LOSS_MEMORY = 256;
    static final float LAST_HOP_MARKED = 0.7f;
    static final float LAST_HOP_SHARE = 0.9f;
    static final float PACE_BELOW = 0.95f;
    static final float PACE_RATE = 1.06f;
    /** Range of the random factor of a pause where the share makes a window of less than so much of a packet. */
    static final float PACE_JITTER = 0.35f;
    static final float PACE_JITTER_BELOW = 0.5f;
    static final int PACE_BURST_PACKETS = 16;
    /** For a connection that has its sender's line for itself: a part of its window, but no less than so many packets. */
    static final float PACE_BURST_PART = 0.05f;
    static final int PACE_BURST_LEAST = 3;
    static final int START_PACKETS = 10;
    /** Times as many where other connections of the sender have something to send, too. */
    static final float START_SPREAD = 2;
    /** An acknowledgement that is due waits for a turn to send Data in which so many packets or fewer are to go. */
    static final int ACK_WAITS_PACKETS = 4;
    /** Packets in one turn of a connection, if that is more than a run and than its planes. */
    static final int TURN_PACKETS = 2;
    /** A turn goes on to the end of what waits where all connections with a backlog could send as much in so many packets. */
    static final int FINISH_PACKETS = 40;
    /** For each plane: so many packets of messages that nothing has gone of yet leave in one turn (MR-CC-033). */
    static final int SHORT_PACKETS = 4;
    /** Packets that all connections of a receiver together may start with, but for one each. */
    static final int START_PACKETS_IN_ALL = 500;
    /** Times the line that all connections of a receiver together may start with. */
    static final float START_OVERLAP = 2f;
    static final int SHARE_AGE_RTT = 4;
    static final int SHARE_AGE_PACKETS = 4;
    static final float CE_DRAIN = 0.25f;
    /** Packets over which the mean of marks is formed at a receiver, and no fewer than half its senders. */
    static final int CE_MEMORY = 64;
    static final int CE_MEMORY_MAX = 1 << 18;
    static final long MIN_RTT_WINDOW_NS = 10_000_000_000L;
    /** Packets out while the least RTT is measured anew: few enough to leave the queues of our own making empty. */
    static final int MIN_RTT_PACKETS = 4;
    static final int MIN_RTT_ROUNDS = 2;

    private Limits() {
    }
}
