internal import InstrumentHTTP
internal import InstrumentJSON

/// What a server answers to a message: stored, or why not.
enum PublishAnswer: Hashable {
    /// The stream has stored the message, or has had it already.
    case stored
    /// The stream refuses the message whenever it is sent.
    case refused(String)
    /// The same message may be stored later.
    case temporary(String)
    /// No stream takes the subject, or the client must not publish to it: an operator has to change that.
    case unauthorized(String)

    init(status: Int?, payload: [UInt8], secrets: [String]) {
        if status == 503 {
            self = .unauthorized(
                "no stream of JetStream has the subject (503 no responders); create a stream with the subject"
            )
            return
        }
        if status == nil, Self.isPlainConfirmation(payload) {
            self = .stored
            return
        }
        guard status == nil, let json = try? JSONValue(parsing: payload) else {
            self = .temporary("the server sent an answer that is no confirmation of JetStream")
            return
        }
        guard let error = json["error"] else {
            self =
                json["stream"]?.string == nil
                ? .temporary("the server sent an answer that is no confirmation of JetStream") : .stored
            return
        }
        let code = error["code"]?.int ?? 500
        let number = error["err_code"]?.int.map { ", error \($0)" } ?? ""
        let words = error["description"]?.string.flatMap { ServerWords.words($0, hiding: secrets) } ?? "no description"
        let reason = "JetStream \(code)\(number): \(words)"
        switch code {
        case 401, 403: self = .unauthorized(reason)
        case 408, 429: self = .temporary(reason)
        case 400..<500: self = .refused(reason)
        default: self = .temporary(reason)
        }
    }

    /// Whether an answer is `{"stream":"NAME","seq":NUMBER}`, which is what a server sends for almost every message and
    /// needs no parser.
    private static func isPlainConfirmation(_ payload: [UInt8]) -> Bool {
        var rest = payload[...]
        func take(_ text: StaticString) -> Bool {
            let isThere = text.withUTF8Buffer { rest.starts(with: $0) }
            if isThere { rest = rest.dropFirst(text.utf8CodeUnitCount) }
            return isThere
        }
        guard take("{\"stream\":\"") else { return false }
        let name = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        rest = rest.dropFirst(name.count)
        guard !name.isEmpty, take("\",") else { return false }
        _ = take(" ")
        guard take("\"seq\":") else { return false }
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        rest = rest.dropFirst(digits.count)
        return !digits.isEmpty && take("}") && rest.isEmpty
    }
}
