import Instrument
import InstrumentJSON
import InstrumentText
import LoopbackServers

/// Stubs of the services that take messages: each refuses what its service refuses, as the documentation of the service
/// says, and accepts everything else. They are no simulations of the services: nothing is kept.
enum ServiceStub: String, CaseIterable, Sendable {
    case slack, teams, pagerDuty, opsgenie, telegram, alertmanager

    struct Answer: Sendable {
        var status: String
        var body = ""
        var headers: [String] = []
    }

    /// The key or token that the stubs know.
    static let key = "0123456789abcdef0123456789abcdef"

    /// A server that answers as the service does.
    func serve() throws -> TestServer {
        try TestServer { [self] request in
            let answer = answer(to: request)
            let lines = answer.headers.map { $0 + "\r\n" }.joined()
            let head = "HTTP/1.1 \(answer.status)\r\nContent-Length: \(answer.body.utf8.count)\r\n\(lines)\r\n"
            return [.send(Array((head + answer.body).utf8))]
        }
    }

    func answer(to request: TestServer.Received) -> Answer {
        switch self {
        case .slack: Self.slack(request)
        case .teams: Self.teams(request)
        case .pagerDuty: Self.pagerDuty(request)
        case .opsgenie: Self.opsgenie(request)
        case .telegram: Self.telegram(request)
        case .alertmanager: Self.alertmanager(request)
        }
    }

    static func object(_ request: TestServer.Received) -> JSONValue? {
        guard let json = try? JSONValue(parsing: request.body), case .object = json else { return nil }
        return json
    }
}

extension ServiceStub {
    /// Slack, "Sending messages using incoming webhooks" (errors) and "Block Kit" (limits of blocks).
    private static func slack(_ request: TestServer.Received) -> Answer {
        switch request.target {
        case "/services/archived": return Answer(status: "410 Gone", body: "channel_is_archived")
        case "/services/none": return Answer(status: "404 Not Found", body: "no_service")
        case "/services/prohibited": return Answer(status: "403 Forbidden", body: "action_prohibited")
        case "/services/limited":
            return Answer(status: "429 Too Many Requests", body: "rate_limited", headers: ["Retry-After: 7"])
        case "/services/broken": return Answer(status: "500 Server Error", body: "rollup_error")
        default: break
        }
        guard request.header("Content-Type")?.hasPrefix("application/json") == true, let json = object(request) else {
            return Answer(status: "400 Bad Request", body: "invalid_payload")
        }
        let blocks = json["blocks"]?.list ?? []
        if json["text"]?.string?.isEmpty ?? true, blocks.isEmpty {
            return Answer(status: "400 Bad Request", body: "no_text")
        }
        if let text = json["text"]?.string, text.count > 40_000 {
            return Answer(status: "400 Bad Request", body: "msg_too_long")
        }
        let isValid = blocks.count <= 50 && blocks.allSatisfy(isValidBlock)
        return isValid
            ? Answer(status: "200 OK", body: "ok") : Answer(status: "400 Bad Request", body: "invalid_blocks")
    }

    private static func isValidBlock(_ block: JSONValue) -> Bool {
        switch block["type"]?.string {
        case "header":
            return block["text"]?["type"]?.string == "plain_text" && block["text"].map { isValidText($0, 150) } ?? false
        case "section":
            let fields = block["fields"]?.list
            if let fields, fields.isEmpty || fields.count > 10 || !fields.allSatisfy({ isValidText($0, 2_000) }) {
                return false
            }
            return block["text"].map { isValidText($0, 3_000) } ?? (fields != nil)
        case "divider": return true
        default: return false
        }
    }

    private static func isValidText(_ object: JSONValue, _ limit: Int) -> Bool {
        guard let text = object["text"]?.string, (1...limit).contains(text.utf16.count) else { return false }
        switch object["type"]?.string {
        case "plain_text": return object["verbatim"] == nil
        case "mrkdwn": return object["emoji"] == nil
        default: return false
        }
    }

    /// Microsoft Learn, "Create Incoming Webhooks with Workflows", "Adaptive Cards schema"; 28 KB, 413 and 429 after
    /// "Microsoft Teams connector: known issues" and "throttling limits".
    private static func teams(_ request: TestServer.Received) -> Answer {
        switch request.target {
        case "/limited": return Answer(status: "429 Too Many Requests", headers: ["Retry-After: 9"])
        case "/earlier":
            let text =
                "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x."
            return Answer(status: "200 OK", body: text)
        default: break
        }
        if request.body.count > 28 << 10 {
            return Answer(status: "413 Request Entity Too Large", body: "RequestEntityTooLarge")
        }
        guard let json = object(request), json["type"]?.string == "message",
            let attachments = json["attachments"]?.list,
            let first = attachments.first, first["contentType"]?.string == "application/vnd.microsoft.card.adaptive",
            let card = first["content"], card["type"]?.string == "AdaptiveCard",
            ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"].contains(card["version"]?.string), let body = card["body"]?.list,
            !body.isEmpty, body.allSatisfy(isValidElement), (card["actions"]?.list ?? []).count <= 6,
            (card["actions"]?.list ?? []).allSatisfy({
                $0["type"]?.string == "Action.OpenUrl" && $0["url"]?.string?.hasPrefix("http") == true
            })
        else { return Answer(status: "400 Bad Request", body: "{\"error\":{\"code\":\"InvalidCard\"}}") }
        return Answer(status: "202 Accepted")
    }

