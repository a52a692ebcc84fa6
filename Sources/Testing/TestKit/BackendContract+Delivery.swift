internal import Instrument

/// Deliveries, their outcomes, and the samples that have arrived.
extension BackendContract {
    /// Delivers in batches of 1, 2, 4 … samples, as the queue does; returns the refused samples.
    static func deliver(
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
        let hasReason = "a backend gives a reason for each refused sample"
        let outcome = await backend.deliver(Batch(records: records))
        switch outcome {
        case .acknowledged: break
        case .acknowledgedExcept(let reasons):
            let others = Set(reasons.keys).subtracting(records.map(\.id))
            try require(others.isEmpty, "a backend names only samples of the batch", "\(others.count) others")
            try require(reasons.values.allSatisfy { !$0.isEmpty }, hasReason, "an empty reason")
            refused.formUnion(reasons.keys)
        case .tooLarge(let reason), .refused(let reason):
            try require(!reason.isEmpty, hasReason, "an empty reason")
            if records.count == 1 {
                refused.formUnion(records.map(\.id))
            } else {
                try await deliver(Array(records[..<(records.count / 2)]), to: backend, &refused)
                try await deliver(Array(records[(records.count / 2)...]), to: backend, &refused)
            }
        case .retry(_, let reason), .unauthorized(let reason), .gone(let reason):
            throw ContractViolation("a backend with a working server delivers", "\(outcome): \(reason)")
        }
    }

    /// The samples that have arrived so far; nil if the contract trusts the backend.
    static func identifiers(
        _ arrived: (() async throws -> [SampleID])?
    ) async throws(ContractViolation) -> [SampleID] {
        do { return try await arrived?() ?? [] } catch {
            throw ContractViolation("arrived samples can be read", "\(error)")
        }
    }

    static func checkArrival(
        _ records: [SampleRecord],
        _ refused: Set<SampleID>,
        _ arrived: (() async throws -> [SampleID])?,
        times: Int
    ) async throws(ContractViolation) {
        if arrived == nil { return }
        let all = try await identifiers(arrived)
        let taken = records.map(\.id).filter { !refused.contains($0) }
        let expected = Set(taken)
        let others = all.filter { !expected.contains($0) }
        try require(
            others.isEmpty,
            "refused samples have not arrived",
            "\(others.count) samples have arrived nevertheless"
        )
        let missing = expected.subtracting(all)
        try require(
            missing.isEmpty,
            "acknowledged samples have arrived when the delivery returns",
            "\(missing.count) of \(taken.count) samples have not"
        )
        var known = Set<SampleID>()
        let first = all.filter { known.insert($0).inserted }
        try require(first == taken, "samples arrive in the order in which they were emitted", "another order")
        try require(
            all.count <= taken.count * times,
            "a delivery arrives once",
            "\(all.count) arrivals of \(taken.count) samples that were delivered \(times) times"
        )
    }

    /// - Parameter record: a sample that was not delivered before, of a kind that the backend accepts.
    static func checkCancellation(
        _ record: SampleRecord,
        _ backend: any Backend,
        _ arrived: (() async throws -> [SampleID])?
    ) async throws(ContractViolation) {
        let delivery = Task { await backend.deliver(Batch(records: [record])) }
        delivery.cancel()
        let outcome = await delivery.value
        let promise = "a cancelled delivery is retried, or has arrived"
        switch outcome {
        case .gone, .refused, .tooLarge, .acknowledgedExcept: throw ContractViolation(promise, "\(outcome)")
        case .acknowledged where arrived != nil:
            let hasArrived = try await identifiers(arrived).contains(record.id)
            try require(hasArrived, promise, "acknowledged, and not there")
        default: break
        }
    }
}
