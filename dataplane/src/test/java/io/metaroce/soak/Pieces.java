// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Segments;

/** How a message lies in a range of memory: cut into pieces, some of them empty, which stand there in another order. */
record Pieces(int[] at, int[] length) {
    /** Always the same for one number. */
    static Pieces of(int bytes, long id) {
        int n = Settings.SEGMENTS;
        int turn = mixed(id * 17) % n;
        int[] length = new int[n];
        int left = bytes;
        for (int i = 0; i < n; i++) {
            length[i] = i == n - 1 ? left : mixed(id * 31 + i + 1) % (left + 1);
            left -= length[i];
        }
        int[] at = new int[n];
        int next = 0;
        for (int i = 0; i < n; i++) {
            int piece = (i + turn) % n;
            at[piece] = next;
            next += length[piece];
        }
        return new Pieces(at, length);
    }

    static int mixed(long id) {
        return (int) (id * 0x9e3779b97f4a7c15L >>> 40);
    }

    /** The list for the endpoint. */
    Segments into(Segments list, HostMemory.Range range) {
        list.clear();
        for (int i = 0; i < at.length; i++) {
            list.add(range.address() + at[i], length[i], range.region().key());
        }
        return list;
    }

    /** The message, of which the range holds {@code image}. */
    byte[] message(byte[] image) {
        byte[] message = new byte[image.length];
        int next = 0;
        for (int i = 0; i < at.length; i++) {
            System.arraycopy(image, at[i], message, next, length[i]);
            next += length[i];
        }
        return message;
    }

    /** What the range holds of a message, the rest being zeros. */
    byte[] image(byte[] message, int bytes) {
        byte[] image = new byte[bytes];
        int next = 0;
        for (int i = 0; i < at.length; i++) {
            int part = Math.min(length[i], Math.max(0, message.length - next));
            System.arraycopy(message, Math.min(next, message.length), image, at[i], part);
            next += length[i];
        }
        return image;
    }
}
