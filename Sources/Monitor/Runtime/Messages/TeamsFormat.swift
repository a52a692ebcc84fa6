package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// Messages for a Microsoft Teams channel by a workflow ("When a Teams webhook request is received"), as an Adaptive
/// Card.
///
/// Foreign text stands in text runs alone: text blocks and facts would read Markdown. A message has at most 28 KB.
///
/// Sources: Microsoft Learn, "Create Incoming Webhooks with Workflows for Microsoft Teams", "Microsoft Teams connector:
/// known issues and limitations" (28 KB), "Adaptive Cards schema: TextRun" (no Markdown).
package struct TeamsFormat: MessageFormat {
    private static let mostBytes = 24 << 10

    private let url: HTTPURL

    /// - Parameter url: the address of the workflow, which is a secret.
    package init(_ url: HTTPURL) { self.url = url }

    package var secrets: [String] { [url.path] + (url.queryValue(named: "sig").map { [$0] } ?? []) }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        var content = MessageContent(message)
        var body = Self.card(content, message)
        while body.count > Self.mostBytes, !content.streams.isEmpty {
            content.omitted += (content.streams.count + 1) / 2
            content.streams.removeLast((content.streams.count + 1) / 2)
            body = Self.card(content, message)
        }
        return try HTTPRequest.message(body, to: url)
    }

    /// A connector of the earlier kind answers 200, and says in its text what Teams answered.
    package func outcome(of response: HTTPResponse, _ outcome: DeliveryOutcome) -> DeliveryOutcome {
        guard outcome == .acknowledged else { return outcome }
        let words = String(decoding: response.body.prefix(4_096), as: UTF8.self)
        guard let found = words.firstRange(of: "returned HTTP error ") else { return outcome }
        let digits = words[found.upperBound...].prefix { $0.isASCII && $0.isNumber }
        guard let status = Int(digits), !(200...299 ~= status) else { return outcome }
        return DeliveryOutcome(
            status: status,
            now: WallTime(milliseconds: 0),
            reason: "HTTP \(response.status), but Teams answered \(status)"
        )
    }

    private static func card(_ content: MessageContent, _ message: AlertMessage) -> [UInt8] {
        var body: [JSONValue] = [
            paragraph([run(content.headline, ["size": "Large", "weight": "Bolder", "color": color(of: message)])])
        ]
        body += content.facts.map { paragraph([run($0.name + ": ", ["weight": "Bolder"]), run($0.value)]) }
        body += content.streamLines.map { paragraph([run($0, ["size": "Small"])]) }
        var card: [String: JSONValue] = [
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
            "fallbackText": .string(MessageText.withoutMentions(content.headline)), "msteams": ["width": "Full"],
            "body": .array(body),
        ]
        if !content.links.isEmpty {
            card["actions"] = .array(
                content.links.map { ["type": "Action.OpenUrl", "title": .string($0.text), "url": .string($0.url)] }
            )
        }
        let envelope: JSONValue = [
            "type": "message",
            "attachments": [
                [
                    "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil,
                    "content": .object(card),
                ]
            ],
        ]
        return envelope.bytes
    }

    private static func color(of message: AlertMessage) -> JSONValue {
        switch (message.kind, message.severity) {
        case (.closes, _): "Good"
        case (_, .critical): "Attention"
        case (_, .warning): "Warning"
        case (_, .info): "Default"
        }
    }

    private static func paragraph(_ runs: [JSONValue]) -> JSONValue {
        ["type": "RichTextBlock", "inlines": .array(runs), "spacing": "Small"]
    }

    private static func run(_ text: String, _ style: [String: JSONValue] = [:]) -> JSONValue {
        .object(style.merging(["type": "TextRun", "text": .string(MessageText.withoutMentions(text))]) { $1 })
    }
}