    private static func isValidElement(_ element: JSONValue) -> Bool {
        guard element["type"]?.string == "RichTextBlock", let runs = element["inlines"]?.list, !runs.isEmpty else {
            return false
        }
        return runs.allSatisfy { $0["type"]?.string == "TextRun" && $0["text"]?.string?.isEmpty == false }
    }

    /// PagerDuty, "Send an alert event": required members, their limits, and the form of errors.
    private static func pagerDuty(_ request: TestServer.Received) -> Answer {
        var errors: [String] = []
        let json = object(request) ?? .null
        if json["routing_key"]?.string?.count != 32 { errors.append("'routing_key' is missing or blank") }
        let action = json["event_action"]?.string
        if !["trigger", "acknowledge", "resolve"].contains(action) { errors.append("'event_action' is invalid") }
        let key = json["dedup_key"]?.string
        if action != "trigger", key?.isEmpty ?? true { errors.append("'dedup_key' is missing or blank") }
        if (key?.count ?? 0) > 255 { errors.append("'dedup_key' is too long") }
        if action == "trigger" {
            let payload = json["payload"]
            if let summary = payload?["summary"]?.string, (1...1_024).contains(summary.utf16.count) {
            } else {
                errors.append("'payload.summary' is missing, blank or too long")
            }
            if payload?["source"]?.string?.isEmpty ?? true { errors.append("'payload.source' is missing or blank") }
            if !["critical", "error", "warning", "info"].contains(payload?["severity"]?.string) {
                errors.append("'payload.severity' is invalid")
            }
            if let time = payload?["timestamp"]?.string, WallTime(rfc3339: time) == nil {
                errors.append("'payload.timestamp' is invalid")
            }
        }
        for link in json["links"]?.list ?? [] where link["href"]?.string?.hasPrefix("http") != true {
            errors.append("'links.href' is invalid")
        }
        if request.body.count > 512 << 10 { return Answer(status: "413 Payload Too Large") }
        if !errors.isEmpty {
            let answer: JSONValue = [
                "status": "invalid event", "message": "Event object is invalid",
                "errors": .array(errors.map { .string($0) }),
            ]
            return Answer(status: "400 Bad Request", body: answer.description)
        }
        let answer: JSONValue = [
            "status": "success", "message": "Event processed", "dedup_key": .string(key ?? ""),
        ]
        return Answer(status: "202 Accepted", body: answer.description)
    }

    /// Opsgenie, "Alert API" and "Response".
    private static func opsgenie(_ request: TestServer.Received) -> Answer {
        guard request.header("Authorization") == "GenieKey " + key else {
            return Answer(status: "401 Unauthorized", body: "{\"message\":\"Key is invalid\"}")
        }
        guard let json = object(request) else {
            return Answer(status: "400 Bad Request", body: "{\"message\":\"Invalid JSON\"}")
        }
        var errors: [String: JSONValue] = [:]
        func check(_ name: String, _ limit: Int) {
            if let text = json[name]?.string, text.utf16.count > limit { errors[name] = "too long" }
        }
        for (name, limit) in [("source", 100), ("note", 25_000), ("user", 100)] { check(name, limit) }
        if request.target == "/v2/alerts" {
            for (name, limit) in [("message", 130), ("alias", 512), ("description", 15_000), ("entity", 512)] {
                check(name, limit)
            }
            if json["message"]?.string?.isEmpty ?? true { errors["message"] = "can not be empty" }
            let tags = json["tags"]?.list ?? []
            if tags.count > 20 || tags.contains(where: { ($0.string?.utf16.count ?? 99) > 50 }) {
                errors["tags"] = "invalid"
            }
            if let priority = json["priority"]?.string, !["P1", "P2", "P3", "P4", "P5"].contains(priority) {
                errors["priority"] = "should be one of [ P1, P2, P3, P4, P5 ]"
            }
            if case .object(let details)? = json["details"] {
                if details.values.contains(where: { $0.string == nil }) { errors["details"] = "not a map of texts" }
                if details.reduce(0, { $0 + $1.key.utf16.count + ($1.value.string?.utf16.count ?? 0) }) > 8_000 {
                    errors["details"] = "too long"
                }
            }
        } else {
            let parts = request.target.split(separator: "/")
            let isAction =
                parts.count == 4
                && ["close?identifierType=alias", "acknowledge?identifierType=alias"].contains(String(parts[3]))
            if !isAction { return Answer(status: "404 Not Found", body: "{\"message\":\"Not found\"}") }
        }
        if !errors.isEmpty {
            let answer: JSONValue = [
                "message": "Request body is not processable. Please check the errors.", "errors": .object(errors),
            ]
            return Answer(status: "422 Unprocessable Entity", body: answer.description)
        }
        return Answer(
            status: "202 Accepted",
            body: "{\"result\":\"Request will be processed\",\"took\":0.1,\"requestId\":\"r\"}"
        )
    }

