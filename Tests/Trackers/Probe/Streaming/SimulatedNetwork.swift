import Foundation
import Instrument
import InstrumentManifests
import InstrumentTransport

@testable import InstrumentProbe

/// Resources behind one link, in virtual time: responses arrive in the order of requests, each byte at its computed
/// instant.
final class SimulatedNetwork: ResourceFetcher {
    /// The fault of a response.
    enum Fault {
        case status(Int)
        /// No byte arrives.
        case hang
        /// This number of bytes arrives, then nothing.
        case hangAfter(Int)
        /// This number of bytes arrives, then the connection breaks.
        case breakAfter(Int)
        /// Other content arrives.
        case bytes([UInt8])
        /// The content arrives this many nanoseconds later, over a separate link.
        case late(Int64)
    }

    struct Request: Hashable {
        var path: String
        var instant: Int64
        /// The whole address.
        var url: String
    }

    private struct State {
        var requests: [Request] = []
        var counts: [String: Int] = [:]
        var linkFree: Int64 = 0
        var reports: [ReportedRequest?] = []
    }

    private let clock: VirtualClock
    /// bit/s from an instant (ns) on; the first begins at 0.
    private let bandwidth: [(from: Int64, bitrate: Int64)]
    private let latency: Int64
    /// The bytes that arrive at one instant; nil for the usual size.
    private let pieceSize: Int?
    /// The instants (ns) before which the requests for these paths do not reach the server.
    private let reaching: [String: Int64]
    private let resource: @Sendable (String) -> [UInt8]?
    private let fault: @Sendable (String, Int) -> Fault?
    private let state = Lock(State())

    var requests: [Request] { state.withLock { $0.requests } }
    /// The requests' reports about the playback, in order.
    var reports: [ReportedRequest?] { state.withLock { $0.reports } }
    /// The last parts of the requested paths, in order.
    var names: [String] { requests.map { $0.path.split(separator: "/").last.map(String.init) ?? "" } }

    init(
        clock: VirtualClock,
        bandwidth: [(from: Int64, bitrate: Int64)],
        latency: Int64 = 0,
        pieceSize: Int? = nil,
        reaching: [String: Int64] = [:],
        fault: @escaping @Sendable (String, Int) -> Fault? = { _, _ in nil },
        resource: @escaping @Sendable (String) -> [UInt8]?
    ) {
        self.clock = clock
        self.bandwidth = bandwidth
        self.latency = latency
        self.pieceSize = pieceSize
        self.reaching = reaching
        self.fault = fault
        self.resource = resource
    }

    /// The usual size of a piece: fine enough to detect a start, coarse enough to be fast.
    static func pieceSize(_ count: Int) -> Int { max(1000, count / 64) }

    /// The instant at which this number of bits has arrived, starting at `start`.
    func end(of bits: Int64, from start: Int64) -> Int64 {
        // In billionths of a bit, so that only the result is rounded.
        var (left, now) = (bits * 1_000_000_000, start)
        for (index, piece) in bandwidth.enumerated() {
            let end = index + 1 < bandwidth.count ? bandwidth[index + 1].from : .max
            if end <= now { continue }
            if piece.bitrate == 0 {
                now = end
                continue
            }
            let needed = (left + piece.bitrate - 1) / piece.bitrate
            if end == .max || needed <= end - now { return now + needed }
            left -= (end - now) * piece.bitrate
            now = end
        }
        return now
    }

    func fetch(
        _ request: ResourceRequest,
        into buffer: FetchBuffer,
        progress: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
    ) -> FetchCancellation {
        let path = request.url.path
        let now = clock.now.nanoseconds
        let count = state.withLock { state in
            state.requests.append(Request(path: path, instant: now, url: request.url.secretText))
            state.reports.append(request.report)
            state.counts[path, default: 0] += 1
            return state.counts[path] ?? 0
        }
        let isOver = Lock(false)
        let fault = fault(path, count)
        var content = resource(path)
        var limit = Int.max
        switch fault {
        case .bytes(let other): content = other
        case .hang: limit = 0
        case .hangAfter(let count), .breakAfter(let count): limit = count
        case .status, .late, nil: break
        }
        let delay: Int64? = if case .late(let time) = fault { time } else { nil }
        guard var bytes = content, !isStatus(fault) else {
            let status = if case .status(let number) = fault { number } else { 404 }
            at(now + latency, unless: isOver) {
                ended(.failure(ResourceFailure(HTTPResponse(status: status, url: request.url))))
            }
            return FetchCancellation { isOver.withLock { $0 = true } }
        }
        if let range = request.range {
            // As a server: a range that ends behind the resource ends with it.
            let start = min(Int(clamping: range.offset), bytes.count)
            bytes = Array(bytes[start...].prefix(Int(clamping: range.length ?? .max)))
        }
        let sent = bytes.prefix(limit)
        let received = max(now + latency, reaching[path] ?? 0)
        let start = delay.map { received + $0 } ?? state.withLock { max(received, $0.linkFree) }
        let size = pieceSize ?? Self.pieceSize(sent.count)
        for piece in stride(from: 0, to: sent.count, by: size) {
            let part = Array(sent[piece..<min(piece + size, sent.count)])
            at(end(of: Int64(piece + part.count) * 8, from: start), unless: isOver) { [clock] in
                part.withUnsafeBytes { buffer.append($0, at: clock.now) }
                progress()
            }
        }
        let last = end(of: Int64(sent.count) * 8, from: start)
        if delay == nil { state.withLock { $0.linkFree = last } }
        if case .breakAfter = fault {
            at(last, unless: isOver) {
                ended(.failure(ResourceFailure(failure: .connection, message: "the connection broke")))
            }
        } else if limit == .max {
            at(last, unless: isOver) { ended(.success(Self.response(request, buffer))) }
        }
        return FetchCancellation { [state, clock] in
            isOver.withLock { $0 = true }
            // Unsent bytes of a cancelled response free the link for others.
            if delay != nil { return }
            state.withLock { $0.linkFree = min($0.linkFree, max(clock.now.nanoseconds, start)) }
        }
    }

    func offload(_ work: @escaping @Sendable () -> Void) { work() }

    private func isStatus(_ fault: Fault?) -> Bool { if case .status = fault { true } else { false } }

    private func at(_ instant: Int64, unless isOver: Lock<Bool>, _ action: @escaping @Sendable () -> Void) {
        _ = clock.schedule(at: MonotonicInstant(nanoseconds: instant)) {
            if !isOver.withLock({ $0 }) { action() }
        }
    }

    private static func response(_ request: ResourceRequest, _ buffer: FetchBuffer) -> ResourceResponse {
        let (bytes, arrivals) = buffer.snapshot()
        let isHead = request.method == .head
        return ResourceResponse(
            url: request.url,
            status: request.range == nil ? 200 : 206,
            body: isHead ? FetchedBytes([]) : bytes,
            arrivals: arrivals,
            timings: HTTPTimings(),
            redirectCount: 0,
            version: "1.1",
            date: isHead ? ClockSource.time(inBody: bytes.array) : nil
        )
    }
}
