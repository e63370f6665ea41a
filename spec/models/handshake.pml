/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, losing and resetting connections (spec: "Connection set-up", "Identifiers", "Reset").
 *
 * An initiator tries up to ATTEMPTS times, one after the other; a responder with one place serves it, and may be restarted once and
 * forget everything. Whatever was ever sent may arrive at any time, any number of times, in any order, or never: the network is the set
 * of all datagrams sent so far. Both ends use the same connection ID each time, the worst case of reuse: only tags and nonces, fresh
 * each time, tell one connection from the next. Any end may give up at any time, as its timers may say.
 *
 * Proved: two ends that are established agree on who they are; nothing of a former connection gets into the next; no INIT takes two
 * connections, none without a cookie for it takes one; a RESET ends only a connection that its peer no longer has.
 *
 * Faults to show that the model can tell: -DSAME_TAG, -DSAME_NONCE, -DNO_COOKIE, -DESTABLISHED_BY_INIT, -DRESET_BY_CID.
 */

#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#define TAKEN 3                /* connections that the responder makes in all */
#define SECRETS 2              /* of the responder: one, and another after its restart */
#define NONE 0

#ifdef SAME_TAG
#define TAG(x) 1
#else
#define TAG(x) (x)
#endif
#ifdef SAME_NONCE
#define NONCE(a) 1
#else
#define NONCE(a) (a)
#endif

/* Datagrams sent so far. Attempts a, connections k and secrets s count from 1; cookie 0 is none. */
bool init_[16];                /* INIT of a with the cookie of secret s: index a * 4 + s */
bool challenge[16];            /* CHALLENGE for a by secret s */
bool accept_[16];              /* ACCEPT of a by k: index a * 4 + k */
bool toR[16];                  /* a packet or probe of a to k */
bool toI[16];                  /* a packet of k to a */
bool reset[16];                /* RESET for a probe of a to k */

/* Initiator. */
byte a;                        /* the attempt under way, or the last one */
byte cookie;
byte peer;                     /* k, when established */
bool calling, established;
byte est[4];                   /* the truth: with which k attempt a was established */

/* Responder. */
byte s = 1, k, caller;         /* k: the connection it has, NONE without */
bool open;                     /* established, not half open */
byte made;                     /* connections made so far */
byte madeFor[4];               /* the truth: for which attempt k was made */
bool restarted;

#define AT(x, y) ((x) * 4 + (y))
#define LAST AT(ATTEMPTS, 3)

proctype initiator()
{
    byte i;
end:
    do
    :: atomic { !calling && !established && a < ATTEMPTS ->
        a++; calling = true; cookie = NONE; init_[AT(a, NONE)] = true }
    :: atomic { calling -> select (i : 1 .. ATTEMPTS);
        /* CHALLENGE: any that echoes the nonce of this attempt. */
        if
        :: challenge[AT(i, 1)] && NONCE(i) == NONCE(a) -> cookie = 1; init_[AT(a, 1)] = true
        :: challenge[AT(i, 2)] && NONCE(i) == NONCE(a) -> cookie = 2; init_[AT(a, 2)] = true
        :: else -> skip
        fi; i = 0 }
    /* ACCEPT, likewise. */
    :: atomic { calling -> select (i : 5 .. LAST);
        if
        :: i % 4 != 0 && accept_[i] && NONCE(i / 4) == NONCE(a) ->
            peer = i % 4; calling = false; established = true; est[a] = peer;
            assert(madeFor[peer] == a);                 /* made for this very attempt */
            toR[AT(a, peer)] = true
        :: else -> skip
        fi; i = 0 }
    :: atomic { established -> toR[AT(a, peer)] = true }
    /* A packet of the responder's: tag right? */
    :: atomic { established -> select (i : 5 .. LAST);
        if
        :: i % 4 != 0 && toI[i] && TAG(i / 4) == TAG(a) -> assert(i / 4 == a && i % 4 == peer)
        :: else -> skip
        fi; i = 0 }
    /* RESET: the echo must be of a probe of this connection. */
    :: atomic { established -> select (i : 5 .. LAST);
        if
#ifdef RESET_BY_CID
        :: i % 4 != 0 && reset[i] ->
#else
        :: i % 4 != 0 && reset[i] && i / 4 == a && i % 4 == peer ->
#endif
            assert(k != peer);                          /* the peer has it no more */
            established = false; peer = NONE
        :: else -> skip
        fi; i = 0 }
    /* Gives up, or closes: nobody hears of it. */
    :: atomic { (calling || established) -> calling = false; established = false; peer = NONE }
    od
}

proctype responder()
{
    byte i;
end:
    do
    /* INIT without a cookie that is good now: CHALLENGE, and nothing kept. */
    :: atomic { select (i : 5 .. LAST);
        if
        :: init_[AT(i / 4, 0)] || (i % 4 != 0 && i % 4 != s && init_[i]) -> challenge[AT(i / 4, s)] = true
        :: else -> skip
        fi; i = 0 }
    /* INIT with a good cookie. */
    :: atomic { select (i : 1 .. ATTEMPTS);
        if
#ifdef NO_COOKIE
        :: init_[AT(i, 0)] ->
#else
        :: init_[AT(i, s)] ->
#endif
            assert(init_[AT(i, s)]);                    /* a place is taken only for who has shown the cookie of this life */
            if
            :: k != NONE && caller == i -> accept_[AT(i, k)] = true      /* the same again */
            :: k == NONE && made < TAKEN ->
                made++; k = made; caller = i; madeFor[k] = i; open = false; accept_[AT(i, k)] = true;
#ifdef ESTABLISHED_BY_INIT
                open = true
#endif
            :: else -> skip                              /* refused: no place */
            fi
        :: else -> skip
        fi; i = 0 }
    /* A packet: with the right tag it opens and proves; with another it is dropped; to nobody it is answered by RESET. */
    :: atomic { select (i : 5 .. LAST);
        if
        :: i % 4 != 0 && toR[i] ->
            if
            :: k != NONE && TAG(i % 4) == TAG(k) ->
                assert(i % 4 == k && i / 4 == caller);   /* of this connection, not of a former one */
                open = true
            :: k == NONE -> reset[i] = true
            :: else -> skip
            fi
        :: else -> skip
        fi; i = 0 }
    :: atomic { open -> assert(est[caller] == k); toI[AT(caller, k)] = true }   /* whom we talk to has been established with us */
    /* Half-open for too long, closed, or lost: forgotten. */
    :: atomic { k != NONE -> k = NONE; caller = NONE; open = false }
    /* Restart: another secret, and nothing known. What its CIDs and tags are depends on the secret, so they are new. */
    :: atomic { !restarted -> restarted = true; s = 2; k = NONE; caller = NONE; open = false }
    od
}

init { atomic { run initiator(); run responder() } }

#ifdef REACHED
/* To be refuted: that both ends are never established, and with each other. */
active proctype observer() { atomic { established && open && k == peer && caller == a -> assert(false) } }
#endif
