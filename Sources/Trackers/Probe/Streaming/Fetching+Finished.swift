internal import Instrument
internal import InstrumentTransport

extension Fetching {
    /// The request with its whole answer.
    func finished(with response: ResourceResponse, at now: MonotonicInstant) -> FinishedRequest {
        FinishedRequest(
            kind: purpose.kind,
            bytes: response.encodedByteCount ?? response.body.count,
            time: begun.duration(to: response.arrivals.last ?? now),
            firstByte: response.arrivals.first.map { begun.duration(to: $0) }
        )
    }

    /// The request that failed, or that nobody needs any more, with what had arrived.
    func ended(at now: MonotonicInstant, hasFailed: Bool) -> FinishedRequest {
        let buffer = buffer
        return FinishedRequest(
            kind: purpose.kind,
            bytes: buffer.count,
            time: begun.duration(to: now),
            firstByte: buffer.arrivals.first.map { begun.duration(to: $0) },
            hasFailed: hasFailed
        )
    }
}
