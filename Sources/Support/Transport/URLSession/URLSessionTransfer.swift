#if canImport(Darwin) || URLSESSION_CHECK
internal import Foundation
internal import Instrument
internal import InstrumentHTTP
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A task of URLSession, and what has come of the response so far.
final class URLSessionTransfer: Sendable {
    private struct Arrived {
        var head: HTTPURLResponse?
        var body: [UInt8] = []
        /// Of the body, wherever it goes.
        var byteCount = 0
        var firstByte: Duration?
        var connection = ConnectionFacts()
    }

    let exchange: Exchange
    private let clock: SystemClock
    private let start: MonotonicInstant
    /// The requested byte range; nil for the whole resource.
    private let range: RequestedRange?
    private let arrived = Lock(Arrived())

    init(_ exchange: Exchange, _ clock: SystemClock) {
        (self.exchange, self.clock, start) = (exchange, clock, clock.now)
        range = RequestedRange(exchange.request.headers)
    }

    /// The status, once the head has come.
    var status: Int? { arrived.withLock { $0.head?.statusCode } }

    /// Takes the head; false if nothing more is of use.
    func begin(_ response: URLResponse) -> Bool {
        guard let head = response as? HTTPURLResponse else {
            let message = "the response is not HTTP; check that the address is an HTTP server"
            exchange.end(.failure(HTTPError(.malformedResponse, message, url: exchange.request.url)))
            return false
        }
        arrived.withLock { arrived in
            arrived.head = head
            arrived.firstByte = start.duration(to: clock.now)
        }
        if let defect = range(of: head)?.defect(ofHead: HTTPHeaders(head)) { return refuse(defect, head) }
        return !exchange.hasEnded
    }

    /// The requested range, of a response that is a part of the resource.
    private func range(of head: HTTPURLResponse) -> RequestedRange? { head.statusCode == 206 ? range : nil }

    /// Ends the exchange because the response is not the requested range; always false.
    private func refuse(_ defect: String, _ head: HTTPURLResponse) -> Bool {
        let url = exchange.request.url
        exchange.end(.failure(HTTPError(.wrongRange, defect, url: url, status: head.statusCode)))
        return false
    }

    /// Takes a piece of the body; false if nothing more is of use.
    func add(_ data: Data) -> Bool {
        if exchange.hasEnded { return false }
        let limit = exchange.request.maxResponseBytes
        let (head, count) = arrived.withLock { arrived in
            arrived.byteCount += data.count
            return (arrived.head, arrived.byteCount)
        }
        guard count <= limit else {
            let message = "the response has more than \(limit) bytes; allow more"
            let status = head?.statusCode
            exchange.end(
                .failure(HTTPError(.responseTooLarge, message, url: exchange.request.url, status: status))
            )
            return false
        }
        if let head, let range = range(of: head),
            let defect = range.defect(ofBody: count, HTTPHeaders(head), isComplete: false)
        {
            return refuse(defect, head)
        }
        if let receiver = exchange.receiver, let head, 200..<300 ~= head.statusCode {
            if count == data.count, let expect = receiver.expect, let announced = announced(by: head) {
                expect(announced)
            }
            data.withUnsafeBytes { receiver.receive($0) }
        } else {
            arrived.withLock { $0.body.append(contentsOf: data) }
        }
        return true
    }

    /// The size of the body that the server has announced; nil if it has not, if it is more than is accepted, or if it
    /// is that of an encoded body.
    private func announced(by head: HTTPURLResponse) -> Int? {
        if let encoding = head.value(forHTTPHeaderField: "Content-Encoding"), encoding.lowercased() != "identity" {
            return nil
        }
        let size = head.expectedContentLength
        return size > 0 && size <= Int64(exchange.request.maxResponseBytes) ? Int(size) : nil
    }

    func note(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return }
        let facts = ConnectionFacts(last)
        arrived.withLock { $0.connection = facts }
    }

    /// Ends the exchange with what has come.
    /// - Parameter head: the head, where URLSession did not report it before, as for a redirect.
    func end(_ error: (any Error)?, _ head: URLResponse?) {
        let arrived = arrived.withLock { $0 }
        let url = exchange.request.url
        let known = arrived.head ?? (head as? HTTPURLResponse)
        if let error {
            exchange.end(.failure(HTTPError(error, url, status: known?.statusCode)))
            return
        }
        guard let head = known else {
            let message = "what came is no response; is it an HTTP server?"
            exchange.end(.failure(HTTPError(.malformedResponse, message, url: url)))
            return
        }
        var response = HTTPResponse(status: head.statusCode, body: arrived.body, url: url)
        response.headers = HTTPHeaders(head)
        let count = arrived.byteCount
        if let defect = range(of: head)?.defect(ofBody: count, response.headers, isComplete: true) {
            _ = refuse(defect, head)
            return
        }
        arrived.connection.complete(&response)
        response.timings.total = start.duration(to: clock.now)
        response.timings.firstByte = arrived.firstByte ?? response.timings.total
        exchange.end(.success(response))
    }
}

extension HTTPHeaders {
    /// The headers of a response, of which URLSession joins those of one name.
    fileprivate init(_ head: HTTPURLResponse) {
        self.init()
        for (name, value) in head.allHeaderFields {
            if let name = name as? String, let value = value as? String { append(name, value) }
        }
    }
}

/// What URLSession measured of a connection.
private struct ConnectionFacts: Sendable {
    private var address: String?
    private var version = ""
    private var timings = HTTPTimings()

    init() {}

    init(_ metrics: URLSessionTaskTransactionMetrics) {
        #if canImport(Darwin)
        address = metrics.remoteAddress
        #endif
        version = Self.version(metrics.networkProtocolName ?? "")
        timings.nameLookup = Self.time(metrics.domainLookupStartDate, metrics.domainLookupEndDate)
        timings.tls = Self.time(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
        let connected = metrics.secureConnectionStartDate ?? metrics.connectEndDate
        timings.connect = Self.time(metrics.connectStartDate, connected)
    }

    func complete(_ response: inout HTTPResponse) {
        (response.remoteAddress, response.version, response.timings) = (address, version, timings)
    }

    private static func time(_ start: Date?, _ end: Date?) -> Duration? {
        guard let start, let end else { return nil }
        return .seconds(max(0, end.timeIntervalSince(start)))
    }

    private static func version(_ name: String) -> String {
        switch name {
        case "h2": "2"
        case "h3": "3"
        default: name.hasPrefix("http/") ? String(name.dropFirst(5)) : ""
        }
    }
}
#endif
