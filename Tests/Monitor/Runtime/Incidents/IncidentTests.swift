import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("Incidents")
struct IncidentTests {
    private func streams(_ count: Int, hosts: Int = 1, cdn: String = "alpha", prefix: String = "s") throws
        -> [WatchedStream]
    {
        try (0..<count).map { number in
            try stream(
                "\(prefix)\(number)",
                host: "\(cdn)-\(number % hosts).example",
                labels: ["cdn": cdn, "channel": "c\(number)"]
            )
        }
    }

    // MARK: Grouping

    @Test("A whole CDN that answers 503 is one incident with one message, whatever the hosts")
    func wholeCDN() throws {
        let other = try streams(3, cdn: "beta", prefix: "b")
        var drive = try BookDrive(try streams(10, hosts: 3) + other)
        for number in 0..<10 {
            drive.fail("s\(number)", .http(503))
            drive.run(for: .milliseconds(800))
        }
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 10"])
        #expect(drive.book.open.map(\.sharedLabels) == [["cdn": "alpha"]])
        let message = try #require(drive.messages.first)
        #expect(message.incident == drive.book.order.first)
        #expect(message.title == "The playlist answers 503")
        #expect(message.severity == .critical)
        // Another status, and another CDN, are other faults.
        drive.fail("b0", .http(404))
        drive.run(for: .seconds(60))
        #expect(drive.book.open.count == 2)
        #expect(drive.summary == ["opens 10", "opens 1"])
    }

    @Test(
        "Streams that return one after another keep their incident open until the last one, with one message at the end"
    )
    func slowRecovery() throws {
        var drive = try BookDrive(try streams(10))
        for number in 0..<10 { drive.fail("s\(number)", .http(503)) }
        drive.run(for: .seconds(60))
        for number in 0..<10 {
            drive.recover("s\(number)")
            drive.run(for: .seconds(60))
            #expect(drive.states == [number < 9 ? "open" : "closed"])
        }
        #expect(drive.summary == ["opens 10", "closes 10"])
        // The streams failed for 1, 2, … 10 minutes.
        let incident = try #require(drive.book.incidents.values.first)
        #expect(incident.viewerMinutes(at: drive.now) == 55)
    }

    @Test("Errors, stalls and down of one stream are one incident with one message")
    func oneStream() throws {
        var drive = try BookDrive(try streams(2))
        drive.fail("s0", .http(503), alert: "stalls")
        drive.run(for: .seconds(30))
        drive.fail("s0", .stalled, alert: "stale")
        drive.fail("s0", .http(503), alert: "down")
        drive.run(for: .seconds(600))
        #expect(drive.summary == ["opens 1"])
        #expect(drive.book.open.map { $0.alerts.keys.sorted() } == [["down", "stale", "stalls"]])
        for alert in ["stalls", "stale"] { drive.recover("s0", alert) }
        drive.run(for: .seconds(60))
        #expect(drive.states == ["open"])
        drive.recover("s0", "down")
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 1", "closes 1"])
    }

