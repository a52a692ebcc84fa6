/// The boxes of a container, for checks that name what is missing.
struct BoxReading {
    let name: BoxType
    let bytes: UnsafeRawBufferPointer

    init(_ name: BoxType, _ bytes: UnsafeRawBufferPointer) { (self.name, self.bytes) = (name, bytes) }

    /// The boxes of that type, until one that does not fit: what follows damage is in doubt.
    func all(_ type: BoxType) -> [BoxReading] {
        var found: [BoxReading] = []
        _ = Box.all(in: bytes) { name, content in
            if name == type { found.append(BoxReading(name, content)) }
            return true
        }
        return found
    }

    /// The first box of that type; nil without one.
    func first(_ type: BoxType) -> BoxReading? { all(type).first }

    /// Whether boxes fill the container, so that a box that is not found is not there.
    var isReadable: Bool { Box.all(in: bytes) { _, _ in true } }

    /// The first box of that type.
    ///
    /// - Returns: nil in doubt.
    /// - Throws: ``MediaRefusal`` if the container certainly has no such box.
    func mandatory(_ type: BoxType) throws(MediaRefusal) -> BoxReading? {
        if let found = first(type) { return found }
        guard isReadable else { return nil }
        throw MediaRefusal("the initialization section has no `\(type)` box in its `\(name)` box", expected: "one")
    }

    /// The content behind a number of bytes; nil if it is shorter.
    func dropping(_ count: Int) -> BoxReading? {
        count <= bytes.count ? BoxReading(name, UnsafeRawBufferPointer(rebasing: bytes[count...])) : nil
    }
}

extension BoxType: CustomStringConvertible {
    var description: String {
        String(
            decoding: [24, 16, 8, 0].map { shift in
                let character = UInt8(truncatingIfNeeded: rawValue >> shift)
                return 0x20..<0x7F ~= character ? character : UInt8(ascii: "?")
            },
            as: UTF8.self
        )
    }
}
