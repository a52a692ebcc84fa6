internal import Foundation
internal import Instrument
internal import InstrumentFrameCode
internal import InstrumentOrigin

/// A playback whose motion an eye and a tracker both see.
package struct TruthScenario: Sendable {
    /// What the app does at a second of the playback.
    package enum Step: Sendable {
        case pause(Double)
        case resume(Double)
        case seek(Double, toMilliseconds: Int64)

        var second: Double {
            switch self {
            case .pause(let second), .resume(let second), .seek(let second, _): second
            }
        }
    }

    package var name: String
    package var path: String
    /// Which player of the library plays; empty for the only one.
    package var kind: String
    package var schedule: String
    package var faults: [String]
    package var steps: [Step]
    package var seconds: Double
    /// The largest error of the begin and of the end of a motion, in milliseconds; nil if the scenario is not judged.
    package var limits: (begin: Int, end: Int)?

    package init(
        _ name: String,
        path: String,
        kind: String = "",
        schedule: String = "unlimited",
        faults: [String] = [],
        steps: [Step] = [],
        seconds: Double = 12,
        limits: (begin: Int, end: Int)? = (100, 100)
    ) {
        (self.name, self.path, self.kind, self.schedule) = (name, path, kind, schedule)
        (self.faults, self.steps, self.seconds, self.limits) = (faults, steps, seconds, limits)
    }
}

/// A row for each time of motion: its begin and its end by the eye, and the errors of the tracker.
package enum TruthTable {
    /// Plays scenarios one after another and prints the table. Returns the exit code: 1 if an error is larger than the
    /// limit of its scenario.
    ///
    /// - Parameters:
    ///   - scenarios: those to choose from.
    ///   - arguments: the folder for the media, then the names of scenarios; without names, all are played.
    ///   - make: makes a player of an address.
    package static func print(
        _ scenarios: [TruthScenario],
        _ arguments: [String],
        make: (String, TruthScenario) throws -> any RealPlayer
    ) async throws -> Int32 {
        guard let folder = arguments.first else {
            show("usage: FOLDER [NAME...]")
            return 2
        }
        let names = arguments.dropFirst()
        let fixtures = try await Fixtures.make(in: folder)
        show("| schedule | motion | begin s | error ms | end s | error ms |")
        show("|---|---|---|---|---|---|")
        var failures = 0
        for scenario in scenarios where names.isEmpty || names.contains(scenario.name) {
            let origin = try await Origin.start(
                media: [.fixtures(fixtures)],
                schedule: try DeliverySchedule(scenario.schedule),
                faults: try scenario.faults.map { try FaultRule($0) }
            )
            failures += try await play(scenario, make(origin.url(scenario.path, session: "a"), scenario))
            await origin.stop()
        }
        show(failures == 0 ? "all within the limits" : "\(failures) outside the limits")
        return failures == 0 ? 0 : 1
    }

    /// Returns the number of rows outside the limits.
    private static func play(_ scenario: TruthScenario, _ player: any RealPlayer) async throws -> Int {
        let clock = SystemClock()
        player.observe()
        let begin = clock.now
        player.play()
        for step in scenario.steps {
            try await clock.sleep(until: begin.advanced(by: .seconds(step.second)))
            switch step {
            case .pause: player.pause(true)
            case .resume: player.pause(false)
            case .seek(_, let time): player.seek(toMilliseconds: time)
            }
        }
        try await clock.sleep(until: begin.advanced(by: .seconds(scenario.seconds)))
        let signals = player.signals
        var failures = 0
        let rows = MotionComparison(signals: signals, eye: player.eye, since: begin).rows
        for (number, row) in rows.enumerated() {
            show(
                "| \(scenario.name) | \(number + 1) | \(text(row.seenBegin)) | \(error(row.beginError)) |"
                    + " \(text(row.seenEnd)) | \(row.trackedEnd == nil ? "still moving" : error(row.endError)) |"
            )
            guard let limits = scenario.limits else { continue }
            let isWrong =
                row.beginError.map { abs(milliseconds($0)) > limits.begin } ?? true
                || row.trackedEnd != nil && row.endError.map { abs(milliseconds($0)) > limits.end } ?? true
            failures += isWrong ? 1 : 0
        }
        if rows.isEmpty, scenario.limits != nil { failures += 1 }
        let words = signals.map { signal in
            let instant = signal.instant.map { begin.duration(to: $0) }
            return "\(signal.action) \(text(instant)) at \(text(signal.status?.position))"
        }
        show("  " + words.joined(separator: ", "))
        if let failure = player.first(.error) {
            show("  " + (failure.attributes[.errorDescription] ?? "no description"))
        }
        player.end()
        return failures
    }

    /// Prints a line at once.
    private static func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func text(_ duration: Duration?) -> String {
        duration.map { String(format: "%.2f", $0 / .seconds(1)) } ?? "none"
    }

    private static func error(_ duration: Duration?) -> String {
        duration.map { String(format: "%+d", milliseconds($0)) } ?? "missing"
    }

    private static func milliseconds(_ duration: Duration) -> Int { Int((duration / .milliseconds(1)).rounded()) }
}