    /// Telegram, "Bot API": `sendMessage`, "HTML style", "Making requests".
    private static func telegram(_ request: TestServer.Received) -> Answer {
        func refused(_ code: Int, _ text: String, _ more: [String: JSONValue] = [:]) -> Answer {
            let members: [String: JSONValue] = ["ok": false, "error_code": .int(code), "description": .string(text)]
            return Answer(status: "\(code) Refused", body: JSONValue.object(members.merging(more) { $1 }).description)
        }
        guard request.target == "/bot42:\(key)/sendMessage" else { return refused(404, "Not Found") }
        guard let json = object(request) else { return refused(400, "Bad Request: invalid JSON") }
        switch json["chat_id"] {
        case .int(429)?:
            return refused(429, "Too Many Requests: retry after 35", ["parameters": ["retry_after": 35]])
        case .int(403)?: return refused(403, "Forbidden: bot was blocked by the user")
        case .int?, .string?: break
        default: return refused(400, "Bad Request: chat_id is empty")
        }
        guard let text = json["text"]?.string, !text.isEmpty else {
            return refused(400, "Bad Request: message text is empty")
        }
        guard json["parse_mode"]?.string == "HTML" else { return refused(400, "Bad Request: unsupported parse_mode") }
        guard let plain = TelegramMarkup.text(of: text) else {
            return refused(400, "Bad Request: can't parse entities: unsupported start tag")
        }
        if plain.utf16.count > 4_096 { return refused(400, "Bad Request: message is too long") }
        return Answer(status: "200 OK", body: "{\"ok\":true,\"result\":{\"message_id\":1}}")
    }

    /// Alertmanager, `api/v2/openapi.yaml` and `model.Alert.Validate`.
    private static func alertmanager(_ request: TestServer.Received) -> Answer {
        guard request.target == "/prefix/api/v2/alerts" else { return Answer(status: "404 Not Found", body: "404") }
        guard case .array(let alerts)? = try? JSONValue(parsing: request.body) else {
            return Answer(status: "400 Bad Request", body: "\"parsing alerts body failed\"")
        }
        for alert in alerts {
            guard case .object(let labels)? = alert["labels"], !labels.isEmpty,
                labels.allSatisfy({ isLabel($0.key) && $0.value.string?.isEmpty == false }),
                let start = alert["startsAt"]?.string.flatMap({ WallTime(rfc3339: $0) }),
                let end = alert["endsAt"]?.string.flatMap({ WallTime(rfc3339: $0) }), end > start
            else { return Answer(status: "400 Bad Request", body: "\"invalid alert\"") }
            if case .object(let annotations)? = alert["annotations"], !annotations.keys.allSatisfy(isLabel) {
                return Answer(status: "400 Bad Request", body: "\"invalid annotation\"")
            }
        }
        return Answer(status: "200 OK")
    }

    private static func isLabel(_ name: String) -> Bool {
        !name.isEmpty && !(name.first?.isNumber ?? true)
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F }
    }
}

/// The text of Telegram's HTML; nil where Telegram cannot parse it.
enum TelegramMarkup {
    static func text(of markup: String) -> String? {
        var (text, open) = ("", [String]())
        var rest = markup[...]
        while let character = rest.first {
            switch character {
            case "<":
                guard let end = rest.firstIndex(of: ">") else { return nil }
                let tag = rest[rest.index(after: rest.startIndex)..<end]
                rest = rest[rest.index(after: end)...]
                if tag.hasPrefix("/") {
                    guard open.popLast() == String(tag.dropFirst()) else { return nil }
                } else if ["b", "i", "u", "s", "code", "pre"].contains(tag) {
                    open.append(String(tag))
                } else if tag.hasPrefix("a href=\""), tag.hasSuffix("\""), tag.filter({ $0 == "\"" }).count == 2 {
                    open.append("a")
                } else {
                    return nil
                }
            case "&":
                let known = ["&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": "\""]
                guard let entity = known.first(where: { rest.hasPrefix($0.key) }) else { return nil }
                text += entity.value
                rest = rest.dropFirst(entity.key.count)
            case ">": return nil
            default:
                text.append(character)
                rest = rest.dropFirst()
            }
        }
        return open.isEmpty ? text : nil
    }
}

extension JSONValue {
    var list: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// All texts in it, without names.
    var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.texts)
        case .object(let members): members.values.flatMap(\.texts)
        case .null, .bool, .int, .double: []
        }
    }
}
