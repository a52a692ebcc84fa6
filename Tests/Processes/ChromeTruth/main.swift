// Measures the tracker of Chromium against an independent eye, as scripts/compare-chrome.sh prints it.
//
//   ChromeTruth FOLDER [--library FILE]... [NAME...]
//
// It plays the test origin's media from FOLDER over some schedules in a real Chromium, with each player library that is
// given, and with the browser's own player. The eye reads the number of each picture from a canvas. It prints a row for
// each time of motion: its begin and its end by the eye, and the errors of the tracker. Exits with 1 if an error is
// larger than the limit.

import Foundation
import Instrument
import InstrumentChrome
import InstrumentFrameCode
import InstrumentOrigin

struct Scenario {
    var name: String
    var path: String
    var schedule = "unlimited"
    var faults: [String] = []
    var steps: [(Double, String)] = []
    var seconds = 12.0
}

/// The largest error of the begin of a playback, and of both ends of what interrupts it.
let (startLimit, stallLimit) = (50, 100)

let outage = "4000k for 4s, 0 for 6s, 4000k"
let scenarios = [
    Scenario(name: "no stall", path: "vod/ts/v0.m3u8", seconds: 8),
    Scenario(name: "slow start", path: "vod/ts/v1.m3u8", schedule: "600k for 6s, 8000k"),
    Scenario(name: "one outage", path: "vod/ts/v2.m3u8", schedule: outage, seconds: 18),
    Scenario(
        name: "two outages",
        path: "vod/ts/v2.m3u8",
        schedule: "4000k for 3s, 0 for 5s, 4000k for 4s, 0 for 6s, 4000k",
        seconds: 28
    ),
    Scenario(name: "one outage, fMP4", path: "vod/fmp4/v2.m3u8", schedule: outage, seconds: 18),
    Scenario(name: "503 in the middle", path: "vod/ts/v0.m3u8", faults: ["503 on vod/*/v0/3.ts"], seconds: 12),
    Scenario(name: "live", path: "live/ts/v0.m3u8", seconds: 14),
    Scenario(name: "seek", path: "vod/ts/v0.m3u8", steps: [(4, "video.currentTime = 16")], seconds: 9),
    Scenario(name: "pause", path: "vod/ts/v0.m3u8", steps: [(3, "video.pause()"), (5, "video.play()")], seconds: 8),
    Scenario(
        name: "pause in a stall",
        path: "vod/ts/v2.m3u8",
        schedule: outage,
        steps: [(8, "video.pause()"), (13, "video.play()")],
        seconds: 18
    ),
    Scenario(name: "film, no stall", path: "vod/movie.mp4", seconds: 8),
    Scenario(name: "film, one outage", path: "vod/movie.mp4", schedule: "1500k for 4s, 0 for 6s, 4000k", seconds: 15),
    Scenario(name: "film, seek", path: "vod/movie.mp4", steps: [(4, "video.currentTime = 16")], seconds: 9),
    Scenario(name: "DASH, no stall", path: "vod/dash/number.mpd", seconds: 8),
    Scenario(
        name: "DASH, one outage",
        path: "vod/dash/number.mpd",
        schedule: "4000k for 4s, 0 for 9s, 4000k",
        seconds: 20
    ),
]

/// A player library, and how it plays.
struct Library {
    var name: String
    var bytes: [UInt8]?
    var statements: String
    var endings: [String]

    static let native = Library(
        name: "video",
        statements: "video.src = address; video.play().catch(() => {})",
        endings: [".mp4"]
    )

    init(name: String, bytes: [UInt8]? = nil, statements: String, endings: [String]) {
        (self.name, self.bytes, self.statements, self.endings) = (name, bytes, statements, endings)
    }

    /// Reads a library; nil for one that is not known.
    init?(_ path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        if text.contains("hls.js version") {
            // A bundle's module may export functions alone, whose player tells its class.
            let statements = """
                const Hls = window.Hls ?? module.t(document.createElement("video"), "data:,", () => {}).constructor
                video.play().catch(() => {}); const hls = new Hls(); hls.loadSource(address); hls.attachMedia(video)
                """
            self.init(name: "hls.js", bytes: Array(data), statements: statements, endings: [".m3u8"])
        } else if text.contains("Video.js 7") {
            let statements = """
                const streaming = { overrideNative: true }
                const html5 = { hls: streaming, vhs: streaming, nativeAudioTracks: false, nativeVideoTracks: false }
                const type = address.includes(".mpd") ? "application/dash+xml" : "application/x-mpegURL"
                const player = videojs(video, { html5 })
                player.src({ src: address, type })
                player.play()?.catch(() => {})
                """
            self.init(name: "Video.js", bytes: Array(data), statements: statements, endings: [".m3u8", ".mpd"])
        } else if text.contains("dashjs") {
            let statements =
                "video.play().catch(() => {}); dashjs.MediaPlayer().create().initialize(video, address, true)"
            self.init(name: "dash.js", bytes: Array(data), statements: statements, endings: [".mpd"])
        } else if text.contains("shaka") {
            let statements = """
                video.play().catch(() => {}); shaka.polyfill.installAll(); const player = new shaka.Player()
                await player.attach(video); await player.load(address)
                """
            self.init(name: "Shaka", bytes: Array(data), statements: statements, endings: [".m3u8", ".mpd"])
        } else {
            return nil
        }
    }
}

