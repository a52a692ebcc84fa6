internal import Instrument
package import InstrumentTerminal
internal import InstrumentText

/// The viewing experience of one playback, or of several added up. Times are in milliseconds.
package struct PlaybackRecord: Hashable, Sendable {
    /// The latest start time; nil if no playback has started, or if its start was not observed.
    package var startTime: Int?
    package var playTime = 0
    package var stalls = 0
    package var stallTime = 0
    /// Changes to a higher and to a lower quality.
    package var rises = 0
    package var falls = 0
    package var samples = 0
    /// The resolution or bitrate that played last.
    package var quality = "-"

    package init() {}

    /// Lines for people, under a headline.
    package func lines(headline: TerminalText) -> [TerminalText] {
        guard startTime != nil || playTime > 0 else { return [headline] }
        // The start of a playback that was joined later was not observed.
        let start = startTime.map { "\($0) ms" } ?? "unknown"
        return [
            headline,
            "  start time       \(start)",
            "  played           \(Self.seconds(playTime))",
            "  stalls           \(stalls)\(stalls > 0 ? ", \(Self.seconds(stallTime))" : "")",
            "  quality changes  \(rises) up, \(falls) down",
            "  samples          \(samples)",
        ]
    }

    /// Milliseconds as `12.345 s`.
    static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds.decimal(places: 3)) s"
    }
}

extension PlaybackRecord {
    mutating func count(_ sample: Sample) {
        samples += 1
        switch sample {
        case .event(let event): count(event)
        case .metric(let metric): count(metric)
        }
    }

    private mutating func count(_ event: Event) {
        switch event.action {
        case .start: break
        case .qualityChangeUp: rises += 1
        case .qualityChangeDown: falls += 1
        default: return
        }
        if let width = event[.resolutionWidth], let height = event[.resolutionHeight] {
            quality = "\(width)x\(height)"
        } else if let bitrate = event[.bitrate] {
            quality = "\(bitrate / 1000) kbit/s"
        }
    }

    private mutating func count(_ metric: Metric) {
        guard case .int(let value) = metric.value else { return }
        switch metric.name {
        case .startTime: startTime = value
        case .playTime: playTime += value
        case .numRebuffers: stalls += value
        case .rebufferTime: stallTime += value
        default: break
        }
    }
}
