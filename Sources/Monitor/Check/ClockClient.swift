internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

extension ResourceClient {
    /// The largest number of clocks that are asked.
    private static let mostClocks = 4
    /// A body that tells the time is no longer than this, in bytes.
    private static let mostClockBytes = 4_096

    /// Asks the clocks in their order until one tells the time. Returns the last failure if none does; nil without a
    /// clock.
    func time(from sources: [ClockSource]) async -> ClockReading? {
        var reading: ClockReading?
        for source in sources.prefix(Self.mostClocks) {
            let (instant, wallTime) = (clock.now, clock.wallTime)
            let answer = await time(from: source)
            let half = instant.duration(to: clock.now) / 2
            let moment = wallTime.advanced(nanoseconds: half.nanoseconds)
            reading = ClockReading(url: source.url, answer: answer, moment: moment)
            if case .time = answer { break }
        }
        return reading
    }

    private func time(from source: ClockSource) async -> ClockReading.Answer {
        let method: HTTPMethod = source.method == .dateHeader ? .head : .get
        switch await fetch(source.url, nil, Self.mostClockBytes, method: method) {
        case .failure(let failure): return .failure(failure.reason)
        case .success(let response):
            let time =
                switch source.method {
                case .body: ClockSource.time(inBody: response.body)
                case .dateHeader: response.headers["Date"].flatMap { HTTPDate.parse($0, now: clock.wallTime) }
                }
            return time.map { .time($0) } ?? .failure("a response without a date")
        }
    }
}
