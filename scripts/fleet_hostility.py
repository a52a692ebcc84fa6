"""Messages that no producer of ours sends: damaged, future-dated and hostile ones, for run-fleet.py and the tests of the tables."""
import json, random, uuid

BASE = 1_772_409_600_000


def sample(chance, **changes):
    value = {
        "id": str(uuid.UUID(int=chance.getrandbits(128), version=4)).upper(), "sequence": 1, "type": "metric", "name": "PlayTime", "kind": "counter",
        "unit": "ms", "value": 1000, "tracker": 0, "time": BASE, "instant": 5, "attributes": {"senderId": "hostile-0", "playbackId": "hostile"},
    }
    value.update(changes)
    return {name: part for name, part in value.items() if part is not None}


def line(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def is_sample(message):
    try:
        value = json.loads(message)
        return isinstance(value, dict) and value.get("type") in ("event", "metric") and bool(uuid.UUID(value.get("id")))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


def broken(chance):
    """Messages that are no samples: each must be among the broken lines."""
    whole = line(sample(chance))
    messages = [whole[:cut] for cut in (1, 10, len(whole) // 2, len(whole) - 1)]
    messages += [
        b"no json", b"{}", b"[]", b"null", b"true", b"0", b'"text"', b"[1]", b"{" * 3000, b'{"a":' * 3000 + b"1" + b"}" * 3000,
        b"\xff\xfe\xfd", b"\x00", b'{"id":"\xff"}', b"{'id': 1}", whole + whole[:20], b'{"type":"event"}',
        line(sample(chance, id=None)), line(sample(chance, id="")), line(sample(chance, id="x")), line(sample(chance, id=7)),
        line(sample(chance, id={"a": 1})), line(sample(chance, id="0" * 36)), line(sample(chance, type="trace")), line(sample(chance, type=None)),
        line(sample(chance, type=1)), line(sample(chance))[:-1] + b',"value":1e999}', b"'; DROP TABLE samples; --", b"x" * 900_000,
    ]
    # One byte of a sample is changed.
    for _ in range(20):
        text = bytearray(whole)
        text[chance.randrange(len(text))] = chance.choice(b'{}[]",:\\\x01\x80')
        messages.append(bytes(text))
    return [message for message in messages if not is_sample(message)]


def guests(chance):
    """Messages with the form of samples and wild content, whose sender begins with `hostile`."""
    edges = [0, -1, 1, 2**31, 2**53, 2**63 - 1, -(2**63), 2**64 - 1, 4_102_444_800_000 * 1000]
    values = [sample(chance, time=time) for time in edges] + [sample(chance, instant=time, sequence=time) for time in edges]
    values += [sample(chance, value=value) for value in (0, -1, 1e308, -1e308, 5e-324, 2**63 - 1, "text", None, True, [], {})]
    values += [sample(chance, name=name) for name in ("", "x" * 10_000, "StartTime", "a\u0000b", "\U0001f3ac", "'; DROP TABLE samples; --", 5)]
    for labels in ({}, {"cdn": 1}, {"cdn": None}, [], "text", {"a" * 1000: "b" * 1000}, {str(number): "x" for number in range(2_000)}):
        values.append(sample(chance, attributes={"senderId": "hostile-1", "playbackId": "hostile", "monitorStream": "hostile", "monitorLabels": labels}))
    for weight in (0, -5, 2**63 - 1, 1e300, "many"):
        values.append(sample(chance, attributes={"senderId": "hostile-2", "playbackId": "hostile", "sampleWeight": weight}))
    for action in ("Start", "", "x" * 10_000, "NoSuchAction"):
        values.append(sample(chance, type="event", action=action, name=None, kind=None, unit=None, value=None))
    values.append(sample(chance, attributes={"senderId": "hostile-3", "playbackId": "x" * 100_000, "text": "y" * 700_000}))
    # Twice the same identifier.
    twin = sample(chance)
    values += [twin, dict(twin, value=2000), dict(twin, time=2 * BASE)]
    return [line(value) for value in values]


def messages(seed):
    chance = random.Random(seed)
    return broken(chance), guests(chance)
