internal import Instrument
internal import InstrumentText

/// The history of a stream: its charts, and how long it was up today.
package struct HistoryBook: Sendable {
    package private(set) var chart = StreamChart()
    /// How long the stream was up today.
    package private(set) var today = DayShare()

    init() {}

    mutating func noteError(at time: WallTime) { chart.update(at: time) { if $0.errors < .max { $0.errors += 1 } } }

    mutating func note(startup milliseconds: Int, at time: WallTime) {
        chart.update(at: time) { $0.startup = UInt32(clamping: milliseconds) }
    }

    /// Adds what has passed since the latest look.
    mutating func add(_ step: StreamStep, _ sample: StreamSample, at time: WallTime) {
        if let played = step.played {
            chart.update(at: time) { point in
                point.playing = point.playing.saturatingAdd(UInt32(clamping: played.playing))
                point.rebuffering = point.rebuffering.saturatingAdd(UInt32(clamping: played.rebuffering))
                if let bitrate = sample.bitrate { point.bitrate = UInt32(clamping: bitrate / 1000) }
                if let latency = sample.latency { point.latency = UInt32(clamping: latency.milliseconds) }
                if let buffered = sample.buffered { point.buffer = UInt32(clamping: buffered.milliseconds) }
            }
        }
        if let up = sample.isUp {
            today.add(up: up ? step.elapsed : 0, of: step.elapsed, at: time)
            if !up { chart.update(at: time) { $0.wasDown = true } }
        }
        if sample.isImpaired { chart.update(at: time) { $0.wasImpaired = true } }
    }

    /// Moves all that is known, because the wall clock has jumped.
    mutating func move(byMinutes minutes: Int, at time: WallTime) {
        chart.move(byMinutes: minutes)
        today = DayShare()
        resumeToday(at: time)
    }

    /// Adds points of an earlier process, in their order.
    mutating func restore(minutes: [HistoryPoint], quarters: [HistoryPoint]) {
        chart.restore(minutes: minutes, quarters: quarters)
    }

    /// Continues the intervals and the day in which an earlier process ended.
    mutating func resume(at now: WallTime) {
        chart.resume()
        resumeToday(at: now)
    }

    /// Continues the day from the minutes of the chart.
    private mutating func resumeToday(at now: WallTime) {
        for point in chart.minutes() {
            let time = WallTime(milliseconds: Int64(point.minute) * 60_000)
            guard time.daysSince1970 == now.daysSince1970 else { continue }
            today.add(up: point.wasDown ? min(60, Double(point.playing) / 1_000) : 60, of: 60, at: time)
        }
    }
}
