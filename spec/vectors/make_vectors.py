#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wire test vectors of this directory.

This is a second encoder, written from the specification alone and sharing no code with the Java one: what both agree on is
what the specification says. Run it here without arguments after a change of the wire format; the output is committed.
"""
import hashlib
import hmac
import struct

VERSION = 1
INIT, CHALLENGE, ACCEPT, REFUSE, DATA, ACK, PROBE, CLOSE, CLOSE_ACK, RESET, SEALED, PARK, PARK_ACK, PLANE, PARITY = range(1, 16)

# type -> [(name, offset, size)], header length
PREFIX = [("checksum", 0, 4), ("versionType", 4, 1), ("flags", 5, 1), ("destinationCid", 8, 4)]
DATA_FIELDS = PREFIX + [
    ("opcode", 6, 1), ("floorDistance", 7, 1), ("path", 12, 2), ("epoch", 14, 1), ("psn", 16, 4), ("timestamp", 20, 4),
    ("stream", 24, 4), ("ssn", 28, 4), ("msn", 32, 4), ("demand", 36, 2), ("payloadLength", 38, 2), ("remoteAddress", 40, 8),
    ("receiveIndex", 40, 4), ("requestId", 40, 8), ("remoteKey", 48, 4), ("offset", 52, 4), ("immReceiveIndex", 52, 4),
    ("messageLength", 56, 4), ("immediate", 60, 4), ("readIndex", 60, 4)]
LAYOUT = {
    DATA: (DATA_FIELDS, 64),
    ACK: (PREFIX + [("pathBlocks", 6, 1), ("controlBlocks", 7, 1), ("plane", 12, 1), ("longBlocks", 13, 1), ("shareValidityUs", 14, 2),
                    ("share", 16, 2), ("startShare", 18, 2)], 20),
    PROBE: (PREFIX + [("floorDistance", 7, 1), ("path", 12, 2), ("epoch", 14, 1), ("nextPsn", 16, 4), ("timestamp", 20, 4),
                      ("demand", 24, 2), ("receivePort", 26, 2), ("floor", 28, 4)], 32),
    CLOSE: (PREFIX + [("reason", 6, 1), ("senderCid", 12, 4)], 20),
    INIT: (PREFIX + [("initiatorCid", 12, 4), ("initiatorNonce", 16, 8), ("initiatorTag", 24, 4), ("tlvBytes", 28, 2), ("receivePort", 30, 2),
                     ("cookieHigh", 32, 8), ("cookieLow", 40, 8)], 48),
    CHALLENGE: (PREFIX + [("initiatorNonce", 16, 8), ("cookieHigh", 24, 8), ("cookieLow", 32, 8)], 40),
    ACCEPT: (PREFIX + [("responderCid", 12, 4), ("initiatorNonce", 16, 8), ("responderTag", 24, 4), ("tlvBytes", 28, 2)], 32),
    REFUSE: (PREFIX + [("reason", 6, 1), ("retryAfterMs", 12, 4), ("initiatorNonce", 16, 8), ("textBytes", 24, 2)], 28),
    RESET: (PREFIX, 36),
}
LAYOUT[CLOSE_ACK] = LAYOUT[CLOSE]
LAYOUT[PARK] = LAYOUT[PARK_ACK] = (PREFIX + [("senderCid", 12, 4), ("name", 16, 4)], 20)
LAYOUT[PLANE] = (PREFIX + [("kind", 6, 1), ("plane", 7, 1), ("senderCid", 12, 4), ("sequence", 16, 4), ("port", 20, 2), ("token", 24, 8),
                           ("addressHigh", 32, 8), ("addressLow", 40, 8)], 48)
LAYOUT[PARITY] = (PREFIX + [("opcode", 6, 1), ("count", 7, 1), ("stream", 24, 4), ("ssn", 28, 4), ("msn", 32, 4), ("lastBytes", 36, 2), ("packetBytes", 38, 2),
                            ("remoteAddress", 40, 8), ("remoteKey", 48, 4), ("offset", 52, 4), ("immReceiveIndex", 52, 4), ("messageLength", 56, 4),
                            ("immediate", 60, 4)], 64)
ENTRY = [("path", 0, 2), ("epoch", 2, 1), ("flags", 3, 1), ("psn", 4, 4), ("checksum", 8, 4)]
SEALED_FIELDS = [("number", 0, 4), ("versionType", 4, 1), ("generations", 5, 1), ("lane", 6, 2), ("destinationCid", 8, 4)]
BLOCK = [("index", 0, 1), ("cumulative", 1, 3), ("epoch", 4, 1), ("ceCount", 5, 1), ("hold", 6, 2), ("span", 8, 2), ("words", 10, 1), ("echo", 12, 4)]
SHORT, LONG = 8, 16
CONTROL = [("kind", 0, 1), ("cause", 1, 1), ("stream", 4, 4), ("value", 8, 4), ("detail", 12, 4)]


def aes_encrypt(key, block):
    """AES of one block (FIPS 197). Slow, and enough for a few vectors."""
    words = [list(key[i:i + 4]) for i in range(0, len(key), 4)]
    nk, rounds, rcon = len(words), len(words) + 6, 1
    while len(words) < 4 * (rounds + 1):
        i, t = len(words), list(words[-1])
        if i % nk == 0:
            t = [SBOX[b] for b in t[1:] + t[:1]]
            t[0] ^= rcon
            rcon = double(rcon)
        elif i % nk == 4:
            t = [SBOX[b] for b in t]
        words.append([a ^ b for a, b in zip(words[i - nk], t)])
    keys = [sum(words[4 * r:4 * r + 4], []) for r in range(rounds + 1)]
    s = [a ^ b for a, b in zip(block, keys[0])]
    for r in range(1, rounds + 1):
        s = [SBOX[s[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if r < rounds:
            s = [double(s[i]) ^ double(s[i // 4 * 4 + (i + 1) % 4]) ^ s[i // 4 * 4 + (i + 1) % 4] ^ s[i // 4 * 4 + (i + 2) % 4] ^ s[i // 4 * 4 + (i + 3) % 4]
                 for i in range(16)]
        s = [a ^ b for a, b in zip(s, keys[r])]
    return bytes(s)


def double(b):
    return b << 1 & 0xFF ^ (0x1B if b & 0x80 else 0)


def make_sbox():
    exp, log, x = [0] * 255, [0] * 256, 1
    for i in range(255):
        exp[i], log[x] = x, i
        x ^= double(x)
    box = []
    for b in range(256):
        inverse = exp[-log[b] % 255] if b else 0
        box.append(inverse ^ 0x63)
        for shift in range(1, 5):
            box[b] ^= (inverse << shift | inverse >> 8 - shift) & 0xFF
    return box


SBOX = make_sbox()


def gcm_seal(key, nonce, plaintext, additional):
    """AES-GCM with a nonce of 96 bits (NIST SP 800-38D); returns ciphertext and tag."""
    def multiply(x, y):
        z = 0
        for i in range(127, -1, -1):
            z ^= y if x >> i & 1 else 0
            y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
        return z

    def stream(n):
        return aes_encrypt(key, nonce + struct.pack(">I", n))

    ciphertext = bytes(p ^ stream(2 + i // 16)[i % 16] for i, p in enumerate(plaintext))
    h, y = int.from_bytes(aes_encrypt(key, bytes(16)), "big"), 0
    padded = additional + bytes(-len(additional) % 16) + ciphertext + bytes(-len(ciphertext) % 16) + struct.pack(">QQ", 8 * len(additional), 8 * len(ciphertext))
    for i in range(0, len(padded), 16):
        y = multiply(y ^ int.from_bytes(padded[i:i + 16], "big"), h)
    return ciphertext + (y ^ int.from_bytes(stream(1), "big")).to_bytes(16, "big")


def x25519(scalar, u):
    """RFC 7748, section 5."""
    p = 2**255 - 19
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    x1 = (int.from_bytes(u, "little") & (1 << 255) - 1) % p
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in range(254, -1, -1):
        bit = k >> t & 1
        if swap ^ bit:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a, c * b, a * a, b * b
        e = aa - bb
        x3, z3 = (da + cb)**2 % p, x1 * (da - cb)**2 % p
        x2, z2 = aa * bb % p, e * (aa + 121665 * e) % p
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, p - 2, p) % p).to_bytes(32, "little")


def extract(salt, secret):
    return hmac.new(salt, secret, hashlib.sha256).digest()


def expand(secret, label, length):
    """HKDF-Expand (RFC 5869) for up to one block of output."""
    return hmac.new(secret, label.encode() + b"\x01", hashlib.sha256).digest()[:length]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def pack(layout, length, values):
    out = bytearray(length)
    known = {name: (offset, size) for name, offset, size in layout}
    for name, value in values.items():
        offset, size = known[name]
        out[offset:offset + size] = value.to_bytes(size, "big")
    return out


def seal(datagram, tag, covered=None):
    if covered is None:
        # Of PARITY header and entries, whatever the integrity.
        covered = 64 + 12 * datagram[7] if datagram[4:5] == bytes([VERSION << 4 | PARITY]) else len(datagram)
    if len(datagram) >= 4:
        datagram[0:4] = struct.pack(">I", crc32c(bytes(datagram[4:covered])) ^ tag)
    return datagram


class Out:
    def __init__(self, name, title):
        self.file = open(name, "w", encoding="utf-8")
        self.file.write("# " + title + "\n# Written by make_vectors.py. The format is described in README.md.\n")

    def vector(self, name, note, datagram, check="NONE", tag=0, integrity="FULL", direction="both", checksum="right", fields=()):
        w = self.file.write
        w(f"\n[{name}]\nnote = {note}\ncheck = {check}\ntag = 0x{tag:08x}\nintegrity = {integrity}\ndirection = {direction}\nchecksum = {checksum}\n")
        for key, value in fields:
            w(f"{key} = {value}\n")
        w(f"hex = {bytes(datagram).hex()}\n")


def shown(fields, value_of):
    """Fields as lines: small numbers in decimal, wide ones in hexadecimal."""
    lines = []
    for name in fields:
        value = value_of[name]
        lines.append((name, str(value) if value < 1 << 16 else hex(value)))
    return lines


TAG = 0x5EC0DE42
CID = 0x00C0FFEE


def header(kind, /, **values):
    layout, length = LAYOUT[kind]
    values.setdefault("versionType", VERSION << 4 | kind)
    datagram = pack(layout, length, values)
    return datagram, values


def lines_of(kind, values):
    return [("field." + k, v) for k, v in shown(values.keys(), values)]


def data(out, name, note, payload=b"", tag=TAG, integrity="FULL", **values):
    base = dict(flags=0, destinationCid=CID, floorDistance=3, path=0x0105, epoch=7, psn=0xFFFFFFFE, timestamp=0x89ABCDEF, stream=12,
                ssn=0x01020304, msn=0x0A0B0C0D, demand=0xFA25, payloadLength=len(payload))
    base.update(values)
    datagram, all_values = header(DATA, **base)
    datagram += payload
    covered = 64 if integrity == "HEADER" and values["opcode"] not in (5, 8, 9, 10) else None
    seal(datagram, tag, covered)
    fields = lines_of(DATA, all_values)
    if payload:
        fields.append(("payload", payload.hex()))
    out.vector(name, note, datagram, tag=tag, integrity=integrity, fields=fields)


def data_vectors():
    out = Out("data.txt", "Data packets: every opcode, flag and both integrity modes.")
    text = bytes(range(16, 40))
    data(out, "write", "first packet of three", text, opcode=1, flags=0, remoteAddress=0x00007F0123456789, remoteKey=0xCAFEBABE, offset=0, messageLength=60)
    data(out, "write-last", "last packet, all flags but SOLICITED", text[:12], opcode=1, flags=0x17, remoteAddress=0x00007F01234567B9,
         remoteKey=0xCAFEBABE, offset=48, messageLength=60, psn=0, floorDistance=255)
    data(out, "write-header-integrity", "integrity HEADER: payload not covered", text, integrity="HEADER", opcode=1, flags=2, remoteAddress=0xFFFFFFFFFFFFF000,
         remoteKey=1, offset=0, messageLength=24)
    data(out, "write-empty", "message of length 0", b"", opcode=1, flags=2, remoteAddress=0, remoteKey=0, offset=0, messageLength=0)
    data(out, "write-imm", "not the last packet; offset 52 is the receive index", text, opcode=2, remoteAddress=0x1000, remoteKey=0x80000001,
         immReceiveIndex=0xFFFFFFFF, messageLength=1 << 30, immediate=0xDEADBEEF)
    data(out, "write-imm-only", "whole message in one packet, SOLICITED", text, opcode=2, flags=0x0A, remoteAddress=0x1000, remoteKey=0x80000001, immReceiveIndex=0,
         messageLength=24, immediate=0x00000001)
    data(out, "send", "middle of a message", text, opcode=3, receiveIndex=0x01000000, remoteKey=0, offset=4096, messageLength=8192)
    data(out, "send-empty", "message of length 0", b"", opcode=3, flags=3, receiveIndex=5, remoteKey=0, offset=0, messageLength=0)
    data(out, "send-imm", "last packet with immediate", text, opcode=4, flags=3, receiveIndex=6, remoteKey=0, offset=0, messageLength=24, immediate=0x01020304)
    data(out, "send-invalidate", "the key names a memory region of the receiver's", text, opcode=7, flags=2, receiveIndex=7, remoteKey=0xCAFEBABE, offset=0, messageLength=24)
    data(out, "read-request", "1 MiB to read", struct.pack(">Q", 0x1122334455667788), opcode=5, flags=2, remoteAddress=0x0000123456789ABC, remoteKey=0x42,
         offset=0, messageLength=1 << 20, readIndex=9)
    data(out, "read-request-header-integrity", "integrity HEADER: the request ID is covered all the same", struct.pack(">Q", 0xFFEEDDCCBBAA9988), integrity="HEADER",
         opcode=5, flags=3, remoteAddress=8, remoteKey=0x42, offset=0, messageLength=0, readIndex=0xFFFFFFFF)
    data(out, "read-response", "echoes the request ID", text, opcode=6, requestId=0x1122334455667788, remoteKey=0, offset=24, messageLength=1 << 20)
    data(out, "read-response-last", "highest plane and index", text, opcode=6, flags=2, path=0x07FF, epoch=255, requestId=1, remoteKey=0, offset=(1 << 30) - 24,
         messageLength=1 << 30)
    data(out, "compare-swap", "write 0x0102030405060708 where all ones are", struct.pack(">QQQ", 0x1122334455667788, 0x0102030405060708, 0xFFFFFFFFFFFFFFFF), opcode=8, flags=2,
         remoteAddress=0x0000123456789AB8, remoteKey=0x42, offset=0, messageLength=8, readIndex=10)
    data(out, "fetch-add", "add -1", struct.pack(">QQ", 0x1122334455667788, 0xFFFFFFFFFFFFFFFF), opcode=9, flags=2, remoteAddress=0x0000123456789AB8, remoteKey=0x42,
         offset=0, messageLength=8, readIndex=11)
    data(out, "fetch-add-header-integrity", "integrity HEADER: the operand is covered all the same", struct.pack(">QQ", 1, 1 << 63), integrity="HEADER", opcode=9, flags=3,
         remoteAddress=8, remoteKey=0x42, offset=0, messageLength=8, readIndex=0xFFFFFFFF)
    data(out, "atomic-response", "the word was 0x8000000000000001", struct.pack(">Q", 0x8000000000000001), opcode=10, flags=2, requestId=0x1122334455667788, remoteKey=0,
         offset=0, messageLength=8)
    data(out, "atomic-response-header-integrity", "integrity HEADER: the value is covered all the same", struct.pack(">Q", 7), integrity="HEADER", opcode=10, flags=2,
         requestId=1, remoteKey=0, offset=0, messageLength=8)
    data(out, "tag-zero", "a tag of 0 leaves the CRC as it is", text, tag=0, opcode=1, flags=2, remoteAddress=0x10, remoteKey=2, offset=0, messageLength=24)
    data(out, "tag-ones", "a tag of all ones", text, tag=0xFFFFFFFF, opcode=1, flags=2, remoteAddress=0x10, remoteKey=2, offset=0, messageLength=24)

    # What a receiver takes although a sender of this version would not write it.
    datagram, _ = header(DATA, flags=0xE2, destinationCid=CID, opcode=1, path=0, payloadLength=4, remoteAddress=4, remoteKey=4, messageLength=4)
    datagram[15] = 0xA5
    datagram += b"abcd"
    out.vector("reserved-ignored", "reserved flags and byte 15 set: ignored", seal(datagram, TAG), tag=TAG, direction="decode",
               fields=[("field.opcode", 1), ("field.payloadLength", 4)])
    datagram, _ = header(DATA, flags=2, destinationCid=CID, opcode=1, path=0, payloadLength=4, remoteAddress=4, remoteKey=4, messageLength=4)
    datagram += b"abcd"
    seal(datagram, TAG)
    datagram[66] ^= 1
    out.vector("bit-error", "one payload bit flipped: well formed, but the checksum is wrong", datagram, tag=TAG, direction="decode", checksum="wrong")


def block(values, words=None):
    """A path block: a short one without words, a long one with a list of them."""
    if words is None:
        return pack(BLOCK, SHORT, values), values, []
    values = {"span": 0, "echo": 0x89ABCDEF, **values, "words": len(words)}
    raw = pack(BLOCK, LONG, values) + b"".join(struct.pack(">Q", w) for w in words)
    return raw, values, words


def control(**values):
    return pack(CONTROL, 16, values), values


def ack(out, name, note, blocks=(), controls=(), direction="both", follower=None, **values):
    base = dict(flags=1 if follower is None else 3, destinationCid=CID, pathBlocks=len(blocks), controlBlocks=len(controls), plane=1,
                longBlocks=sum(1 << i for i, b in enumerate(blocks) if "span" in b[1]), shareValidityUs=400, share=0xEE75, startShare=0xFA2A)
    base.update(values)
    datagram, all_values = header(ACK, **base)
    fields = lines_of(ACK, all_values)
    for i, (raw, block_values, words) in enumerate(blocks):
        datagram += raw
        fields += [(f"block{i}.{k}", v) for k, v in shown(block_values.keys(), block_values)]
        fields += [(f"block{i}.word{j}", f"0x{w:016x}") for j, w in enumerate(words)]
    for i, (raw, control_values) in enumerate(controls):
        datagram += raw
        fields += [(f"control{i}.{k}", v) for k, v in shown(control_values.keys(), control_values)]
    seal(datagram, TAG)
    if follower is not None:
        datagram += follower
        fields.append(("follower", bytes(follower).hex()))
    out.vector(name, note, datagram, tag=TAG, direction=direction, fields=fields)


def follower(flags=2, payload=b"pong", covered=None, **values):
    """A Data packet as it stands behind an acknowledgement."""
    base = dict(flags=flags, destinationCid=CID, opcode=3, path=0x0105, epoch=7, psn=9, payloadLength=len(payload), receiveIndex=5, messageLength=len(payload))
    base.update(values)
    datagram, _ = header(DATA, **base)
    return seal(datagram + payload, TAG, covered)


def ack_vectors():
    out = Out("ack.txt", "Acknowledgements: path blocks with and without bitmaps, control blocks, share.")
    plain = dict(index=5, cumulative=0xFFFFFF, epoch=7, ceCount=2, hold=125)
    ack(out, "empty", "no blocks, no share", flags=0, plane=0, shareValidityUs=0, share=0, startShare=0)
    ack(out, "one-path", "all received up to PSN 0xfffffe or 0xfffffffe or another with these low bits, that one last, nothing beyond known", [block(plain)])
    ack(out, "probe-last", "the same, but a probe came last: its timestamp is echoed", [block(plain, [])])
    ack(out, "gap", "cumulative missing, the next two received; 0xffffffff is lost", [block(dict(plain, span=3), [0b110])])
    ack(out, "probe-answer", "three PSNs known to be sent by a probe, none received: all lost", [block(dict(plain, span=3), [])])
    ack(out, "two-words", "holes in both words", [block(dict(plain, cumulative=1000, span=100), [0xFFFFFFFFFFFFFFFE, (1 << 36) - 2])])
    ack(out, "four-words", "full window of 256, only the last received", [block(dict(plain, cumulative=7, span=256), [0, 0, 0, 1 << 63])])
    ack(out, "no-rtt-sample", "hold says: take no sample", [block(dict(plain, hold=0xFFFF))])
    ack(out, "eight-paths", "the most path blocks, with 0 to 4 words",
        [block(dict(index=255 - i, cumulative=i * 0x111111, epoch=i, ceCount=255 - i, hold=i, span=64 * min(i, 4), echo=i), [0xAAAAAAAAAAAAAAAA] * min(i, 4))
         if i % 2 else block(dict(index=255 - i, cumulative=i * 0x111111, epoch=i, ceCount=255 - i, hold=i)) for i in range(8)], plane=7)
    ack(out, "credit", "credit for a stream", [block(plain)], [control(kind=1, cause=0, stream=12, value=0x80000000, detail=0)])
    ack(out, "credit-on-request", "credit for a stream whose receives are shared", [block(plain)],
        [control(kind=1, cause=0, stream=12, value=3, detail=1)])
    ack(out, "nak", "a refused message", [block(plain)], [control(kind=2, cause=4, stream=12, value=77, detail=0x01020304)])
    ack(out, "stream-reset", "a stream ended by the sender of the block", [block(plain)],
        [control(kind=5, cause=12, stream=12, value=0xFFFFFFFE, detail=0)])
    ack(out, "rebuilt", "a packet made from a Parity packet, first sent on index 5 of plane 1", [block(plain)],
        [control(kind=6, cause=0, stream=12, value=0xFFFFFFFE, detail=0x0105)])
    ack(out, "duplicates", "three packets have come twice so far", [block(plain)], [control(kind=7, cause=0, stream=0, value=3, detail=0)])
    ack(out, "control-only", "asks for credit and confirms a NAK, no path", (),
        [control(kind=3, cause=0, stream=9, value=17, detail=0), control(kind=4, cause=0, stream=12, value=77, detail=0)], flags=0, plane=0,
        shareValidityUs=0, share=0, startShare=0)
    ack(out, "thirty-two-controls", "the most control blocks", (), [control(kind=1, cause=0, stream=i, value=i, detail=0) for i in range(32)])
    ack(out, "longest", "916 bytes", [block(dict(plain, cumulative=7, span=256), [0xFFFFFFFFFFFFFFFE, 0, 0, 1 << 63]) for _ in range(8)],
        [control(kind=2, cause=1 + i % 10, stream=i, value=i, detail=0) for i in range(32)])
    ack(out, "unknown-control", "an unknown kind is ignored, its neighbour is not", (),
        [control(kind=200, cause=9, stream=1, value=2, detail=3), control(kind=1, cause=0, stream=2, value=3, detail=0)])
    ack(out, "unknown-cause", "a NAK with a cause of the future", (), [control(kind=2, cause=255, stream=1, value=2, detail=0)])
    ack(out, "data-follows", "a SEND of four bytes behind the acknowledgement, each with its checksum", [block(dict(plain, span=3), [0b110])],
        [control(kind=1, cause=0, stream=12, value=6, detail=0)], follower=follower())
    ack(out, "data-follows-no-blocks", "a share alone, and a Write of length 0", follower=follower(opcode=1, payload=b"", receiveIndex=0))
    ack(out, "trailing-zero-word", "a sender leaves it out, a receiver takes it", [block(dict(plain, span=100), [0b10, 0])], direction="decode")


def parity_packet(payloads, entries, **values):
    """A Parity packet without its checksum, and the values in it. `entries` has what the packets' headers tell, the rest follows from their payloads."""
    base = dict(flags=0, destinationCid=CID, opcode=1, count=len(payloads), stream=12, ssn=0x01020304, msn=0x0A0B0C0D, lastBytes=len(payloads[-1]),
                packetBytes=len(payloads[0]), remoteAddress=0x00007F0123456789, remoteKey=0xCAFEBABE)
    base.update(values)
    datagram, all_values = header(PARITY, **base)
    entries = [dict(entry, checksum=crc32c(payload)) for entry, payload in zip(entries, payloads)]
    for entry in entries:
        datagram += pack(ENTRY, 12, entry)
    xor = bytearray(len(payloads[0]))
    for payload in payloads:
        for i, byte in enumerate(payload):
            xor[i] ^= byte
    return datagram + xor, all_values, entries


