// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import io.metaroce.transport.Security;
import io.metaroce.wire.Bytes;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** The keys of one connection (spec: "Keys", "Key generations"). */
final class PskKeys implements Security.Keys {
    /** What a generation of a direction is made of. */
    private static final class Generation {
        private final SecretKey secret;
        final SecretKey key;
        final byte[] iv;

        Generation(byte[] secret) {
            this.secret = new SecretKeySpec(secret, "Generic");
            key = new SecretKeySpec(PskSecurity.expand(this.secret, "metaroce 1 key", Ciphers.KEY_BYTES), "AES");
            iv = PskSecurity.expand(this.secret, "metaroce 1 iv", Ciphers.IV_BYTES);
        }

        Generation next() {
            return new Generation(PskSecurity.expand(secret, "metaroce 1 next", PskSecurity.SECRET_BYTES));
        }
    }

    private final Ciphers ciphers;
    private final byte[] acceptProof;
    private Generation sending;
    private Generation before;
    private Generation present;
    private Generation next;

    PskKeys(Ciphers ciphers, SecretKey prk, boolean initiator) {
        this.ciphers = ciphers;
        acceptProof = PskSecurity.expand(prk, "metaroce 1 accept", Security.PROOF_BYTES);
        Generation ofInitiator = new Generation(PskSecurity.expand(prk, "metaroce 1 initiator", PskSecurity.SECRET_BYTES));
        Generation ofResponder = new Generation(PskSecurity.expand(prk, "metaroce 1 responder", PskSecurity.SECRET_BYTES));
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
    public void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
        ciphers.seal(sending.key, sending.iv, header, lane, number, first, firstLength, second, secondLength, to);
    }

    @Override
    public boolean open(int generation, long header, int lane, int number, long sealed, int length, long to) {
        Generation g = generation == 0 ? present : generation < 0 ? before : next;
        return ciphers.open(g.key, g.iv, header, lane, number, sealed, length, to);
    }

    @Override
    public void nextSending() {
        sending = sending.next();
    }

    @Override
    public void nextReceiving() {
        before = present;
        present = next;
        next = present.next();
    }
}
