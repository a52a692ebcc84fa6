package import Instrument
package import InstrumentFrameCode
package import InstrumentOrigin

/// A playback that every player of the table plays: the stream, what befalls its link, and what the app does.
package struct TruthSchedule: Sendable {
    /// What the app does at a second of the playback.
    package enum Step: Sendable {
        case pause(Double)
        case resume(Double)
        case seek(Double, toMilliseconds: Int64)

        package var second: Double {
            switch self {
            case .pause(let second), .resume(let second), .seek(let second, _): second
            }
        }
    }

    /// The forms of the origin's media.
    package enum Packaging: String, CaseIterable, Sendable { case ts, fmp4, dash, film }

    package var name: String
    /// The rendition that HLS players play, 0 to 2: 400, 1,050 and 2,500 kbit/s.
    package var rendition: Int
    package var isLive = false
    package var link = "unlimited"
    package var faults: [String] = []
    package var steps: [Step] = []
    package var seconds: Double
    /// Whether it is part of the table; the others are played by their names.
    package var isUsual = true

    private static let outage = "4000k for 4s, 0 for 9s, 4000k"

    package static let all = [
        TruthSchedule(name: "no stall", rendition: 0, seconds: 6),
        TruthSchedule(name: "slow start", rendition: 1, link: "600k for 6s, 8000k", seconds: 11),
        TruthSchedule(name: "one outage", rendition: 2, link: outage, seconds: 20),
        TruthSchedule(name: "two outages", rendition: 2, link: "4000k for 4s, 0 for 9s, " + outage, seconds: 34),
        TruthSchedule(name: "503", rendition: 0, faults: ["503 on vod/*/v*/3.*"], seconds: 10),
        TruthSchedule(name: "live", rendition: 0, isLive: true, seconds: 10),
        TruthSchedule(name: "seek", rendition: 0, steps: [.seek(4, toMilliseconds: 16_000)], seconds: 8),
        TruthSchedule(
            name: "pause in a stall",
            rendition: 2,
            link: outage,
            steps: [.pause(10), .resume(17)],
            seconds: 20
        ),
        TruthSchedule(name: "pause", rendition: 0, steps: [.pause(3), .resume(5)], seconds: 8, isUsual: false),
        TruthSchedule(
            name: "seek while paused",
            rendition: 0,
            steps: [.pause(3), .seek(4, toMilliseconds: 12_000), .resume(6)],
            seconds: 10,
            isUsual: false
        ),
        TruthSchedule(name: "whole", rendition: 0, seconds: 30, isUsual: false),
    ]

    /// The origin's path of the stream; nil where the origin has none.
    package func path(_ packaging: Packaging) -> String? {
        let place = isLive ? "live" : "vod"
        switch packaging {
        case .ts, .fmp4: return "\(place)/\(packaging.rawValue)/v\(rendition).m3u8"
        case .dash: return "\(place)/dash/number.mpd"
        case .film: return isLive ? nil : "vod/movie.mp4"
        }
    }

    /// Starts an origin with the media of `fixtures`; each session of it has a separate link.
    package func startOrigin(_ fixtures: Fixtures, _ packaging: Packaging) async throws -> Origin {
        // A faster link would bring the whole film before the outage.
        let link = packaging == .film && link.hasPrefix("4000k") ? "1500k" + link.dropFirst(5) : link
        return try await Origin.start(
            media: [.fixtures(fixtures)],
            schedule: try DeliverySchedule(link),
            faults: try faults.map { try FaultRule($0) }
        )
    }

    /// Does the steps of the app at their times, and returns after the last second.
    package func perform(since begin: MonotonicInstant, _ act: (Step) -> Void) async throws {
        let clock = SystemClock()
        for step in steps {
            try await clock.sleep(until: begin.advanced(by: .seconds(step.second)))
            act(step)
        }
        try await clock.sleep(until: begin.advanced(by: .seconds(seconds)))
    }

    /// The pauses and seeks that the app asks for, and how much later the tracker reports each; nil where it does not.
    package func asked(
        in signals: [PlayerSignal],
        since begin: MonotonicInstant
    ) -> [(kind: MotionComparison.Kind, delay: Duration?)] {
        steps.compactMap { step in
            let (kind, action): (MotionComparison.Kind, Action)
            switch step {
            case .pause: (kind, action) = (.pause, .pauseBegin)
            case .seek: (kind, action) = (.seek, .seekBegin)
            case .resume: return nil
            }
            let instant = begin.advanced(by: .seconds(step.second))
            // Signals may have an instant a moment before the command was given.
            let signal = signals.first { signal in
                signal.action == action && (signal.instant.map { instant.duration(to: $0) > .seconds(-0.5) } ?? false)
            }
            return (kind, signal?.instant.map { instant.duration(to: $0) })
        }
    }
}
