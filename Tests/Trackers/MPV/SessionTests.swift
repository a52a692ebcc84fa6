import Foundation
import Instrument
import InstrumentMPV
import InstrumentTestKit
import InstrumentTrackers
import LoopbackServers
import TestTraits
import Testing

/// A peer that behaves as no mpv should.
@Suite("Faulty players", .ownThread)
struct SessionTests {
    private let scratch: Scratch
    private var socket: String { scratch.file("peer.sock") }
    private let clock = VirtualClock()

    init() throws { scratch = try Scratch() }

    private func watched(_ configuration: MPVConfiguration = MPVConfiguration()) throws -> Watched {
        try Watched(socket: socket, configuration: configuration, clock: clock)
    }

    @Test("A missing socket is reported once, and the retry delay doubles up to its limit")
    func backOff() async throws {
        let watched = try watched(MPVConfiguration(retryDelay: .milliseconds(250), maxRetryDelay: .seconds(1)))
        watched.player.connect()
        var waits: [Int] = []
        for _ in 0..<5 {
            try await Self.waitUntil { self.clock.nextDeadline != nil }
            let next = try #require(clock.nextDeadline)
            waits.append(clock.now.milliseconds(to: next))
            clock.advance(to: next)
        }
        #expect(waits == [250, 500, 1000, 1000, 1000])
        #expect(watched.diagnostics.entries.count == 1)
        let peer = try FakePeer(socket: socket)
        try await Self.waitUntil { self.clock.nextDeadline != nil }
        clock.advance(by: .seconds(1))
        await peer.accepted.wait { $0.count == 1 }
        #expect(peer.accepted.entries.count == 1)
    }

    @Test("Without waiting, a missing player ends the watch")
    func notThere() async throws {
        let watched = try watched(MPVConfiguration(waitsForPlayer: false))
        watched.player.connect()
        guard case .notThere = await watched.player.waitUntilGone() else {
            Issue.record("it is not there")
            return
        }
    }

    @Test("A player that never answers is disconnected after the timeout, and the connection is retried")
    func silent() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched()
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        for count in 2...3 {
            try await Self.waitUntil { self.clock.nextDeadline != nil }
            clock.advance(by: .seconds(2))
            try await Self.waitUntil { self.clock.nextDeadline != nil }
            clock.advance(by: .seconds(2))
            await peer.accepted.wait { $0.count >= count }
        }
        #expect(peer.accepted.entries.count >= 3)
        #expect(watched.diagnostics.entries.map(\.kind).contains(.unanswered))
        #expect(!watched.diagnostics.entries.map(\.kind).contains(.connected))
        #expect(watched.actions.isEmpty)
    }

    @Test("Malformed, unknown and huge lines are skipped and reported, and later lines are read")
    func garbage() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched(MPVConfiguration(maxLineLength: 2000))
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        // Empty lines are no lines.
        peer.send("\n\nno JSON secret\n\n{\"event\":\"of tomorrow\"}\n")
        peer.send([0xFF, 0xFE, 0x0A])
        peer.send(String(repeating: "x", count: 100_000) + "\n")
        peer.send("{\"event\":\"sta")
        peer.send("rt-file\"}\n{\"event\":\"property-change\",\"name\":\"core-idle\",\"data\":false}\n")
        try await Self.waitUntil { watched.player.isPlaying }
        peer.drop()
        await watched.wait(for: .error)
        #expect(watched.actions == [.streamLoad, .start, .error])
        let bad = watched.diagnostics.entries.filter { $0.kind == .badLine }
        #expect(bad.count == 3)
        #expect(!"\(watched.diagnostics.entries)".contains("secret"))
    }

    @Test("Held signals are reported at the timeout when a player stops answering")
    func slow() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched()
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        peer.send("{\"event\":\"start-file\"}\n")
        await watched.diagnostics.wait { $0.contains { $0.kind == .connected } }
        // The request for the path is there, and is not answered.
        let asked = await peer.received.wait { pieces in
            String(decoding: pieces.joined(), as: UTF8.self).hasSuffix("\"media-title\"],\"request_id\":49}\n")
        }
        #expect(asked)
        #expect(watched.actions.isEmpty)
        try await Self.waitUntil { self.clock.pendingCount >= 2 }
        clock.advance(by: .seconds(2))
        await watched.wait(for: .streamLoad)
        #expect(watched.actions == [.streamLoad])
        #expect(watched.first(.streamLoad)?.instant == MonotonicInstant(nanoseconds: 0))
    }

    @Test("A flood of events without replies leaves a bounded number of open requests")
    func flood() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched()
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        let events = "{\"event\":\"start-file\"}\n{\"event\":\"playback-restart\"}\n{\"event\":\"end-file\"}\n"
        peer.send(String(repeating: events, count: 2000))
        peer.send("no JSON\n{\"event\":\"property-change\",\"name\":\"volume\",\"data\":7}\n")
        try await Self.waitUntil { watched.player.status.volume == 7 }
        #expect(clock.pendingCount <= 65)
        #expect(watched.actions.filter { $0 == .streamLoad }.count >= 1900)
    }

    @Test("Only the first of many malformed lines are reported")
    func manyBadLines() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched()
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        peer.send(String(repeating: "no JSON\n", count: 5000))
        peer.send("{\"event\":\"property-change\",\"name\":\"volume\",\"data\":7}\n")
        try await Self.waitUntil { watched.player.status.volume == 7 }
        #expect(watched.diagnostics.entries.filter { $0.kind != .connected }.count == 16)
    }

    @Test("The output of a player that was started is read to its end, and reported up to a limit")
    func output() async throws {
        let program = scratch.file("loud-player")
        // Far more than fits into any buffer: a player whose output nobody reads never gets to its end.
        let script = """
            #!/bin/sh
            echo "first line of secret-address" >&2
            echo "second line"
            i=0
            while [ $i -lt 20000 ]; do
                echo "line $i: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" >&2
                i=$((i + 1))
            done

            """
        try script.write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let watched = try Watched(starting: MPVLaunch(program: program, arguments: ["secret-address"]))
        watched.player.connect()
        _ = await watched.player.waitUntilGone()
        let lines = watched.diagnostics.entries.filter { $0.kind == .output }.map(\.description)
        #expect(lines.count == 17, "\(lines.count)")
        #expect(lines.first == "output of the player: first line of …")
        #expect(lines.dropFirst().first == "output of the player: second line")
        #expect(lines.last?.contains("the others are not shown") == true)
    }

    @Test("A path that is too long for a socket is refused")
    func longPath() {
        for path in ["", "/" + String(repeating: "x", count: 107)] {
            #expect(throws: MPVError.self) { _ = try MPVPlayer(socket: path) }
        }
    }

    /// Checks every few milliseconds, for a state without a notification.
    private static func waitUntil(_ isSo: @escaping @Sendable () -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(1800))
        while !isSo(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
        #expect(isSo())
    }
}
