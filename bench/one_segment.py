#!/usr/bin/env python3
"""one_segment.py IN.hprof OUT.hprof: writes a dump as a JDK before 15 does, with one heap segment for up to 2 GiB.

Current JDKs end a segment after 1 MiB, so that several threads can write and read; in one giant segment there is no
position at which a second reader could start. Only lengths of segments change (HPROF 1.0.2: HEAP_DUMP_SEGMENT is tag
0x1C, the length of a record has 4 bytes at offset 5).
"""
import struct
import sys

SEGMENT, MOST, PIECE = 0x1C, (1 << 31) - 1, 1 << 22


def main():
    with open(sys.argv[1], "rb") as dump, open(sys.argv[2], "wb") as out:
        while (byte := dump.read(1)) != b"\0":  # version, then the id size and a time
            out.write(byte)
        out.write(byte + dump.read(12))
        begun, size = None, 0
        while head := dump.read(9):
            tag, length = head[0], struct.unpack(">I", head[5:])[0]
            if tag != SEGMENT or begun is None or size + length > MOST:
                close(out, begun, size)
                begun, size = (out.tell(), 0) if tag == SEGMENT else (None, 0)
                out.write(head)
            left = length
            while left > 0:
                piece = dump.read(min(left, PIECE))
                if not piece:
                    sys.exit("one_segment.py: the dump ends inside a record")
                out.write(piece)
                left -= len(piece)
            size += length
        close(out, begun, size)


def close(out, begun, size):
    if begun is not None:
        out.seek(begun + 5)
        out.write(struct.pack(">I", size))
        out.seek(0, 2)


main()
