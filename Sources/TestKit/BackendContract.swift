public import Instrument

/// What every backend promises; run it on yours, with a server that is in order.
///
/// - Its name and its policy are the same each time, and the name is not empty.
/// - It answers for samples of every shape, awkward ones among them, in batches of any size.
/// - It names no samples but those of the batch, and has a reason for each sample that it refuses.
/// - What it acknowledges has arrived when it answers, in the order in which it was emitted, once for each delivery; what it
///   refuses has not arrived.
/// - The same batch again has the same identifiers and is taken again, as after an answer that was lost.
/// - A delivery that is cancelled is tried again, or has arrived.
/// - Its end adds nothing, and one that never got a batch ends, too.
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
    ///   - count: the number of samples.
    ///   - samples: makes a sample; by default of every shape that there is. For backends that leave some out, make those
    ///     that they take.
    ///   - makeBackend: makes a backend. It is called twice, the second time after the first backend has
    ///     ended; both deliver to the same place.
    ///   - arrived: the identifiers of all samples that have arrived there, in their order, copies included. Without it,
    ///     the contract believes the backend.
    /// - Throws: ``ContractViolation``, which names the promise.
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
        let unused = try await identityOfUnused(makeBackend)
        let backend = try made(makeBackend)
        try require(!unused.name.description.isEmpty, "a backend's name is not empty", "an empty name")
        try checkIdentity(of: backend, unused)
        backend.ready()
        let refused = try await deliver(records, to: backend)
        try await checkArrival(records, refused, arrived, times: 1)
        let again = try await deliver(records, to: backend)
        try require(
            again.isSubset(of: refused),
            "what was taken is taken again",
            "\(again.subtracting(refused).count) samples refused that were taken before"
        )
        try await checkArrival(records, refused, arrived, times: 2)
        let number = UInt64(count)
        let cancelled = SampleID(log: log, sequence: number)
        if let taken = records.first(where: { !refused.contains($0.id) }) {
            let new = SampleRecord(id: cancelled, sequence: number, sample: taken.sample)
            try await checkCancellation(new, backend, arrived)
        }
        try checkIdentity(of: backend, unused)
        // A request that was cancelled under way may still arrive, at any time.
        let before = try await identifiers(arrived).filter { $0 != cancelled }
        await backend.end()
        let after = try await identifiers(arrived).filter { $0 != cancelled }
        try require(before == after, "a backend's end adds nothing", "\(after.count) samples after \(before.count)")
    }

    /// One that never gets a batch ends as well, and leaves its place to the next.
    private static func identityOfUnused(
        _ makeBackend: () throws -> any Backend
    ) async throws(ContractViolation) -> (name: BackendName, policy: DeliveryPolicy) {
        let unused = try made(makeBackend)
        await unused.end()
        return (unused.name, unused.policy)
    }

    private static func checkIdentity(
        of backend: any Backend,
        _ expected: (name: BackendName, policy: DeliveryPolicy)
    ) throws(ContractViolation) {
        try require(
            backend.name == expected.name,
            "a backend's name is the same each time",
            "\(backend.name) after \(expected.name)"
        )
        try require(
            backend.policy == expected.policy,
            "a backend's policy is the same each time",
            "\(backend.policy) after \(expected.policy)"
        )
    }

    private static func made(_ makeBackend: () throws -> any Backend) throws(ContractViolation) -> any Backend {
        do { return try makeBackend() } catch { throw ContractViolation("a backend can be made", "\(error)") }
    }
}
