// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

/**
 * Where one side's message memory lies and what is in it: what the other side needs to write there or to read.
 *
 * @param address of the sources; the slots follow (see {@link RunMemory})
 * @param key remote key of the whole
 * @param checksums CRC32C of each source
 */
record Offer(long address, int key, int[] checksums) {
    void putInto(Message message) {
        StringBuilder list = new StringBuilder();
        for (int checksum : checksums) {
            list.append(list.isEmpty() ? "" : ",").append(Integer.toHexString(checksum));
        }
        message.put("address", address).put("key", Integer.toHexString(key)).put("checksums", list);
    }

    /** @throws IllegalArgumentException if the message does not hold an offer for this plan */
    static Offer from(Message message, Plan plan) {
        String[] list = message.text("checksums").split(",");
        if (list.length != plan.sources()) {
            throw new IllegalArgumentException("the peer offers " + list.length + " checksums instead of " + plan.sources());
        }
        int[] checksums = new int[list.length];
        for (int i = 0; i < list.length; i++) {
            checksums[i] = Integer.parseUnsignedInt(list[i], 16);
        }
        return new Offer(message.number("address"), Integer.parseUnsignedInt(message.text("key"), 16), checksums);
    }
}
