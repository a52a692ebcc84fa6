import Testing

/// What the contract of a transport asks for and the transport over URLSession cannot do, with the reason. A test that
/// needs it runs over libcurl alone. The table of docs/decisions/transport.md is the same.
enum URLSessionGap: String, CaseIterable, Sendable {
    case repeatedFields = "URLSession joins the fields of one name in any order"
    case bodies = "URLSession sends no body with GET, and adds a `Content-Type` to a body that has none"
    case repeatedBodies = "FoundationNetworking sends no body again when an idle connection turns out to be closed"
    case freshConnections = "URLSession chooses the connection of a request"
    case connectionFacts = "FoundationNetworking tells no address, no version and no times of a connection"
    case proxies = "FoundationNetworking uses the proxy of the environment, whatever the configuration says"
    case trailers = "FoundationNetworking ends the process at the trailers of a chunked body"
    case partialHeads = "FoundationNetworking ends the process when a response ends within its head"
    case brokenResponses = "FoundationNetworking does not tell what broke a response"
    case lateCancellation = "FoundationNetworking ends the process when a request is cancelled near its end"
    case turns = "FoundationNetworking serves no other request while a body comes without a pause"

    /// Whether the tests run over URLSession.
    static var isTested: Bool {
        #if URLSESSION_CHECK
        true
        #else
        false
        #endif
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test over the transport that has the gap.
    static func without(_ gap: URLSessionGap) -> Self { .disabled(if: URLSessionGap.isTested, "\(gap.rawValue)") }
}
