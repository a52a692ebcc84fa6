internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// A stream as one row of a table, made from its state.
struct StreamRow {
    private let state: StreamState
    private let now: Timestamp

    init(_ state: StreamState, at now: Timestamp) { (self.state, self.now) = (state, now) }

    var json: JSONValue {
        let stream = state.stream
        let figures = state.figures(at: now.instant)
        let totals = state.totals(at: now.instant)
        let whole = totals.playing + totals.rebuffering
        var row: [String: JSONValue] = [
            "name": .string(stream.name), "state": .string(state.word.rawValue),
            "address": .string(stream.url.description),
            "up": state.isUp.map { .bool($0) } ?? .null, "labels": .object(stream.labels.mapValues { .string($0) }),
            "startup": figures.startup.map { .int($0) } ?? .null, "rebuffers": .int(totals.rebuffers),
            "rebuffering": .int(totals.rebuffering), "playing": .int(totals.playing),
            "rebufferRatio": whole > 0 ? .double(Double(totals.rebuffering) / Double(whole)) : .null,
            "errors": .int(totals.errorCount), "sessions": .int(totals.sessions), "failures": .int(state.failures),
            "broken": .array(state.checks.broken.map { .string($0) }),
            "bars": .array(bars.map { .int($0) }),
        ]
        if state.run != nil {
            row["bitrate"] = state.bitrate.map { .int($0) }
            row["latency"] = state.latency.map { .int($0.milliseconds) }
            row["buffer"] = state.buffered.map { .int($0.milliseconds) }
        }
        row["place"] = stream.origin.map { .string(StreamOrigin.name(of: $0.place)) }
        row["origin"] = stream.origin.map { .string($0.stream) }
        row["cause"] = state.cause?.json
        row["stateSince"] = state.stateSince.map { .string($0.rfc3339) }
        row["nextTry"] = nextTry.map { .string($0.rfc3339) }
        row["loudness"] = state.loudness.map { .double($0) }
        row["age"] = state.playlistAge(at: now.instant).map { .int($0.milliseconds) }
        // A player that knows no title shows the name of the file, which is no news.
        let isFileName = state.title.map { stream.url.path.hasSuffix("/" + $0) } ?? false
        row["title"] = isFileName ? nil : state.title.map { .string($0) }
        row["error"] = state.lastFailure.map {
            ["code": .string($0.code), "message": .string($0.message), "time": .string($0.time.wallTime.rfc3339)]
        }
        return .object(row)
    }

    /// When the next session starts; nil while one runs.
    private var nextTry: WallTime? {
        guard case .waiting(let until) = state.phase, until != .never else { return nil }
        return WallTime(milliseconds: now.wallTime.milliseconds + Int64(now.instant.milliseconds(to: until)))
    }

    /// One number for each of the last thirty minutes, the newest last: 0 nothing is known, 1 the stream played,
    /// 2 it was impaired, 3 it was down.
    private var bars: [Int] {
        let latest = Int32(clamping: now.wallTime.milliseconds / 60_000)
        var bars = [Int](repeating: 0, count: 30)
        for point in state.history.chart.minutes(bars.count) {
            let age = Int(latest - point.minute)
            guard bars.indices.contains(age) else { continue }
            bars[bars.count - 1 - age] = point.bar
        }
        return bars
    }
}

extension HistoryPoint {
    fileprivate var bar: Int {
        if wasDown { return 3 }
        if wasImpaired || rebuffering > 0 { return 2 }
        return playing > 0 ? 1 : 0
    }
}
