import Foundation
import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite("The video mapping", .ownThread)
struct VideoMappingTests {
    private let records = Watching.records(Watching.session)

    private func backend(_ lrs: LoopbackLRS, _ store: any XAPIStateStore) throws -> XAPIBackend {
        XAPIBackend(
            try lrs.configuration(),
            mapping: VideoMapping(viewings: Watching.viewings),
            transport: try SystemTransport(),
            memory: store
        )
    }

    /// The statements of the session, sent in one batch.
    private func expected() async throws -> (order: [String], statements: [String: JSONValue]) {
        let lrs = try LoopbackLRS()
        #expect(try await backend(lrs, InMemoryStateStore()).deliver(Batch(records: records)) == .acknowledged)
        return (lrs.order, lrs.stored)
    }

    @Test("A session becomes statements of the profile, with the samples' identifiers")
    func told() async throws {
        let (order, statements) = try await expected()
        let verbs = order.compactMap { statements[$0]?["verb"]?["id"]?.string?.split(separator: "/").last }
        #expect(
            verbs == [
                "initialized", "played", "paused", "played", "seeked", "completed", "paused", "terminated",
                "initialized", "played", "paused", "terminated", "initialized", "played", "paused", "terminated",
            ]
        )
        #expect(order[0] == records[0].id.wire)
        #expect(order[1] == records[1].id.wire)
        let session = VideoVocabulary.extension("session-id").description
        for id in order {
            let statement = try #require(statements[id])
            #expect(StatementValidator().failures(in: statement) == [])
            let known = statement["context"]?["extensions"]?[session]?.string
            #expect([0, 12, 15].map { records[$0].id.wire }.contains(known))
        }
        let last = statements[order[15]]?["result"]?["extensions"]
        let segments = VideoVocabulary.extension("played-segments").description
        #expect(last?[segments] == "0[.]30[,]30[.]40[,]20[.]83[,]83[.]100[,]0[.]9[,]50[.]59")
    }

    @Test("Stream, labels and location of a monitor are extensions of each statement's context")
    func monitor() throws {
        let mapping = VideoMapping(viewings: Watching.viewings)
        var memory = JSONValue.null
        let events = Watching.session.map { event in
            var event = event
            event.attributes.merge([
                "monitorStream": "news", "monitorLocation": "oslo", "monitorLabels": ["cdn": "alpha"],
            ])
            return event
        }
        let statements = mapping.statements(for: Watching.records(events), remembering: &memory).joined()
        #expect(statements.count > 10)
        for statement in statements {
            let extensions = try #require(statement.json["context"]?["extensions"])
            #expect(extensions["urn:x-instrument:extensions/monitorStream"] == "news")
            #expect(extensions["urn:x-instrument:extensions/monitorLocation"] == "oslo")
            #expect(extensions["urn:x-instrument:extensions/monitorLabels"] == ["cdn": "alpha"])
            #expect(StatementValidator().failures(in: statement.json) == [])
        }
        let plain = PlainMapping(viewings: Watching.viewings).statements(
            for: Watching.record(1, events[1]),
            remembering: &memory
        )
        let extensions = plain.first?.json["context"]?["extensions"]
        #expect(extensions?["urn:x-instrument:extensions/monitorLabels"] == ["cdn": "alpha"])
    }

    @Test("Statements are the same with any batches, crashes and losses")
    func crashes() async throws {
        let (order, statements) = try await expected()
        for seed in UInt64(1)...40 {
            var generator = SeededGenerator(seed: seed)
            let lrs = try LoopbackLRS(isStrict: seed % 2 == 0)
            let directory = StateDirectory()
            var backend = try backend(lrs, directory.store)
            var settled = 0
            while settled < records.count {
                let end = Int.random(in: settled + 1...records.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: lrs.fail(.lostAnswer)
                case 1: lrs.fail(.reset)
                case 2: lrs.fail(.answer("503 Busy"))
                default: break
                }
                let outcome = await backend.deliver(Batch(records: Array(records[settled..<end])))
                // A crash between the answer and the queue's note of it, or before.
                let isCrash = Int.random(in: 0..<3, using: &generator) == 0
                if isCrash { backend = try self.backend(lrs, directory.store) }
                if outcome == .acknowledged, !isCrash { settled = end }
                if case .acknowledgedExcept(let reasons) = outcome {
                    Issue.record("seed \(seed): \(reasons)")
                    return
                }
            }
            #expect(lrs.stored == statements, "seed \(seed)")
            #expect(lrs.order == order, "seed \(seed)")
        }
    }

    @Test("A memory that cannot be saved is retried, and no statement is sent twice")
    func fullDisk() async throws {
        let lrs = try LoopbackLRS()
        let store = FailingStore()
        let backend = try backend(lrs, store)
        store.isFull.withLock { $0 = true }
        for _ in 0..<3 {
            let outcome = await backend.deliver(Batch(records: records))
            #expect(outcome == .retry(after: nil, reason: "full"))
        }
        store.isFull.withLock { $0 = false }
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        #expect(lrs.posts.count == 1)
    }

    @Test("A damaged memory is reported, and the mapping starts with an empty one")
    func damaged() async throws {
        let lrs = try LoopbackLRS()
        let directory = StateDirectory()
        #expect(try await backend(lrs, directory.store).deliver(Batch(records: Array(records[..<3]))) == .acknowledged)
        let file = try #require(directory.files.first)
        #expect(directory.files.count == 1)
        try Data("{\"memory\":".utf8).write(to: URL(fileURLWithPath: directory.path + "/" + file))
        let said = Lock<[String]>([])
        let backend = XAPIBackend(
            try lrs.configuration(),
            mapping: VideoMapping(viewings: Watching.viewings),
            transport: try SystemTransport(),
            memory: directory.store,
            report: { text in said.withLock { $0.append(text) } }
        )
        #expect(await backend.deliver(Batch(records: Array(records[12...]))) == .acknowledged)
        #expect(
            said.withLock { $0 } == ["the memory of a video is damaged; its played segments start from the beginning"]
        )
        #expect(lrs.order.count == 2 + 8)
    }

    @Test("Only the user can read the memory's files, and they can all be deleted")
    func files() throws {
        let directory = StateDirectory()
        let store = directory.store
        #expect(try store.load("abc") == nil)
        try store.removeAll()
        try store.save([1, 2], under: "abc")
        try store.save([3], under: "abc")
        #expect(try store.load("abc") == [3])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/abc.xapi-state")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(throws: XAPIStateError.self) { try store.save([], under: "../abc") }
        try Data().write(to: URL(fileURLWithPath: directory.path + "/other"))
        try store.removeAll()
        #expect(directory.files == ["other"])
    }

    @Test("A live stream is mapped to plain xAPI, ads and metrics are not mapped")
    func live() {
        let mapping = VideoMapping(viewings: Watching.viewings)
        var memory = JSONValue.null
        func verbs(_ number: Int, _ action: Action, _ change: (inout Event) -> Void = { _ in }) -> [String] {
            var event = Watching.event(action, at: Double(number), place: 5)
            event[.duration] = nil
            change(&event)
            let statements = mapping.statements(for: Watching.record(number, event), remembering: &memory)
            #expect(statements.allSatisfy { $0.failures().isEmpty && $0.context?.activities.category.isEmpty == true })
            return statements.map { String($0.verb.id.description.split(separator: "/").last ?? "") }
        }
        #expect(verbs(0, .streamLoad) == [])
        #expect(verbs(1, .start) == ["played"])
        #expect(verbs(2, .ping) == [])
        #expect(verbs(3, .adBegin) { $0[.isAdsTracker] = true } == [])
        #expect(verbs(4, .pauseBegin) == ["paused"])
        #expect(verbs(5, .stop) == ["terminated"])
    }

    @Test("Segments from before a crash count in the next run")
    func nextRun() {
        let mapping = VideoMapping(viewings: Watching.viewings)
        var memory = JSONValue.null
        let events = [
            Watching.event(.start, at: 0, place: 0, player: "run-1-0"),
            Watching.event(.ping, at: 30, place: 30, player: "run-1-0"),
            Watching.event(.start, at: 100, place: 25, player: "run-2-0"),
            Watching.event(.stop, at: 110, place: 35, player: "run-2-0"),
        ]
        let statements = Watching.records(events).map { mapping.statements(for: $0, remembering: &memory) }
        let segments = statements[3].last?.result?.extensions[VideoVocabulary.extension("played-segments")]
        #expect(segments == "0[.]30[,]25[.]35")
        #expect(memory["players"] == [])
    }

    @Test("A memory is read back equal, and further identifiers are derived from the sample's")
    func memory() {
        let mapping = VideoMapping(viewings: Watching.viewings)
        var memory = JSONValue.null
        for record in records {
            _ = mapping.statements(for: record, remembering: &memory)
            #expect(VideoMemory(json: memory).json == memory)
        }
        #expect(memory["players"] == [])
        let id = records[0].id
        #expect(mapping.derivedID(of: id, 1) == mapping.derivedID(of: id, 1))
        #expect(Set((0..<100).map { mapping.derivedID(of: id, $0) } + [id]).count == 101)
    }

    @Test("A batch has the same statements and the same memory as its samples one by one, wherever it is cut")
    func batches() {
        let mapping = VideoMapping(viewings: Watching.viewings)
        var single = JSONValue.null
        let expected = records.map { mapping.statements(for: $0, remembering: &single) }
        for size in 1...records.count {
            var (memory, statements) = (JSONValue.null, [[Statement]]())
            for start in stride(from: 0, to: records.count, by: size) {
                let batch = Array(records[start..<min(records.count, start + size)])
                statements += mapping.statements(for: batch, remembering: &memory)
            }
            #expect(statements == expected)
            #expect(memory == single)
        }
    }

    @Test("Samples without a viewing leave the memory unchanged")
    func nothing() {
        var event = Watching.event(.start, at: 0, place: 0)
        event[.isAdsTracker] = true
        var memory = JSONValue.null
        let mapping = VideoMapping(viewings: Watching.viewings)
        #expect(mapping.statements(for: Watching.records([event, event]), remembering: &memory) == [[], []])
        #expect(memory == .null)
    }

    @Test("The backend maps the samples of a key in one call per batch, and sends the statements in the samples' order")
    func oneCall() async throws {
        let (order, _) = try await expected()
        let (lrs, mapping) = (try LoopbackLRS(), CountingMapping())
        let backend = XAPIBackend(
            try lrs.configuration(),
            mapping: mapping,
            transport: try SystemTransport(),
            memory: InMemoryStateStore()
        )
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        #expect(mapping.calls.withLock { $0 } == [records.count])
        #expect(lrs.order == order)
    }

    @Test(
        "An activity is named after the source without its secrets, otherwise after title or stream",
        arguments: [
            ("https://u:p@h.org/a b?token=1#t", nil, "https://h.org/a%20b"),
            ("/films/é.mp4", nil, "file:///films/%C3%A9.mp4"),
            ("/films/./x//../é.mp4", nil, "file:///films/%C3%A9.mp4"),
            ("file:///films/%C3%A9.mp4", nil, "file:///films/%C3%A9.mp4"),
            ("file://localhost/films/%c3%a9%2Emp4", nil, "file:///films/%C3%A9.mp4"),
            ("FILE:/films/é.mp4", nil, "file:///films/%C3%A9.mp4"),
            ("/a b#c?d%20.mp4", nil, "file:///a%20b%23c%3Fd%2520.mp4"),
            ("file://host/a", nil, "file://host/a"), ("/../..", nil, "file:///"),
            ("film.mp4", nil, "urn:x-instrument:sources/film.mp4"), (nil, "A film", "urn:x-instrument:titles/A%20film"),
            ("http://", nil, "urn:x-instrument:sources/http%3A%2F%2F"), (nil, nil, "urn:x-instrument:streams/S"),
            ("https://h.org/100%", nil, "urn:x-instrument:sources/https%3A%2F%2Fh.org%2F100%25"),
        ] as [(String?, String?, String)]
    )
    func activities(source: String?, title: String?, expected: String) {
        var event = Event(.start, tracker: TrackerID(0), time: VirtualClock().timestamp)
        (event[.source], event[.title], event[.streamId]) = (source, title, "S")
        let activity = Watching.viewings(.event(event))?.activity
        #expect(activity?.description == expected)
        #expect(IRI(checking: expected) != nil)
        event.attributes = Attributes()
        #expect(Watching.viewings(.event(event)) == nil)
    }
}

/// The video mapping, with the number of samples in each call.
private final class CountingMapping: XAPIMapping {
    let calls = Lock<[Int]>([])
    private let video = VideoMapping(viewings: Watching.viewings)

    func memoryKey(for record: SampleRecord) -> String? { video.memoryKey(for: record) }

    func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        video.statements(for: record, remembering: &memory)
    }

    func statements(for records: [SampleRecord], remembering memory: inout JSONValue) -> [[Statement]] {
        calls.withLock { $0.append(records.count) }
        return video.statements(for: records, remembering: &memory)
    }
}

/// A disk that is full while a flag is set.
private final class FailingStore: XAPIStateStore {
    let isFull = Lock(false)
    private let store = InMemoryStateStore()
    func load(_ key: String) -> [UInt8]? { store.load(key) }
    func save(_ bytes: [UInt8], under key: String) throws(XAPIStateError) {
        if isFull.withLock({ $0 }) { throw XAPIStateError("full") }
        store.save(bytes, under: key)
    }
    func removeAll() { store.removeAll() }
}
