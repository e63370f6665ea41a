// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import io.metaroce.bindings.crypto.LibcryptoCalls;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.SealedHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;

/**
 * OpenSSL's ciphers: from memory to memory, nothing copied besides and nothing allocated for a packet. A context a key, made with it, to
 * which each packet brings a nonce only.
 */
final class LibcryptoCiphers implements Ciphers {
    /** Contexts of connections that were dropped with their endpoint. */
    private static final Cleaner CLEANER = Cleaner.create(Thread.ofPlatform().daemon().name("metaroce-ciphers").factory());

    private final MemorySegment scratch = Arena.ofAuto().allocate(64, 16);
    private final long key = scratch.address();
    private final long nonce = key + KEY_BYTES;
    /** Where OpenSSL says how much it wrote, which is no news. */
    private final long written = nonce + 16;

    /** @throws IllegalStateException if the library is not there, or cannot do this */
    LibcryptoCiphers() {
        if (LibcryptoCalls.missing() != null) {
            throw new IllegalStateException(LibcryptoCalls.missing());
        }
        sealing(new byte[KEY_BYTES], new byte[IV_BYTES]).forget();
    }

    @Override
    public Key sealing(byte[] key, byte[] iv) {
        return new Context(key, iv, true);
    }

    @Override
    public Key opening(byte[] key, byte[] iv) {
        return new Context(key, iv, false);
    }

    @Override
    public String description() {
        return "libcrypto (" + LibcryptoCalls.version() + ")";
    }

    private static void check(boolean done, String what) {
        if (!done) {
            throw new IllegalStateException("libcrypto refuses " + what);
        }
    }

    private record Free(long context) implements Runnable {
        @Override
        public void run() {
            LibcryptoCalls.freeContext(context);
        }
    }

    private final class Context implements Key {
        private final long context = LibcryptoCalls.newContext();
        private final Cleaner.Cleanable cleanable = CLEANER.register(this, new Free(context));
        private final int iv0;
        private final int iv1;
        private final int iv2;

        Context(byte[] secret, byte[] iv, boolean seals) {
            ByteBuffer b = ByteBuffer.wrap(iv, 0, IV_BYTES);
            iv0 = b.getInt();
            iv1 = b.getInt();
            iv2 = b.getInt();
            check(context != 0, "a context");
            Bytes.put(secret, 0, key, KEY_BYTES);
            long cipher = LibcryptoCalls.aes256Gcm();
            int rc = seals ? LibcryptoCalls.encryptInit(context, cipher, key, 0) : LibcryptoCalls.decryptInit(context, cipher, key, 0);
            Bytes.zero(key, KEY_BYTES);
            check(rc == 1, "AES-256-GCM");
        }

        @Override
        public void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
            long c = context;
            nonce(lane, number);
            boolean done = LibcryptoCalls.encryptInit(c, 0, 0, nonce) == 1
                    && LibcryptoCalls.encrypt(c, 0, written, header, SealedHeader.LENGTH) == 1
                    && LibcryptoCalls.encrypt(c, to, written, first, firstLength) == 1
                    && (secondLength == 0 || LibcryptoCalls.encrypt(c, to + firstLength, written, second, secondLength) == 1);
            long tag = to + firstLength + secondLength;
            check(done && LibcryptoCalls.encryptFinal(c, tag, written) == 1
                    && LibcryptoCalls.control(c, LibcryptoCalls.EVP_CTRL_AEAD_GET_TAG, SealedHeader.TAG_LENGTH, tag) == 1, "to seal");
        }

        @Override
        public boolean open(long header, int lane, int number, long sealed, int length, long to) {
            long c = context;
            int plain = length - SealedHeader.TAG_LENGTH;
            nonce(lane, number);
            check(LibcryptoCalls.decryptInit(c, 0, 0, nonce) == 1
                    && LibcryptoCalls.control(c, LibcryptoCalls.EVP_CTRL_AEAD_SET_TAG, SealedHeader.TAG_LENGTH, sealed + plain) == 1
                    && LibcryptoCalls.decrypt(c, 0, written, header, SealedHeader.LENGTH) == 1
                    && LibcryptoCalls.decrypt(c, to, written, sealed, plain) == 1, "to open");
            if (LibcryptoCalls.decryptFinal(c, to + plain, written) == 1) {
                return true;
            }
            // It is deciphered before the tag is known to be wrong.
            Bytes.zero(to, plain);
            return false;
        }

        private void nonce(int lane, int number) {
            Bytes.putInt(nonce, iv0);
            Bytes.putInt(nonce + 4, iv1 ^ lane);
            Bytes.putInt(nonce + 8, iv2 ^ number);
        }

        @Override
        public void forget() {
            cleanable.clean();
        }
    }
}
