#if os(Linux)
import CMPV
import Dispatch
import Foundation
import Instrument
import InstrumentLibMPV
import InstrumentMPV
import InstrumentOrigin
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// An app with a real libmpv, without a window and without a sound device.
private final class App: Sendable {
    private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

    private let handle: Handle
    let tracked: LibMPVPlayer
    let signals = Lock<[PlayerSignal]>([])
    let diagnostics = Lock<[MPVDiagnostic]>([])

    init() throws {
        let pointer = try #require(mpv_create())
        for (name, value) in [("vo", "null"), ("ao", "null"), ("config", "no"), ("ytdl", "no"), ("volume", "70")] {
            mpv_set_option_string(pointer, name, value)
        }
        #expect(mpv_initialize(pointer) >= 0)
        handle = Handle(pointer: pointer)
        tracked = LibMPVPlayer(pointer) { [diagnostics] diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
    }

    func observe() {
        tracked.report { [signals] signal in signals.withLock { $0.append(signal) } }
        tracked.settle()
    }

    func command(_ words: String...) {
        var arguments = words.map { UnsafePointer(strdup($0)) } + [nil]
        mpv_command(handle.pointer, &arguments)
        for argument in arguments { free(UnsafeMutableRawPointer(mutating: argument)) }
    }

    func set(_ property: String, _ value: String) { mpv_set_property_string(handle.pointer, property, value) }

    /// Destroys the player; libmpv waits until all clients have gone.
    func terminate() { mpv_terminate_destroy(handle.pointer) }

    /// Gives the only handle away without a word.
    func destroy() { mpv_destroy(handle.pointer) }

    var actions: [Action] { signals.withLock { $0.map(\.action) } }
    func first(_ action: Action) -> PlayerSignal? { signals.withLock { $0.first { $0.action == action } } }

    func wait(for action: Action) async throws {
        while !actions.contains(action) { try await Task.sleep(for: .milliseconds(10)) }
    }
}

@Suite("A real libmpv", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealLibMPVAloneTests {
    @Test(
        "The tracker distinguishes bad media: a film that ends early has failed, noise fails, sound alone plays",
        arguments: BadMedia.allCases
    )
    func badMedia(media: BadMedia) async throws {
        let app = try App()
        app.observe()
        app.command("loadfile", try media.path)
        while !app.actions.contains(where: { $0 == .end || $0 == .error }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let actions = app.actions.filter { $0 != .bufferBegin && $0 != .bufferFinish }
        let expected: [Action] =
            switch media {
            case .truncated: [.streamLoad, .start, .error]
            case .random: [.streamLoad, .error]
            case .sound: [.streamLoad, .start, .end]
            }
        #expect(actions == expected)
        app.tracked.close()
        app.terminate()
    }

    private func withOrigin(_ body: (Origin) async throws -> Void) async throws {
        let origin = try await Origin.start(
            media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))],
            schedule: try DeliverySchedule("unlimited"),
            faults: []
        )
        try await body(origin)
        await origin.stop()
    }

    @Test("Play, pause, seek, volume and stop give the events of the data model")
    func controls() async throws {
        try await withOrigin { origin in
            let app = try App()
            app.observe()
            app.command("loadfile", origin.url("vod/movie.mp4?token=secret", session: "a"))
            try await app.wait(for: .start)
            app.set("pause", "yes")
            try await app.wait(for: .pauseBegin)
            app.set("pause", "no")
            try await app.wait(for: .pauseFinish)
            app.command("seek", "12", "absolute")
            try await app.wait(for: .seekFinish)
            app.set("volume", "30")
            try await app.wait(for: .volumeChange)
            app.command("stop")
            try await app.wait(for: .stop)
            #expect(
                app.actions.filter { $0 != .bufferBegin && $0 != .bufferFinish }
                    == [
                        .streamLoad, .start, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .volumeChange, .stop,
                    ]
            )
            let start = try #require(app.first(.start)?.status)
            #expect(start.source == origin.url("vod/movie.mp4", session: "a") && start.resolutionWidth == 640)
            #expect(app.first(.volumeChange)?.status?.volume == 30)
            #expect(!app.signals.withLock { "\($0)".contains("secret") })
            app.tracked.close()
            app.terminate()
        }
    }

    @Test("An address that cannot be played is an error")
    func missing() async throws {
        try await withOrigin { origin in
            let app = try App()
            app.observe()
            app.command("loadfile", origin.url("vod/none.mp4", session: "a"))
            try await app.wait(for: .error)
            #expect(app.actions == [.streamLoad, .error] && app.first(.error)?.attributes[.isFatal] == true)
            app.tracked.close()
            app.terminate()
        }
    }

    @Test("A tracker that comes late joins")
    func joins() async throws {
        try await withOrigin { origin in
            let app = try App()
            app.command("loadfile", origin.url("vod/movie.mp4", session: "a"))
            app.observe()
            app.tracked.report(to: nil)
            app.tracked.settle()
            while app.tracked.status != PlayerStatus() { try await Task.sleep(for: .milliseconds(10)) }
            try await Task.sleep(for: .seconds(1))
            app.signals.withLock { $0 = [] }
            app.observe()
            try await app.wait(for: .start)
            #expect(app.actions.prefix(2) == [.streamLoad, .start])
            #expect(app.first(.streamLoad)?.attributes[.joinedLate] == true)
            app.tracked.close()
            app.terminate()
        }
    }

    @Test("An app that destroys its player first waits for no tracker", arguments: [true, false])
    func destroyedFirst(isTerminated: Bool) async throws {
        try await withOrigin { origin in
            let app = try App()
            app.observe()
            app.command("loadfile", origin.url("vod/movie.mp4", session: "a"))
            try await app.wait(for: .start)
            await blocking { isTerminated ? app.terminate() : app.destroy() }
            try await app.wait(for: .stop)
            app.tracked.report { _ in }
            app.tracked.close()
            app.tracked.settle()
            #expect(app.diagnostics.withLock { $0.contains { $0.kind == .disconnected } })
        }
    }

    @Test("Trackers that come and go while a player starts and ends harm nobody")
    func comeAndGo() async throws {
        try await withOrigin { origin in
            for _ in 0..<Rounds.of(20) {
                let app = try App()
                app.command("loadfile", origin.url("vod/movie.mp4", session: "a"))
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            for _ in 0..<10 {
                                if number.isMultiple(of: 2) { app.observe() } else { app.tracked.report(to: nil) }
                            }
                        }
                    }
                    group.addTask { await blocking { app.terminate() } }
                }
                app.tracked.close()
                app.tracked.settle()
            }
        }
    }
}
#endif