/// Prints a line at once.
func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
func text(_ duration: Duration?) -> String { duration.map { String(format: "%.2f", $0.seconds) } ?? "none" }
func error(_ duration: Duration?) -> String {
    duration.map { String(format: "%+d", Int(($0 / .milliseconds(1)).rounded())) } ?? "missing"
}
func isBeyond(_ duration: Duration?, _ limit: Int) -> Bool {
    duration.map { abs($0 / .milliseconds(1)) > Double(limit) } ?? true
}

var arguments = Array(CommandLine.arguments.dropFirst())
guard !arguments.isEmpty else {
    print("usage: ChromeTruth FOLDER [--library FILE]... [NAME...]")
    exit(2)
}
let folder = arguments.removeFirst()
var libraries = [Library.native]
while arguments.first == "--library", arguments.count > 1 {
    if let library = Library(arguments[1]) {
        libraries.append(library)
    } else {
        print("SKIPPED: \(arguments[1]), because it is no player library that is known")
    }
    arguments.removeFirst(2)
}
let fixtures = try await Fixtures.make(in: folder)
print("| player | schedule | motion | begin s | error ms | end s | error ms |")
print("|---|---|---|---|---|---|---|")
var failures = 0
for scenario in scenarios where arguments.isEmpty || arguments.contains(scenario.name) {
    for library in libraries where library.endings.contains(where: scenario.path.hasSuffix) {
        let origin = try await Origin.start(
            media: [.fixtures(fixtures)],
            schedule: try DeliverySchedule(scenario.schedule),
            faults: try scenario.faults.map { try FaultRule($0) }
        )
        let signals = Lock<[PlayerSignal]>([])
        let browser = try ChromeBrowser(starting: ChromeLaunch(arguments: ["--no-proxy-server"])) {
            if $0.kind == .pageFailed || $0.kind == .refused { print("  \($0)") }
        }
        browser.connect { player in
            player.report { signal in signals.withLock { $0.append(signal) } }
        }
        let page = try EyePage()
        // Every session of the origin has a link whose schedule begins with its first request.
        let address = origin.url(scenario.path, session: "a")
        let html = page.html(
            playing: address,
            library: library.bytes,
            library.statements,
            steps: scenario.steps,
            seconds: scenario.seconds
        )
        browser.open(origin.url("eye.html"), showing: html)
        let (eye, worstGap) = try await page.result()
        // What the tracker knows late comes within the time of a report.
        try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(300)))
        let seen = signals.withLock { $0 }
        let begin = seen.first?.instant ?? eye.sightings.first?.instant ?? SystemClock().now
        let comparison = MotionComparison(signals: seen, eye: eye, since: begin)
        for (number, row) in comparison.rows.enumerated() {
            print(
                "| \(library.name) | \(scenario.name) | \(number + 1) | \(text(row.seenBegin)) | \(error(row.beginError)) |"
                    + " \(text(row.seenEnd)) | \(row.trackedEnd == nil ? "still moving" : error(row.endError)) |"
            )
            let isWrong =
                isBeyond(row.beginError, number == 0 ? startLimit : stallLimit)
                || row.trackedEnd != nil && isBeyond(row.endError, stallLimit)
            failures += isWrong ? 1 : 0
        }
        let words = seen.map { signal in
            "\(signal.action) \(text(signal.instant.map { begin.duration(to: $0) })) at \(text(signal.status?.position))"
        }
        print("  " + words.joined(separator: ", "))
        if worstGap > .milliseconds(100) { print("  The eye was blind for \(text(worstGap)) s: the machine is busy.") }
        browser.close()
        _ = await browser.waitUntilGone()
        await origin.stop()
    }
}
print(failures == 0 ? "all within the limits" : "\(failures) outside the limits")
exit(failures == 0 ? 0 : 1)
