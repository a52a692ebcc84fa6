package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor

/// Messages for a Slack channel by an incoming webhook.
///
/// Foreign text stands in `plain_text` objects alone, which have no markup, and with `&`, `<` and `>` as references, so
/// that it calls nobody (`<!channel>`). Limits: 50 blocks, 150 characters of a header, 10 fields of 2,000 characters,
/// 3,000 characters of a section.
///
/// Sources: Slack, "Sending messages using incoming webhooks", "Formatting text for app surfaces" (escaping), "Block
/// Kit: Header block, Section block, Text object".
package struct SlackFormat: MessageFormat {
    private static let headerLimit = 150
    private static let fieldLimit = 2_000
    private static let mostFields = 10
    private static let sectionLimit = 3_000

    private let url: HTTPURL

    /// - Parameter url: the address of the webhook, which is a secret.
    package init(_ url: HTTPURL) { self.url = url }

    package var secrets: [String] { [url.path] }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        let content = MessageContent(message)
        var blocks: [JSONValue] = [["type": "header", "text": Self.plain(content.headline, Self.headerLimit)]]
        var rest = content.facts[...]
        // A section has ten fields at most; who has the incident, and the note, are among the last.
        while !rest.isEmpty {
            let fields = rest.prefix(Self.mostFields).map {
                Self.plain("\($0.name)\n\($0.value)", Self.fieldLimit)
            }
            blocks.append(["type": "section", "fields": .array(fields)])
            rest = rest.dropFirst(Self.mostFields)
        }
        if !content.streams.isEmpty {
            let lines = content.streamLines(within: Self.sectionLimit) { Self.escaped($0, Self.sectionLimit) }
            blocks.append([
                "type": "section",
                "text": ["type": "plain_text", "text": .string(lines.joined(separator: "\n")), "emoji": false],
            ])
        }
        // The addresses are those of the configuration, and have no `<`, `>` or `|`.
        let links = content.links.map { "<\($0.url.replacing("&", with: "&amp;"))|\($0.text)>" }
            .filter { $0.utf16.count < Self.sectionLimit / 2 }
        if !links.isEmpty {
            blocks.append([
                "type": "section",
                "text": ["type": "mrkdwn", "text": .string(links.joined(separator: "  ")), "verbatim": true],
            ])
        }
        return try HTTPRequest.message(
            [
                // The text of notifications, and of clients that show no blocks.
                "text": .string(Self.escaped(content.headline, Self.sectionLimit)), "mrkdwn": false,
                "blocks": .array(blocks), "unfurl_links": false, "unfurl_media": false,
            ],
            to: url
        )
    }

    private static func plain(_ text: String, _ limit: Int) -> JSONValue {
        ["type": "plain_text", "text": .string(escaped(text, limit)), "emoji": false]
    }

    private static func escaped(_ text: String, _ limit: Int) -> String {
        MessageText.fit(MessageText.withoutMentions(text), limit, escaping: MessageText.reference)
    }
}
