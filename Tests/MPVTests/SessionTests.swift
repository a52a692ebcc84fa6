import Foundation
import Instrument
import InstrumentMPV
import InstrumentTestKit
import InstrumentTrackers
import LoopbackServers
import TestTraits
import Testing

/// A peer that behaves as no mpv should.
@Suite("A player that misbehaves", .ownThread)
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

    @Test("Where nobody is to be waited for, nobody there is the end")
    func notThere() async throws {
        let watched = try watched(MPVConfiguration(waitsForPlayer: false))
        watched.player.connect()
        guard case .notThere = await watched.player.waitUntilGone() else {
            Issue.record("it is not there")
            return
        }
    }

    @Test("One that never answers is let go of after its time, and tried again")
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
        #expect(watched.diagnostics.entries.contains(.unanswered))
        #expect(!watched.diagnostics.entries.contains(.connected))
        #expect(watched.actions.isEmpty)
    }

    @Test("Lines that are none, invalid, unknown or huge are passed over and said; the next ones count")
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
        let bad = watched.diagnostics.entries.filter { if case .badLine = $0 { true } else { false } }
        #expect(bad.count == 3)
        #expect(!"\(watched.diagnostics.entries)".contains("secret"))
    }

    @Test("One that answers some and then no more: what was held is reported when the time is up")
    func slow() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched()
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        peer.send("{\"event\":\"start-file\"}\n")
        await watched.diagnostics.wait { $0.contains(.connected) }
        // The request for the path is there, and is not answered.
        let asked = await peer.received.wait { pieces in
            String(decoding: pieces.joined(), as: UTF8.self).hasSuffix("\"media-title\"],\"request_id\":48}\n")
        }
        #expect(asked)
        #expect(watched.actions.isEmpty)
        try await Self.waitUntil { self.clock.pendingCount >= 2 }
        clock.advance(by: .seconds(2))
        await watched.wait(for: .streamLoad)
        #expect(watched.actions == [.streamLoad])
        #expect(watched.first(.streamLoad)?.instant == MonotonicInstant(nanoseconds: 0))
    }

    @Test("One that floods us with events and answers nothing leaves a bounded number of questions open")
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

    @Test("Of many lines that are none only the first are reported")
    func manyBadLines() async throws {
        let peer = try FakePeer(socket: socket)
        let watched = try watched()
        watched.player.connect()
        await peer.accepted.wait { $0.count == 1 }
        peer.send(String(repeating: "no JSON\n", count: 5000))
        peer.send("{\"event\":\"property-change\",\"name\":\"volume\",\"data\":7}\n")
        try await Self.waitUntil { watched.player.status.volume == 7 }
        #expect(watched.diagnostics.entries.filter { $0 != .connected }.count == 16)
    }

    @Test("A path that no socket can have is refused")
    func longPath() {
        for path in ["", "/" + String(repeating: "x", count: 107)] {
            #expect(throws: MPVError.self) { _ = try MPVPlayer(socket: path) }
        }
    }

    /// Looks every few milliseconds, for what nobody reports.
    private static func waitUntil(_ isSo: @escaping @Sendable () -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(1800))
        while !isSo(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
        #expect(isSo())
    }
}
