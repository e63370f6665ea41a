// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import io.metaroce.transport.Security;
import io.metaroce.wire.Bytes;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.security.interfaces.XECPublicKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPublicKeySpec;
import javax.crypto.KDF;
import javax.crypto.KeyAgreement;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Suite 1 of encrypted connections: a pre-shared key, X25519, HKDF-SHA256, AES-256-GCM (spec: "Encryption"). One for each endpoint, used
 * on its thread.
 *
 * <p>Keys are agreed on with the JDK's cryptography, which allocates. Packets are sealed and opened by libcrypto, without allocation,
 * where it can be loaded, else by the JDK's ciphers, which are slower and allocate about 1 KB a packet: {@link #description}.
 */
public final class PskSecurity implements Security {
    /** Length of a pre-shared key. */
    public static final int PSK_BYTES = 32;
    static final int SECRET_BYTES = 32;

    private final byte[] psk;
    private final SecureRandom random;
    private final Ciphers ciphers;
    private final MessageDigest sha;
    private final KeyAgreement agreement;
    private final KeyFactory factory;
    private final KeyPairGenerator generator;

    /**
     * @param psk {@link #PSK_BYTES} bytes that nobody else can know; copied
     * @throws IllegalArgumentException if it is longer or shorter
     */
    public PskSecurity(byte[] psk) {
        this(psk, new SecureRandom());
    }

    /** With a source of private keys of the caller's; one that repeats is for tests only. */
    public PskSecurity(byte[] psk, SecureRandom random) {
        this(psk, random, Ciphers.choose());
    }

    PskSecurity(byte[] psk, SecureRandom random, Ciphers ciphers) {
        if (psk.length != PSK_BYTES) {
            throw new IllegalArgumentException("a pre-shared key has " + PSK_BYTES + " bytes, not " + psk.length);
        }
        this.psk = psk.clone();
        this.random = random;
        this.ciphers = ciphers;
        try {
            sha = MessageDigest.getInstance("SHA-256");
            agreement = KeyAgreement.getInstance("X25519");
            factory = KeyFactory.getInstance("X25519");
            generator = KeyPairGenerator.getInstance("X25519");
            generator.initialize(NamedParameterSpec.X25519, random);
        } catch (GeneralSecurityException e) {
            throw missing(e);
        }
    }

    /** For people: whose ciphers seal and open packets, and why. */
    public String description() {
        return ciphers.description();
    }

    @Override
    public void initProof(long init, int length, long to) {
        initProof(psk, init, length, to);
    }

    /** The proof of INIT that {@code secret} makes. */
    void initProof(byte[] secret, long init, int length, long to) {
        Bytes.put(expand(extract(hash(init, length), secret), "metaroce 1 init", PROOF_BYTES), 0, to, PROOF_BYTES);
    }

    @Override
    public Exchange begin() {
        return new X25519(generator.generateKeyPair());
    }

    private byte[] hash(long at, int length) {
        byte[] bytes = new byte[length];
        Bytes.get(at, bytes, 0, length);
        return sha.digest(bytes);
    }

    private static SecretKey extract(byte[] salt, byte[] secret) {
        try {
            return KDF.getInstance("HKDF-SHA256").deriveKey("Generic", HKDFParameterSpec.ofExtract().addSalt(salt).addIKM(secret).extractOnly());
        } catch (GeneralSecurityException e) {
            throw missing(e);
        }
    }

    static byte[] expand(SecretKey secret, String label, int length) {
        try {
            return KDF.getInstance("HKDF-SHA256").deriveData(HKDFParameterSpec.expandOnly(secret, label.getBytes(StandardCharsets.US_ASCII), length));
        } catch (GeneralSecurityException e) {
            throw missing(e);
        }
    }

    /** Every algorithm used here is one that a JDK of this version must have. */
    static IllegalStateException missing(GeneralSecurityException e) {
        return new IllegalStateException("this Java lacks the cryptography for encrypted connections: " + e.getMessage(), e);
    }

    /** Little-endian, as keys of X25519 are on the wire (RFC 7748). */
    private static byte[] reversed(byte[] from) {
        byte[] to = new byte[SHARE_BYTES];
        for (int i = 0; i < SHARE_BYTES; i++) {
            to[i] = from[SHARE_BYTES - 1 - i];
        }
        return to;
    }

    private final class X25519 implements Exchange {
        private final KeyPair pair;
        private byte[] shared;

        X25519(KeyPair pair) {
            this.pair = pair;
        }

        @Override
        public void share(long to) {
            byte[] big = ((XECPublicKey) pair.getPublic()).getU().toByteArray();
            byte[] padded = new byte[SHARE_BYTES];
            int n = Math.min(big.length, SHARE_BYTES);
            System.arraycopy(big, big.length - n, padded, SHARE_BYTES - n, n);
            Bytes.put(reversed(padded), 0, to, SHARE_BYTES);
        }

        @Override
        public boolean agree(long share) {
            byte[] little = new byte[SHARE_BYTES];
            Bytes.get(share, little, 0, SHARE_BYTES);
            // The highest bit of a share means nothing (RFC 7748).
            little[SHARE_BYTES - 1] &= 0x7f;
            try {
                agreement.init(pair.getPrivate());
                agreement.doPhase(factory.generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, new BigInteger(1, reversed(little)))), true);
                shared = agreement.generateSecret();
                return true;
            } catch (InvalidKeyException e) {
                return false;
            } catch (GeneralSecurityException e) {
                throw missing(e);
            }
        }

        @Override
        public Keys keys(long transcript, int length, boolean initiator) {
            return keys(psk, transcript, length, initiator);
        }

        @Override
        public Keys keys(Keys former, long transcript, int length, boolean initiator) {
            return keys(((PskKeys) former).resume, transcript, length, initiator);
        }

        private Keys keys(byte[] secret, long transcript, int length, boolean initiator) {
            byte[] both = new byte[SECRET_BYTES + shared.length];
            System.arraycopy(secret, 0, both, 0, SECRET_BYTES);
            System.arraycopy(shared, 0, both, SECRET_BYTES, shared.length);
            return new PskKeys(PskSecurity.this, ciphers, extract(hash(transcript, length), both), initiator);
        }
    }
}
