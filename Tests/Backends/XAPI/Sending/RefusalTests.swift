import Foundation
import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite("Statements that an LRS refuses")
struct RefusalTests {
    private let records = Watching.records(Watching.session)
    private let directory = StateDirectory()

    private func backend(_ lrs: LoopbackLRS, _ store: (any XAPIStateStore)? = nil) throws -> XAPIBackend {
        XAPIBackend(
            try lrs.configuration(),
            mapping: VideoMapping(viewings: Watching.viewings),
            transport: try SystemTransport(),
            memory: store ?? directory.store
        )
    }

    /// The statements of the session without refusals.
    private func expected() async throws -> [String: JSONValue] {
        let lrs = try LoopbackLRS()
        #expect(try await backend(lrs, InMemoryStateStore()).deliver(Batch(records: records)) == .acknowledged)
        return lrs.stored
    }

    /// Delivers as the queue does: halves a batch that is refused. Returns the dead letters with their reasons.
    private func deliver(_ records: [SampleRecord], to backend: XAPIBackend) async throws -> [SampleID: String] {
        switch await backend.deliver(Batch(records: records)) {
        case .acknowledged: return [:]
        case .acknowledgedExcept(let reasons): return reasons
        case .refused(let reason), .tooLarge(let reason):
            if records.count == 1 { return [records[0].id: reason] }
            let half = records.count / 2
            var dead = try await deliver(Array(records[..<half]), to: backend)
            dead.merge(try await deliver(Array(records[half...]), to: backend)) { first, _ in first }
            return dead
        case .retry, .unauthorized, .gone: throw Unexpected()
        }
    }

    private func verbs(_ lrs: LoopbackLRS) -> [String] {
        lrs.order.compactMap { lrs.stored[$0]?["verb"]?["id"]?.string?.split(separator: "/").last.map(String.init) }
    }

    @Test(
        "Later statements arrive when the LRS refuses the first, and a retry delivers the first",
        arguments: [422, 400, 413]
    )
    func firstRefused(status: Int) async throws {
        let lrs = try LoopbackLRS()
        let backend = try backend(lrs)
        lrs.fail(.answer("\(status) No"))
        let dead = try await deliver([records[0]], to: backend)
        #expect(dead == [records[0].id: "HTTP \(status)"])
        #expect(try await deliver(Array(records[1...]), to: backend).isEmpty)
        #expect(verbs(lrs).prefix(7) == ["played", "paused", "played", "seeked", "completed", "paused", "terminated"])
        #expect(try await deliver([records[0]], to: backend).isEmpty)
        #expect(lrs.stored == (try await expected()))
        #expect(lrs.order.last == records[0].id.wire)
    }

    @Test(
        "All statements arrive with the same identifiers and bytes when a later process retries refused ones"
    )
    func allRefused() async throws {
        let lrs = try LoopbackLRS()
        lrs.refuse(
            Set(
                ["initialized", "terminated", "completed"].map { "http://adlnet.gov/expapi/verbs/\($0)" }
                    + ["played", "paused", "seeked"].map { "https://w3id.org/xapi/video/verbs/\($0)" }
            )
        )
        let dead = try await deliver(records, to: backend(lrs))
        #expect(lrs.stored.isEmpty && !dead.isEmpty)
        #expect(dead.values.allSatisfy { $0 == "HTTP 400: the verb is not allowed" })
        lrs.refuse([])
        let letters = records.filter { dead[$0.id] != nil }
        #expect(try await deliver(letters, to: backend(lrs)).isEmpty)
        #expect(lrs.stored == (try await expected()))
        #expect(directory.files.count == 1)
    }

    @Test("Only the refused statement of a sample is missing, and a retry sends that one alone")
    func oneOfThree() async throws {
        let lrs = try LoopbackLRS(refusing: ["https://w3id.org/xapi/video/verbs/paused"])
        let backend = try backend(lrs)
        #expect(try await deliver(Array(records[..<11]), to: backend).count == 1)
        let end = records[11]
        #expect(try await deliver([end], to: backend) == [end.id: "HTTP 400: the verb is not allowed"])
        #expect(verbs(lrs).suffix(1) == ["terminated"])
        lrs.refuse([])
        let posts = lrs.posts.count
        #expect(try await deliver([end], to: backend).isEmpty)
        #expect(lrs.posts.count == posts + 1)
        guard case .array(let sent) = try JSONValue(parsing: lrs.posts[posts]) else { throw Unexpected() }
        #expect(sent.compactMap { $0["verb"]?["id"]?.string } == ["https://w3id.org/xapi/video/verbs/paused"])
    }

    @Test("A retry that the LRS refuses again keeps the statement, also in a later process")
    func refusedAgain() async throws {
        let lrs = try LoopbackLRS()
        for _ in 0..<3 {
            lrs.fail(.answer("400 No"))
            #expect(try await deliver([records[0]], to: backend(lrs)).count == 1)
        }
        #expect(Set(lrs.posts).count == 1)
        #expect(try await deliver([records[0]], to: backend(lrs)).isEmpty)
        #expect(lrs.posts.last == lrs.posts.first)
        #expect(lrs.order == [records[0].id.wire])
    }

    @Test("Only an invalid statement is missing, and it is never sent")
    func faulty() async throws {
        let lrs = try LoopbackLRS()
        let backend = XAPIBackend(
            try lrs.configuration(),
            mapping: OneFaulty(video: VideoMapping(viewings: Watching.viewings)),
            transport: try SystemTransport(),
            memory: directory.store
        )
        for _ in 0..<2 {
            let dead = try await deliver(lrs.stored.isEmpty ? records : [records[0]], to: backend)
            #expect(dead == [records[0].id: "XAPI-00044 at $.verb.id"])
        }
        #expect(lrs.stored.count == (try await expected()).count - 1)
        #expect(!lrs.order.contains(records[0].id.wire))
    }

