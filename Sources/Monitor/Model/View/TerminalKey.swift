/// A key of the keyboard.
package enum TerminalKey: Hashable, Sendable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end, enter, escape, backspace

    /// Reads the keys in bytes of a terminal; bytes that are no key are left out.
    package static func keys(in bytes: [UInt8]) -> [TerminalKey] {
        let sequences: [(String, TerminalKey)] = [
            ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
            ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[F", .end),
            ("\u{1B}[4~", .end),
        ]
        var keys: [TerminalKey] = []
        var rest = bytes[...]
        while let first = rest.first {
            if let (text, key) = sequences.first(where: { rest.starts(with: $0.0.utf8) }) {
                keys.append(key)
                rest = rest.dropFirst(text.utf8.count)
            } else if first == 0x1B {
                // An escape sequence that is not known is skipped up to its last byte; a lone escape is a key.
                if rest.count > 1, rest[rest.startIndex + 1] == UInt8(ascii: "[") {
                    rest = rest.dropFirst(2).drop { !(0x40...0x7E).contains($0) }.dropFirst()
                } else {
                    keys.append(.escape)
                    rest = rest.dropFirst()
                }
            } else {
                let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
                let text = String(validating: rest.prefix(length), as: UTF8.self)
                rest = rest.dropFirst(text == nil ? 1 : length)
                switch first {
                case 0x0A, 0x0D: keys.append(.enter)
                case 0x08, 0x7F: keys.append(.backspace)
                case 0..<0x20: break
                default: keys += (text ?? "").map { .character($0) }
                }
            }
        }
        return keys
    }
}
