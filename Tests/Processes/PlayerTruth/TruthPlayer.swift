import Foundation
import Instrument
import InstrumentChrome
import InstrumentFrameCode
import InstrumentProbe
import TruthStage

#if os(Linux)
import GStreamerStage
import LibMPVStage
import VLCStage
#endif

/// A playback that is over: what the tracker reported, and what the eye saw.
struct Playback: Sendable {
    var signals: [PlayerSignal]
    var eye: PlaybackEye
    var begin: MonotonicInstant
    var end: MonotonicInstant
    /// For how long the eye did not look.
    var blindness = Duration.zero
    /// Nil for a tracker that sees none.
    var requestCount: Int?
    var version: String?
    /// What the browser and the page complain about.
    var complaints: [String] = []
}

/// A player of the table.
struct TruthPlayer: Sendable {
    enum Moment { case began, ended }

    /// Plays an address as a schedule says, and calls the closure at the command to play, and after the last second.
    typealias Play = @Sendable (String, TruthSchedule, @escaping @Sendable (Moment) -> Void) async throws -> Playback

    var name: String
    /// What it can play; the first unless another one is asked for.
    var packagings: [TruthSchedule.Packaging]
    /// The probe's profile of it.
    var profile: PlayerProfile?
    var limits: [TruthRow.Limit] = []
    /// Whether it is part of the table; the others are played by their names.
    var isUsual = true
    var play: Play

    #if os(Linux)
    /// The players whose libraries this program links.
    static let linked = [
        TruthPlayer(
            name: "libVLC",
            packagings: [.ts, .fmp4, .dash, .film],
            limits: [
                .init(
                    "libVLC's pictures follow its full buffers by the time between its clock and its pictures: a start, a begin and an "
                        + "end are up to 0.13 s early.",
                    in: [.ts],
                    [.start: 130, .begin: 130, .end: 130]
                ),
                .init(
                    "libVLC counts refreshes of a standing picture with moving ones: the end of a long stand is up to 0.4 s early.",
                    of: ["one outage", "two outages", "pause in a stall"],
                    [.end: 400]
                ),
                .init(
                    "libVLC reports a pause in a stall when the stall is over.",
                    of: ["pause in a stall"],
                    [.report: 8_000]
                ),
                .init(
                    "libVLC sends nothing after its input is blocked, and shows damaged pictures up to the next keyframe, in which the eye "
                        + "reads no number.",
                    in: [.film],
                    [.begin: 1_000, .end: 2_000]
                ),
                .init(
                    "libVLC shows damaged pictures up to the next keyframe, in which the eye reads no number.",
                    of: ["seek while paused"],
                    [.end: 1_000]
                ),
                .init(
                    "libVLC changes the rendition, and the picture stands while its counters run on.",
                    in: [.dash],
                    [.missing: 0, .begin: 130, .end: 130]
                ),
            ],
            play: linked(version: RealVLC.version) { try RealVLC($0) }
        ),
        TruthPlayer(
            name: "GStreamer",
            packagings: [.ts, .fmp4, .dash, .film],
            limits: [pausedPipeline],
            play: linked(version: RealGStreamer.version) { try RealGStreamer($0) }
        ),
        TruthPlayer(
            name: "playbin3",
            packagings: [.ts, .fmp4, .dash, .film],
            limits: [pausedPipeline],
            isUsual: false,
            play: linked(version: RealGStreamer.version) { try RealGStreamer($0, kind: "playbin3") }
        ),
        TruthPlayer(
            name: "libmpv",
            packagings: [.ts, .fmp4, .film],
            profile: .mpv,
            limits: [
                .init(
                    "mpv leaves out a segment that cannot be fetched: its clock runs on while the last picture stands.",
                    of: ["503"],
                    [.missing: 0]
                )
            ],
            play: linked(version: RealLibMPV.version) { try RealLibMPV($0) }
        ),
    ]

