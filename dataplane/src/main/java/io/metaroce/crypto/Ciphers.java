// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

/** A source of AES-256-GCM (spec: "Sealing"). What it makes shares memory of its own: all of it belongs to one thread. */
interface Ciphers {
    int KEY_BYTES = 32;
    int IV_BYTES = 12;

    /** One key, for one direction. */
    interface Key {
        /** As {@link io.metaroce.transport.Security.Keys#seal}. Of keys to seal with. */
        void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to);

        /** As {@link io.metaroce.transport.Security.Keys#open}. Of keys to open with. */
        boolean open(long header, int lane, int number, long sealed, int length, long to);

        /** Forgets the key, which is not used any more. More than once is the same as once. */
        void forget();
    }

    /** A key to seal with. Both arrays are copied. */
    Key sealing(byte[] key, byte[] iv);

    /** A key to open with. */
    Key opening(byte[] key, byte[] iv);

    /** For people: whose cryptography this is. */
    String description();

    /** libcrypto's, which is faster and makes no garbage, or the JDK's; {@code -Dmetaroce.crypto=libcrypto} or {@code jdk} insists on one. */
    static Ciphers choose() {
        String wish = System.getProperty("metaroce.crypto", "");
        if (wish.equals("jdk")) {
            return new JdkCiphers("metaroce.crypto");
        }
        try {
            return new LibcryptoCiphers();
        } catch (IllegalStateException e) {
            if (wish.equals("libcrypto")) {
                throw e;
            }
            return new JdkCiphers(e.getMessage());
        }
    }
}
