internal import Instrument
internal import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// A message as e-mail: plain text and HTML (RFC 2046, `multipart/alternative`), both in Base64, so that no line of a
/// foreign text has a meaning.
///
/// Foreign text stands in one header, the subject, in encoded words (RFC 2047); no parameter of a header has any, so
/// that RFC 2231 is not needed. All mails about an incident refer to one identifier (RFC 5322, section 3.6.4), and mail
/// readers show them as one conversation. `Auto-Submitted` (RFC 3834) keeps automatic answers away.
struct MailFormat: Sendable {
    private static let lineEnd = "\r\n"

    private let sender: MailAddress
    private let recipients: [MailAddress]

    init(from sender: MailAddress, to recipients: [MailAddress]) {
        (self.sender, self.recipients) = (sender, recipients)
    }

    /// The headers and the body.
    func bytes(for message: AlertMessage) -> [UInt8] {
        let content = MessageContent(message)
        let boundary = "=_\(SHA256.hexadecimal(of: (message.id + " boundary").utf8).prefix(40))"
        var lines = headers(message, content)
        lines += [
            "MIME-Version: 1.0", "Content-Type: multipart/alternative; boundary=\"\(boundary)\"", "",
            "--\(boundary)", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        ]
        lines += Self.base64(content.text.replacing("\n", with: Self.lineEnd))
        lines += [
            "--\(boundary)", "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        ]
        lines += Self.base64(Self.page(content)) + ["--\(boundary)--", ""]
        return Array(lines.joined(separator: Self.lineEnd).utf8)
    }

    private func headers(_ message: AlertMessage, _ content: MessageContent) -> [String] {
        let domain = sender.domain
        let (id, incident) = (MessageText.token(message.id), MessageText.token(message.incident))
        let to = recipients.map { Self.text(of: $0) }.joined(separator: ",\(Self.lineEnd) ")
        let subject = Self.encodedWords(MessageText.fit(content.headline, 200), after: 9)
        var lines = [
            "Date: \(Self.date(message.sent))", "From: \(Self.text(of: sender))", "To: \(to)", "Subject: \(subject)",
            "Message-ID: <\(id)@\(domain)>", "In-Reply-To: <incident.\(incident)@\(domain)>",
            "References: <incident.\(incident)@\(domain)>", "Auto-Submitted: auto-generated",
            "X-Auto-Response-Suppress: All", "X-Instrument-Severity: \(message.severity.rawValue)",
        ]
        if message.severity == .critical, message.kind != .closes { lines += ["Importance: high", "X-Priority: 1"] }
        return lines
    }

    /// `Thu, 01 Jan 2026 00:12:34 +0000` (RFC 5322, section 3.3).
    static func date(_ time: WallTime) -> String { time.internetDate(zone: "+0000") }

    private static func text(of address: MailAddress) -> String {
        let name = MessageText.plain(address.name, atMost: 100)
        return name.isEmpty ? address.address : "\(encodedWords(name, after: 6)) <\(address.address)>"
    }

    /// Encoded words of at most 75 characters, folded into lines of at most 76 (RFC 2047, section 2). Text of letters,
    /// digits and blanks that fits its line stays as it is.
    static func encodedWords(_ text: String, after used: Int) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == 0x20 }
        if isPlain, !text.isEmpty, text.utf8.count + used <= 76 { return text }
        var (words, piece) = ([String](), [UInt8]())
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            // 39 bytes are 52 characters of Base64, and 12 are the frame. No character is divided.
            if piece.count + bytes.count > 39 {
                words.append(Base64.encode(piece))
                piece = []
            }
            piece += bytes
        }
        if !piece.isEmpty { words.append(Base64.encode(piece)) }
        return words.map { "=?utf-8?B?\($0)?=" }.joined(separator: lineEnd + " ")
    }

    private static func base64(_ text: String) -> [String] {
        let encoded = Base64.encode(Array(text.utf8)).utf8
        var (lines, rest) = ([String](), encoded[...])
        while !rest.isEmpty {
            lines.append(String(decoding: rest.prefix(76), as: UTF8.self))
            rest = rest.dropFirst(76)
        }
        return lines
    }

    private static func page(_ content: MessageContent) -> String {
        let rows = content.facts.map {
            "<tr><th align=\"left\">\(Markup.escaped($0.name))</th><td>\(Markup.escaped($0.value))</td></tr>"
        }
        let streams = content.streamLines.map { "<li>\(Markup.escaped($0))</li>" }
        let links = content.links.map { "<a href=\"\(Markup.escaped($0.url))\">\(Markup.escaped($0.text))</a>" }
        return """
            <!doctype html><html><head><meta charset="utf-8"></head><body>
            <h2>\(Markup.escaped(content.headline))</h2>
            <table cellpadding="4">
            \(rows.joined(separator: "\n"))
            </table>
            <ul>
            \(streams.joined(separator: "\n"))
            </ul>
            <p>\(links.joined(separator: " · "))</p>
            </body></html>

            """.replacing("\n", with: lineEnd)
    }
}