    private static let pausedPipeline = TruthRow.Limit(
        "A stalled pipeline of GStreamer is paused already: a pause of a person is reported when the buffers are full.",
        of: ["pause in a stall"],
        [.report: 8_000]
    )

    private static func linked(version: String, _ make: @escaping @Sendable (String) throws -> any RealPlayer) -> Play {
        { address, schedule, onMoment in
            let player = try make(address)
            player.observe()
            let begin = SystemClock().now
            player.play()
            onMoment(.began)
            try await schedule.perform(since: begin) { step in
                switch step {
                case .pause: player.pause(true)
                case .resume: player.pause(false)
                case .seek(_, let time): player.seek(toMilliseconds: time)
                }
            }
            let (signals, eye, end) = (player.signals, player.eye, SystemClock().now)
            onMoment(.ended)
            player.end()
            return Playback(signals: signals, eye: eye, begin: begin, end: end, version: version)
        }
    }
    #else
    static let linked: [TruthPlayer] = []
    #endif

    /// A library in a page of Chromium.
    static func page(_ name: String, _ library: PageLibrary) -> TruthPlayer? {
        let play = page(library)
        let late = TruthRow.Limit(
            "Chromium shows the last picture and plays the sound on for up to 3 s where video is late, and tells the page of the stall "
                + "only then.",
            in: [.dash, .fmp4],
            [.begin: 3_000]
        )
        switch name {
        case "hls.js":
            let profile = library.hasWorker ? PlayerProfile.hlsJS : .hlsJSWithoutWorker
            return TruthPlayer(name: name, packagings: [.ts, .fmp4], profile: profile, limits: [late], play: play)
        case "dash.js":
            return TruthPlayer(name: name, packagings: [.dash], profile: .dashJS, limits: [late], play: play)
        case "shaka":
            return TruthPlayer(
                name: name,
                packagings: [.ts, .fmp4, .dash],
                profile: .shaka,
                limits: [late],
                play: play
            )
        case "video.js":
            return TruthPlayer(name: name, packagings: [.ts, .fmp4, .dash], limits: [late], isUsual: false, play: play)
        case "video": return TruthPlayer(name: name, packagings: [.film], isUsual: false, play: play)
        default: return nil
        }
    }

    private static func page(_ library: PageLibrary) -> Play {
        { address, schedule, onMoment in
            let (journal, notices) = (SignalJournal(), Lock<[String]>([]))
            let browser = try ChromeBrowser(
                starting: ChromeLaunch(arguments: ["--no-proxy-server"]),
                configuration: ChromeConfiguration(reportsRequests: true)
            ) { notice in
                if notice.kind == .pageFailed || notice.kind == .refused { notices.withLock { $0.append("\(notice)") } }
            }
            browser.connect { player in
                // The probe begins once the browser has started, which takes the processors from it.
                player.report { signal in
                    if journal.signals.isEmpty { onMoment(.began) }
                    journal.append(signal)
                }
            }
            let page = try EyePage()
            guard let origin = URL(string: "/eye.html", relativeTo: URL(string: address))?.absoluteString else {
                throw CocoaError(.fileNoSuchFile)
            }
            browser.open(origin, showing: page.html(playing: address, library, schedule))
            let (eye, worstGap, version, failures) = try await page.result(within: .seconds(schedule.seconds + 60))
            let end = SystemClock().now
            onMoment(.ended)
            // What the tracker knows late comes within the time of a report.
            try await SystemClock().sleep(until: end.advanced(by: .milliseconds(300)))
            let signals = journal.signals
            browser.close()
            _ = await browser.waitUntilGone()
            let begin = signals.first?.instant ?? eye.sightings.first?.instant ?? end
            return Playback(
                signals: signals,
                eye: eye,
                begin: begin,
                end: end,
                blindness: worstGap,
                requestCount: signals.count { $0.action == .requestFinish && $0.instant ?? end <= end },
                version: version,
                complaints: notices.withLock { $0 } + failures
            )
        }
    }
}
