internal import Instrument

/// The address of a server: a host and a port.
package struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`; nil for anything else.
    ///
    /// - Parameters:
    ///   - defaultPort: the port of a text without one; nil if the text must have one.
    ///   - ports: the permitted ports. A listener may ask for 0, which is any free port.
    package init?(
        _ text: some StringProtocol,
        defaultPort: UInt16?,
        ports: ClosedRange<UInt16> = 1...UInt16.max
    ) {
        var rest = Substring(text)
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            host = String(rest.prefix { $0 != ":" })
            rest = rest.dropFirst(host.count)
        }
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isHostByte) else { return nil }
        if rest.isEmpty {
            guard let defaultPort else { return nil }
            port = defaultPort
        } else {
            let digits = rest.dropFirst()
            guard rest.hasPrefix(":"), digits.utf8.allSatisfy(\.isDigit), let number = UInt16(digits),
                ports.contains(number)
            else { return nil }
            port = number
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !",/?#@\"'\\".utf8.contains(byte)
    }

    /// Host and port.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
