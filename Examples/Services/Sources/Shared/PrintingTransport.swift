import Foundation
import Instrument
import InstrumentTransport

/// Prints requests in place of sending them. In an app this is `SystemTransport()`.
public struct PrintingTransport: HTTPTransport {
    private let answer: String

    /// Creates a transport to whose requests the answer is always 200 with this body.
    public init(answer: String = "") { self.answer = answer }

    /// Prints the request.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let isText = request.headers["Content-Encoding"] == nil
        let body =
            isText ? String(decoding: request.body, as: UTF8.self) : "\(request.body.count) bytes, packed by gzip"
        // The description of a request shows no secrets.
        print("\(request)\n\(body)\n")
        return HTTPResponse(status: 200, body: Array(answer.utf8), url: request.url)
    }
}

/// Ends the program: with 1 if something was not delivered.
public func finish(_ instrument: Instrument) async -> Never {
    exit(await instrument.shutdown(timeout: .seconds(5)) ? 0 : 1)
}

/// A player that somebody else plays: it is told what happened.
public final class ManualTracker: Tracker {
    /// What it is called.
    public let target: String? = "manual"
    /// Creates a player.
    public init() {}
    /// It has come into being.
    public func begin(in context: TrackerContext) { context.emit(.trackerInit) }
}
