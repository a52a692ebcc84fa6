public import Instrument

/// The promises of every tracker; run the contract on a custom one.
///
/// - Its `target` and its `declaredFields` are the same each time.
/// - Its service can end without having started, and it can be removed before the instrument is ready.
/// - Every field that it collects is declared, by itself or by the vocabulary, and its values are finite.
/// - Its getters return their values on any thread, and on several at the same time.
/// - Its hook (`process(_:)`) keeps an event's action, tracker and time, and never traps.
/// - It reports the events of its subject, if `exercise` causes one.
/// - Once its service has ended, it emits nothing, and it is released.
///
/// ```swift
/// let player = ScriptedPlayer()
/// try await TrackerContract.check { PlayerTracker(player) } exercise: { _ in player.signal(.start) }
/// ```
public enum TrackerContract {
    /// Checks the promises.
    ///
    /// - Parameters:
    ///   - makeTracker: makes a tracker that was added nowhere yet. It is called several times and must not keep what
    ///     it makes.
    ///   - exercise: lets something happen to what the tracker watches, and returns once the tracker has reported it.
    ///     It is called while the tracker is added, from a thread of the contract's while other threads emit, and after
    ///     the tracker was removed.
    /// - Throws: ``ContractViolation``, which names the promise.
    public static func check<T: Tracker>(
        _ makeTracker: () throws -> T,
        exercise: (@Sendable (T) async -> Void)? = nil
    ) async throws(ContractViolation) {
        try checkDeclarations(try made(makeTracker))
        try await checkUnused(try made(makeTracker), try made(makeTracker), exercise)
        try await checkService(try made(makeTracker), exercise)
        try checkGetters(try made(makeTracker))
        try checkHook(try made(makeTracker))
        try await checkThreads(try made(makeTracker), exercise)
        try checkRelease(makeTracker)
    }

    static func made<T: Tracker>(_ makeTracker: () throws -> T) throws(ContractViolation) -> T {
        do { return try makeTracker() } catch { throw ContractViolation("a tracker can be created", "\(error)") }
    }

    private static func checkDeclarations(_ tracker: some Tracker) throws(ContractViolation) {
        let (target, fields) = (tracker.target, tracker.declaredFields)
        let stage = TrackerStage()
        stage.instrument.add(tracker)
        stage.instrument.ready()
        let promise = "a tracker's target and declared fields are the same each time"
        try require(tracker.target == target, promise, "\(tracker.target ?? "nothing") after \(target ?? "nothing")")
        try require(tracker.declaredFields == fields, promise, "other declared fields")
    }

    /// A tracker that is added after the shutdown only ends; a tracker may be removed before the instrument is ready.
    private static func checkUnused<T: Tracker>(
        _ late: T,
        _ early: T,
        _ exercise: (@Sendable (T) async -> Void)?
    ) async throws(ContractViolation) {
        let stage = TrackerStage()
        let id = stage.instrument.add(early)
        stage.instrument.remove(id)
        await exercise?(early)
        try stage.requireSilence(of: id, "after it was removed before the instrument was ready")
        stage.instrument.ready()
        await stage.instrument.shutdown(timeout: .zero)
        let lateID = stage.instrument.add(late)
        await exercise?(late)
        try stage.requireSilence(of: lateID, "though it was added after the shutdown")
    }

    private static func checkService<T: Tracker>(
        _ tracker: T,
        _ exercise: (@Sendable (T) async -> Void)?
    ) async throws(ContractViolation) {
        let stage = TrackerStage()
        let id = stage.instrument.add(tracker)
        stage.instrument.ready()
        let count = stage.events.count
        if let exercise {
            await exercise(tracker)
            try require(
                stage.events.count > count || stage.rejectionCount > 0,
                "a tracker reports the events of its subject",
                "no event"
            )
        }
        stage.instrument.emit(TrackerStage.probe, from: id)
        try stage.requireDeclared()
        stage.instrument.remove(id)
        try stage.requireSilence(of: id, "while it was removed")
        await exercise?(tracker)
        stage.clock.advance(by: .seconds(3600))
        try stage.requireSilence(of: id, "after it was removed")
    }

    private static func checkRelease<T: Tracker>(_ makeTracker: () throws -> T) throws(ContractViolation) {
        weak var removed: T?
        do {
            let (stage, tracker) = (TrackerStage(), try made(makeTracker))
            removed = tracker
            let id = stage.instrument.add(tracker)
            stage.instrument.ready()
            stage.instrument.emit(TrackerStage.probe, from: id)
            stage.instrument.remove(id)
        }
        try require(removed == nil, "a tracker is released once its service has ended", "it is still there")
    }
}
