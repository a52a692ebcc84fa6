#!/usr/bin/env python3
"""A resolver for scripts/test-elsewhere.sh: writes each requested name to a file, and answers by its mode.

    scripts/test_resolver.py everything|nothing FILE

'everything' answers every question for an address with 127.0.0.1, as the resolvers of some hotels do; 'nothing' never answers. It serves
port 53 of the loopback address until it is killed, and creates FILE.ready once it does.
"""
import socket
import struct
import sys

ADDRESS, HEADER = 1, 12


def name(question):
    """The name in a question, and the question's bytes, its type last but one (RFC 1035, section 4.1.2)."""
    labels, position = [], 0
    while question[position]:
        labels.append(question[position + 1:position + 1 + question[position]].decode("ascii", "replace"))
        position += 1 + question[position]
    return ".".join(labels), question[:position + 5]


def answer(query, question):
    kind = struct.unpack(">H", question[-4:-2])[0]
    record = b"\xc0\x0c" + struct.pack(">HHIH4s", ADDRESS, 1, 60, 4, bytes([127, 0, 0, 1])) if kind == ADDRESS else b""
    return query[:2] + struct.pack(">HHHHH", 0x8180, 1, 1 if record else 0, 0, 0) + question + record


def main(mode, path):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    open(path + ".ready", "w").close()
    while True:
        query, client = server.recvfrom(4096)
        try:
            asked, question = name(query[HEADER:])
        except IndexError:
            continue
        with open(path, "a") as names:
            print(asked, file=names)
        if mode == "everything":
            server.sendto(answer(query, question), client)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("everything", "nothing"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
