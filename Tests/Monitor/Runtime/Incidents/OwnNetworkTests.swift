import Instrument
import InstrumentHTTP
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("The first message of an outage that may be the monitor's own network")
struct OwnNetworkTests {
    private static let hosts = ["a.example", "b.example", "c.example"]

    private func streams(_ count: Int = 3) throws -> [WatchedStream] {
        try Self.hosts.prefix(count).map { try stream(String($0.prefix(1)), host: $0) }
    }

    /// Incidents of hosts of which each plays a stream; the latest answer came before the outage.
    private func outage(_ count: Int = 3) throws -> BookDrive {
        var drive = try BookDrive(try streams(count))
        drive.contact = HostContact(latestAnswer: drive.now.instant, playing: Set(Self.hosts.prefix(count)))
        drive.run(for: .seconds(1))
        return drive
    }

    /// Seconds from the first failure, a second after the begin, to each message.
    private func waits(_ drive: BookDrive) -> [Double] {
        drive.messages.map { Double($0.sent.milliseconds - 1_767_225_601_000) / 1_000 }
    }

    @Test(
        "Hosts that fail within the bound, however far apart, are one incident with one message",
        arguments: [[0, 0], [1, 2], [9, 9], [9, 20], [11, 11], [12, 24], [24, 24]]
    )
    func gaps(_ gaps: [Int]) throws {
        var drive = try outage()
        drive.fail("a", .network)
        drive.run(for: .seconds(gaps[0]))
        drive.fail("b", .network)
        drive.run(for: .seconds(gaps[1] - gaps[0]))
        drive.fail("c", .network)
        drive.run(for: .seconds(60))
        #expect(drive.messages.map(\.title) == ["The monitor's own network is the likely cause"])
        #expect(drive.summary == ["opens 3"])
        #expect(drive.book.order.count == 1)
        #expect(waits(drive).allSatisfy { $0 <= 25 })
        for name in ["a", "b", "c"] { drive.recover(name) }
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 3", "closes 3"])
    }

    @Test("Hosts whose streams stall before their requests have failed are one incident with one message")
    func stallsFirst() throws {
        var drive = try outage()
        let names = ["a", "b", "c"]
        for name in names { drive.fail(name, .stalled, alert: "stalls") }
        drive.run(for: .seconds(5))
        for name in names { drive.fail(name, .network) }
        drive.run(for: .seconds(60))
        #expect(drive.messages.map(\.title) == ["The monitor's own network is the likely cause"])
        #expect(drive.summary == ["opens 3"])
        for name in names {
            drive.recover(name)
            drive.recover(name, "stalls")
        }
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 3", "closes 3"])
    }

    @Test("A host that hangs delays the message of another one by 15 s at most")
    func hangingHost() throws {
        var drive = try outage(2)
        drive.fail("a", .network)
        drive.run(for: .seconds(24))
        #expect(drive.messages.isEmpty)
        drive.run(for: .seconds(100))
        #expect(drive.summary == ["opens 1"])
        #expect(waits(drive) == [25])
        // Once it fails, the receivers learn of the cause.
        drive.fail("b", .network)
        drive.run(for: .seconds(100))
        #expect(drive.messages.map(\.title).last == "The monitor's own network is the likely cause")
        #expect(drive.book.order.count == 1)
    }

    @Test("One dead host beside others that answer, or beside none, has its message after group_wait")
    func deadHost() throws {
        var answered = try outage()
        answered.fail("a", .network)
        answered.run(for: .seconds(3))
        // One answer shows that the network works, also while another host hangs.
        answered.contact.latestAnswer = answered.now.instant
        answered.run(for: .seconds(60))
        #expect(waits(answered) == [10])
        var alone = try outage(1)
        alone.fail("a", .network)
        alone.run(for: .seconds(60))
        #expect(waits(alone) == [10])
        var status = try outage()
        status.fail("a", .http(503))
        status.run(for: .seconds(60))
        #expect(waits(status) == [10])
        // Nothing plays from the other hosts.
        var idle = try outage()
        idle.contact.playing = ["a.example"]
        idle.fail("a", .network)
        idle.run(for: .seconds(60))
        #expect(waits(idle) == [10])
    }

    @Test("An answer ends the wait within a second")
    func lateAnswer() throws {
        var drive = try outage()
        drive.fail("a", .network)
        drive.run(for: .milliseconds(14_500))
        #expect(drive.messages.isEmpty)
        drive.contact.latestAnswer = drive.now.instant
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 1"])
        #expect(waits(drive).allSatisfy { $0 <= 15.5 })
    }

    @Test("A restart in the middle keeps the wait and its bound", arguments: [true, false])
    func restart(_ failsLater: Bool) throws {
        let all = try streams()
        var drive = try outage()
        drive.fail("a", .network)
        drive.run(for: .seconds(12))
        var second = try BookDrive(all, at: drive.now.wallTime)
        let named = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
        let isRestored = second.book.restore(drive.book.saved(at: drive.now), streams: named, at: second.now)
        #expect(isRestored)
        second.contact.playing = Set(Self.hosts)
        second.run(for: .seconds(5))
        #expect(second.messages.isEmpty)
        if failsLater { for name in ["b", "c"] { second.fail(name, .network) } }
        second.run(for: .seconds(60))
        #expect(second.summary == [failsLater ? "opens 3" : "opens 1"])
        #expect(waits(second).allSatisfy { $0 <= 25 })
        #expect(second.book.order.count == 1)
    }

    @Test("An error is an answer, a request that breaks is not, and a stream between two sessions does not play")
    func answers() throws {
        let kinds: [(RequestObservation.Failure?, Bool)] = [
            (nil, true), (.status, true), (.content, true), (.timedOut, false), (.connection, false),
            (.nameNotFound, false), (.tls, false), (.refused, false), (.cancelled, false),
        ]
        for (failure, isAnswer) in kinds {
            let sampled = WatchedStream.Schedule.sampled(every: .seconds(600), for: .seconds(10))
            let all = [try stream("a", host: "a.example"), try stream("b", sampled, host: "b.example")]
            var drive = Drive(configuration(all, [try alert("down", "up == 0")]))
            drive.run(for: .seconds(60))
            drive.request("v/1.ts", failure: failure)
            #expect((HostContact(of: drive.model.streams).latestAnswer == drive.now.instant) == isAnswer)
            drive.run(for: .seconds(300))
            #expect(HostContact(of: drive.model.streams).playing.contains("a.example"))
            #expect(
                HostContact(of: drive.model.streams).playing.contains("b.example") == (drive.session(of: "b") != nil)
            )
        }
    }
}
