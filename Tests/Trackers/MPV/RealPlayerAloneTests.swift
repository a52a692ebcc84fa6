import Foundation
import Instrument
import InstrumentMPV
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// A real mpv plays real files in real time. One after another, because what they measure is time.
@Suite("A real mpv", .ownThread, .serialized)
struct RealPlayerAloneTests {
    private let scratch: Scratch
    private var socket: String { scratch.file("mpv.sock") }

    init() throws { scratch = try Scratch() }

    @Test("Play, pause, seek and stop give the events of the data model at their times")
    func controls() async throws {
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(socket: socket, ["--idle", "--volume=70"])
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.load(try Media.film(seconds: 20))
        await watched.wait(for: .start)
        watched.player.pause()
        await watched.wait(for: .pauseBegin)
        watched.player.resume()
        await watched.wait(for: .pauseFinish)
        watched.player.seek(to: .seconds(12))
        await watched.wait(for: .seekFinish)
        watched.player.stop()
        await watched.wait(for: .stop)
        #expect(
            watched.actions == [.streamLoad, .start, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .stop]
        )
        #expect(watched.first(.streamLoad)?.status?.source?.hasSuffix("/film-20.mkv") == true)
        let sought = try #require(watched.first(.seekFinish)?.status)
        #expect(sought.position.map { abs($0 / .seconds(1) - 12) < 1 } == true)
        #expect(sought.duration.map { abs($0 / .seconds(1) - 20) < 0.5 } == true)
        #expect((sought.resolutionWidth, sought.resolutionHeight) == (320, 180))
        #expect((sought.title, sought.language) == ("A film", "deu"))
        #expect((sought.volume, sought.isMuted, sought.framesPerSecond) == (70, false, 25))
        let instants = watched.signals.entries.compactMap { $0.instant }
        #expect(instants.count == 7 && zip(instants, instants.dropFirst()).allSatisfy { $0 <= $1 })
        watched.player.close()
        #expect(await watched.player.waitUntilGone() == .closed)
        mpv.kill()
    }

    @Test("Volume and mute are reported when a person changes them")
    func sound() async throws {
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(socket: socket, ["--idle", "--volume=70"])
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.load(try Media.film(seconds: 20))
        await watched.wait(for: .start)
        let person = try UnixClient(socket)
        person.send(#"{"command":["set_property","volume",35]}"#)
        await watched.signals.wait { $0.contains { $0.action == .volumeChange && $0.status?.volume == 35 } }
        person.send(#"{"command":["set_property","mute",true]}"#)
        await watched.signals.wait { $0.contains { $0.action == .volumeChange && $0.status?.isMuted == true } }
        watched.player.stop()
        await watched.wait(for: .stop)
        #expect(watched.actions == [.streamLoad, .start, .volumeChange, .volumeChange, .stop])
        watched.player.close()
        mpv.kill()
    }

    @Test("A playlist gives Next between entries and End after the last, and then the player is gone")
    func playlist() async throws {
        let film = try Media.film(seconds: 20)
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(socket: socket, ["--length=1", "--pause", film, film])
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.resume()
        await watched.wait(for: .end)
        #expect(watched.actions == [.streamLoad, .start, .next, .streamLoad, .start, .end])
        #expect(watched.signals.entries.allSatisfy { $0.status?.source?.hasSuffix("/film-20.mkv") == true })
        mpv.waitUntilExit()
        await watched.diagnostics.wait { $0.contains { $0.kind == .disconnected } }
        #expect(!watched.actions.contains(.error))
    }

    @Test("Changes of the picture's size are reported as changes of quality")
    func quality() async throws {
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(socket: socket, ["--speed=4", "--pause", MediaCache.sample])
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.resume()
        await watched.wait(for: .end)
        #expect(watched.actions == [.streamLoad, .start, .qualityChangeUp, .qualityChangeDown, .end])
        #expect(watched.first(.qualityChangeUp)?.status?.resolutionHeight == 360)
        #expect(watched.first(.qualityChangeDown)?.status?.resolutionHeight == 270)
        mpv.waitUntilExit()
    }

    @Test("A killed player is reported as gone, and a restarted one begins a new playback")
    func killed() async throws {
        let film = try Media.film(seconds: 20)
        let watched = try Watched(socket: socket, configuration: MPVConfiguration(retryDelay: .milliseconds(20)))
        let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .zero))
        let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [backend])
        instrument.add(PlayerTracker(watched.player))
        instrument.ready()
        let first = try RealMPV(socket: socket, [film])
        watched.player.connect()
        try await Self.waitUntil { watched.player.isPlaying }
        first.kill()
        try await Self.waitUntil { !watched.player.isPlaying }
        let second = try RealMPV(socket: socket, ["--pause", film])
        try await Self.waitUntil { watched.player.status.source != nil }
        watched.player.resume()
        try await Self.waitUntil { watched.player.isPlaying }
        second.kill()
        try await Self.waitUntil { !watched.player.isPlaying }
        // Open blocks are reported before that.
        watched.player.close()
        _ = await watched.player.waitUntilGone()
        await instrument.shutdown(timeout: .seconds(1800))
        let actions = backend.events.map(\.action).filter { ![.trackerInit, .playerSet, .playerReady].contains($0) }
        #expect(actions == [.streamLoad, .start, .error, .streamLoad, .start, .error])
        let errors = backend.events.filter { $0.action == .error }
        #expect(errors.allSatisfy { $0[.errorDescription] == "player went away" && $0[.isFatal] == true })
        #expect(Set(backend.events.filter { $0.action == .start }.compactMap { $0[.playbackId] }).count == 2)
        #expect(instrument.rejectedCounts.isEmpty)
    }

    @Test("A running playback is joined, is marked in its load and start, and has no start time")
    func joined() async throws {
        let mpv = try RealMPV(socket: socket, [try Media.film(seconds: 20)])
        let early = try Watched(socket: socket, configuration: MPVConfiguration(retryDelay: .milliseconds(20)))
        early.player.connect()
        await early.wait(for: .start)
        let late = try Watched(socket: socket)
        let backend = CollectingBackend()
        let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [backend])
        instrument.add(PlayerTracker(late.player))
        late.player.connect()
        await late.diagnostics.wait { $0.contains { $0.kind == .joinedLate } }
        try await Self.waitUntil { late.player.isPlaying }
        late.player.close()
        _ = await late.player.waitUntilGone()
        await instrument.shutdown(timeout: .seconds(1800))
        let events = backend.events.suffix(3)
        #expect(events.map(\.action) == [.streamLoad, .start, .detach])
        #expect(events.map { $0[.joinedLate] } == [true, true, nil])
        #expect(events.allSatisfy { $0[.title] == "A film" && $0[.position] != nil })
        #expect(!backend.metrics.contains { $0.name == .startTime })
        #expect(backend.metrics.contains { $0.name == .numPlays })
        mpv.kill()
    }

    @Test("A file that is not media is an error with mpv's message, and the next file begins a new playback")
    func broken() async throws {
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(socket: socket, ["--idle"])
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.load(scratch.file("nothing.mkv"))
        await watched.wait(for: .error)
        watched.player.load(try Media.film(seconds: 20))
        await watched.wait(for: .start)
        watched.player.quit()
        await watched.wait(for: .stop)
        #expect(watched.actions == [.streamLoad, .error, .streamLoad, .start, .stop])
        #expect(watched.first(.error)?.attributes[.errorDescription] == "loading failed")
        mpv.waitUntilExit()
    }

    @Test("A stall over a slow network has the duration that the server causes")
    func stall() async throws {
        let film = Array(try Data(contentsOf: URL(fileURLWithPath: Media.film(seconds: 20))))
        let half = film.count / 3
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(film.count)\r\nContent-Type: video/x-matroska\r\n\r\n"
        let server = try TestServer { _ in
            [.send(Array(head.utf8) + film[..<half]), .waitUntil(.seconds(9)), .send(Array(film[half...])), .hang]
        }
        let machine = MachineLoad()
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(
            socket: socket,
            [
                "--idle", "--cache=yes", "--cache-pause=yes", "--cache-pause-wait=0.1", "--cache-secs=200",
                "--demuxer-readahead-secs=200",
            ]
        )
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.load("http://user:secret@127.0.0.1:\(server.port)/film.mkv?token=secret")
        await watched.wait(for: .bufferFinish)
        watched.player.quit()
        await watched.wait(for: .stop)
        #expect(watched.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .stop])
        let load = try #require(watched.first(.streamLoad)?.instant)
        let finish = try #require(watched.first(.bufferFinish)?.instant)
        let length = load.duration(to: finish) / .seconds(1)
        #expect(length > 7.5)
        if machine.allowsJudging("how long mpv stalls") { #expect(length < 10.5) }
        let source = watched.signals.entries.compactMap { $0.status?.source }
        #expect(source.contains("http://127.0.0.1:\(server.port)/film.mkv"))
        #expect(!watched.signals.entries.contains { "\($0)".contains("secret") })
        mpv.waitUntilExit()
    }

    @Test("A started player ends with the process and reports Stop")
    func started() async throws {
        let film = try Media.film(seconds: 20)
        let watched = try Watched(starting: MPVLaunch(arguments: RealMPV.options + [film]))
        watched.player.connect()
        await watched.wait(for: .start)
        watched.player.close()
        #expect(await watched.player.waitUntilGone() == .closed)
        #expect(watched.actions == [.streamLoad, .start, .stop])
    }

    #if os(Linux)
    @Test("A started player ends when the process is killed, and inherits no open files")
    func orphaned() async throws {
        let (marker, name) = (scratch.file("marker"), "mpv-\(UUID().uuidString)")
        try Data().write(to: URL(fileURLWithPath: marker))
        let (process, output) = (Process(), Pipe.forChild())
        process.executableURL = Self.child
        process.arguments =
            [marker] + RealMPV.options + ["--title=" + name, "--loop-file=inf", try Media.film(seconds: 20)]
        process.standardOutput = output
        try process.start()
        #expect(output.fileHandleForReading.availableData == Data("playing\n".utf8))
        let player = try #require(Self.processes(with: "--title=" + name).first { $0 != process.processIdentifier })
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(player)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(player)/fd/\($0)")
        }
        #expect(files.contains { $0.hasPrefix("socket:") })
        #expect(!files.contains(marker))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try await Self.waitUntil { Self.processes(with: "--title=" + name).isEmpty }
    }

    /// Those that were started with an argument; one that has ended has none.
    private static func processes(with argument: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { number in
            let words = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
            return words.split(separator: 0).contains { $0.elementsEqual(argument.utf8) }
        }
    }

    private static var child: URL {
        var folder = Bundle.main.bundleURL
        if folder.pathExtension == "xctest" { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("MPVChild")
    }
    #endif

    @Test("A skip during playback is Next, and a replaced film is Stop and a new playback")
    func skipped() async throws {
        let film = try Media.film(seconds: 20)
        let watched = try Watched(socket: socket)
        watched.player.connect()
        let mpv = try RealMPV(socket: socket, ["--idle", "--pause", film, film])
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        watched.player.resume()
        await watched.wait(for: .start)
        watched.player.next()
        await watched.wait(for: .start, 2)
        #expect(watched.actions == [.streamLoad, .start, .next, .streamLoad, .start])
        watched.player.stop()
        await watched.wait(for: .stop)
        watched.player.load(film)
        await watched.wait(for: .start, 3)
        watched.player.load(film)
        await watched.wait(for: .start, 4)
        let ends = watched.actions.filter { [.next, .stop, .end].contains($0) }
        #expect(ends == [.next, .stop, .stop])
        mpv.kill()
    }

    @Test("Starting a missing program fails and names it")
    func notInstalled() {
        #expect {
            _ = try MPVPlayer(starting: MPVLaunch(program: "no-such-player", arguments: []))
        } throws: { error in
            (error as? MPVError)?.code == .cannotStart
        }
    }

    /// Checks every few milliseconds, for a state without a notification.
    private static func waitUntil(_ isSo: @escaping @Sendable () -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(1800))
        while !isSo(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(isSo())
    }
}