    @Test("A black picture of a stream that a CDN fails is another incident")
    func realms() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .black, alert: "stalls")
        drive.fail("s0", .http(503), alert: "down")
        drive.run(for: .seconds(60))
        #expect(drive.book.open.map(\.title).sorted() == ["The playlist answers 503", "black"])
    }

    @Test("An incident takes the first cause once it is known, and joins the incident that has it")
    func firstCause() throws {
        var drive = try BookDrive(try streams(3))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        drive.fail("s1", .stalled, alert: "stalls")
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 1", "opens 1"])
        drive.explain("s1", .http(503))
        drive.run(for: .seconds(400))
        #expect(drive.states == ["open", "closed"])
        #expect(drive.summary == ["opens 1", "opens 1", "closes 1", "changes 2"])
        // A moment later, nobody has learned of an incident with stalls.
        var sooner = try BookDrive(try streams(2))
        sooner.fail("s0", .http(503))
        sooner.fail("s1", .stalled, alert: "stalls")
        sooner.explain("s1", .http(503))
        sooner.run(for: .seconds(60))
        #expect(sooner.states == ["open"] && sooner.summary == ["opens 2"])
        drive.fail("s2", .stalled, alert: "stalls")
        drive.explain("s2", .http(404))
        #expect(drive.book.open.map(\.title) == ["The playlist answers 503", "The playlist answers 404"])
    }

    @Test("More streams are one further message after the group's interval")
    func changes() throws {
        var drive = try BookDrive(try streams(30))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(20))
        for number in 1..<30 {
            drive.fail("s\(number)", .http(503))
            drive.run(for: .seconds(5))
        }
        drive.run(for: .seconds(300))
        #expect(drive.summary == ["opens 1", "changes 30"])
    }

    @Test("An alert with another receiver notifies that receiver alone")
    func receivers() throws {
        var other = try alert("errors", "errors > 0")
        other.receivers = ["devs"]
        var drive = try BookDrive(try streams(1), alerts: [other])
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(30))
        drive.fail("s0", .http(503), alert: "errors")
        drive.run(for: .seconds(30))
        #expect(drive.messages.map(\.receivers) == [["ops"], ["devs"]])
        for alert in ["down", "errors"] { drive.recover("s0", alert) }
        drive.run(for: .seconds(30))
        #expect(drive.messages.last?.receivers == ["devs", "ops"])
    }

    @Test("An outage that is over before its first message sends none")
    func short() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(5))
        drive.recover("s0")
        drive.run(for: .seconds(60))
        #expect(drive.messages.isEmpty)
        #expect(drive.states == ["closed"])
    }

    // MARK: The monitor's own network

    @Test("Every host that fails at once without an answer is one incident that names the monitor's own network")
    func ownNetwork() throws {
        let all = try streams(4, hosts: 2) + streams(2, cdn: "beta", prefix: "b")
        var drive = try BookDrive(all)
        for name in all.map(\.name) {
            drive.fail(name, .network)
            drive.run(for: .seconds(1))
        }
        drive.run(for: .seconds(60))
        let incident = try #require(drive.book.open.first)
        #expect(drive.book.open.count == 1)
        #expect(incident.isOwnNetwork)
        // The incidents that it began as, of which no message was sent, are not in the list.
        #expect(drive.book.order == [incident.id] && drive.book.incidents.count == 1)
        #expect(drive.book.groups.values.allSatisfy { $0 == incident.id })
        #expect(drive.messages.map(\.title) == ["The monitor's own network is the likely cause"])
        #expect(drive.summary == ["opens 6"])
        for name in all.map(\.name) { drive.recover(name) }
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 6", "closes 6"])
        // Later, one host alone is not the monitor's network.
        drive.fail("b0", .network)
        drive.run(for: .seconds(60))
        #expect(drive.book.open.map(\.isOwnNetwork) == [false])
    }

    @Test("Hosts that fail one after another become one incident once all have failed; error statuses do not")
    func ownNetworkLater() throws {
        let all = try streams(1) + streams(1, cdn: "beta", prefix: "b")
        var drive = try BookDrive(all)
        drive.fail("s0", .network)
        drive.run(for: .seconds(40))
        drive.fail("b0", .network)
        drive.run(for: .seconds(40))
        #expect(drive.book.open.map(\.isOwnNetwork) == [true])
        #expect(drive.book.order.count == 1)
        #expect(drive.summary == ["opens 1", "changes 2"])
        var answered = try BookDrive(all)
        for name in ["s0", "b0"] { answered.fail(name, .http(503)) }
        answered.run(for: .seconds(40))
        #expect(answered.book.open.map(\.isOwnNetwork) == [false, false])
    }

    // MARK: Flapping

    @Test("The same cause soon after the end opens the same incident again, and later another one")
    func flap() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        drive.recover("s0")
        drive.run(for: .seconds(300))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["open"])
        #expect(drive.book.open.map(\.reopenings) == [1])
        #expect(drive.summary == ["opens 1", "closes 1", "opens 1"])
        #expect(Set(drive.messages.map(\.incident)).count == 1)
        #expect(Set(drive.messages.map(\.id)).count == 3)
        drive.recover("s0")
        drive.run(for: .seconds(1_000))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["closed", "open"])
    }

    @Test("A failure within the wait of the end continues the incident without a message")
    func quickReturn() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        drive.recover("s0")
        drive.run(for: .seconds(5))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 1"])
        #expect(drive.states == ["open"])
    }

    // MARK: People

    @Test("An acknowledged incident sends no reminders, and is open again after its time")
    func acknowledge() throws {
        var drive = try BookDrive(try streams(1)) { $0.repeatInterval = .seconds(3_600) }
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        let id = try #require(drive.book.order.first)
        _ = try drive.act(.acknowledge(id: id, until: .seconds(7_200), note: "calls the CDN"))
        #expect(drive.states == ["acknowledged"])
        drive.run(for: .seconds(7_100))
        #expect(drive.summary == ["opens 1", "acknowledges 1"])
        #expect(drive.messages.last?.by == "Ana")
        drive.run(for: .seconds(200))
        #expect(drive.states == ["open"])
        #expect(drive.summary == ["opens 1", "acknowledges 1", "reminds 1"])
        drive.run(for: .seconds(3_600))
        #expect(drive.summary.last == "reminds 1")
        #expect(drive.messages.count == 4)
        #expect(drive.book.audit.map(\.action) == ["acknowledge"])
    }

    @Test("A released incident is open again, and its receivers learn that nobody has it")
    func release() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        let id = try #require(drive.book.order.first)
        #expect(throws: IncidentActionError.isNotAcknowledged(id)) { try drive.act(.release(id: id)) }
        _ = try drive.act(.acknowledge(id: id, until: nil, note: ""))
        _ = try drive.act(.release(id: id))
        #expect(drive.states == ["open"])
        #expect(drive.summary == ["opens 1", "acknowledges 1", "reminds 1"])
        #expect(throws: IncidentActionError.unknownIncident("x")) { try drive.act(.close(id: "x")) }
    }

    @Test(
        "An incident that nobody acknowledges goes to the next receivers, step by step; one that is acknowledged does not"
    )
    func escalation() throws {
        let steps: (inout IncidentSettings) -> Void = {
            $0.escalation = [
                .init(after: .seconds(900), receivers: ["boss"]),
                .init(after: .seconds(3_600), receivers: ["director"]),
            ]
        }
        var drive = try BookDrive(try streams(1), steps)
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(800))
        #expect(drive.messages.map(\.receivers) == [["ops"]])
        drive.run(for: .seconds(200))
        #expect(drive.messages.map(\.receivers) == [["ops"], ["boss"]])
        drive.run(for: .seconds(3_000))
        #expect(drive.messages.map(\.receivers) == [["ops"], ["boss"], ["director"]])
        drive.recover("s0")
        drive.run(for: .seconds(60))
        #expect(drive.messages.last?.receivers == ["boss", "director", "ops"])
        var taken = try BookDrive(try streams(1), steps)
        taken.fail("s0", .http(503))
        taken.run(for: .seconds(60))
        _ = try taken.act(.acknowledge(id: try #require(taken.book.order.first), until: nil, note: ""))
        taken.run(for: .seconds(7_200))
        #expect(taken.messages.allSatisfy { $0.receivers == ["ops"] })
    }

    @Test("A step of the escalation that is taken again after a release is a new message")
    func repeatedEscalation() throws {
        var drive = try BookDrive(try streams(1)) {
            $0.escalation = [.init(after: .seconds(900), receivers: ["boss"])]
        }
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(1_000))
        let id = try #require(drive.book.order.first)
        _ = try drive.act(.acknowledge(id: id, until: nil, note: ""))
        _ = try drive.act(.release(id: id))
        drive.run(for: .seconds(1_000))
        let steps = drive.messages.filter { $0.receivers == ["boss"] }
        #expect(steps.map(\.kind) == [.opens, .opens])
        #expect(Set(steps.map(\.id)).count == 2)
    }

    @Test("An incident that a person closes stays closed while its alerts fire")
    func closeByHand() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        _ = try drive.act(.close(id: try #require(drive.book.order.first)))
        drive.run(for: .seconds(600))
        drive.recover("s0")
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 1", "closes 1"])
        #expect(drive.states == ["closed"])
    }

    // MARK: Silences and maintenance

    @Test("A silence hides its streams until it ends; then the message is sent")
    func silence() throws {
        var drive = try BookDrive(try streams(2))
        let matcher = try #require(LabelMatcher(label: "cdn", value: "al.*", isRegex: true))
        _ = try drive.act(.silence([matcher], for: .seconds(1_800), reason: "the CDN knows"))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(1_700))
        #expect(drive.messages.isEmpty)
        #expect(drive.states == ["silenced"])
        drive.run(for: .seconds(200))
        #expect(drive.states == ["open"])
        #expect(drive.summary == ["opens 1"])
        #expect(drive.book.silences.isEmpty)
        #expect(drive.book.audit.map(\.action) == ["silence", "silence ends"])
    }

    @Test("A silence of one stream leaves the others in the message")
    func partialSilence() throws {
        var drive = try BookDrive(try streams(3))
        let matcher = try #require(LabelMatcher(label: "stream", value: "s1"))
        let id = try drive.act(.silence([matcher], for: .seconds(1_800), reason: ""))
        for number in 0..<3 { drive.fail("s\(number)", .http(503)) }
        drive.run(for: .seconds(60))
        #expect(drive.messages.map { $0.items.map(\.stream) } == [["s0", "s2"]])
        _ = try drive.act(.unsilence(id: id))
        #expect(throws: IncidentActionError.unknownSilence(id)) { try drive.act(.unsilence(id: id)) }
    }

    @Test("The end of a silence sends nothing about streams that the receivers know")
    func silencedKnown() throws {
        var drive = try BookDrive(try streams(3))
        for number in 0..<2 { drive.fail("s\(number)", .http(503)) }
        drive.run(for: .seconds(60))
        let id = try #require(drive.book.order.first)
        _ = try drive.act(.acknowledge(id: id, until: nil, note: ""))
        for labels in [["stream": "s1"], ["cdn": "alpha"]] {
            let matchers = try labels.map { try #require(LabelMatcher(label: $0.key, value: $0.value)) }
            _ = try drive.act(.silence(matchers, for: .seconds(1_800), reason: ""))
            drive.run(for: .seconds(3_600))
            #expect(drive.states == ["acknowledged"])
        }
        #expect(drive.summary == ["opens 2", "acknowledges 2"])
        // A stream that joins while it is hidden is news once it is hidden no more.
        let matcher = try #require(LabelMatcher(label: "stream", value: "s2"))
        _ = try drive.act(.silence([matcher], for: .seconds(1_800), reason: ""))
        drive.fail("s2", .http(503))
        drive.run(for: .seconds(1_700))
        #expect(drive.summary == ["opens 2", "acknowledges 2"])
        drive.run(for: .seconds(200))
        #expect(drive.summary == ["opens 2", "acknowledges 2", "changes 3"])
    }

    @Test("A person who takes an incident during a silence is named at its end", arguments: [false, true])
    func takenDuringSilence(restarts: Bool) throws {
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus")
        let streams = configuration(try streams(1), [try alert("down", "up == 0")])
        var drive = Drive(streams, ["s0": failing])
        drive.run(for: .seconds(100))
        let id = try #require(drive.model.book.order.first)
        let matcher = try #require(LabelMatcher(label: "stream", value: "s0"))
        drive.act(.silence([matcher], for: .seconds(1_200), reason: ""), by: "Ben")
        drive.run(for: .seconds(60))
        drive.act(.acknowledge(id: id, until: nil, note: ""), by: "Ana")
        drive.run(for: .seconds(60))
        #expect(drive.messages.map(\.kind) == [.opens])
        var messages = drive.messages
        if restarts {
            let saved = try #require(SavedMonitor(drive.saved.bytes))
            let time = Int64(drive.seconds * 1_000)
            drive = Drive(streams, ["s0": failing], at: time, restoring: saved)
            drive.run(for: .seconds(1_800))
            messages += drive.messages
        } else {
            drive.run(for: .seconds(1_800))
            messages = drive.messages
        }
        #expect(messages.map(\.kind) == [.opens, .acknowledges])
        #expect(messages.last?.by == "Ana")
    }

    @Test("A receiver that knows of an incident learns its end during a silence, too")
    func silencedEnd() throws {
        var drive = try BookDrive(try streams(1))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        let matcher = try #require(LabelMatcher(label: "host", value: "alpha-0.example"))
        _ = try drive.act(.silence([matcher], for: .seconds(36_000), reason: ""))
        drive.run(for: .seconds(20_000))
        #expect(drive.summary == ["opens 1"])
        drive.recover("s0")
        drive.run(for: .seconds(60))
        #expect(drive.summary == ["opens 1", "closes 1"])
    }

    @Test("Planned work hides its streams, by the clock of its place, on the day on which summer time begins")
    func maintenance() throws {
        let weekly = MaintenanceWindow.Weekly(weekdays: [0], start: 120, end: 240, location: "Europe/Berlin")
        var window = MaintenanceWindow(name: "encoder", time: .weekly(weekly))
        window.matchers = ["cdn": "alpha"]
        // 01:50 in Berlin; at 02:00 the clocks show 03:00.
        var drive = try BookDrive(try streams(1), at: wallTime("2026-03-29T00:50:00Z")) { $0.maintenance = [window] }
        drive.run(for: .seconds(601))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(3_500))
        #expect(drive.states == ["maintenance"])
        #expect(drive.messages.isEmpty)
        // 04:00 in Berlin.
        drive.run(for: .seconds(110))
        #expect(drive.states == ["open"])
        #expect(drive.summary == ["opens 1"])
    }

    @Test("Work that a person plans hides its streams from its begin until its end, or until a person ends it")
    func plannedWork() throws {
        var drive = try BookDrive(try streams(2))
        let matcher = try #require(LabelMatcher(label: "stream", value: "s0"))
        let id = try drive.act(.maintain([matcher], after: .seconds(600), for: .seconds(3_600), name: "encoder"))
        let before = drive.book.maintenanceDocument(at: drive.now.wallTime)
        #expect(before.elements?.map { $0["name"]?.string } == ["encoder"])
        drive.run(for: .seconds(630))
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["maintenance"])
        let incident = drive.book.document(at: drive.now).elements?.first
        #expect(incident?["note"]?.string == "encoder")
        #expect(incident?["hiddenBy"]?.string == id)
        #expect(throws: IncidentActionError.unknownSilence(id)) { try drive.act(.unsilence(id: id)) }
        _ = try drive.act(.endMaintenance(id: id))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["open"])
        #expect(drive.summary == ["opens 1"])
        #expect(drive.book.audit.map(\.action) == ["maintenance", "end maintenance"])
        #expect(throws: IncidentActionError.unknownMaintenance(id)) { try drive.act(.endMaintenance(id: id)) }
        // Before its begin, work hides nothing; without matchers, it hides everything; it ends by itself.
        _ = try drive.act(.maintain([], after: .seconds(3_600), for: .seconds(600), name: "network"))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["open"])
        drive.run(for: .seconds(3_600))
        #expect(drive.states == ["maintenance"])
        drive.run(for: .seconds(600))
        #expect(drive.states == ["open"])
        #expect(drive.book.audit.last?.action == "maintenance ends")
    }

    @Test("A window of the configuration that a person ends early is closed for this time, also after a restart")
    func endedWindow() throws {
        let weekly = MaintenanceWindow.Weekly(weekdays: Set(0...6), start: 0, end: 120, location: "UTC")
        let window = MaintenanceWindow(name: "encoder", time: .weekly(weekly))
        let streams = try streams(1)
        var drive = try BookDrive(streams) { $0.maintenance = [window] }
        drive.fail("s0", .http(503))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["maintenance"])
        let works = drive.book.maintenanceDocument(at: drive.now.wallTime).elements ?? []
        let id = try #require(works.first?["id"]?.string)
        #expect(works.first?["ends"]?.string == "2026-01-01T02:00:00.000Z")
        _ = try drive.act(.endMaintenance(id: id))
        drive.run(for: .seconds(60))
        #expect(drive.states == ["open"])
        #expect(throws: IncidentActionError.unknownMaintenance(id)) { try drive.act(.endMaintenance(id: id)) }
        var second = try BookDrive(streams) { $0.maintenance = [window] }
        let isRestored = second.book.restore(
            drive.book.saved(at: drive.now),
            streams: ["s0": streams[0]],
            at: second.now
        )
        #expect(isRestored)
        second.run(for: .seconds(600))
        #expect(second.states == ["open"])
        // The next day, it opens again.
        second.run(for: .seconds(86_400))
        #expect(second.states == ["maintenance"])
    }

    // MARK: Restarts and bounds

    @Test(
        "A restart in the middle of an outage keeps the incident, its owner and its silences, and sends nothing twice"
    )
    func restart() throws {
        let down = try alert("down", "up == 0")
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus")
        let streams = configuration(try streams(2), [down])
        var first = Drive(streams, ["s0": failing])
        first.run(for: .seconds(100))
        let id = try #require(first.model.book.order.first)
        first.act(.acknowledge(id: id, until: .seconds(7_200), note: "n"), by: "Ana")
        let matcher = try #require(LabelMatcher(label: "stream", value: "s1"))
        first.act(.silence([matcher], for: .seconds(7_200), reason: "r"), by: "Ben")
        first.act(.maintain([matcher], after: .seconds(60), for: .seconds(7_200), name: "w"), by: "Ben")
        #expect(first.messages.map(\.kind) == [.opens, .acknowledges])
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(streams, ["s0": failing, "s1": failing], at: 300_000, restoring: saved)
        second.run(for: .seconds(600))
        let incident = try #require(second.model.book.incidents[id])
        #expect(incident.state == .acknowledged)
        #expect(incident.acknowledgement?.by == "Ana")
        #expect(second.model.book.silences.map(\.reason) == ["r", "w"])
        #expect(second.model.book.silences.map(\.kind) == [.silence, .maintenance])
        let begins = first.model.book.silences.map { $0.begins?.wallTime }
        #expect(second.model.book.silences.map { $0.begins?.wallTime } == begins)
        #expect(second.model.book.audit.map(\.by) == ["Ana", "Ben", "Ben"])
        // The other stream joins; the silence hides it.
        #expect(incident.streamCount == 2)
        #expect(second.messages.filter { $0.kind == .opens }.isEmpty)
        second.behaviours = [:]
        second.run(for: .seconds(1_200))
        #expect(second.messages.map(\.kind).last == .closes)
        #expect(second.messages.last?.incident == id)
        #expect(second.messages.last?.receivers == ["ops"])
    }

    @Test(
        "A state file without incidents, or with damaged ones, is read: no message is sent twice",
        arguments: [nil, "[]", "{}"]
    )
    func oldState(_ damaged: String?) throws {
        let down = try alert("down", "up == 0")
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus")
        let streams = configuration(try streams(1), [down])
        var first = Drive(streams, ["s0": failing])
        first.run(for: .seconds(100))
        guard case .object(var members) = try JSONValue(parsing: first.saved.bytes) else {
            return #expect(Bool(false))
        }
        members["incidents"] = try damaged.map { try JSONValue(parsing: $0) }
        let saved = try #require(SavedMonitor(JSONValue.object(members).bytes))
        var second = Drive(streams, ["s0": failing], at: 300_000, restoring: saved)
        #expect(second.model.hasDamagedIncidents == (damaged != nil))
        second.run(for: .seconds(300))
        #expect(second.messages.isEmpty)
        #expect(second.model.book.open.count == 1)
        second.behaviours = [:]
        second.run(for: .seconds(900))
        #expect(second.messages.map(\.kind) == [.closes])
    }

    @Test("Closed incidents are bounded, and so are the names of their streams")
    func bounds() throws {
        var drive = try BookDrive(try streams(300))
        for round in 0..<300 {
            drive.fail("s0", .http(400 + round))
            drive.recover("s0")
            drive.run(for: .seconds(20))
        }
        #expect(drive.book.order.count == IncidentBook.mostClosed)
        #expect(drive.book.incidents.count == IncidentBook.mostClosed)
        #expect(drive.book.groups.count <= 2 * IncidentBook.mostClosed)
        for number in 0..<300 { drive.fail("s\(number)", .http(503)) }
        drive.run(for: .seconds(20))
        #expect(drive.messages.last?.streamCount == 300)
        for number in 0..<300 { drive.recover("s\(number)") }
        drive.run(for: .seconds(20))
        let incident = try #require(drive.book.order.last.flatMap { drive.book.incidents[$0] })
        #expect(incident.members.count == Incident.mostKeptStreams)
        #expect(incident.streamCount == 300)
        #expect(incident.log.count <= Incident.mostLogEntries)
        #expect(drive.book.places.isEmpty)
    }

    @Test("The document of an incident has the members of the interface")
    func document() throws {
        var drive = try BookDrive(try streams(2))
        for number in 0..<2 { drive.fail("s\(number)", .http(503)) }
        drive.run(for: .seconds(60))
        let id = try #require(drive.book.order.first)
        _ = try drive.act(.acknowledge(id: id, until: .seconds(60), note: "calls"))
        guard case .array(let list) = drive.book.document(at: drive.now), let json = list.first else {
            return #expect(Bool(false))
        }
        #expect(json["state"]?.string == "acknowledged")
        #expect(json["by"]?.string == "Ana")
        #expect(json["note"]?.string == "calls")
        #expect(json["until"]?.string == "2026-01-01T00:02:00.000Z")
        #expect(json["streams"] == ["s0", "s1"])
        #expect(json["streamCount"] == 2)
        #expect(json["viewerMinutes"] == .double(2))
        #expect(json["labels"] == ["cdn": "alpha"])
        #expect(json["host"]?.string == "alpha-0.example")
        let detail = try #require(drive.book.detail(of: id, at: drive.now))
        guard case .array(let log)? = detail["log"] else { return #expect(Bool(false)) }
        #expect(log.map { $0["kind"]?.string } == ["open", "stream", "stream", "acknowledge"])
    }
}