def parity(out, name, note, payloads, entries, integrity="FULL", **values):
    datagram, all_values, entries = parity_packet(payloads, entries, **values)
    fields = lines_of(PARITY, all_values)
    for i, (entry, payload) in enumerate(zip(entries, payloads)):
        fields += [(f"entry{i}.{k}", v) for k, v in shown(entry.keys(), entry)] + [(f"packet{i}", payload.hex())]
    out.vector(name, note, seal(datagram, TAG), tag=TAG, integrity=integrity, fields=fields)


def parity_vectors():
    out = Out("parity.txt", "Parity packets: of the end and the middle of a message, both opcodes, both integrity modes.")
    text = bytes(range(16, 40))
    two = [dict(path=0x0105, epoch=7, flags=0, psn=0xFFFFFFFE), dict(path=0x0203, epoch=1, flags=3, psn=9)]
    parity(out, "write", "the last two packets, the shorter one ends the message; on two planes", [text, text[:12]], two, offset=24, messageLength=60)
    parity(out, "write-sixteen", "the most packets, in the middle of a message; SSN and PSN across the wrap, every plane, all flags but LAST",
           [bytes((29 * i + 7 * j) % 256 for j in range(20)) for i in range(16)],
           [dict(path=(i % 8) << 8 | 255 - i, epoch=248 + i // 2, flags=(i & 1) | (i & 14) << 1, psn=(0xFFFFFFF8 + i) % (1 << 32)) for i in range(16)],
           ssn=0xFFFFFFFA, msn=0xFFFFFFFF, remoteAddress=0xFFFFFFFFFFFFF000, offset=1 << 29, messageLength=1 << 30)
    parity(out, "write-imm", "not the end of the message; offset 52 is the receive index of both", [text, text[::-1]], [dict(two[0], psn=8), dict(two[0], psn=9)],
           opcode=2, immReceiveIndex=0xFFFFFFFF, messageLength=1 << 30, immediate=0xDEADBEEF)
    parity(out, "write-imm-whole", "three packets of the same length, which are the message", [text[:8], text[8:16], text[16:]],
           [dict(two[0], psn=8), dict(two[0], psn=9), dict(two[0], psn=10, flags=0x0A)], opcode=2, immReceiveIndex=0, messageLength=24, immediate=1)
    parity(out, "write-header-integrity", "integrity HEADER: covered are header and entries, as with FULL", [text, text[:1]], two, integrity="HEADER", offset=0,
           messageLength=25)
    # What a receiver takes although a sender of this version would not write it.
    datagram, _, _ = parity_packet([text, text], [dict(two[0], flags=0xE0), dict(two[1], flags=0xE2)], flags=0xFF, offset=0, messageLength=48)
    datagram[12:24] = b"\xa5" * 12
    out.vector("reserved-ignored", "flags, reserved flags in the entries and bytes 12 to 23 set: ignored", seal(datagram, TAG), tag=TAG, direction="decode",
               fields=[("field.opcode", 1), ("field.count", 2), ("packet0", text.hex()), ("packet1", text.hex())])


def small_vectors():
    out = Out("control.txt", "Probes, CLOSE, CLOSE_ACK, PARK, PARK_ACK, PLANE and RESET.")

    def simple(name, note, kind, /, tag=TAG, **values):
        datagram, all_values = header(kind, **values)
        out.vector(name, note, seal(datagram, tag), tag=tag, fields=lines_of(kind, all_values))
        return datagram

    probe = simple("probe", "five PSNs waited for, across the wrap", PROBE, destinationCid=CID, floorDistance=5, path=0x0203, epoch=1, nextPsn=2, timestamp=0xFEDCBA98,
                   demand=0, receivePort=14791, floor=0xFFFFFFFD)
    simple("probe-idle", "nothing out; default port", PROBE, destinationCid=CID, floorDistance=0, path=0, epoch=0, nextPsn=0x80000000, timestamp=0, demand=0xFFFF,
           receivePort=0, floor=0x80000000)
    simple("probe-full", "256 PSNs waited for: the distance says 255", PROBE, destinationCid=CID, floorDistance=255, path=0x07FF, epoch=255, nextPsn=300, timestamp=1,
           demand=1, receivePort=65535, floor=44)
    padded, values = header(PROBE, destinationCid=CID, floorDistance=0, path=0x0101, epoch=2, nextPsn=7, timestamp=5, demand=0, receivePort=14791, floor=7)
    padded += bytes(64 + 300 - 32)
    out.vector("probe-padded", "as long as a Data packet with 300 bytes of payload", seal(padded, TAG), tag=TAG, fields=lines_of(PROBE, values))
    simple("close", "graceful", CLOSE, destinationCid=CID, reason=0, senderCid=0x01020304)
    simple("close-abort", "an unknown reason is kept", CLOSE, destinationCid=CID, reason=200, senderCid=0xFFFFFFFF)
    simple("park", "the sender will know it by this name", PARK, destinationCid=CID, senderCid=0x01020304, name=0x0A0B0C0D)
    simple("park-ack", "the highest name", PARK_ACK, destinationCid=CID, senderCid=0xFFFFFFFF, name=0xFFFFFFFF)
    simple("plane-state", "plane 1 is at 192.0.2.1, port 14792", PLANE, destinationCid=CID, kind=0, plane=1, senderCid=0x01020304, sequence=2, port=14792, token=0,
           addressHigh=0, addressLow=0xFFFFC0000201)
    simple("plane-gone", "plane 7 is gone", PLANE, destinationCid=CID, kind=0, plane=7, senderCid=0x01020304, sequence=0xFFFFFFFF, port=0, token=0, addressHigh=0,
           addressLow=0)
    simple("plane-challenge", "asks for the token", PLANE, destinationCid=CID, kind=1, plane=1, senderCid=0x05060708, sequence=2, port=0, token=0x0123456789ABCDEF,
           addressHigh=0, addressLow=0)
    simple("plane-response", "returns it", PLANE, destinationCid=CID, kind=2, plane=1, senderCid=0x01020304, sequence=2, port=0, token=0x0123456789ABCDEF,
           addressHigh=0, addressLow=0)
    simple("plane-taken", "the statement is in force; its sender's own last one was 5", PLANE, destinationCid=CID, kind=3, plane=1, senderCid=0x05060708, sequence=2, port=0, token=5, addressHigh=0,
           addressLow=0)
    simple("close-ack", "confirms", CLOSE_ACK, destinationCid=CID, reason=7, senderCid=0x01020304)

    for name, note, offending in (("reset-probe", "answers a probe", probe),
                                  ("reset-data", "answers a Data packet",
                                   seal(header(DATA, flags=2, destinationCid=CID, opcode=1, path=0x0105, epoch=7, psn=0xFFFFFFFE, timestamp=0x89ABCDEF)[0], TAG))):
        datagram, values = header(RESET, destinationCid=0)
        datagram[12:36] = offending[:24]
        echoed = dict(echoedVersionType=offending[4], echoedDestinationCid=CID, echoedPath=struct.unpack_from(">H", offending, 12)[0], echoedEpoch=offending[14],
                      echoedPsn=struct.unpack_from(">I", offending, 16)[0], echoedTimestamp=struct.unpack_from(">I", offending, 20)[0])
        out.vector(name, note, seal(datagram, 0), fields=[("echo", bytes(offending[:24]).hex())] + lines_of(RESET, values) + lines_of(RESET, echoed))


def tlv(kind, value):
    return kind, value, struct.pack(">BBH", kind, 0, len(value)) + value + bytes(-len(value) % 4)


def u32(kind, value):
    return tlv(kind, struct.pack(">I", value))


def planes(*entries):
    return tlv(2, b"".join(address + struct.pack(">HH", port, 0) for address, port in entries))


def mapped(a, b, c, d):
    return bytes(10) + b"\xff\xff" + bytes((a, b, c, d))


V6 = bytes.fromhex("20010db8000000000000000000000042")


def with_tlvs(kind, tlvs, pad_to=0, **values):
    body = b"".join(raw for _, _, raw in tlvs)
    length = LAYOUT[kind][1]
    missing = pad_to - length - len(body)
    tlvs = list(tlvs)
    if missing > 0:
        tlvs.append(tlv(0, bytes(missing - 4)))
        body += tlvs[-1][2]
    values.setdefault("tlvBytes", len(body))
    datagram, all_values = header(kind, **values)
    datagram += body
    fields = lines_of(kind, all_values)
    for i, (t, value, _) in enumerate(tlvs):
        fields += [(f"tlv{i}.type", t), (f"tlv{i}.length", len(value))]
        if any(value):
            fields.append((f"tlv{i}.value", value.hex()))
    return datagram, fields


ALL_TLVS = [u32(1, 4096), planes((mapped(10, 0, 0, 1), 14791), (V6, 14792)), u32(3, 48), u32(4, 1024), u32(5, 4096), u32(6, 1), u32(7, 16),
            tlv(8, struct.pack(">Q", 400_000_000)), u32(9, 1024), tlv(10, "MetaRoCE \u00fcber Java".encode()), u32(11, 16), u32(12, 25_000_000), u32(13, 7),
            tlv(14, struct.pack(">HH", 1, 0) + bytes(range(64))), tlv(15, struct.pack(">IIQ", 0x0A0B0C0D, 0x12345678, 0xFEDCBA9876543210))]


def handshake_vectors():
    out = Out("handshake.txt", "INIT, CHALLENGE, ACCEPT and REFUSE with parameters.")
    identity = dict(destinationCid=0, initiatorCid=0x0BADCAFE, initiatorNonce=0x0123456789ABCDEF, initiatorTag=TAG)
    first, fields = with_tlvs(INIT, [planes((mapped(192, 0, 2, 1), 14791))], 512, **identity)
    out.vector("init-first", "no cookie, one plane, all else by default", seal(first, 0), fields=fields)
    second, fields = with_tlvs(INIT, ALL_TLVS, 512, receivePort=14792, cookieHigh=0x1111111122222222, cookieLow=0x3333333344444444, **identity)
    out.vector("init-cookie", "with cookie and every parameter", seal(second, 0), fields=fields)
    gaps, fields = with_tlvs(INIT, [planes((bytes(16), 0), (mapped(192, 0, 2, 1), 14791), (bytes(16), 0), (bytes(16), 14793))], 512, **identity)
    out.vector("init-planes-absent", "planes 0 and 2 are not there; plane 3 is where the datagram came from", seal(gaps, 0), fields=fields)
    longest, fields = with_tlvs(INIT, [planes(*[(mapped(10, 0, i, 1), 14791 + i) for i in range(8)])], 1024, **identity)
    out.vector("init-longest", "1,024 bytes, eight planes", seal(longest, 0), fields=fields)
    future, fields = with_tlvs(INIT, [tlv(200, b"\x01\x02\x03"), planes((mapped(192, 0, 2, 1), 14791)), tlv(200, b""), tlv(0, b"\x07")], 512, **identity)
    out.vector("init-unknown-tlv", "unknown types are ignored, also twice; PAD may hold anything", seal(future, 0), fields=fields)
    datagram, values = header(CHALLENGE, destinationCid=0x0BADCAFE, initiatorNonce=0x0123456789ABCDEF, cookieHigh=0x1111111122222222, cookieLow=0x3333333344444444)
    out.vector("challenge", "a cookie", seal(datagram, 0), fields=lines_of(CHALLENGE, values))
    answer = dict(destinationCid=0x0BADCAFE, responderCid=CID, initiatorNonce=0x0123456789ABCDEF, responderTag=0xA1B2C3D4)
    datagram, fields = with_tlvs(ACCEPT, ALL_TLVS, 0, **answer)
    out.vector("accept", "every parameter", seal(datagram, 0), fields=fields)
    datagram, fields = with_tlvs(ACCEPT, [planes((bytes(16), 1))], 0, **answer)
    out.vector("accept-shortest", "one plane, whose address is that of the datagram", seal(datagram, 0), fields=fields)
    for name, note, text, reason, retry in (("refuse", "pool exhausted, try again in 100 ms", "all 64 connections are in use", 3, 100),
                                            ("refuse-silent", "no text", "", 2, 0), ("refuse-longest", "200 bytes of text", "\u00e4" * 100, 9, 0xFFFFFFFF)):
        utf8 = text.encode()
        datagram, values = header(REFUSE, destinationCid=0x0BADCAFE, reason=reason, retryAfterMs=retry, initiatorNonce=0x0123456789ABCDEF, textBytes=len(utf8))
        datagram += utf8
        out.vector(name, note, seal(datagram, 0), fields=lines_of(REFUSE, values) + ([("text", text)] if text else []))


PSK = bytes(range(0x40, 0x60))
PRIVATE_INITIATOR = bytes(range(1, 33))
PRIVATE_RESPONDER = bytes(range(101, 133))
BASE_POINT = (9).to_bytes(32, "little")


def security(private, proof=bytes(32)):
    return tlv(14, struct.pack(">HH", 1, 0) + x25519(private, BASE_POINT) + proof)


def sealed_vectors():
    """A whole agreement on keys, and packets sealed with them. Private keys and PSK are in the file."""
    out = Out("sealed.txt", "Agreement on keys, and sealed packets.")
    w = out.file.write

    def init(proof, cookie):
        return with_tlvs(INIT, [planes((mapped(192, 0, 2, 1), 14791)), security(PRIVATE_INITIATOR, proof)], 512, destinationCid=0, initiatorCid=0x0BADCAFE,
                         initiatorNonce=0x0123456789ABCDEF, initiatorTag=TAG, cookieHigh=cookie, cookieLow=cookie)

    def accept(proof):
        return with_tlvs(ACCEPT, [planes((bytes(16), 14791)), security(PRIVATE_RESPONDER, proof)], 0, destinationCid=0x0BADCAFE, responderCid=CID,
                         initiatorNonce=0x0123456789ABCDEF, responderTag=0xA1B2C3D4)

    t_init, t_accept = bytes(init(bytes(32), 0)[0]), bytes(accept(bytes(32))[0])
    init_proof = expand(extract(hashlib.sha256(t_init).digest(), PSK), "metaroce 1 init", 32)
    shared = x25519(PRIVATE_INITIATOR, x25519(PRIVATE_RESPONDER, BASE_POINT))
    prk = extract(hashlib.sha256(t_init + t_accept).digest(), PSK + shared)
    accept_proof = expand(prk, "metaroce 1 accept", 32)
    w("\n[keys]\nnote = the agreement; the packets below are sealed with its keys\n")
    for name, value in (("psk", PSK), ("privateInitiator", PRIVATE_INITIATOR), ("privateResponder", PRIVATE_RESPONDER), ("shared", shared), ("prk", prk),
                        ("init", seal(init(init_proof, 0x1111111122222222)[0], 0)), ("accept", seal(accept(accept_proof)[0], 0))):
        w(f"{name} = {bytes(value).hex()}\n")

    # Resumed by the same two ends. Their key pairs are those of before, which no real ones may be.
    def resuming(proof, port):
        return with_tlvs(INIT, [tlv(15, struct.pack(">IIQ", 0x23456789, 0xA1B2C3D4, 0x0123456789ABCDEF)), planes((mapped(192, 0, 2, 1), 14791)),
                                security(PRIVATE_INITIATOR, proof)], 512, destinationCid=0, initiatorCid=0x0BADCAFE,
                         initiatorNonce=0x0123456789ABCDEF, initiatorTag=TAG, receivePort=port)

    resumption = expand(prk, "metaroce 1 resume", 32)
    t_init = bytes(resuming(bytes(32), 0)[0])
    init_proof = expand(extract(hashlib.sha256(t_init).digest(), resumption), "metaroce 1 init", 32)
    resumed = extract(hashlib.sha256(t_init + t_accept).digest(), resumption + shared)
    w("\n[resume]\nnote = the connection of [keys] is resumed, answered by an ACCEPT that is that of [keys] but for its proof\n")
    for name, value in (("resumption", resumption), ("init", seal(resuming(init_proof, 14791)[0], 0)),
                        ("accept", seal(accept(expand(resumed, "metaroce 1 accept", 32))[0], 0))):
        w(f"{name} = {bytes(value).hex()}\n")

    def packet(name, note, inside, by, generation, number, lane, opened):
        secret = expand(prk, "metaroce 1 " + by, 32)
        for _ in range(generation):
            secret = expand(secret, "metaroce 1 next", 32)
        clear = bytes(pack(SEALED_FIELDS, 12, dict(number=number, versionType=0x1B, generations=(opened & 15) << 4 | generation & 15, lane=lane,
                                                   destinationCid=struct.unpack_from(">I", inside, 8)[0])))
        nonce = bytes(a ^ b for a, b in zip(expand(secret, "metaroce 1 iv", 12), struct.pack(">6xHI", lane, number)))
        datagram = clear + gcm_seal(expand(secret, "metaroce 1 key", 32), nonce, bytes(inside[4:8] + inside[12:]), clear)
        w(f"\n[{name}]\nnote = {note}\nby = {by}\ngeneration = {generation}\nnumber = 0x{number:08x}\nlane = 0x{lane:04x}\nopened = {opened}\n")
        # Checksum and tag do not exist inside: zeros.
        w(f"inside = {bytes(inside).hex()}\nhex = {datagram.hex()}\n")

    def inside(kind, body=b"", cid=CID, **values):
        return bytes(header(kind, destinationCid=cid, **values)[0]) + body

    write = inside(DATA, bytes(range(100)), opcode=1, flags=2, path=0x0105, epoch=7, psn=9, payloadLength=100, remoteAddress=4096, remoteKey=4, messageLength=100)
    packet("data", "a Write, sealed by the initiator", write, "initiator", 0, 1, 0x0105, 0)
    packet("data-again", "the same once more: another number, another ciphertext", write, "initiator", 0, 2, 0x0105, 0)
    packet("data-empty", "no payload", inside(DATA, opcode=1, flags=2), "initiator", 0, 0xFFFFFFFF, 0, 0)
    packet("probe", "by the responder", inside(PROBE, cid=0x0BADCAFE, path=0x0203, epoch=1, nextPsn=2, floor=2), "responder", 0, 1, 0x0203, 0)
    packet("ack", "no blocks", inside(ACK, cid=0x0BADCAFE, plane=1), "responder", 0, 77, 0, 0)
    packet("close", "the shortest", inside(CLOSE, senderCid=0x0BADCAFE), "initiator", 0, 0x80000000, 0, 0)
    packet("next-generation", "sealed with the second key, by who has opened the third of the other", write, "initiator", 1, 3, 0x0105, 2)
    packet("generation-17", "told as 1", write, "responder", 17, 4, 0x0105, 15)


def malformed_vectors():
    out = Out("malformed.txt", "Malformed datagrams, each with a right checksum and the malformation that it shows.")
    text = bytes(range(24))

    def bad(name, check, note, datagram, tag=TAG):
        out.vector(name, note, seal(bytearray(datagram), tag), check=check, tag=tag, direction="decode")

    def packet(payload=text, **values):
        base = dict(flags=2, destinationCid=CID, opcode=1, path=0, payloadLength=len(payload), remoteAddress=4096, remoteKey=4, messageLength=len(payload))
        base.update(values)
        return header(DATA, **base)[0] + payload

    good = packet()
    bad("empty", "TOO_SHORT", "no byte at all", b"")
    bad("prefix-cut", "TOO_SHORT", "11 bytes", good[:11])
    bad("data-cut", "TOO_SHORT", "header of 63 bytes", good[:63])
    bad("version-0", "BAD_VERSION", "version 0", packet(versionType=0x05))
    bad("version-2", "BAD_VERSION", "version 2", packet(versionType=0x25))
    bad("type-0", "BAD_TYPE", "type 0", packet(versionType=0x10))
    bad("data-payload-cut", "LENGTH_MISMATCH", "a byte of payload is missing", good[:-1])
    bad("data-payload-long", "LENGTH_MISMATCH", "a byte too much", good + b"x")
    bad("data-cid-0", "BAD_CID", "destination CID 0", packet(destinationCid=0))
    bad("data-plane-8", "BAD_PATH", "plane 8", packet(path=0x0800))
    for opcode in (0, 11, 255):
        bad(f"opcode-{opcode}", "BAD_OPCODE", "not defined in this version", packet(opcode=opcode))
    bad("payload-16385", "BAD_PAYLOAD_LENGTH", "payload of 16,385 bytes", packet(bytes(16385)))
    bad("payload-missing", "BAD_PAYLOAD_LENGTH", "a message of 5 bytes without payload", packet(b"", messageLength=5, flags=0))
    bad("read-request-7", "BAD_PAYLOAD_LENGTH", "request ID of 7 bytes", packet(bytes(7), opcode=5, messageLength=100))
    bad("read-request-empty", "BAD_PAYLOAD_LENGTH", "no request ID", packet(b"", opcode=5, messageLength=100))
    bad("compare-swap-16", "BAD_PAYLOAD_LENGTH", "nothing to compare with", packet(bytes(16), opcode=8, messageLength=8))
    bad("fetch-add-24", "BAD_PAYLOAD_LENGTH", "two operands", packet(bytes(24), opcode=9, messageLength=8))
    bad("atomic-response-4", "BAD_PAYLOAD_LENGTH", "a value of 4 bytes", packet(bytes(4), opcode=10, messageLength=8))
    bad("compare-swap-length-24", "BAD_MESSAGE_LENGTH", "message length that of the payload", packet(bytes(24), opcode=8, messageLength=24))
    bad("fetch-add-length-4", "BAD_MESSAGE_LENGTH", "a word of 4 bytes", packet(bytes(16), opcode=9, messageLength=4))
    bad("fetch-add-offset", "BAD_MESSAGE_LENGTH", "a request with an offset", packet(bytes(16), opcode=9, messageLength=8, offset=8))
    bad("atomic-response-length-0", "BAD_MESSAGE_LENGTH", "no word", packet(bytes(8), opcode=10, messageLength=0))
    bad("compare-swap-not-last", "BAD_LAST", "a request without LAST", packet(bytes(24), opcode=8, messageLength=8, flags=0))
    bad("atomic-response-not-last", "BAD_LAST", "whole message without LAST", packet(bytes(8), opcode=10, messageLength=8, flags=0))
    bad("message-too-long", "BAD_MESSAGE_LENGTH", "2^30 + 1 bytes", packet(messageLength=(1 << 30) + 1, flags=0))
    bad("message-negative", "BAD_MESSAGE_LENGTH", "2^32 - 1 bytes", packet(messageLength=0xFFFFFFFF, flags=0))
    bad("payload-beyond-message", "BAD_MESSAGE_LENGTH", "offset 1 and 24 bytes in a message of 24", packet(offset=1))
    bad("offset-negative", "BAD_MESSAGE_LENGTH", "offset 2^32 - 24: the sum wraps around", packet(offset=0xFFFFFFE8))
    bad("write-imm-beyond-message", "BAD_MESSAGE_LENGTH", "24 bytes in a message of 23", packet(opcode=2, messageLength=23))
    bad("read-request-offset", "BAD_MESSAGE_LENGTH", "a request with an offset", packet(bytes(8), opcode=5, messageLength=100, offset=1))
    bad("last-missing", "BAD_LAST", "holds the end, but not LAST", packet(flags=0))
    bad("last-early", "BAD_LAST", "LAST before the end", packet(messageLength=25))
    bad("read-request-not-last", "BAD_LAST", "a request without LAST", packet(bytes(8), opcode=5, messageLength=100, flags=0))
    bad("write-imm-whole-not-last", "BAD_LAST", "whole message without LAST", packet(opcode=2, flags=0))
    bad("empty-not-last", "BAD_LAST", "empty message without LAST", packet(b"", messageLength=0, flags=0))

    plain = dict(index=0, cumulative=10, epoch=0, ceCount=0, hold=0)

    def acknowledgement(body=b"", **values):
        return header(ACK, **dict(dict(flags=0, destinationCid=CID), **values))[0] + body

    one = block(plain)[0]
    long = dict(pathBlocks=1, longBlocks=1)
    bad("ack-cut", "TOO_SHORT", "19 bytes", acknowledgement()[:19])
    bad("ack-cid-0", "BAD_CID", "destination CID 0", acknowledgement(destinationCid=0))
    bad("ack-plane-8", "BAD_PATH", "of plane 8", acknowledgement(plane=8))
    bad("ack-nine-paths", "TOO_MANY_BLOCKS", "nine path blocks", acknowledgement(bytes(one) * 9, pathBlocks=9))
    bad("ack-33-controls", "TOO_MANY_BLOCKS", "33 control blocks", acknowledgement(bytes(control(kind=1)[0]) * 33, controlBlocks=33))
    bad("ack-block-missing", "LENGTH_MISMATCH", "a block promised, none there", acknowledgement(pathBlocks=1))
    bad("ack-block-cut", "LENGTH_MISMATCH", "7 bytes of a block", acknowledgement(one[:7], pathBlocks=1))
    bad("ack-long-block-cut", "LENGTH_MISMATCH", "15 bytes of a long block", acknowledgement(block(plain, [])[0][:15], **long))
    bad("ack-long-as-short", "LENGTH_MISMATCH", "a long block that is not announced", acknowledgement(block(plain, [])[0], pathBlocks=1))
    bad("ack-short-as-long", "LENGTH_MISMATCH", "a short block announced as a long one", acknowledgement(one, **long))
    bad("ack-words-missing", "LENGTH_MISMATCH", "one word promised, none there", acknowledgement(pack(BLOCK, LONG, dict(plain, words=1, span=5)), **long))
    bad("ack-control-missing", "LENGTH_MISMATCH", "one of two control blocks", acknowledgement(control(kind=1)[0], controlBlocks=2))
    bad("ack-trailing", "LENGTH_MISMATCH", "a byte behind the blocks", acknowledgement(one + b"x", pathBlocks=1))
    behind = bytes(follower())
    followed = dict(flags=2, pathBlocks=1)
    bad("ack-follower-missing", "LENGTH_MISMATCH", "Data promised, none there", acknowledgement(one, **followed))
    bad("ack-follower-cut", "LENGTH_MISMATCH", "a byte of its payload is missing", acknowledgement(one + behind[:-1], **followed))
    bad("ack-follower-short", "TOO_SHORT", "63 bytes of its header", acknowledgement(one + behind[:63], **followed))
    bad("ack-follower-unannounced", "LENGTH_MISMATCH", "no flag", acknowledgement(one + behind, pathBlocks=1))
    bad("ack-follower-cid", "BAD_CID", "for another connection", acknowledgement(one + bytes(follower(destinationCid=CID + 1)), **followed))
    bad("ack-follower-type", "BAD_TYPE", "an acknowledgement behind an acknowledgement", acknowledgement(one + bytes(acknowledgement()), **followed))
    bad("ack-follower-version", "BAD_VERSION", "of version 2", acknowledgement(one + bytes(follower(versionType=0x25)), **followed))
    bad("ack-follower-opcode", "BAD_OPCODE", "opcode 0", acknowledgement(one + bytes(follower(opcode=0)), **followed))
    bad("ack-span-257", "BAD_SPAN", "span 257", acknowledgement(block(dict(plain, span=257), [])[0], **long))
    bad("ack-five-words", "BAD_BITMAP", "five words", acknowledgement(block(dict(plain, span=256), [2] * 5)[0], **long))
    bad("ack-bit-0", "BAD_BITMAP", "cumulative itself marked as received", acknowledgement(block(dict(plain, span=5), [3])[0], **long))
    bad("ack-bit-beyond", "BAD_BITMAP", "a bit at the span", acknowledgement(block(dict(plain, span=5), [1 << 5])[0], **long))
    bad("ack-words-beyond", "BAD_BITMAP", "two words for a span of 64", acknowledgement(block(dict(plain, span=64), [2, 0])[0], **long))
    bad("ack-words-no-span", "BAD_BITMAP", "a word for a span of 0", acknowledgement(block(plain, [0])[0], **long))
    bad("ack-reset-cause-0", "BAD_CAUSE", "a STREAM_RESET without cause", acknowledgement(control(kind=5, cause=0)[0], controlBlocks=1))
    bad("ack-nak-cause-0", "BAD_CAUSE", "a NAK without cause", acknowledgement(control(kind=2, cause=0)[0], controlBlocks=1))

    def probe(**values):
        return header(PROBE, **dict(dict(destinationCid=CID, nextPsn=10, floor=10), **values))[0]

    bad("probe-cut", "TOO_SHORT", "31 bytes", probe()[:31])
    bad("probe-long", "LENGTH_MISMATCH", "16,449 bytes", probe() + bytes(16417))
    bad("probe-cid-0", "BAD_CID", "destination CID 0", probe(destinationCid=0))
    bad("probe-plane-8", "BAD_PATH", "plane 8", probe(path=0x0800))
    bad("probe-floor-ahead", "BAD_FLOOR", "floor beyond next PSN", probe(floor=11))
    bad("probe-floor-far", "BAD_FLOOR", "257 behind", probe(nextPsn=257, floor=0, floorDistance=255))
    bad("probe-distance-wrong", "BAD_FLOOR", "distance 5, floor 4 behind", probe(floor=6, floorDistance=5))

    def parity(payloads=(text, text[:12]), flags=(0, 2), entry=dict(), **values):
        base = dict(offset=0, messageLength=sum(map(len, payloads)))
        base.update(values)
        return parity_packet(payloads, [dict(entry, flags=f) for f in flags], **base)[0]

    whole = parity()
    bad("parity-cut", "TOO_SHORT", "header of 63 bytes", whole[:63])
    bad("parity-of-0", "TOO_MANY_BLOCKS", "covers nothing", parity(count=0)[:64])
    bad("parity-of-1", "TOO_MANY_BLOCKS", "covers one packet", parity([text], [2]))
    bad("parity-of-17", "TOO_MANY_BLOCKS", "covers 17 packets", parity([text] * 17, [0] * 16 + [2]))
    bad("parity-entries-missing", "LENGTH_MISMATCH", "two entries promised, none there", whole[:64])
    bad("parity-payload-cut", "LENGTH_MISMATCH", "a byte of payload is missing", whole[:-1])
    bad("parity-long", "LENGTH_MISMATCH", "a byte too much", whole + b"x")
    bad("parity-cid-0", "BAD_CID", "destination CID 0", parity(destinationCid=0))
    bad("parity-plane-8", "BAD_PATH", "packets sent on plane 8", parity(entry=dict(path=0x0800)))
    bad("parity-opcode-0", "BAD_OPCODE", "opcode 0", parity(opcode=0))
    bad("parity-of-send", "BAD_OPCODE", "packets of a SEND", parity(opcode=3))
    bad("parity-last-empty", "BAD_PAYLOAD_LENGTH", "last packet without payload", parity([text, b""]))
    bad("parity-empty", "BAD_PAYLOAD_LENGTH", "packets without payload", parity([b"", b""]))
    bad("parity-last-longer", "BAD_PAYLOAD_LENGTH", "last packet longer than the others", parity(lastBytes=25, messageLength=49))
    bad("parity-16361", "BAD_PAYLOAD_LENGTH", "two entries and 16,361 bytes", parity([bytes(16361)] * 2))
    bad("parity-message-too-long", "BAD_MESSAGE_LENGTH", "2^30 + 1 bytes", parity([text] * 2, [0, 0], messageLength=(1 << 30) + 1))
    bad("parity-beyond-message", "BAD_MESSAGE_LENGTH", "offset 1 and 36 bytes in a message of 36", parity(offset=1, messageLength=36))
    bad("parity-offset-negative", "BAD_MESSAGE_LENGTH", "offset 2^32 - 36: the sum wraps around", parity(offset=0xFFFFFFDC))
    bad("parity-imm-beyond-message", "BAD_MESSAGE_LENGTH", "36 bytes in a message of 35", parity(opcode=2, messageLength=35))
    bad("parity-last-before", "BAD_LAST", "LAST in the first of two", parity(flags=(2, 2)))
    bad("parity-last-missing", "BAD_LAST", "holds the end, but not LAST", parity([text] * 2, [0, 0]))
    bad("parity-last-early", "BAD_LAST", "LAST before the end", parity(messageLength=100))
    bad("parity-imm-whole-not-last", "BAD_LAST", "whole message without LAST", parity([text] * 2, [0, 0], opcode=2))
    bad("parity-shorter-not-last", "BAD_LAST", "a shorter packet can only be the last", parity(flags=(0, 0), messageLength=100))
    bad("parity-imm-shorter-not-last", "BAD_LAST", "the same of a WRITE_IMM", parity(flags=(0, 0), opcode=2, messageLength=100))

    def close(**values):
        return header(CLOSE, **dict(dict(destinationCid=CID, senderCid=1), **values))[0]

    bad("close-cut", "TOO_SHORT", "19 bytes", close()[:19])
    bad("close-long", "LENGTH_MISMATCH", "21 bytes", close() + b"x")
    bad("close-cid-0", "BAD_CID", "destination CID 0", close(destinationCid=0))
    bad("close-sender-0", "BAD_CID", "sender's CID 0", close(senderCid=0))
    def park(**values):
        return header(PARK, **dict(dict(destinationCid=CID, senderCid=1, name=2), **values))[0]

    bad("park-cut", "TOO_SHORT", "19 bytes", park()[:19])
    bad("park-long", "LENGTH_MISMATCH", "21 bytes", park() + b"x")
    bad("park-cid-0", "BAD_CID", "destination CID 0", park(destinationCid=0))
    bad("park-sender-0", "BAD_CID", "sender's CID 0", park(senderCid=0))
    bad("park-ack-name-0", "BAD_CID", "name 0", park(versionType=0x1D, name=0))
    def plane(**values):
        return header(PLANE, **dict(dict(destinationCid=CID, senderCid=1, plane=1), **values))[0]

    bad("plane-cut", "TOO_SHORT", "47 bytes", plane()[:47])
    bad("plane-long", "LENGTH_MISMATCH", "49 bytes", plane() + b"x")
    bad("plane-cid-0", "BAD_CID", "destination CID 0", plane(destinationCid=0))
    bad("plane-sender-0", "BAD_CID", "sender's CID 0", plane(senderCid=0))
    bad("plane-8", "BAD_PATH", "plane 8", plane(plane=8))
    bad("close-ack-cut", "TOO_SHORT", "19 bytes", close(versionType=0x19)[:19])

    where = planes((mapped(192, 0, 2, 1), 14791))

    def init(tlvs=(where,), pad=512, **values):
        return with_tlvs(INIT, tlvs, pad, **dict(dict(initiatorCid=1), **values))[0]

    def accept(tlvs=(where,), **values):
        return with_tlvs(ACCEPT, tlvs, 0, **dict(dict(destinationCid=1, responderCid=2), **values))[0]

    bad("init-511", "TOO_SHORT", "511 bytes", init()[:511], 0)
    bad("init-508", "TOO_SHORT", "508 bytes, all lengths agreeing", init(pad=508), 0)
    bad("init-1028", "LENGTH_MISMATCH", "1,028 bytes", init(pad=1028), 0)
    bad("init-tlv-bytes", "LENGTH_MISMATCH", "TLV bytes say four less", init(tlvBytes=460), 0)
    bad("init-destination", "BAD_CID", "destination CID 1", init(destinationCid=1), 0)
    bad("init-cid-0", "BAD_CID", "initiator CID 0", init(initiatorCid=0), 0)
    bad("init-tlv-beyond", "BAD_TLV", "length of the last TLV leaves the datagram", init([where, (0, b"", struct.pack(">BBH", 200, 0, 0xFFFF) + bytes(436))], 0), 0)
    bad("init-tlv-odd", "BAD_TLV", "two bytes behind the last TLV", init([where, tlv(0, bytes(436)), (0, b"", bytes(2))], 0), 0)
    bad("init-no-planes", "MISSING_PARAMETER", "PLANES is missing", init([u32(1, 4096)]), 0)
    for name, wrong in (("mtu-255", u32(1, 255)), ("mtu-16385", u32(1, 16385)), ("mtu-short", tlv(1, bytes(2))), ("mtu-long", tlv(1, bytes(8))),
                        ("paths-0", u32(3, 0)), ("paths-257", u32(3, 257)), ("streams-0", u32(4, 0)), ("window-32", u32(5, 32)), ("window-131072", u32(5, 131072)),
                        ("window-100", u32(5, 100)), ("integrity-2", u32(6, 2)), ("ack-every-0", u32(7, 0)), ("ack-every-256", u32(7, 256)),
                        ("rate-999", tlv(8, struct.pack(">Q", 999))), ("rate-negative", tlv(8, struct.pack(">Q", 1 << 63))), ("rate-short", tlv(8, bytes(4))),
                        ("buffer-0", u32(9, 0)), ("implementation-65", tlv(10, b"x" * 65)), ("reads-empty", tlv(11, b"")), ("share-short", tlv(12, bytes(3))),
                        ("service-long", tlv(13, bytes(8))), ("security-1", tlv(14, b"\x00")), ("security-suite-1-short", tlv(14, b"\x00\x01" + bytes(65))),
                        ("security-suite-1-long", tlv(14, b"\x00\x01" + bytes(67))), ("resume-short", tlv(15, bytes(15))), ("resume-0", tlv(15, bytes(16)))):
        bad("parameter-" + name, "BAD_PARAMETER", "out of range", init([where, wrong]), 0)
    bad("parameter-twice", "BAD_PARAMETER", "the same parameter twice", init([where, u32(1, 4096), u32(1, 4096)]), 0)
    bad("planes-empty", "BAD_PARAMETER", "no plane", init([tlv(2, b"")]), 0)
    bad("planes-nine", "BAD_PARAMETER", "nine planes", init([planes(*[(V6, 1)] * 9)]), 0)
    bad("planes-odd", "BAD_PARAMETER", "19 bytes", init([tlv(2, V6 + b"\x39\xc7\x00")]), 0)
    bad("planes-absent", "BAD_PARAMETER", "no plane is there", init([planes((bytes(16), 0), (bytes(16), 0))]), 0)
    bad("planes-port-0", "BAD_PARAMETER", "port 0", init([planes((V6, 0))]), 0)
    bad("accept-cut", "TOO_SHORT", "31 bytes", accept()[:31], 0)
    bad("accept-tlv-bytes", "LENGTH_MISMATCH", "TLV bytes say four more", accept(tlvBytes=28), 0)
    bad("accept-long", "LENGTH_MISMATCH", "1,028 bytes", with_tlvs(ACCEPT, [where], 1028, destinationCid=1, responderCid=2)[0], 0)
    bad("accept-destination-0", "BAD_CID", "destination CID 0", accept(destinationCid=0), 0)
    bad("accept-responder-0", "BAD_CID", "responder CID 0", accept(responderCid=0), 0)
    bad("accept-no-planes", "MISSING_PARAMETER", "no TLV at all", accept([]), 0)
    bad("accept-parameter", "BAD_PARAMETER", "MTU 1", accept([where, u32(1, 1)]), 0)
    bad("accept-tlv-beyond", "BAD_TLV", "length of the last TLV leaves the datagram", accept([where, (0, b"", struct.pack(">BBH", 2, 0, 4))]), 0)

    def sealed(length, **values):
        return pack(SEALED_FIELDS, 12, dict(dict(versionType=0x1B, destinationCid=CID), **values)) + bytes(length - 12)

    bad("sealed-31", "TOO_SHORT", "31 bytes", sealed(31))
    bad("sealed-16469", "LENGTH_MISMATCH", "16,469 bytes", sealed(16469))
    bad("sealed-cid-0", "BAD_CID", "destination CID 0", sealed(60, destinationCid=0))
    bad("sealed-lane", "BAD_PATH", "lane on plane 8", sealed(60, lane=0x0800))

    challenge = header(CHALLENGE, destinationCid=1)[0]
    bad("challenge-cut", "TOO_SHORT", "39 bytes", challenge[:39], 0)
    bad("challenge-long", "LENGTH_MISMATCH", "41 bytes", challenge + b"x", 0)
    bad("challenge-cid-0", "BAD_CID", "destination CID 0", header(CHALLENGE)[0], 0)

    def refuse(text=b"", **values):
        return header(REFUSE, **dict(dict(destinationCid=1, textBytes=len(text)), **values))[0] + text

    bad("refuse-cut", "TOO_SHORT", "27 bytes", refuse()[:27], 0)
    bad("refuse-text-201", "BAD_TEXT", "201 bytes of text", refuse(b"x" * 201), 0)
    bad("refuse-text-cut", "LENGTH_MISMATCH", "a byte of text is missing", refuse(b"xyz")[:-1], 0)
    bad("refuse-cid-0", "BAD_CID", "destination CID 0", refuse(destinationCid=0), 0)

    def reset(echo, **values):
        datagram = header(RESET, **values)[0]
        datagram[12:36] = echo
        return datagram

    bad("reset-cut", "TOO_SHORT", "35 bytes", reset(good[:24])[:35], 0)
    bad("reset-long", "LENGTH_MISMATCH", "37 bytes", reset(good[:24]) + b"x", 0)
    bad("reset-destination", "BAD_CID", "destination CID 1", reset(good[:24], destinationCid=1), 0)
    bad("reset-echoed-cid-0", "BAD_CID", "echoed CID 0", reset(packet(destinationCid=0)[:24]), 0)
    bad("reset-of-ack", "BAD_ECHO", "echoes an acknowledgement", reset(acknowledgement(bytes(4))), 0)
    bad("reset-of-reset", "BAD_ECHO", "echoes a reset", reset(header(RESET, destinationCid=1)[0][:24]), 0)
    bad("reset-of-version-2", "BAD_ECHO", "echoes a packet of version 2", reset(packet(versionType=0x25)[:24]), 0)


def rate16_encode(kbps):
    if kbps <= 0:
        return 0
    if kbps >= 2047 << 31:
        return 0xFFFF
    e = max(0, kbps.bit_length() - 11)
    return (kbps >> e) << 5 | e


def number_vectors():
    with open("numbers.txt", "w", encoding="utf-8") as f:
        f.write("# Rate16, serial numbers and CRC32C: function, arguments, result.\n# Written by make_vectors.py. The format is described in README.md.\n")
        for kbps in (0, 1, 2, 2047, 2048, 2049, 4095, 4096, 1_000_000, 10_000_000, 25_000_000, 100_000_000, 400_000_000, 800_000_000, 0xFFFFFFFF,
                     (2047 << 31) - 1, 2047 << 31, (2047 << 31) + 1, (1 << 63) - 1):
            f.write(f"rate16.encode {kbps} = 0x{rate16_encode(kbps):04x}\n")
        for code in (0x0000, 0x0001, 0x001F, 0x0020, 0x003F, 0x7FE0, 0x8000, 0xFA25, 0xFFE0, 0xFFFF):
            f.write(f"rate16.decode 0x{code:04x} = {(code >> 5) << (code & 31)}\n")
        for a, b in ((0, 0), (1, 0), (0, 1), (0, 0xFFFFFFFF), (0xFFFFFFFF, 0), (0x7FFFFFFF, 0), (0x80000001, 0), (5, 0xFFFFFFFB), (0x80000000, 0x7FFFFFFF)):
            d = (a - b) & 0xFFFFFFFF
            f.write(f"serial.diff 0x{a:08x} 0x{b:08x} = {d - (1 << 32) if d >> 31 else d}\n")
        for a, b in ((0, 0), (1, 0), (0, 1), (0, 255), (255, 0), (127, 0), (128, 0), (129, 0), (0, 128), (3, 250)):
            d = (a - b) & 0xFF
            f.write(f"epoch.newer {a} {b} = {'true' if 0 < d < 128 else 'false'}\n")
        for data_ in (b"", b"123456789", bytes(32), b"\xff" * 32, bytes(range(32)), bytes(range(31, -1, -1)), bytes(range(256))):
            f.write(f"crc32c {data_.hex() or '-'} = 0x{crc32c(data_):08x}\n")


if __name__ == "__main__":
    data_vectors()
    ack_vectors()
    parity_vectors()
    small_vectors()
    handshake_vectors()
    sealed_vectors()
    malformed_vectors()
    number_vectors()
