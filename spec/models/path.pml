/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One path: epochs, PSNs, acknowledgements, re-routing (spec: "Paths and epochs", "Receiving acknowledgements", "Loss").
 *
 * The network may lose and duplicate anything. A route keeps order. When the path takes another route, what is on the old ones may
 * still arrive, at any time, for MAX_AGE further epochs; acknowledgements come in any order. Numbers are small and wrap around.
 *
 * Proved: a packet is taken for acknowledged only if it arrived, for lost only if it was lost, whatever comes late from where; the
 * receiver is never more than one epoch behind; a PSN is never used for two packets that could be confused.
 *
 * Faults to show that the model can tell: -DEPOCH_UNUSED (an epoch begins although the one before was not used), -DDATA_WHILE_PROBING,
 * -DNO_FLOOR, -DPROBE_OVERTAKES (probes take another route than data). -DNO_EPOCH_CHECK, a receiver that does not look at epochs, is
 * no fault here: PSNs that run on and the floor keep packets of old routes apart by themselves. Epochs are for what a path counts
 * and measures: CE marks, bytes, round trips.
 */

#ifndef PACKETS
#define PACKETS 5      /* transmissions in all */
#endif
#ifndef ROUTES
#define ROUTES 3       /* epochs in all */
#endif
#ifndef PROBES
#define PROBES 2
#endif
#define WINDOW 3       /* of PSNs; 256 in the protocol */
#define PSNS 8         /* 2^32 in the protocol */
#define EPOCHS 4       /* 2^8 in the protocol */
#define MAX_AGE 1      /* epochs that a late packet may be old: below EPOCHS / 2, as 128 of 256 */
#define FIRST_PSN 6    /* wraps around soon */

#define DIFF(a, b) (((a) - (b) + 2 * PSNS + PSNS / 2) % PSNS - PSNS / 2)
#define NEWER(e, f) (((e) - (f) + EPOCHS) % EPOCHS == 1)
#define PSN(t) ((FIRST_PSN + (t)) % PSNS)

mtype = { DATA, PROBE, GOOD, PROBING };

/* What is on its way: type, epoch as told, PSN or next PSN, floor, number of the transmission or probe. */
chan route[ROUTES] = [3] of { mtype, byte, byte, byte, byte };
/* Acknowledgements: epoch, cumulative, span, bits, echoed probe. */
chan acks = [2] of { byte, byte, byte, byte, byte };

/* The truth, which nobody on the path knows. Number of copies on their way, and whether one arrived. */
byte inFlight[PACKETS];
bool arrived[PACKETS];
/* Epochs as counted without end: the sender's, and the one that the receiver is in. */
byte sendEpoch, receiveEpoch;
bool started;

proctype sender()
{
    mtype state = GOOD;
    byte next, floor;              /* transmissions, of which PSNs are made */
    byte probe, lastProbe;
    bool used;                     /* data was sent in this epoch */
    byte settled;                  /* bit t: transmission t is acknowledged, lost or given up */
    byte e, cumulative, span, bits, echo, t;
    short d;

end:
    do
    /* Data, if the window of PSNs allows. */
#ifdef DATA_WHILE_PROBING
    :: next < PACKETS && next - floor < WINDOW && nfull(route[sendEpoch]) ->
#else
    :: state == GOOD && next < PACKETS && next - floor < WINDOW && nfull(route[sendEpoch]) ->
#endif
        atomic {
            inFlight[next] = 1;
            route[sendEpoch] ! DATA, sendEpoch % EPOCHS, PSN(next), PSN(floor), next;
            next++; used = true;
        }
    /* A probe: by silence, or to try a route. */
    :: probe < PROBES && nfull(route[sendEpoch]) ->
        atomic {
            probe++; lastProbe = probe;
#ifdef PROBE_OVERTAKES
            /* A probe on another route than the data. */
            if :: sendEpoch + 1 < ROUTES -> route[sendEpoch + 1] ! PROBE, sendEpoch % EPOCHS, PSN(next), PSN(floor), probe :: else fi
#else
            route[sendEpoch] ! PROBE, sendEpoch % EPOCHS, PSN(next), PSN(floor), probe;
#endif
        }
    /* Another route, by failure or suspicion: a new epoch if this one was used. */
#ifdef EPOCH_UNUSED
    :: sendEpoch + 1 < ROUTES ->
#else
    :: used && sendEpoch + 1 < ROUTES ->
#endif
        atomic {
            sendEpoch++; used = false; state = PROBING; lastProbe = 0;
            floor = next; settled = (1 << next) - 1;
        }
    /* An acknowledgement. */
    :: acks ?? [e, cumulative, span, bits, echo] ->
        atomic {
            acks ?? e, cumulative, span, bits, echo;
            if
            :: e != sendEpoch % EPOCHS -> skip
            :: else ->
                t = floor;
                do
                :: t < next ->
                    d = DIFF(PSN(t), cumulative);
                    if
                    :: settled & (1 << t) -> skip
                    :: !(settled & (1 << t)) && (d < 0 || bits & (1 << d)) ->
                        assert(arrived[t]);                         /* MR-ACK-016 */
                        settled = settled | (1 << t)
                    :: !(settled & (1 << t)) && d >= 0 && !(bits & (1 << d)) && d < span ->
                        assert(!arrived[t] && inFlight[t] == 0);    /* MR-LOSS-001 */
                        settled = settled | (1 << t)
                    :: else -> break
                    fi;
                    t++
                :: else -> break
                od;
                do
                :: floor < next && (settled & (1 << floor)) -> floor++
                :: else -> break
                od;
                if
                :: state == PROBING && lastProbe != 0 && echo == lastProbe -> state = GOOD
                :: else -> skip
                fi
            fi;
            e = 0; cumulative = 0; span = 0; bits = 0; echo = 0; t = 0; d = 0
        }
    od
}

