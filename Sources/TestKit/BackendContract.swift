public import Instrument

/// What every backend promises; run it on yours, with a server that is in order.
///
/// - its name is the same each time, and not empty,
/// - it answers for samples of every shape, awkward ones among them, in batches of any size,
/// - it names no samples but those of the batch, and has a reason for each that it will never take,
/// - what it says has arrived has, in the order in which it was emitted; what it refuses has not,
/// - the same batch again has the same identifiers and is taken again, as after an answer that was lost,
/// - a delivery that is cancelled comes back.
///
/// ```swift
/// try await BackendContract.check {
///     MyBackend(url: server.url)
/// } arrived: {
///     server.identifiers
/// }
/// ```
public enum BackendContract {
    /// Checks the promises.
    ///
    /// - Parameters:
    ///   - seed: chooses the samples.
    ///   - count: how many samples are delivered.
    ///   - samples: makes a sample; by default of every shape that there is. For backends that leave some out, make those
    ///     that they take.
    ///   - makeBackend: makes a backend. It is called twice, the second time after the first backend has
    ///     ended; both deliver to the same place.
    ///   - arrived: the identifiers of all samples that have arrived there, in their order, copies included. Without it,
    ///     what the backend says is believed.
    /// - Throws: ``ContractViolation``.
    public static func check(
        seed: UInt64 = 1,
        count: Int = 300,
        samples: (inout SeededGenerator) -> Sample = RandomSamples.sample,
        _ makeBackend: () throws -> any Backend,
        arrived: (() async throws -> [SampleID])? = nil
    ) async throws(ContractViolation) {
        var generator = SeededGenerator(seed: seed)
        let log = generator.next()
        let records = (0..<UInt64(count)).map { number in
            SampleRecord(id: SampleID(log: log, sequence: number), sequence: number, sample: samples(&generator))
        }
        let name = try await nameOfUnused(makeBackend)
        let backend = try made(makeBackend)
        try expect(!name.description.isEmpty, "its name is not empty")
        try expect(backend.name == name, "its name is the same each time")
        backend.ready()
        let refused = try await deliver(records, to: backend)
        try await checkArrival(records, refused, arrived, "once")
        let again = try await deliver(records, to: backend)
        try expect(again.isSubset(of: refused), "what was taken is taken again")
        try await checkArrival(records, refused, arrived, "twice")
        try await checkCancellation(records, backend)
        await backend.end()
    }

    /// One that never gets a batch ends as well, and leaves its place to the next.
    private static func nameOfUnused(
        _ makeBackend: () throws -> any Backend
    ) async throws(ContractViolation) -> BackendName {
        let unused = try made(makeBackend)
        await unused.end()
        return unused.name
    }

    /// Delivers in batches of 1, 2, 4 … samples, as the queue does; returns what was refused.
    private static func deliver(
        _ records: [SampleRecord],
        to backend: any Backend
    ) async throws(ContractViolation) -> Set<SampleID> {
        var (refused, rest, size) = (Set<SampleID>(), records[...], 1)
        while !rest.isEmpty {
            let batch = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            size = min(size * 2, backend.policy.maxCount)
            try await deliver(batch, to: backend, &refused)
        }
        return refused
    }

    private static func deliver(
        _ records: [SampleRecord],
        to backend: any Backend,
        _ refused: inout Set<SampleID>
    ) async throws(ContractViolation) {
        let outcome = await backend.deliver(Batch(records: records))
        switch outcome {
        case .acknowledged: break
        case .acknowledgedExcept(let reasons):
            try expect(Set(reasons.keys).isSubset(of: records.map(\.id)), "it names only samples of the batch")
            try expect(reasons.values.allSatisfy { !$0.isEmpty }, "it has a reason for each that it refuses")
            refused.formUnion(reasons.keys)
        case .tooLarge(let reason), .refused(let reason):
            try expect(!reason.isEmpty, "it has a reason for what it refuses")
            if records.count == 1 {
                refused.formUnion(records.map(\.id))
            } else {
                try await deliver(Array(records[..<(records.count / 2)]), to: backend, &refused)
                try await deliver(Array(records[(records.count / 2)...]), to: backend, &refused)
            }
        case .retry(_, let reason), .unauthorized(let reason), .gone(let reason):
            throw ContractViolation("a backend whose server is in order did not deliver: \(reason)")
        }
    }

    private static func checkArrival(
        _ records: [SampleRecord],
        _ refused: Set<SampleID>,
        _ arrived: (() async throws -> [SampleID])?,
        _ times: String
    ) async throws(ContractViolation) {
        guard let arrived else { return }
        let all: [SampleID]
        do { all = try await arrived() } catch {
            throw ContractViolation("what has arrived cannot be told: \(error)")
        }
        var known = Set<SampleID>()
        let first = all.filter { known.insert($0).inserted }
        let expected = records.map(\.id).filter { !refused.contains($0) }
        try expect(
            first == expected,
            "delivered \(times), what was acknowledged has arrived and nothing else, in order: \(expected.count) were "
                + "acknowledged, \(first.count) have arrived"
        )
    }

    private static func checkCancellation(
        _ records: [SampleRecord],
        _ backend: any Backend
    ) async throws(ContractViolation) {
        let batch = Batch(records: Array(records.prefix(1)))
        let delivery = Task { await backend.deliver(batch) }
        delivery.cancel()
        let outcome = await delivery.value
        switch outcome {
        case .gone, .refused, .tooLarge:
            throw ContractViolation("not kept: a cancelled delivery is tried again, but the outcome was \(outcome)")
        default: break
        }
    }

    private static func made(_ makeBackend: () throws -> any Backend) throws(ContractViolation) -> any Backend {
        do { return try makeBackend() } catch { throw ContractViolation("there is no backend: \(error)") }
    }

    private static func expect(_ isKept: Bool, _ promise: String) throws(ContractViolation) {
        if !isKept { throw ContractViolation("not kept: \(promise)") }
    }
}
