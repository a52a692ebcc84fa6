internal import InstrumentJSON
internal import InstrumentText

/// A message of the DevTools protocol: the answer to a command, or an event.
enum DevToolsMessage: Hashable, Sendable {
    /// An answer: its result, or the browser's words for its failure.
    case answer(Int, JSONValue?, failure: String?)
    case event(DevToolsEvent)

    /// Reads a message.
    init(_ bytes: [UInt8]) throws(BadDevToolsMessage) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: bytes) } catch {
            // The error's own message quotes the text.
            throw BadDevToolsMessage(description: "not JSON (\(error.code) at byte \(error.offset))")
        }
        if let number = value["id"]?.int {
            let failure = value["error"].map { $0["message"]?.text(300) ?? "the command failed" }
            self = .answer(number, value["result"], failure: failure)
        } else if let method = value["method"]?.string {
            let session = value["sessionId"]?.text(100)
            self = .event(DevToolsEvent(method: method, session: session, parameters: value["params"] ?? .null))
        } else {
            throw BadDevToolsMessage(description: "neither an answer nor an event")
        }
    }

    /// Whether a message is one of the events that the tracker has no use for, and of which a page may cause any
    /// number. Chromium writes the method first; a message in another order is read.
    static func isIgnored(_ bytes: [UInt8]) -> Bool {
        let prefix = Array("{\"method\":\"".utf8)
        guard bytes.starts(with: prefix) else { return false }
        let rest = bytes[prefix.count...].prefix(80)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return false }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        return !DevToolsEvent.taken.contains(name)
    }
}

/// An event of a domain, in a session with a target or of the browser.
struct DevToolsEvent: Hashable, Sendable {
    var method: String
    var session: String?
    var parameters: JSONValue

    /// The events that the tracker takes.
    static let taken: Set<String> = [
        "Target.attachedToTarget", "Target.detachedFromTarget", "Target.targetCrashed", "Inspector.targetCrashed",
        "Runtime.bindingCalled", "Runtime.executionContextCreated", "Runtime.executionContextDestroyed",
        "Runtime.executionContextsCleared", "Media.playerCreated", "Media.playerErrorsRaised",
        "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed",
        "Fetch.requestPaused", "Page.javascriptDialogOpening",
    ]
}

/// The reason for which bytes are not a message. Contains nothing of them.
struct BadDevToolsMessage: Error, Hashable, CustomStringConvertible { let description: String }

/// A command of the DevTools protocol.
struct DevToolsCommand: Hashable, Sendable {
    var method: String
    var session: String?
    var parameters: [String: JSONValue] = [:]

    /// The command as JSON.
    func bytes(number: Int) -> [UInt8] {
        var message: [String: JSONValue] = [
            "id": .int(number), "method": .string(method), "params": .object(parameters),
        ]
        if let session { message["sessionId"] = .string(session) }
        return JSONValue.object(message).bytes
    }
}
