// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import io.metaroce.transport.Security;
import io.metaroce.wire.Bytes;
import java.util.Arrays;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** The keys of one connection (spec: "Keys", "Key generations"). */
final class PskKeys implements Security.Keys {
    /** What a generation of a direction is made of. */
    private static final class Generation {
        private final Ciphers ciphers;
        private final boolean seals;
        private final SecretKey secret;
        final Ciphers.Key key;

        Generation(Ciphers ciphers, boolean seals, byte[] secret) {
            this.ciphers = ciphers;
            this.seals = seals;
            this.secret = new SecretKeySpec(secret, "Generic");
            byte[] k = PskSecurity.expand(this.secret, "metaroce 1 key", Ciphers.KEY_BYTES);
            byte[] iv = PskSecurity.expand(this.secret, "metaroce 1 iv", Ciphers.IV_BYTES);
            key = seals ? ciphers.sealing(k, iv) : ciphers.opening(k, iv);
            Arrays.fill(k, (byte) 0);
        }

        Generation next() {
            return new Generation(ciphers, seals, PskSecurity.expand(secret, "metaroce 1 next", PskSecurity.SECRET_BYTES));
        }
    }

    private final PskSecurity security;
    private final byte[] acceptProof;
    /** Stands for the pre-shared key when the connection is resumed. */
    final byte[] resume;
    private Generation sending;
    private Generation before;
    private Generation present;
    private Generation next;

    PskKeys(PskSecurity security, Ciphers ciphers, SecretKey prk, boolean initiator) {
        this.security = security;
        resume = PskSecurity.expand(prk, "metaroce 1 resume", PskSecurity.SECRET_BYTES);
        acceptProof = PskSecurity.expand(prk, "metaroce 1 accept", Security.PROOF_BYTES);
        Generation ofInitiator = new Generation(ciphers, initiator, PskSecurity.expand(prk, "metaroce 1 initiator", PskSecurity.SECRET_BYTES));
        Generation ofResponder = new Generation(ciphers, !initiator, PskSecurity.expand(prk, "metaroce 1 responder", PskSecurity.SECRET_BYTES));
        sending = initiator ? ofInitiator : ofResponder;
        present = initiator ? ofResponder : ofInitiator;
        // At hand before it is needed, so that trying it on forged packets costs no more than trying any other.
        next = present.next();
    }

    @Override
    public void acceptProof(long to) {
        Bytes.put(acceptProof, 0, to, Security.PROOF_BYTES);
    }

    @Override
    public void resumeProof(long init, int length, long to) {
        security.initProof(resume, init, length, to);
    }

    @Override
    public void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
        sending.key.seal(header, lane, number, first, firstLength, second, secondLength, to);
    }

    @Override
    public boolean open(int generation, long header, int lane, int number, long sealed, int length, long to) {
        Generation g = generation == 0 ? present : generation < 0 ? before : next;
        return g.key.open(header, lane, number, sealed, length, to);
    }

    @Override
    public void nextSending() {
        Generation last = sending;
        sending = last.next();
        last.key.forget();
    }

    @Override
    public void nextReceiving() {
        if (before != null) {
            before.key.forget();
        }
        before = present;
        present = next;
        next = present.next();
    }

    @Override
    public void forget() {
        Arrays.fill(resume, (byte) 0);
        for (Generation g : new Generation[] {sending, before, present, next}) {
            if (g != null) {
                g.key.forget();
            }
        }
    }
}
