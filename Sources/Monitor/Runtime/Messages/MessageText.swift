internal import Instrument
internal import InstrumentTerminal
internal import InstrumentText

/// Foreign text (names, labels, addresses, causes) as a part of a message for people.
enum MessageText {
    /// The text on one line without control and format characters, of at most `limit` bytes.
    static func plain(_ text: String, atMost limit: Int = 300) -> String {
        var line = String.UnicodeScalarView()
        // Characters have at most four bytes, and those that are left out must not make the rest unreachable.
        for scalar in text.unicodeScalars.prefix(4 * limit) {
            if !scalar.isUnsafeForTerminals, !scalar.properties.isWhitespace {
                line.append(scalar)
            } else if let last = line.last, last != " " {
                line.append(" ")
            }
        }
        while line.last == " " { line.removeLast() }
        return String(line).excerpt(toBytes: limit)
    }

    /// The plain text, for a chat: no `@` begins a word, so that `@everyone` and names of users call nobody.
    static func withoutMentions(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let next = scalars.index(after: index)
            let isMention =
                scalars[index] == "@" && next < scalars.endIndex && !scalars[next].properties.isWhitespace
            result.append(isMention ? "＠" : scalars[index])
        }
        return String(result)
    }

    /// The beginning of a text that has at most `limit` units of UTF-16 once `escape` has replaced its characters, with
    /// `…` for what is left out. No service counts more than that for a character.
    static func fit(
        _ text: String,
        _ limit: Int,
        escaping escape: (Unicode.Scalar) -> String? = { _ in nil }
    ) -> String {
        var (result, count) = ("", 0)
        // The longest beginning after which there is room for the `…`.
        var (shorter, isCut) = ("", false)
        for scalar in text.unicodeScalars {
            let piece = escape(scalar) ?? String(scalar)
            count += piece.utf16.count
            if count > limit {
                isCut = true
                break
            }
            result += piece
            if count < limit { shorter = result }
        }
        return isCut ? (limit > 0 ? shorter + "…" : "") : result
    }

    /// An identifier as the key of a service's incident: a longer one has a digest in its place.
    static func key(_ identifier: String, _ limit: Int) -> String {
        let isPlain =
            identifier.utf8.count <= limit && !identifier.isEmpty && identifier == plain(identifier, atMost: limit)
        return isPlain ? identifier : SHA256.hexadecimal(of: identifier.utf8)
    }

    /// An identifier as a part of an address in a header: letters, digits and hyphens.
    static func token(_ identifier: String) -> String {
        let isToken = identifier.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
        let isShort = (1...100).contains(identifier.utf8.count)
        return isToken && isShort ? identifier : String(SHA256.hexadecimal(of: identifier.utf8).prefix(40))
    }

    /// `&`, `<` and `>` as references: what Slack and Telegram ask for.
    static func reference(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        default: nil
        }
    }

    /// `45 s`, `12 min 34 s`, `3 h 5 min`, `2 d 3 h`.
    static func words(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
        }
    }

    /// `2026-01-31 09:15:00 UTC`.
    static func words(_ time: WallTime) -> String {
        String(time.rfc3339.prefix(19)).replacing("T", with: " ") + " UTC"
    }
}
