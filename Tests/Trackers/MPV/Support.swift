import Foundation
import Instrument
import InstrumentMPV
import LoopbackServers

/// Keeps what happens, and lets a test wait for it.
final class Log<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiters: [(isEnough: @Sendable ([Entry]) -> Bool, resume: @Sendable (Bool) -> Void)] = []
    }

    private let state = Lock(State())

    var entries: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let ready = state.waiters.filter { $0.isEnough(state.entries) }.map(\.resume)
            state.waiters.removeAll { $0.isEnough(state.entries) }
            return ready
        }
        for resume in ready { resume(true) }
    }

    /// True once it is so; false if that takes too long, which is the wall clock's to say: a real player takes real
    /// time.
    @discardableResult
    func wait(_ seconds: Double = 1800, until isEnough: @escaping @Sendable ([Entry]) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let once = Lock<CheckedContinuation<Bool, Never>?>(continuation)
            let resume: @Sendable (Bool) -> Void = { result in
                let waiting = once.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                waiting?.resume(returning: result)
            }
            let isReady = state.withLock { state in
                if isEnough(state.entries) { return true }
                state.waiters.append((isEnough, resume))
                return false
            }
            if isReady { return resume(true) }
            DispatchQueue(label: "test.deadline").asyncAfter(deadline: .now() + seconds) { resume(false) }
        }
    }
}

/// A player and its signals.
struct Watched: Sendable {
    let player: MPVPlayer
    let signals = Log<PlayerSignal>()
    let diagnostics: Log<MPVDiagnostic>

    init(
        socket: String,
        configuration: MPVConfiguration = MPVConfiguration(),
        clock: any SchedulingClock = SystemClock()
    ) throws {
        let diagnostics = Log<MPVDiagnostic>()
        player = try MPVPlayer(socket: socket, configuration: configuration, clock: clock) { diagnostics.append($0) }
        self.diagnostics = diagnostics
        observe()
    }

    init(starting launch: MPVLaunch) throws {
        let diagnostics = Log<MPVDiagnostic>()
        player = try MPVPlayer(starting: launch) { diagnostics.append($0) }
        self.diagnostics = diagnostics
        observe()
    }

    private func observe() {
        let signals = signals
        player.report { signals.append($0) }
    }

    var actions: [Action] { signals.entries.map(\.action) }

    /// Waits until an action was reported so often.
    @discardableResult
    func wait(for action: Action, _ count: Int = 1) async -> Bool {
        await signals.wait { $0.filter { $0.action == action }.count >= count }
    }

    func first(_ action: Action) -> PlayerSignal? { signals.entries.first { $0.action == action } }
}

/// An mpv of a test's own, without picture and sound.
final class RealMPV: Sendable {
    static let options = ["--no-config", "--vo=null", "--ao=null", "--really-quiet", "--no-terminal"]
    private let process: Process

    init(socket: String, _ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["mpv"] + Self.options + ["--input-ipc-server=" + socket] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
    }

    deinit { if process.isRunning { kill() } }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func waitUntilExit() { process.waitUntilExit() }
}

/// Media made by ffmpeg, the same every time.
enum Media {
    struct NoMedia: Error, CustomStringConvertible { let description: String }

    private static let folder = MediaCache.folder(of: "mpv-1")

    /// A film with a title and languages, at 160 kbit/s or so.
    static func film(seconds: Int) throws -> String {
        let output = folder + "/film-\(seconds).mkv"
        if FileManager.default.fileExists(atPath: output) { return output }
        let draft = folder + "/\(UUID().uuidString).mkv"
        let inputs = [
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=\(seconds)",
            "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(seconds)",
        ]
        let codecs =
            "-c:v libx264 -preset ultrafast -g 25 -bf 0 -b:v 150k -pix_fmt yuv420p -c:a aac -b:a 64k -threads 1"
        try run(
            "/usr/bin/env",
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"] + inputs + codecs.split(separator: " ").map(String.init)
                + ["-metadata", "title=A film", "-metadata:s:a:0", "language=deu", draft]
        )
        _ = try? FileManager.default.moveItem(atPath: draft, toPath: output)
        return output
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.start()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw NoMedia(description: "ffmpeg could not make a film") }
    }
}
