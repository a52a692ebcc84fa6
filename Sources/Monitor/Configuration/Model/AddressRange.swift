/// IP addresses with a common prefix: `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`.
package struct AddressRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let prefix: Int

    /// Reads an address, or an address with the length of a prefix; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = Self.bytes(of: String(first)) else { return nil }
        var prefix = bytes.count * 8
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int(digits), length <= prefix
            else { return nil }
            prefix = length
        }
        (self.bytes, self.prefix) = (bytes, prefix)
    }

    /// Whether an address is in the range; false for a text that is no address.
    package func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return (0..<prefix).allSatisfy { bit in
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            return bytes[bit / 8] & mask == other[bit / 8] & mask
        }
    }

    /// The 4 or 16 bytes of an address (RFC 4291, section 2.2). An IPv4 address within IPv6, as a server that listens
    /// on both sees its clients, counts as IPv4.
    private static func bytes(of text: String) -> [UInt8]? {
        if let bytes = bytesOfIPv4(text[...]) { return bytes }
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard text.contains(":"), (1...2).contains(halves.count),
            let front = groups(halves[0], isEnd: halves.count == 1)
        else { return nil }
        var bytes = front
        if halves.count == 2 {
            guard let back = groups(halves[1], isEnd: true), front.count + back.count <= 14 else { return nil }
            bytes += [UInt8](repeating: 0, count: 16 - front.count - back.count) + back
        }
        guard bytes.count == 16 else { return nil }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }

    /// - Parameter isEnd: whether the text may end in an IPv4 address.
    private static func groups(_ text: Substring, isEnd: Bool) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, group) in groups.enumerated() {
            if isEnd, index == groups.count - 1, let last = bytesOfIPv4(group) {
                bytes += last
                continue
            }
            guard (1...4).contains(group.utf8.count), group.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let value = UInt16(group, radix: 16)
            else { return nil }
            bytes += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        return bytes
    }

    private static func bytesOfIPv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            // A number with a zero in front is octal for some readers.
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part == "0" || !part.hasPrefix("0"), let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
