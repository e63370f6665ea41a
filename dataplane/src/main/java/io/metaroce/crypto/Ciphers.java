// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import io.metaroce.wire.Bytes;
import io.metaroce.wire.SealedHeader;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * AES-256-GCM over memory (spec: "Sealing"). The JDK's cipher wants arrays, so bytes are copied in and out; over buffers outside the
 * heap it would do the same in small pieces, into arrays of its own. One thread.
 */
final class Ciphers {
    static final int KEY_BYTES = 32;
    static final int IV_BYTES = 12;
    private static final int TAG_BITS = 8 * SealedHeader.TAG_LENGTH;

    private final Cipher sealing;
    private final Cipher opening;
    private final byte[] nonce = new byte[IV_BYTES];
    private final byte[] header = new byte[SealedHeader.LENGTH];
    private final byte[] in = new byte[SealedHeader.MAX_DATAGRAM];
    private final byte[] out = new byte[SealedHeader.MAX_DATAGRAM];

    Ciphers() {
        try {
            sealing = Cipher.getInstance("AES/GCM/NoPadding");
            opening = Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw PskSecurity.missing(e);
        }
    }

    void seal(SecretKey key, byte[] iv, long clear, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
        Bytes.get(first, in, 0, firstLength);
        if (secondLength > 0) {
            Bytes.get(second, in, firstLength, secondLength);
        }
        try {
            begin(sealing, Cipher.ENCRYPT_MODE, key, iv, clear, lane, number);
            int n = sealing.doFinal(in, 0, firstLength + secondLength, out, 0);
            Bytes.put(out, 0, to, n);
        } catch (GeneralSecurityException e) {
            // Lengths are bounded and nonces never repeat: the transport's fault, if anybody's.
            throw new IllegalStateException("lane " + lane + " number " + number + " cannot be sealed: " + e.getMessage(), e);
        }
    }

    boolean open(SecretKey key, byte[] iv, long clear, int lane, int number, long sealed, int length, long to) {
        Bytes.get(sealed, in, 0, length);
        try {
            begin(opening, Cipher.DECRYPT_MODE, key, iv, clear, lane, number);
            int n = opening.doFinal(in, 0, length, out, 0);
            Bytes.put(out, 0, to, n);
            return true;
        } catch (AEADBadTagException e) {
            return false;
        } catch (GeneralSecurityException e) {
            throw PskSecurity.missing(e);
        }
    }

    private void begin(Cipher cipher, int mode, SecretKey key, byte[] iv, long clear, int lane, int number) throws GeneralSecurityException {
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
}
