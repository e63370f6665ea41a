// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import io.metaroce.wire.Bytes;
import io.metaroce.wire.SealedHeader;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The JDK's ciphers, where there is no other. They want arrays, so bytes are copied in and out; over buffers outside the heap they would
 * do the same in small pieces, into arrays of their own. About 1 KB of garbage a packet: each nonce takes new objects.
 */
final class JdkCiphers implements Ciphers {
    private static final int TAG_BITS = 8 * SealedHeader.TAG_LENGTH;

    private final Cipher cipherToSeal;
    private final Cipher cipherToOpen;
    private final byte[] nonce = new byte[IV_BYTES];
    private final byte[] header = new byte[SealedHeader.LENGTH];
    private final byte[] in = new byte[SealedHeader.MAX_DATAGRAM];
    private final byte[] out = new byte[SealedHeader.MAX_DATAGRAM];
    private final String why;

    /** @param why these are used, for people */
    JdkCiphers(String why) {
        this.why = why;
        try {
            cipherToSeal = Cipher.getInstance("AES/GCM/NoPadding");
            cipherToOpen = Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw PskSecurity.missing(e);
        }
    }

    @Override
    public Key sealing(byte[] key, byte[] iv) {
        return new JdkKey(key, iv);
    }

    @Override
    public Key opening(byte[] key, byte[] iv) {
        return new JdkKey(key, iv);
    }

    @Override
    public String description() {
        return "the JDK (" + why + ")";
    }

    private final class JdkKey implements Key {
        private SecretKey key;
        private final byte[] iv;

        JdkKey(byte[] key, byte[] iv) {
            this.key = new SecretKeySpec(key, "AES");
            this.iv = iv.clone();
        }

        @Override
        public void seal(long clear, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
            Bytes.get(first, in, 0, firstLength);
            if (secondLength > 0) {
                Bytes.get(second, in, firstLength, secondLength);
            }
            try {
                begin(cipherToSeal, Cipher.ENCRYPT_MODE, clear, lane, number);
                int n = cipherToSeal.doFinal(in, 0, firstLength + secondLength, out, 0);
                Bytes.put(out, 0, to, n);
            } catch (GeneralSecurityException e) {
                // Lengths are bounded and nonces never repeat: the transport's fault, if anybody's.
                throw new IllegalStateException("lane " + lane + " number " + number + " cannot be sealed: " + e.getMessage(), e);
            }
        }

        @Override
        public boolean open(long clear, int lane, int number, long sealed, int length, long to) {
            Bytes.get(sealed, in, 0, length);
            try {
                begin(cipherToOpen, Cipher.DECRYPT_MODE, clear, lane, number);
                int n = cipherToOpen.doFinal(in, 0, length, out, 0);
                Bytes.put(out, 0, to, n);
                return true;
            } catch (AEADBadTagException e) {
                return false;
            } catch (GeneralSecurityException e) {
                throw PskSecurity.missing(e);
            }
        }

        private void begin(Cipher cipher, int mode, long clear, int lane, int number) throws GeneralSecurityException {
            System.arraycopy(iv, 0, nonce, 0, IV_BYTES);
            nonce[6] ^= (byte) (lane >>> 8);
            nonce[7] ^= (byte) lane;
            nonce[8] ^= (byte) (number >>> 24);
            nonce[9] ^= (byte) (number >>> 16);
            nonce[10] ^= (byte) (number >>> 8);
            nonce[11] ^= (byte) number;
            cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
            Bytes.get(clear, header, 0, SealedHeader.LENGTH);
            cipher.updateAAD(header);
        }

        @Override
        public void forget() {
            key = null;
        }
    }
}
