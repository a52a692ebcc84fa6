import Instrument
import InstrumentTestKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A plain store of a hundred lines that keeps the contract, or breaks one promise of it.
final class FaultyStore: SampleStore {
    struct Place {
        var start: Int
        var cursor: Int
        var leaseEnd: Int?
        var dead: [DeadLetter] = []
        var acknowledged = 0
        var deadCount = 0
        var erased = 0
    }

    struct State {
        var log: [Sample?] = []
        var places: [BackendName: Place] = [:]
        var mark: Int?
        var consent = Consent.granted
        var readCount: UInt64 = 0
    }

    let fault: StoreFault?
    let state = Lock(State())

    init(_ fault: StoreFault?) { self.fault = fault }

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        var kept = samples.compactMap { fault?.loses($0) == true ? nil : fault?.change($0) ?? $0 }
        if fault == .turnsOrder { kept.reverse() }
        if fault == .tearsLedger { usleep(100) }
        if fault == .losesUnderThreads {
            let before = state.withLock { $0.log.count }
            usleep(50)
            if state.withLock({ $0.log.count }) != before { return 0 }
        }
        let added = kept
        return state.withLock { state in
            state.log += added.map { $0 }
            if fault == .leavesGaps, state.log.count % 10 == 0 { state.log.append(nil) }
            if fault == .leaseEndsWhenAppending {
                for name in state.places.keys { state.places[name]?.leaseEnd = nil }
            }
            return added.reduce(0) { $0 + $1.estimatedSize } + (samples.isEmpty && fault == .countsNothing ? 1 : 0)
        }
    }

    func key(_ name: BackendName) -> BackendName {
        switch fault {
        case .ignoresCase: BackendName(name.description.lowercased())
        case .cutsNames: BackendName(String(name.description.prefix { $0 != "\u{0}" }))
        default: name
        }
    }

    func attach(_ backend: BackendName) {
        state.withLock { state in
            let name = key(backend)
            if fault == .leaseEndsWhenAttaching { state.places[name]?.leaseEnd = nil }
            if state.places[name] != nil, fault != .attachingResets { return }
            let start = fault == .attachesAtBeginning ? 0 : state.log.count
            state.places[name] = Place(start: start, cursor: start)
        }
    }

    func forget(_ backend: BackendName) {
        state.withLock { state in
            switch fault {
            case .forgetsAll: state.places = [:]
            case .forgettingKeepsLedger: state.places[key(backend)]?.cursor = state.log.count
            default: state.places[key(backend)] = nil
            }
        }
    }

    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        state.withLock { state in
            state.readCount += 1
            guard var place = state.places[key(backend)] ?? stranger(state) else { return [] }
            var end = fault == .leaseGrows ? state.log.count : place.leaseEnd ?? state.log.count
            if fault == .leaseBindsAll { end = state.places.values.compactMap(\.leaseEnd).min() ?? end }
            if fault == .leaseGrowsAfterShorter, maxCount < .max { place.leaseEnd = nil }
            if fault == .heldIsHidden, let mark = state.mark { end = min(end, mark) }
            if fault == .leaseSkipsErased, let leased = place.leaseEnd {
                end = min(state.log.count, leased + state.log[place.cursor..<leased].count { $0 == nil })
            }
            var (records, bytes): ([SampleRecord], Int) = ([], 0)
            for number in min(place.cursor, end)..<end {
                guard let sample = state.log[number] else { continue }
                if records.count >= maxCount, fault != .ignoresCount { break }
                bytes += sample.estimatedSize
                if bytes > limit(maxBytes), fault != .ignoresBytes {
                    if !records.isEmpty || fault == .givesNothingLarge { break }
                }
                records.append(record(sample, number, state))
            }
            if let last = records.last, fault != .leaseOfBytesIsForgotten || maxBytes == .max {
                if fault != .leaseGrowsAfterShorter || maxCount == .max { place.leaseEnd = Int(last.sequence) + 1 }
            }
            if fault == .readsOn, let last = records.last { place.cursor = Int(last.sequence) + 1 }
            if state.places[key(backend)] != nil { state.places[key(backend)] = place }
            return records
        }
    }

    private func limit(_ maxBytes: Int) -> Int {
        switch fault {
        case .overstepsBytes: maxBytes == .max ? .max : maxBytes + 1
        case .halvesBytes: maxBytes == .max ? .max : maxBytes / 2
        default: maxBytes
        }
    }

    private func stranger(_ state: State) -> Place? {
        fault == .feedsStrangers ? Place(start: 0, cursor: 0) : nil
    }

    func record(_ sample: Sample, _ number: Int, _ state: State) -> SampleRecord {
        let sequence = UInt64(number)
        let id: SampleID =
            switch fault {
            case .newIdentifiers: SampleID(log: state.readCount, sequence: sequence)
            case .twinIdentifiers: SampleID(log: 1, sequence: sequence / 2)
            default: SampleID(log: 1, sequence: sequence)
            }
        return SampleRecord(id: id, sequence: sequence, sample: sample)
    }

    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        state.withLock { state in
            let names = fault == .settlesForAll ? Array(state.places.keys) : [key(backend)]
            for name in names { settle(name, through: Int(sequence), dead, &state) }
        }
    }

    private func settle(_ name: BackendName, through number: Int, _ dead: [UInt64: String], _ state: inout State) {
        guard var place = state.places[name], number < state.log.count else { return }
        if fault == .settlesTwice, number < place.cursor { place.acknowledged += 1 }
        guard number >= place.cursor else {
            state.places[name] = place
            return
        }
        let passed = (place.cursor...number).filter { state.log[$0] != nil }
        var letters: [DeadLetter] = []
        for (number, reason) in dead.sorted(by: { $0.key < $1.key }) where passed.contains(Int(number)) {
            guard let sample = state.log[Int(number)] else { continue }
            letters.append(DeadLetter(record: record(sample, Int(number), state), reason: changed(reason)))
        }
        place.dead = fault == .deadLettersNewestFirst ? letters.reversed() + place.dead : place.dead + letters
        place.deadCount += fault == .countsWhatIsNotPassed ? dead.count : letters.count
        place.acknowledged += passed.count - (fault == .countsDeadTwice ? 0 : letters.count)
        place.cursor = firstKept(from: number + 1, state)
        if let end = place.leaseEnd, end <= place.cursor { place.leaseEnd = nil }
        state.places[name] = place
    }

    private func changed(_ reason: String) -> String {
        switch fault {
        case .losesReasons: ""
        case .cutsReasons: String(reason.prefix(255))
        default: reason
        }
    }

    private func firstKept(from number: Int, _ state: State) -> Int {
        var number = number
        while number < state.log.count, state.log[number] == nil { number += 1 }
        return number
    }
}
