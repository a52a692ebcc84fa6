package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// Messages for a Telegram chat by a bot.
///
/// HTML with `&`, `<` and `>` as references, at most 4,096 characters. Without previews of links.
///
/// Source: Telegram, "Bot API": `sendMessage`, "HTML style", `ResponseParameters`.
package struct TelegramFormat: MessageFormat {
    /// The address of the service.
    package static let address = "https://api.telegram.org"
    private static let limit = 4_096

    private let url: HTTPURL
    private let token: String
    private let chat: String
    private let topic: Int?

    /// - Parameters:
    ///   - url: the address of the service, without a path.
    ///   - token: the token of the bot, which is a secret.
    ///   - chat: the number of the chat, or `@` and the name of a channel.
    ///   - topic: the number of a topic in a group with topics.
    package init(_ url: HTTPURL, token: String, chat: String, topic: Int? = nil) {
        (self.url, self.token, self.chat, self.topic) = (url, token, chat, topic)
    }

    package var secrets: [String] { [token] }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        var body: [String: JSONValue] = [
            "chat_id": Int(chat).map { JSONValue.int($0) } ?? .string(chat), "text": .string(Self.text(message)),
            "parse_mode": "HTML", "link_preview_options": ["is_disabled": true],
            "disable_notification": .bool(message.severity == .info || message.kind == .closes),
        ]
        if let topic { body["message_thread_id"] = .int(topic) }
        let target = try url.resolving("/bot\(PercentCoding.encoded(token, keeping: ":"))/sendMessage")
        return try HTTPRequest.message(.object(body), to: target)
    }

    /// Telegram says in the body for how long a bot must wait.
    package func outcome(of response: HTTPResponse, _ outcome: DeliveryOutcome) -> DeliveryOutcome {
        guard case .retry(nil, let reason) = outcome, let json = try? JSONValue(parsing: response.body),
            let seconds = json["parameters"]?["retry_after"]?.int, seconds > 0
        else { return outcome }
        return .retry(after: .seconds(min(seconds, 86_400)), reason: reason)
    }

    /// Whole lines, so that no element and no reference is cut.
    private static func text(_ message: AlertMessage) -> String {
        let content = MessageContent(message)
        let links = content.links.map { "<a href=\"\(Markup.escaped($0.url))\">\($0.text)</a>" }
            .filter { $0.utf16.count <= limit / 4 }.joined(separator: " · ")
        var text = "<b>\(escaped(content.headline, 1_000))</b>"
        var room = limit - text.utf16.count - (links.isEmpty ? 0 : links.utf16.count + 1) - 32
        let lines = content.facts.map { "<b>\(escaped($0.name, 100)):</b> \(escaped($0.value, 600))" }
        for line in lines where line.utf16.count + 1 <= room - 32 {
            room -= line.utf16.count + 1
            text += "\n" + line
        }
        for line in content.streamLines(within: room, { escaped($0, 700) }) { text += "\n" + line }
        return links.isEmpty ? text : text + "\n" + links
    }

    private static func escaped(_ text: String, _ limit: Int) -> String {
        MessageText.fit(MessageText.withoutMentions(text), limit, escaping: MessageText.reference)
    }
}
