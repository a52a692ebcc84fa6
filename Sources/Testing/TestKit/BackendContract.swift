public import Instrument

/// The promises of every backend; run the contract on a custom one, with a working server.
///
/// - Its name and its policy are the same each time, and the name is not empty.
/// - It handles samples of every shape, extreme ones included, in batches of any size.
/// - It refuses only samples of the batch, and gives a reason for each.
/// - Acknowledged samples have arrived when the delivery returns, in the order in which they were emitted, once for
///   each delivery; refused samples have not arrived.
/// - A repeated batch has the same identifiers and is accepted again, as after a lost response.
/// - A cancelled delivery is retried, or has arrived.
/// - Its end adds no samples, and a backend that never received a batch ends, too.
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
    ///   - samples: creates a sample; by default of every shape. For a backend that skips some samples, create those
    ///     that it accepts.
    ///   - makeBackend: creates a backend. It is called twice, the second time after the first backend has ended; both
    ///     deliver to the same place.
    ///   - arrived: returns the identifiers of all samples that have arrived there, in order, including copies. Without
    ///     it, the contract trusts the backend.
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
            "a repeated batch is accepted again",
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
        // A request that was cancelled may still arrive, at any time.
        let before = try await identifiers(arrived).filter { $0 != cancelled }
        await backend.end()
        let after = try await identifiers(arrived).filter { $0 != cancelled }
        try require(before == after, "a backend's end adds nothing", "\(after.count) samples after \(before.count)")
    }

    /// A backend that never receives a batch ends as well, and frees its resources for the next one.
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
        do { return try makeBackend() } catch { throw ContractViolation("a backend can be created", "\(error)") }
    }
}
