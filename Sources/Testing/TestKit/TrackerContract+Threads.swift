internal import Instrument

/// Getters and the hook, which the instrument calls on any emitting thread.
extension TrackerContract {
    private static let threadCount = 4
    private static let countPerThread = 100

    static func checkGetters(_ tracker: some Tracker) throws(ContractViolation) {
        let stage = TrackerStage()
        let id = stage.instrument.add(tracker)
        stage.instrument.ready()
        guard let here = stage.probe(id) else { return }
        let there = Lock<Set<AttributeName>?>(nil)
        Threads.run([{ there.withLock { $0 = stage.probe(id) } }])
        let missing = here.subtracting(there.withLock { $0 } ?? [])
        try require(
            missing.isEmpty,
            "a getter returns its value on any thread",
            "no \(described(missing)) on another thread"
        )
        Threads.run(
            (0..<threadCount).map { _ in
                { for _ in 0..<countPerThread { stage.instrument.emit(TrackerStage.probe, from: id) } }
            }
        )
        let probes = stage.events.suffix(threadCount * countPerThread)
        for event in probes {
            let missing = here.subtracting(event.attributes.map(\.name))
            try require(
                missing.isEmpty,
                "a getter returns its value on several threads at the same time",
                "no \(described(missing)) in an event while other threads emitted"
            )
        }
    }

    private static func described(_ names: Set<AttributeName>) -> String {
        names.map(\.spelling).sorted().joined(separator: ", ")
    }

    /// Calls the hook directly, with events that an instrument could create.
    static func checkHook(_ tracker: some Tracker) throws(ContractViolation) {
        let stage = TrackerStage()
        let id = stage.instrument.add(tracker)
        stage.instrument.ready()
        var generator = SeededGenerator(seed: 1)
        for event in RandomEvents.events(500, &generator) + RandomEvents.extremes {
            let mine = Event(event.action, tracker: id, time: event.time, attributes: event.attributes)
            var changed = mine
            guard tracker.process(&changed) == .accepted else { continue }
            try require(
                changed.action == mine.action && changed.tracker == mine.tracker && changed.time == mine.time,
                "a tracker's hook keeps an event's action, tracker and time",
                "\(changed.action) of tracker \(changed.tracker) instead of \(mine.action) of tracker \(id)"
            )
        }
        // Emits through the chain, so that the attributes of the hook are checked.
        for action in RandomEvents.actions { stage.instrument.emit(action, from: id) }
        try stage.requireDeclared()
    }

    static func checkThreads<T: Tracker>(
        _ tracker: T,
        _ exercise: (@Sendable (T) async -> Void)?
    ) async throws(ContractViolation) {
        let stage = TrackerStage()
        let id = stage.instrument.add(tracker)
        stage.instrument.ready()
        async let exercised: Void? = exercise?(tracker)
        await Threads.runAsync(
            (0..<threadCount).map { thread in
                {
                    for number in 0..<countPerThread {
                        let name = AttributeName("thread \(thread)")
                        stage.instrument.emit(TrackerStage.probe, from: id, attributes: [name: .int(number)])
                    }
                }
            }
        )
        _ = await exercised
        try stage.requireDeclared()
        let isRejecting = stage.rejectionCount > 0
        for thread in 0..<threadCount where !isRejecting {
            let name = AttributeName("thread \(thread)")
            let numbers = stage.events.compactMap { $0.attributes[name] }
            try require(
                numbers == (0..<countPerThread).map { .int($0) },
                "a tracker does not change events that the app emits from several threads",
                "\(numbers.count) events of \(countPerThread) of one thread"
            )
        }
        stage.instrument.remove(id)
        try stage.requireSilence(of: id, "while it was removed")
    }
}
