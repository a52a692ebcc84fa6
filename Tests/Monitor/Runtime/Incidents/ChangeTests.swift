import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("What changed before an incident")
struct ChangeTests {
    private func time(_ seconds: Double) -> WallTime { WallTime(milliseconds: Int64(seconds * 1_000)) }

    private func request(_ host: String, _ server: String? = nil, kind: String = "segment", failed: Bool = false)
        -> RequestObservation
    {
        var request = RequestObservation(
            kind: kind,
            status: failed ? 503 : 200,
            isFailure: failed,
            total: .milliseconds(20),
            byteCount: 1_000,
            address: "https://\(host)/v1/1.ts"
        )
        request.server = server
        return request
    }

    // MARK: The tracker

    @Test("Another host and another address of a host are changes; those of the latest minutes, and failures, are not")
    func servers() {
        var tracker = ChangeTracker()
        tracker.see(request("a.example", "192.0.2.1"), at: time(0))
        // Values of the first minute are no changes.
        tracker.see(request("a.example", "192.0.2.2"), at: time(10))
        for second in 11..<200 {
            tracker.see(request("a.example", "192.0.2.\(1 + second % 2)"), at: time(Double(second)))
        }
        #expect(tracker.changes.isEmpty)
        tracker.see(request("b.example", "198.51.100.7", failed: true), at: time(200))
        tracker.see(request("b.example", "198.51.100.7", kind: "key"), at: time(200))
        #expect(tracker.changes.isEmpty)
        tracker.see(request("a.example", "192.0.2.9"), at: time(201))
        tracker.see(request("b.example", "198.51.100.7"), at: time(202))
        #expect(
            tracker.changes.map(\.text) == [
                "a.example answers from 192.0.2.9, before from 192.0.2.2",
                "segments come from b.example, before from a.example",
            ]
        )
        // Ten minutes later, a known host is news again.
        tracker.see(request("b.example"), at: time(900))
        tracker.see(request("a.example"), at: time(901))
        #expect(tracker.changes.map(\.kind) == [.server, .host, .host])
    }

    @Test("Another rendition and another title are changes; a measured bit rate that differs a little is not")
    func renditions() {
        var tracker = ChangeTracker()
        tracker.see(bitrate: 5_012_345, width: 1_920, height: 1_080, at: time(0))
        tracker.see(title: "News", at: time(1))
        tracker.see(bitrate: 5_048_000, width: 1_920, height: 1_080, at: time(300))
        tracker.see(bitrate: 400_000, width: 640, height: 360, at: time(301))
        tracker.see(title: "The Long Night", at: time(302))
        #expect(
            tracker.changes.map(\.text) == [
                "the player plays 0.40 Mbit/s, 640 × 360; before 5.00 Mbit/s, 1920 × 1080",
                "the title is 'The Long Night', before 'News'",
            ]
        )
    }

    @Test("A playlist that declares something else is a change: what is new, and what is gone")
    func outline() {
        var tracker = ChangeTracker()
        tracker.see(outline: ["target duration": ["6 s"], "ladder": ["1 Mbit/s", "3 Mbit/s"]], at: time(0))
        tracker.see(outline: [:], at: time(1))
        #expect(tracker.changes.isEmpty)
        tracker.see(outline: ["target duration": ["4 s"], "ladder": ["1 Mbit/s", "5 Mbit/s"]], at: time(2))
        #expect(
            tracker.changes.map(\.text) == [
                "ladder: new 5 Mbit/s; ladder: gone 3 Mbit/s", "target duration: 4 s, before 6 s",
            ]
        )
    }

    @Test("What a server sends does not grow the tracker")
    func bounds() {
        var tracker = ChangeTracker()
        for number in 0..<5_000 {
            let host = "host-\(number).example" + String(repeating: "x", count: 500)
            tracker.see(request(host, "192.0.2.\(number)"), at: time(Double(number * 60)))
            tracker.see(title: String(repeating: "t", count: number), at: time(Double(number * 60)))
        }
        #expect(tracker.changes.count <= StreamChange.Kind.allCases.count * ChangeTracker.mostChanges)
        #expect(tracker.changes.allSatisfy { $0.text.count <= StreamChange.longestText })
    }

    // MARK: Incidents

    @Test("An incident, its messages and its document say what its streams had in common just before, once")
    func incident() throws {
        let down = try alert("down", "up == 0")
        let streams = try ["a", "b"].map { try stream($0, host: "cdn.example", labels: ["cdn": "x"]) }
        var drive = Drive(configuration(streams, [down]))
        drive.run(for: .seconds(1_200))
        for name in ["a", "b"] { drive.send(.request(request("cdn.example", "192.0.2.1")), to: name) }
        drive.run(for: .seconds(1_200))
        for name in ["a", "b"] { drive.send(.request(request("cdn.example", "192.0.2.9")), to: name) }
        drive.run(for: .seconds(30))
        drive.behaviours = ["a": .fails(after: .seconds(1), code: "httpStatus"), "b": .staysBlank]
        for name in ["a", "b"] { drive.send(.ended(.failed(code: "httpStatus", message: "status 503")), to: name) }
        drive.run(for: .seconds(60))
        let id = try #require(drive.model.book.order.first)
        let text = "cdn.example answers from 192.0.2.9, before from 192.0.2.1"
        let document = try #require(drive.documents.detail(ofIncident: id))
        // The monitor has run for 40 minutes: its start is no reason.
        #expect(document["changes"]?.elements?.map { $0["text"]?.string } == [text])
        #expect(document["changes"]?.elements?.map { $0["streams"]?.int } == [2])
        let message = try #require(drive.messages.first)
        #expect(message.changes.map(\.text) == [text])
        #expect(AlertMessage(message.json)?.changes == message.changes)
        let saved = try #require(SavedMonitor(drive.saved.bytes))
        let second = Drive(configuration(streams, [down]), at: 3_000_000, restoring: saved)
        #expect(second.model.book.incidents[id]?.changes == drive.model.book.incidents[id]?.changes)
    }

    @Test("A new configuration and a restart of the monitor just before a fault are named")
    func monitor() throws {
        let configuration = configuration([try stream("a")], [try alert("down", "up == 0")])
        var drive = Drive(configuration)
        drive.run(for: .seconds(600))
        drive.reload(configuration)
        drive.behaviours = ["a": .fails(after: .seconds(1), code: "httpStatus")]
        drive.run(for: .seconds(100))
        drive.send(.ended(.failed(code: "httpStatus", message: "")), to: "a")
        drive.run(for: .seconds(60))
        let incident = try #require(drive.model.book.incidents.values.first)
        #expect(incident.changes.map(\.change.kind) == [.configuration, .monitor])
    }
}
