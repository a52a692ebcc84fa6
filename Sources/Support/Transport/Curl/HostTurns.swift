internal import Instrument
internal import InstrumentHTTP

/// Which requests run, and which wait because their host already has as many as it may.
///
/// libcurl's own limit is not used: of all requests that wait for a connection, to whichever host, libcurl (7.88)
/// retries only the first when a connection becomes free. While the host of the first request is busy, the requests to
/// every other host wait, if need be until the time limits of the busy host's requests have passed.
struct HostTurns {
    private struct Host {
        var running = 0
        var waiting: [Exchange] = []
    }

    private let limit: Int
    /// Only hosts with running requests.
    private var hosts: [String: Host] = [:]
    /// No request waits longer than until then; may be early. Nil if none waits.
    private(set) var nextDeadline: MonotonicInstant?

    init(limit: Int) { self.limit = limit }

    /// Counts a request as running if it may run now; otherwise keeps it until a request to the same host has ended.
    mutating func admit(_ exchange: Exchange) -> Bool {
        var host = hosts[exchange.origin] ?? Host()
        let isAdmitted = host.running < limit
        if isAdmitted {
            host.running += 1
        } else {
            host.waiting.append(exchange)
            nextDeadline = min(nextDeadline ?? exchange.deadline, exchange.deadline)
        }
        hosts[exchange.origin] = host
        return isAdmitted
    }

    /// Takes note of the end of a running request; returns the request that runs in its place.
    mutating func release(_ exchange: Exchange) -> Exchange? {
        guard var host = hosts.removeValue(forKey: exchange.origin) else { return nil }
        while !host.waiting.isEmpty {
            let next = host.waiting.removeFirst()
            guard !next.hasEnded else { continue }
            hosts[exchange.origin] = host
            return next
        }
        host.running -= 1
        if host.running > 0 { hosts[exchange.origin] = host }
        return nil
    }

    /// Removes the waiting requests that have ended or whose time is over; returns the latter.
    mutating func removeEnded(at now: MonotonicInstant) -> [Exchange] {
        guard nextDeadline != nil else { return [] }
        var late: [Exchange] = []
        nextDeadline = nil
        for (origin, host) in hosts where !host.waiting.isEmpty {
            let waiting = host.waiting.filter { !$0.hasEnded }
            late += waiting.filter { $0.deadline <= now }
            hosts[origin]?.waiting = waiting.filter { $0.deadline > now }
        }
        nextDeadline = hosts.values.flatMap { $0.waiting }.map(\.deadline).min()
        return late
    }

    /// All requests that wait.
    var waiting: [Exchange] { hosts.values.flatMap(\.waiting) }
}
