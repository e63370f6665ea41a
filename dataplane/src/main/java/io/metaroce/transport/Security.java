// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * The cryptography behind encrypted connections (spec: "Encryption"), brought in from outside with its pre-shared key and its source
 * of randomness: {@link EndpointConfig#security}. What is sealed when, numbers, windows and generations are the transport's affair.
 *
 * <p>Memory is named by address, and is not used after return. One endpoint, its thread. Agreeing on keys and going over to the next
 * generation may allocate.
 */
public interface Security {
    int SHARE_BYTES = 32;
    int PROOF_BYTES = 32;

    /** Writes the proof of INIT: {@code init} is T(INIT), the proof goes to {@code to}. */
    void initProof(long init, int length, long to);

    /** Fresh keys for one connection. */
    Exchange begin();

    /** One end's part in agreeing on keys. */
    interface Exchange {
        /** Writes our key share. */
        void share(long to);

        /** Takes the peer's key share; false if it is none that can be used. The last one that could be used counts. */
        boolean agree(long share);

        /** The connection's keys, after {@link #agree}. {@code transcript} is T(INIT) and behind it T(ACCEPT). */
        Keys keys(long transcript, int length, boolean initiator);

        /** The same for a connection that is resumed and had the keys {@code former}: only who had them, too, has these. */
        Keys keys(Keys former, long transcript, int length, boolean initiator);
    }

    /** The keys of a connection, both directions, present generations. */
    interface Keys {
        /** Writes the proof of ACCEPT. */
        void acceptProof(long to);

        /** Writes the proof of an INIT that resumes this connection: {@code init} is T(INIT), the proof goes to {@code to}. */
        void resumeProof(long init, int length, long to);

        /**
         * Encrypts two pieces of plaintext, one behind the other, and writes ciphertext and tag to {@code to}, which overlaps neither.
         *
         * @param header the clear header, {@link io.metaroce.wire.SealedHeader#LENGTH} bytes, which is authenticated too
         */
        void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to);

        /**
         * Decrypts {@code length} bytes at {@code sealed}, tag included, to {@code to}, which does not overlap them. False if the tag is
         * wrong, and then no plaintext stays there.
         *
         * @param generation -1, 0 or 1: the generation before the present one, the present one, the next
         */
        boolean open(int generation, long header, int lane, int number, long sealed, int length, long to);

        /** From here on packets are sealed with the next generation. */
        void nextSending();

        /** The next generation of the peer's becomes the present one, the present one the one before; older keys are forgotten. */
        void nextReceiving();

        /** Forgets all keys. Nothing else may be called afterwards. */
        void forget();
    }
}
