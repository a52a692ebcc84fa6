import ArgumentParser
import Foundation
import Instrument
import InstrumentFrameCode
import InstrumentOrigin
import LoopbackServers
import TruthStage

@main
struct PlayerTruth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "PlayerTruth",
        abstract: "Measures the trackers of real players, and the probe, against an independent eye, as one table.",
        discussion: """
            Plays the same schedules of the test origin with libVLC, GStreamer, libmpv, and hls.js, dash.js and Shaka in Chromium, one \
            after another. An eye reads the number of each displayed picture, the origin logs the requests, and the probe plays at the same \
            time in the player's profile. A start is within if the tracker's error is at most 50 ms, and a stall, a seek, a pause and an \
            end if the error at both ends is at most 100 ms.

            Exits with 0; with --check, with 1 if a row is outside, and with 3 if rows could not be judged because the machine was busy, \
            and none is outside.
            """
    )

    @Option(help: "A player to play, and no others; may be repeated. Further ones: playbin3, video.js, video.")
    var only: [String] = []

    @Option(
        help: "A schedule to play, and no others; may be repeated. Further ones: pause, 'seek while paused', whole."
    )
    var schedule: [String] = []

    @Option(help: "The form of the media: ts, fmp4, dash or film; players that cannot play it are left out.")
    var packaging: TruthSchedule.Packaging?

    @Option(
        help:
            "NAME=FILE: the file of a release of dash.js (dash.all.min.js), shaka, hls.js or video.js; may be repeated."
    )
    var player: [String] = []

    @Flag(help: "Play a row that is outside up to twice again, and exit with 1 if it stays outside.")
    var check = false

    @Option(help: "Write the rows to a file, as lines of JSON.")
    var json: String?

    @Option(help: "Write the table to a file, for a document.")
    var markdown: String?

    @Option(help: "The folder of the test origin's media.")
    var media = FileManager.default.temporaryDirectory.path + "/instrument-truth-media-\(getuid())"

    @Flag(help: "Measure what the tracker of GStreamer costs instead.")
    var cost = false

    func validate() throws {
        let names = TruthSchedule.all.map(\.name)
        for name in schedule where !names.contains(name) {
            throw ValidationError("--schedule must be one of \(names.joined(separator: ", ")) (found '\(name)')")
        }
        for name in only where !Self.names.contains(name) {
            throw ValidationError("--only must be one of \(Self.names.joined(separator: ", ")) (found '\(name)')")
        }
    }

    func run() async throws {
        #if os(Linux)
        if cost { return print(try await TrackerCost.measure().description) }
        #endif
        let schedules = TruthSchedule.all.filter { schedule.isEmpty ? $0.isUsual : schedule.contains($0.name) }
        var players = players()
        let seconds = schedules.map { $0.seconds + 2 }.reduce(0, +) * Double(players.count)
        Self.show("rows: \(schedules.count * players.count), in about \(Int((seconds / 60).rounded(.up))) min")
        let fixtures = try await Fixtures.make(in: media)
        var (table, versions, outside, unjudged) = (TruthTable(), [String: String](), 0, 0)
        for schedule in schedules {
            let told = [schedule.link] + schedule.faults
            Self.show("\n\(schedule.name): \(told.joined(separator: "; "))\n" + TruthTable.line(TruthTable.headings))
            for player in players {
                let form = packaging ?? player.packagings[0]
                guard let path = schedule.path(form) else { continue }
                do {
                    var (verdicts, decision): ([TruthRow.Verdict], TruthRow.Decision?) = ([], nil)
                    while decision == nil {
                        let row = try await play(player, schedule, form, path, fixtures, &table, &versions)
                        verdicts.append(row.verdict)
                        decision = TruthRow.decision(verdicts, ofAtMost: check ? 3 : 1)
                    }
                    outside += decision == .outside ? 1 : 0
                    unjudged += decision == .notJudged ? 1 : 0
                } catch {
                    Self.show("  SKIPPED: \(player.name), because of: \(error)")
                    players.removeAll { $0.name == player.name }
                }
            }
        }
        Self.show("")
        for (number, reason) in table.reasons.enumerated() { Self.show("(\(number + 1)) \(reason)") }
        let list = versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        Self.show(
            "\(TruthTable.legend)\n\(list)\nrows: \(table.rows.count), \(outside) outside, \(unjudged) not judged"
        )
        if let json {
            try (table.rows.map(TruthTable.json).joined(separator: "\n") + "\n").write(
                toFile: json,
                atomically: true,
                encoding: .utf8
            )
        }
        if let markdown { try table.markdown.write(toFile: markdown, atomically: true, encoding: .utf8) }
        if check, outside > 0 { throw ExitCode(1) }
        if check, unjudged > 0 {
            Self.show("SKIPPED: the judgement of rows (\(unjudged)), because the machine was busy")
            throw ExitCode(3)
        }
    }

    /// Plays a row and shows it.
    private func play(
        _ player: TruthPlayer,
        _ schedule: TruthSchedule,
        _ packaging: TruthSchedule.Packaging,
        _ path: String,
        _ fixtures: Fixtures,
        _ table: inout TruthTable,
        _ versions: inout [String: String]
    ) async throws -> TruthRow {
        let origin = try await schedule.startOrigin(fixtures, packaging)
        let load = MachineLoad()
        let probe = player.profile.map { BesideProbe($0, origin.url(path, session: "probe"), schedule) }
        let requests = Lock(0)
        let playback: Playback
        do {
            playback = try await player.play(origin.url(path, session: "player"), schedule) { moment in
                switch moment {
                case .began: probe?.play()
                case .ended: requests.withLock { $0 = origin.requests(of: "player").count { $0.outcome == .complete } }
                }
            }
        } catch {
            await origin.stop()
            throw error
        }
        let motion = MotionComparison(
            signals: playback.signals,
            eye: playback.eye,
            since: playback.begin,
            until: playback.end
        )
        var row = TruthRow(player: player.name, schedule: schedule.name, packaging: packaging, motion: motion)
        row.asked = schedule.asked(in: playback.signals, since: playback.begin)
        row.reportedRequests = playback.requestCount
        row.loggedRequests = requests.withLock { $0 }
        row.probed = probe?.finish()
        row.lateness = max(load.longestLateness, playback.blindness)
        row.judge(player.limits)
        await origin.stop()
        versions[player.name] = playback.version
        table.rows.append(row)
        Self.show(TruthTable.line(table.cells(row)))
        if TruthRow.decision([row.verdict], ofAtMost: 1) != .within {
            let words = playback.signals.filter { $0.action != .requestFinish }.map { signal in
                let instant = signal.instant.map { playback.begin.duration(to: $0) }
                return "\(signal.action) \(instant.map { String(format: "%.2f", $0 / .seconds(1)) } ?? "")"
            }
            Self.show("    " + words.joined(separator: ", "))
            let errors = playback.signals.compactMap { $0.attributes[.errorDescription] }
            for text in errors + playback.complaints { Self.show("    " + text) }
        }
        return row
    }

    private static let names = TruthPlayer.linked.map(\.name) + files.map(\.name) + ["video"]

    /// The libraries that play in pages, with what installs them.
    private static let files = [
        (name: "hls.js", path: ".build/hls-js/hls.js", source: "scripts/install-hls-js.sh installs it"),
        (name: "dash.js", path: "", source: "no registry has it: --player dash.js=FILE, dash.all.min.js of a release"),
        (
            name: "shaka", path: "",
            source: "no registry has it: --player shaka=FILE, shaka-player.compiled.js of a release"
        ),
        (name: "video.js", path: ".build/video-js/video.js", source: "scripts/install-video-js.sh installs it"),
    ]

    /// The players that are asked for and are there; says which are missing, and how to get them.
    private func players() -> [TruthPlayer] {
        var players = TruthPlayer.linked
        for library in Self.files {
            let given = player.first { $0.hasPrefix(library.name + "=") }?.dropFirst(library.name.count + 1)
            let path = given.map(String.init) ?? library.path
            if let found = PageLibrary(library.name, at: path).flatMap({ TruthPlayer.page(library.name, $0) }) {
                players.append(found)
            } else if only.isEmpty ? library.name != "video.js" : only.contains(library.name) {
                Self.show(
                    "SKIPPED: \(library.name), because there is no \(path.isEmpty ? "file of it" : path); \(library.source)"
                )
            }
        }
        if let native = TruthPlayer.page("video", .native) { players.append(native) }
        return players.filter { player in
            (only.isEmpty ? player.isUsual : only.contains(player.name))
                && (packaging.map(player.packagings.contains) ?? true)
        }
    }

    /// Prints a line at once.
    private static func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

extension TruthSchedule.Packaging: ExpressibleByArgument {}