/* Receiver and network together: what arrives is digested at once. */
proctype receiver()
{
    byte epoch, base, bits, span, echo;     /* span: top - base */
    mtype type;
    byte e, psn, low, id, r;
    short d;
    bool current;

end:
    do
    :: atomic {
        /* Any route that is not too old. */
        if
        :: nempty(route[0]) -> r = 0
        :: nempty(route[1]) -> r = 1
#if ROUTES > 2
        :: nempty(route[2]) -> r = 2
#endif
        fi;
        route[r] ? type, e, psn, low, id;
        if
        :: r + MAX_AGE < sendEpoch -> goto lost         /* its life is over */
        :: else -> skip
        fi;
        if
        :: goto lost
        :: nfull(route[r]) && type == DATA && len(route[r]) == 0 && inFlight[id] == 1 ->
            /* Twice: the copy comes right behind it. */
            inFlight[id]++; route[r] ! type, e, psn, low, id
        :: skip
        fi;

        /* enter(): a new epoch, or the floor of this one. */
        current = true;
        if
#ifdef NO_EPOCH_CHECK
        :: !started ->
#else
        :: !started || NEWER(e, epoch) ->
#endif
            started = true; epoch = e; base = low; bits = 0; span = 0; echo = 0;
            receiveEpoch = r
#ifndef NO_EPOCH_CHECK
        :: started && !NEWER(e, epoch) && e != epoch -> current = false
#endif
        :: else ->
#ifdef NO_FLOOR
            skip
#else
            do
            :: DIFF(low, base) > 0 -> base = (base + 1) % PSNS; bits = bits >> 1; if :: span > 0 -> span-- :: else -> skip fi
            :: else -> break
            od
#endif
        fi;
        assert(sendEpoch - receiveEpoch <= 1 || r < sendEpoch);     /* at most one behind what is being sent now */
        if
        :: type == DATA ->
            inFlight[id]--;
            arrived[id] = true;
            if
            :: current ->
                d = DIFF(psn, base);
                if
                :: d >= 0 ->
                    assert(d < WINDOW);                             /* MR-PATH-023: a sender that keeps the rules is never beyond */
                    bits = bits | (1 << d);
                    if :: d + 1 > span -> span = d + 1 :: else -> skip fi
                :: else -> skip
                fi
            :: else -> skip
            fi
        :: type == PROBE && current ->
            d = DIFF(psn, base);
            if :: d > span && d <= WINDOW -> span = d :: else -> skip fi;
            echo = id
        :: else -> skip
        fi;
        do
        :: bits & 1 -> base = (base + 1) % PSNS; bits = bits >> 1; span--
        :: else -> break
        od;
        goto done;
lost:
        if :: type == DATA -> inFlight[id]-- :: else -> skip fi;
done:
        type = 0; e = 0; psn = 0; low = 0; id = 0; d = 0; current = false; r = 0
       }
    /* Acknowledgements at any time, the same again too. One that gets lost is one that is not sent. */
    :: atomic { started && nfull(acks) -> acks ! epoch, base, span, bits, echo }
    od
}

init { atomic { run sender(); run receiver() } }
