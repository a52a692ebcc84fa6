internal import InstrumentJSON
internal import InstrumentText

/// A server's own words about a request that it did not accept: one line of bounded length, without control characters
/// and without the secrets of the request.
///
/// For the reasons of dead letters, which are stored, logged and shown on terminals. Of a JSON answer the words are its
/// message, if that is all there is; otherwise the whole text of the answer.
package enum ServerWords {
    /// The largest number of bytes of UTF-8 that are kept.
    package static var maxLength: Int { 500 }
    /// More of an answer than this is not read.
    private static var maxRead: Int { 64 << 10 }
    /// The names under which services send a message.
    private static let messageNames = [
        "error_message", "error_description", "message", "detail", "error", "title", "description", "reason",
    ]

    /// The words of a response; nil if it has none.
    ///
    /// - Parameters:
    ///   - response: the answer.
    ///   - request: the request of the response. The secrets in its headers and its address are hidden.
    ///   - secrets: further texts to hide.
    package static func words(
        of response: HTTPResponse,
        to request: HTTPRequest,
        hiding secrets: [String] = []
    ) -> String? {
        let hidden = HiddenTexts(request.secretTexts + secrets)
        return line(text(of: Array(response.body.prefix(maxRead)), hidden), hidden)
    }

    /// A part of an answer in place of the whole, for a service whose format names its message; nil if nothing is left
    /// of it.
    ///
    /// - Parameters:
    ///   - text: the part.
    ///   - request: the request of the response. The secrets in its headers and its address are hidden.
    ///   - secrets: further texts to hide.
    package static func words(_ text: String, to request: HTTPRequest, hiding secrets: [String] = []) -> String? {
        let hidden = HiddenTexts(request.secretTexts + secrets)
        return line(hidden.hide(in: text), hidden)
    }

    /// The words of a server that does not talk HTTP; nil if nothing is left of them.
    ///
    /// - Parameters:
    ///   - text: the server's message.
    ///   - secrets: texts to hide.
    package static func words(_ text: String, hiding secrets: [String] = []) -> String? {
        let hidden = HiddenTexts(secrets)
        return line(hidden.hide(in: String(decoding: text.utf8.prefix(maxRead), as: UTF8.self)), hidden)
    }

    private static func line(_ text: String, _ hidden: HiddenTexts) -> String? {
        // Once more, for a secret that markup or line breaks kept apart.
        let line = hidden.hide(in: singleLine(text))
        return line.isEmpty ? nil : line.excerpt(toBytes: maxLength)
    }

    /// `HTTP 400: ` and the words.
    package static func reason(
        for response: HTTPResponse,
        to request: HTTPRequest,
        hiding secrets: [String] = []
    ) -> String {
        let words = words(of: response, to: request, hiding: secrets)
        return "HTTP \(response.status)" + (words.map { ": " + $0 } ?? "")
    }

    private static func text(of body: [UInt8], _ secrets: HiddenTexts) -> String {
        // Within the values, where an escape would keep a secret from being found.
        if let json = try? JSONValue(parsing: body) {
            let hidden = hide(secrets, in: json)
            return message(in: hidden) ?? hidden.description
        }
        let text = secrets.hide(in: String(decoding: body, as: UTF8.self))
        return isMarkup(text) ? withoutTags(text) : text
    }

    private static func hide(_ secrets: HiddenTexts, in json: JSONValue) -> JSONValue {
        switch json {
        case .string(let text): .string(secrets.hide(in: text))
        case .array(let elements): .array(elements.map { hide(secrets, in: $0) })
        case .object(let members):
            .object(Dictionary(members.map { (secrets.hide(in: $0), hide(secrets, in: $1)) }) { first, _ in first })
        case .int, .double: secrets.hide(in: json.description) == json.description ? json : .string("…")
        case .null, .bool: json
        }
    }

    /// The message of an answer that says nothing else but numbers and truths.
    private static func message(in json: JSONValue) -> String? {
        if let text = json.string { return text }
        guard case .object(let members) = json else { return nil }
        var words: [String] = []
        for name in messageNames {
            if let text = members[name]?.string, !words.contains(text) { words.append(text) }
        }
        for (name, value) in members where !messageNames.contains(name) {
            switch value {
            case .string, .array, .object: return nil
            case .null, .bool, .int, .double: break
            }
        }
        return words.isEmpty ? nil : words.joined(separator: ": ")
    }

    private static func isMarkup(_ text: String) -> Bool {
        let start = text.prefix(1000).lowercased()
        return start.contains("<html") || start.contains("<!doctype") || start.contains("<?xml")
    }

    private static func withoutTags(_ text: String) -> String {
        var (plain, isTag) = (String.UnicodeScalarView(), false)
        for scalar in text.unicodeScalars {
            if scalar == "<" {
                isTag = true
                plain.append(" ")
            } else if scalar == ">", isTag {
                isTag = false
            } else if !isTag {
                plain.append(scalar)
            }
        }
        return String(plain)
    }

    /// One line: control characters, line breaks and what turns the direction of writing become spaces; of several
    /// spaces one stays.
    private static func singleLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isPrintable(scalar) {
                line.append(scalar)
            } else if let last = line.last, last != " " {
                line.append(" ")
            }
        }
        while line.last == " " { line.removeLast() }
        return String(line)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }
}
