internal import Instrument

/// Absolute IRIs (RFC 3987): a scheme, followed by the characters that an IRI may contain.
///
/// Validation is best effort, as xAPI 1.0.3, Data 2.2.s4.b6 allows: scheme, characters, percent encoding, one fragment
/// at most, and a host for `http` and `https`.
enum IRIFormat {
    static func isValid(_ text: String) -> Bool {
        var text = text
        let answer = text.withUTF8 { ASCIIAddress($0)?.isValid }
        return answer ?? isValidBeyondASCII(text)
    }

    /// Whether bytes, which are ASCII, are an IRI.
    static func isValid(ascii bytes: UnsafeBufferPointer<UInt8>) -> Bool { ASCIIAddress(ascii: bytes).isValid }

    /// An IRI in ASCII, as nearly all are: judged byte by byte.
    private struct ASCIIAddress {
        private let bytes: UnsafeBufferPointer<UInt8>

        /// Nil for a text with other characters.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard UnsafeRawBufferPointer(bytes).isASCII else { return nil }
            self.bytes = bytes
        }

        init(ascii bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

        var isValid: Bool {
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), isScheme(until: colon), colon + 1 < bytes.count,
                hasAllowedCharacters(from: colon + 1)
            else { return false }
            return !isHypertext(until: colon) || hasHost(from: colon + 1)
        }

        private func isScheme(until colon: Int) -> Bool {
            guard colon > 0, bytes[0].isLetter else { return false }
            for place in 0..<colon where !Self.isOfScheme(bytes[place]) { return false }
            return true
        }

        private static func isOfScheme(_ byte: UInt8) -> Bool {
            byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }

        /// Printable characters except `<>"{}|\^` and the backtick; two hexadecimal digits after each `%`; one `#` at
        /// most.
        private func hasAllowedCharacters(from start: Int) -> Bool {
            var fragments = 0
            for place in start..<bytes.count {
                let byte = bytes[place]
                guard Self.isSpecial(byte) else { continue }
                switch byte {
                case UInt8(ascii: "#"):
                    fragments += 1
                    if fragments == 2 { return false }
                case UInt8(ascii: "%"):
                    guard place + 2 < bytes.count, bytes[place + 1].isHexDigit, bytes[place + 2].isHexDigit else {
                        return false
                    }
                default: return false
                }
            }
            return true
        }

        /// Whether a byte of ASCII is not allowed, or only in some places: `#`, `%`, control characters, space and
        /// `<>"{}|\^` and the backtick.
        @inline(__always)
        private static func isSpecial(_ byte: UInt8) -> Bool {
            (byte < 0x40 ? specials.low >> UInt64(byte) : specials.high >> UInt64(byte & 0x3F)) & 1 != 0
        }

        /// A bit for each byte below and from 0x40.
        private static var specials: (low: UInt64, high: UInt64) {
            let low: UInt64 = 0x1_FFFF_FFFF | 1 << 0x22 | 1 << 0x23 | 1 << 0x25 | 1 << 0x3C | 1 << 0x3E
            let high: UInt64 = 1 << 0x1C | 1 << 0x1E | 1 << 0x20 | 1 << 0x3B | 1 << 0x3C | 1 << 0x3D | 1 << 0x3F
            return (low, high)
        }

        private func isHypertext(until colon: Int) -> Bool {
            guard colon == 4 || colon == 5 && bytes[4] | 0x20 == UInt8(ascii: "s") else { return false }
            return bytes[0] | 0x20 == UInt8(ascii: "h") && bytes[1] | 0x20 == UInt8(ascii: "t")
                && bytes[2] | 0x20 == UInt8(ascii: "t") && bytes[3] | 0x20 == UInt8(ascii: "p")
        }

        /// Something other than a port between `//`, or the last `@` after it, and the path.
        private func hasHost(from start: Int) -> Bool {
            let slash = UInt8(ascii: "/")
            guard start + 1 < bytes.count, bytes[start] == slash, bytes[start + 1] == slash else { return false }
            // The place where the host begins, and the first place after the authority.
            var (host, end) = (start + 2, start + 2)
            while end < bytes.count, !Self.endsAuthority(bytes[end]) {
                if bytes[end] == UInt8(ascii: "@") { host = end + 1 }
                end += 1
            }
            return host < end && bytes[host] != UInt8(ascii: ":")
        }

        private static func endsAuthority(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
    }

    /// The general rule, for a text with any characters.
    static func isValidBeyondASCII(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text[..<colon]
        let rest = text[text.utf8.index(after: colon)...]
        guard isScheme(scheme), !rest.isEmpty, hasOnlyAllowedCharacters(rest), isPercentEncodingWhole(rest),
            rest.utf8.filter({ $0 == UInt8(ascii: "#") }).count < 2
        else { return false }
        return !["http", "https"].contains(scheme.lowercased()) || hasHost(rest)
    }

    /// RFC 3986, section 3.1.
    private static func isScheme(_ scheme: Substring) -> Bool {
        guard let first = scheme.utf8.first, first.isLetter else { return false }
        return scheme.utf8.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    private static func hasOnlyAllowedCharacters(_ text: Substring) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0...0x20, 0x7F...0xA0: false
            case 0x2028, 0x2029, 0xFFF0...0xFFFF: false
            default: !"<>\"{}|\\^`".unicodeScalars.contains(scalar)
            }
        }
    }

    /// Two hexadecimal digits follow every `%`.
    static func isPercentEncodingWhole(_ text: Substring) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false).dropFirst()
            .allSatisfy { $0.count >= 2 && $0.prefix(2).allSatisfy(\.isHexDigit) }
    }

    private static func hasHost(_ rest: Substring) -> Bool {
        guard rest.hasPrefix("//") else { return false }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return !host.isEmpty && !host.hasPrefix(":")
    }
}