@Suite("Expressions of silences")
struct LabelPatternTests {
    @Test(
        "An expression matches whole values",
        arguments: [
            ("alpha", "alpha", true), ("alpha", "alphas", false), ("al.*", "alpha", true), ("a|b", "b", true),
            ("a|b", "ab", false), ("(news|sport)-[0-9]+", "sport-12", true), ("(news|sport)-[0-9]+", "sport-", false),
            ("x?y", "y", true), ("x?y", "xxy", false), ("[^a]", "b", true), ("[^a]", "a", false),
            ("a\\.b", "a.b", true),
            ("a\\.b", "axb", false), ("", "", true), ("", "a", false), ("ø+", "øø", true), ("(ab)*c", "ababc", true),
            ("(a|b|c)*d", "abcabcd", true), ("[a-]", "-", true),
        ]
    )
    func matching(_ pattern: String, _ text: String, _ matches: Bool) throws {
        #expect(try #require(LabelPattern(pattern)).matches(text) == matches)
    }

    @Test(
        "Another syntax is refused",
        arguments: [
            "(", ")", "a)", "[", "[]", "[b-a]", "*", "a**", "a{2}", "\\d", "^a", "a$", "\\",
            String(repeating: "a", count: 201),
        ]
    )
    func refused(_ pattern: String) { #expect(LabelPattern(pattern) == nil) }

    @Test("An expression that others try in exponential time is matched at once")
    func linear() throws {
        let pattern = try #require(LabelPattern("(a*)*(a|aa)+b"))
        #expect(!pattern.matches(String(repeating: "a", count: 20_000)))
    }
}
