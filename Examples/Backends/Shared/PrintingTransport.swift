import Foundation
import Instrument
import InstrumentTransport

/// Prints requests instead of sending them. In an app this is `SystemTransport()`.
public struct PrintingTransport: HTTPTransport {
    private let answer: String

    /// Creates a transport that responds to every request with 200 and a body.
    public init(answer: String = "") { self.answer = answer }

    /// Prints the request.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let isText = request.headers["Content-Encoding"] == nil
        let body =
            isText ? String(decoding: request.body, as: UTF8.self) : "\(request.body.count) bytes, compressed with gzip"
        // The description of a request shows no secrets.
        print("\(request)\n\(body)\n")
        return HTTPResponse(status: 200, body: Array(answer.utf8), url: request.url)
    }
}

/// Exits the program: with code 1 if some samples were not delivered.
public func finish(_ instrument: Instrument) async -> Never {
    exit(await instrument.shutdown(timeout: .seconds(5)) ? 0 : 1)
}

/// A tracker for a player outside of this program: the program emits the events.
public final class ManualTracker: Tracker {
    /// The name of the player.
    public let target: String? = "manual"
    /// Creates a tracker.
    public init() {}
    /// Emits the first event.
    public func begin(in context: TrackerContext) { context.emit(.trackerInit) }
}