    @Test("A conflict affects one statement: the other statements of the sample arrive")
    func conflict() async throws {
        let lrs = try LoopbackLRS(isStrict: true)
        let whole = try await expected()
        let backend = try backend(lrs)
        #expect(try await deliver(Array(records[..<11]), to: backend).isEmpty)
        let end = records[11]
        lrs.fail(.lostAnswer)
        // On a new connection: on a reused one the transport itself retries.
        guard case .retry = try await self.backend(lrs).deliver(Batch(records: [end])) else { throw Unexpected() }
        // Of the two of the end, `paused` and `terminated`.
        let paused = try #require(lrs.order.dropLast().last)
        lrs.change(try #require(SampleID(paused.uppercased())), "verb", to: ["id": "https://example.org/another"])
        #expect(try await deliver([end], to: backend).keys.first == end.id)
        #expect(try await deliver(Array(records[12...]), to: backend).isEmpty)
        #expect(Set(lrs.stored.keys) == Set(whole.keys))
    }

    @Test(
        "Statements are the same after any refusals, losses and crashes, with dead letters retried in any order"
    )
    func anyCourse() async throws {
        let whole = try await expected()
        for seed in Rounds.seeds(60) {
            var generator = SeededGenerator(seed: seed)
            let lrs = try LoopbackLRS(isStrict: seed % 2 == 0)
            let directory = StateDirectory()
            var backend = try backend(lrs, directory.store)
            var course = QueueCourse(records)
            while course.hasWork {
                let isCalm = course.rounds > 200
                if !isCalm { misbehave(lrs, &generator) } else { lrs.refuse([]) }
                let batch = course.next(&generator)
                let outcome = await backend.deliver(Batch(records: batch))
                // A crash between the answer and the queue's note of it.
                let isCrash = Int.random(in: 0..<4, using: &generator) == 0
                if isCrash { backend = try self.backend(lrs, directory.store) }
                course.settle(batch, isCrash ? .retry(after: nil, reason: "crash") : outcome)
            }
            #expect(lrs.stored == whole, "seed \(seed)")
            #expect(Set(lrs.order).count == lrs.order.count, "seed \(seed)")
            #expect(directory.files.count == 1, "seed \(seed)")
        }
    }

    private func misbehave(_ lrs: LoopbackLRS, _ generator: inout SeededGenerator) {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: lrs.fail(.answer("422 No"))
        case 1: lrs.fail(.answer("413 Large"))
        case 2: lrs.fail(.lostAnswer)
        case 3: lrs.fail(.answer("503 Busy"))
        case 4: lrs.refuse(["http://adlnet.gov/expapi/verbs/initialized"])
        case 5: lrs.refuse(["https://w3id.org/xapi/video/verbs/paused", "http://adlnet.gov/expapi/verbs/completed"])
        default: lrs.refuse([])
        }
    }
}

/// A queue: batches of any size, halves, dead letters, and retries of any of them before new samples.
private struct QueueCourse {
    private var new: [SampleRecord]
    private var retries: [SampleRecord] = []
    private var dead: [SampleRecord] = []
    /// The batch that comes again.
    private var leased: [SampleRecord] = []
    private(set) var rounds = 0

    init(_ records: [SampleRecord]) { new = records }

    var hasWork: Bool { !new.isEmpty || !retries.isEmpty || !dead.isEmpty }

    mutating func next(_ generator: inout SeededGenerator) -> [SampleRecord] {
        rounds += 1
        if !dead.isEmpty, new.isEmpty || Int.random(in: 0..<4, using: &generator) == 0 {
            let chosen = Set(dead.indices.filter { _ in Bool.random(using: &generator) })
            retries += chosen.sorted().map { dead[$0] }
            retries.shuffle(using: &generator)
            dead = dead.indices.filter { !chosen.contains($0) }.map { dead[$0] }
        }
        let source = retries.isEmpty ? new : retries
        if source.isEmpty { return Array(dead.prefix(0)) + [retrieve()] }
        if !leased.isEmpty, retries.isEmpty { return leased }
        let batch = Array(source.prefix(Int.random(in: 1...source.count, using: &generator)))
        if retries.isEmpty { leased = batch }
        return batch
    }

    /// At least one dead letter, where chance chose none.
    private mutating func retrieve() -> SampleRecord {
        let record = dead.removeFirst()
        retries = [record]
        return record
    }

    mutating func settle(_ batch: [SampleRecord], _ outcome: DeliveryOutcome) {
        let ids = Set(batch.map(\.id))
        var lost: Set<SampleID> = []
        switch outcome {
        case .acknowledged: break
        case .acknowledgedExcept(let reasons): lost = Set(reasons.keys)
        case .refused, .tooLarge:
            if batch.count > 1 {
                if retries.isEmpty { leased = Array(batch.prefix(batch.count / 2)) }
                return
            }
            lost = ids
        case .retry, .unauthorized, .gone: return
        }
        if retries.contains(where: { ids.contains($0.id) }) {
            retries.removeAll { ids.contains($0.id) }
        } else {
            new.removeAll { ids.contains($0.id) }
            leased = []
        }
        dead += batch.filter { lost.contains($0.id) }
    }
}

/// Gives the first statement a verb that is no IRI.
private struct OneFaulty: XAPIMapping {
    let video: VideoMapping

    func memoryKey(for record: SampleRecord) -> String? { video.memoryKey(for: record) }

    func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        var statements = video.statements(for: record, remembering: &memory)
        if record.sequence == 0 { statements[0].verb.id = "no IRI" }
        return statements
    }
}
