import Instrument
import InstrumentTestKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension FaultyStore {
    func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        let records = state.withLock { state -> [SampleRecord] in
            guard var place = state.places[key(backend)] else { return [] }
            var end = state.log.count
            if fault == .readingSeesLeaseOnly { end = place.leaseEnd ?? end }
            if fault == .readingSkipsHeld { end = state.mark ?? end }
            let records = (min(place.cursor, end)..<end).compactMap { number in
                state.log[number].map { record($0, number, state) }
            }
            if fault == .readingLeases { place.leaseEnd = end }
            if fault == .readingTakes { place.cursor = end }
            state.places[key(backend)] = place
            return records
        }
        let size = fault == .readingGivesOnePage ? max(1, records.count) : 1_000
        for start in stride(from: 0, to: records.count, by: size) {
            let isEnough = !body(Array(records[start..<min(records.count, start + size)]))
            if isEnough, fault != .readingIgnoresStop { return }
        }
    }

    func ledger(of backend: BackendName) -> Ledger {
        var ledger = snapshot(of: backend)
        if fault == .tearsLedger {
            usleep(200)
            ledger.queued = snapshot(of: backend).queued
        }
        return ledger
    }

    private func snapshot(of backend: BackendName) -> Ledger {
        state.withLock { state in
            var ledger = Ledger()
            guard let place = state.places[key(backend)] else { return ledger }
            // A gap is no sample.
            let gaps = fault == .leavesGaps ? state.log[place.start...].count { $0 == nil } : 0
            ledger.emitted = state.log.count - place.start - gaps
            ledger.acknowledged = place.acknowledged
            ledger.dead = fault == .losesDeadCount ? 0 : place.deadCount
            ledger.queued = state.log[place.cursor...].count { $0 != nil }
            if place.erased > 0, fault != .erasesWithoutCounting { ledger.drops[.erased] = place.erased }
            return ledger
        }
    }

    func backlog(of backend: BackendName) -> Backlog {
        state.withLock { state in
            guard let place = state.places[key(backend)] else { return Backlog() }
            let waiting = state.log[place.cursor...].compactMap { $0 }
            let start = fault == .backlogKeepsBytes ? place.start : place.cursor
            let bytes = state.log[start...].reduce(0) { $0 + ($1?.estimatedSize ?? 0) }
            return Backlog(count: waiting.count, bytes: bytes)
        }
    }

    func deadLetters(of backend: BackendName) -> [DeadLetter] {
        state.withLock { state in
            fault == .sharesDeadLetters ? state.places.values.flatMap(\.dead) : state.places[key(backend)]?.dead ?? []
        }
    }

    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int {
        state.withLock { erase($0.places.values.map(\.cursor).min() ?? 0, isErased, &$0) }
    }

    private func erase(_ first: Int, _ isErased: (SampleRecord) -> Bool, _ state: inout State) -> Int {
        var erased = Set<UInt64>()
        var waiting: [Int] = []
        for number in first..<max(first, state.log.count) {
            guard let sample = state.log[number], isErased(record(sample, number, state)) else { continue }
            waiting.append(number)
            if fault == .erasesNeighbours, number + 1 < state.log.count { waiting.append(number + 1) }
        }
        var counted = 0
        for name in state.places.keys {
            guard var place = state.places[name] else { continue }
            place.erased += Set(waiting).count { $0 >= place.cursor && state.log[$0] != nil }
            counted += waiting.count { $0 >= place.cursor }
            let letters = fault == .erasingLeavesDead ? [] : place.dead.filter { isErased($0.record) }
            place.dead.removeAll { letters.contains($0) }
            (place.deadCount, place.erased) = (place.deadCount - letters.count, place.erased + letters.count)
            erased.formUnion(letters.map(\.record.sequence))
            state.places[name] = place
        }
        for number in waiting {
            state.log[number] = nil
            erased.insert(UInt64(number))
        }
        for name in state.places.keys {
            guard var place = state.places[name] else { continue }
            while place.cursor < state.log.count, state.log[place.cursor] == nil { place.cursor += 1 }
            if let end = place.leaseEnd, end <= place.cursor { place.leaseEnd = nil }
            state.places[name] = place
        }
        return fault == .countsErasedForEach ? counted : erased.count
    }

    var consent: Consent { state.withLock { $0.consent } }

    func hold() throws(QueueError) {
        state.withLock { state in
            if state.mark == nil || fault == .holdingMovesMark { state.mark = state.log.count }
            state.consent = .pending
        }
    }

    func release() throws(QueueError) {
        state.withLock { state in
            if fault != .ignoresRelease { state.mark = nil }
            state.consent = .granted
        }
    }

    func eraseHeld() throws(QueueError) -> Int {
        state.withLock { state in
            state.consent = .denied
            guard let mark = state.mark ?? (fault == .erasesWithoutMark ? 0 : nil) else { return 0 }
            let first = fault == .erasesBeforeMark ? 0 : mark
            if fault != .keepsMark { state.mark = nil }
            let letters = state.places.mapValues(\.dead)
            let count = erase(first, { Int($0.sequence) >= first }, &state)
            if fault == .heldDeadStay { for (name, letters) in letters { state.places[name]?.dead = letters } }
            return count
        }
    }
}
