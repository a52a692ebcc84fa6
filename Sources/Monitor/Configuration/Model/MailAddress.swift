internal import InstrumentText

/// An address of e-mail with a name: `Instrument <monitor@example.org>`, or the address alone.
package struct MailAddress: Hashable, Sendable, CustomStringConvertible {
    /// The name; empty without one.
    package let name: String
    /// The address in ASCII.
    package let address: String

    /// Reads an address; nil for any other text.
    ///
    /// The part before the `@` is a dot-atom (RFC 5322, section 3.2.3), so that no text breaks out of a header or a
    /// command; the domain has letters, digits, hyphens and dots.
    package init?(_ text: String) {
        var (name, address) = ("", Substring(text.trimmingWhitespace))
        if address.hasSuffix(">"), let start = address.lastIndex(of: "<") {
            name = String(address[..<start].trimmingWhitespace)
            address = address[address.index(after: start)...].dropLast()
        }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = parts.first, let domain = parts.last, local.utf8.count <= 64,
            address.utf8.count <= 254, Self.isDotted(local, Self.isAtomByte), Self.isDotted(domain, Self.isDomainByte),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control && $0 != "<" && $0 != ">" })
        else { return nil }
        (self.name, self.address) = (name, String(address))
    }

    /// The part behind the `@`.
    package var domain: String { address.lastIndex(of: "@").map { String(address[address.index(after: $0)...]) } ?? "" }

    /// The name and the address.
    package var description: String { name.isEmpty ? address : "\(name) <\(address)>" }

    private static func isDotted(_ text: Substring, _ isAllowed: (UInt8) -> Bool) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && $0.allSatisfy(isAllowed) }
    }

    private static func isDomainByte(_ byte: UInt8) -> Bool { byte.isNameByte && byte != 0x5F || byte == 0x2D }

    private static func isAtomByte(_ byte: UInt8) -> Bool {
        byte.isNameByte || "!#$%&'*+-/=?^`{|}~".utf8.contains(byte)
    }
}
