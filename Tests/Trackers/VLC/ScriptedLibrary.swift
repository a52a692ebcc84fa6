import Instrument

@testable import InstrumentVLC

/// A libVLC whose calls a test makes, and whose handle notes how it is used.
final class ScriptedLibrary: VLCLibrary {
    struct Use: Hashable {
        var tokens: Set<UInt> = []
        var observedCount = 0
        var endedCount = 0
        var releaseCount = 0
        /// Calls after the release.
        var lateCount = 0
        var counters = VLCCounters()
        var isPaused: Bool?
    }

    let use = Lock(Use())
    /// The token of the observation; the last one after its end.
    let token = Lock<UInt>(0)

    private func note<Result: Sendable>(_ body: (inout Use) -> Result) -> Result {
        use.withLock { use in
            if use.releaseCount > 0 { use.lateCount += 1 }
            return body(&use)
        }
    }

    func observe(token: UInt) -> Bool {
        self.token.withLock { $0 = token }
        return note { use in
            use.observedCount += 1
            return use.tokens.insert(token).inserted
        }
    }

    func endObserving(token: UInt) {
        note { use in
            use.endedCount += 1
            use.tokens.remove(token)
        }
    }

    func media() -> VLCMedia? { note { _ in VLCMedia(source: "/film.ts") } }
    func isPaused() -> Bool? { note { $0.isPaused } }
    func counters() -> VLCCounters? { note { $0.counters } }
    func rate() -> Double { note { _ in 1 } }
    func tracks() -> VLCTracks? { note { _ in VLCTracks(width: 640, height: 360, framesPerSecond: 25) } }
    func length() -> Int64 { note { _ in 24_000 } }
    func release() {
        use.withLock { use in
            use.lateCount += use.releaseCount > 0 ? 1 : 0
            use.releaseCount += 1
        }
    }

    /// libVLC calls back.
    func call(_ kind: VLCEvent.Kind, thread: UInt = 1) {
        VLCCallback.take(kind, token: token.withLock { $0 }, thread: thread)
    }
}
