import Foundation
import Instrument
import Testing

@testable import InstrumentDurableQueue

/// The changes of places, in memory alone.
@Suite("Folder state")
struct FolderStateTests {
    /// A state of a log without files, with a place for each name. Samples that are not in the log are behind its end.
    private func state(
        of backends: BackendName...,
        samples: UInt64,
        inLog: UInt64? = nil,
        erased: Range<UInt64> = 0..<0
    ) -> FolderState {
        var numbers = SequenceSet()
        numbers.append(erased)
        var state = FolderState(
            log: SegmentedLog(viewing: "/nonexistent", log: 7, atLeast: 0) { _ in },
            places: [],
            erased: numbers,
            absent: SequenceSet(),
            heldFrom: nil,
            carried: [:]
        )
        for backend in backends { state.addPlace(backend.description, atOldest: false, isEphemeral: false) }
        state.log.skip(to: inLog ?? samples)
        state.nextSequence = samples
        return state
    }

    private func record(_ number: UInt64) -> SampleRecord {
        SampleRecord(
            id: SampleID(log: 7, sequence: number),
            sequence: number,
            sample: NumberedSamples.sample(Int(number))
        )
    }

    private func letter(_ number: UInt64, isRetried: Bool = false) -> Bookkeeping.LetterRow {
        var letter = Bookkeeping.LetterRow(record(number), reason: "no")
        letter.isRetried = isRetried
        return letter
    }

    private func read(_ numbers: UInt64...) -> [ReadRecord] {
        numbers.map { number in
            ReadRecord(record: record(number), after: SegmentedLog.Position(segment: 0, offset: Int(number) * 10))
        }
    }

    /// A new reading of the first backend. Fails the test without waiting samples.
    private func reading(_ state: inout FolderState, isLeased: Bool = true) throws -> Reading {
        let reading = state.reading(for: "one", maxCount: 10, maxBytes: .max, isLeased: isLeased)
        return try #require(reading)
    }

    /// The retries of the next batch of the first backend.
    private func retries(_ state: inout FolderState, maxCount: Int) -> [UInt64]? {
        state.reading(for: "one", maxCount: maxCount, maxBytes: .max, isLeased: true)?.retries.map(\.sequence)
    }

    @Test("Settling a part of a lease counts delivered, dead and unreadable samples, and keeps the rest leased")
    func settling() throws {
        var state = state(of: "one", "two", samples: 10, erased: 2..<3)
        let reading = try reading(&state)
        // Number 3 could not be read.
        let samples = read(0, 1, 4, 5, 6, 7)
        let first = state.lease(samples, through: 7, of: reading, to: "one")
        let second = state.lease(samples, through: 7, of: reading, to: "one")
        #expect(first == (true, true) && second == (true, false))
        let freed = state.settleRead("one", through: 5, [4: "no"]).count
        #expect(freed == 6)
        let place = state.places[0]
        #expect((place.row.cursor, place.row.leaseEnd, place.position.offset) == (6, 8, 50))
        #expect((place.row.acknowledged, place.row.dead, place.row.drops) == (3, 1, [.corrupt: 1]))
        #expect(place.newLetters.map(\.sequence) == [4] && place.readAhead.map(\.record.sequence) == [6, 7])
        // What is not leased is not settled, and the other backend has passed nothing.
        for (backend, end) in [("one", 9), ("two", 3), ("nobody", 3)] as [(BackendName, UInt64)] {
            let freed = state.settleRead(backend, through: end, [:])
            #expect(freed.isEmpty)
        }
        let places = state.places
        #expect(places.map(\.row.cursor) == [6, 0] && places.map(\.row.acknowledged) == [3, 0])
    }

    @Test("A reading is outdated once samples were removed")
    func outdated() throws {
        var state = state(of: "one", samples: 10)
        let old = try reading(&state)
        _ = state.lease(read(0, 1, 2, 3), through: 3, of: old, to: "one")
        var erased = SequenceSet()
        erased.append(1..<3)
        state.remove(erased, countedAs: .erased)
        let left = state.places[0].readAhead.map(\.record.sequence)
        let lease = state.lease([], through: 3, of: old, to: "one")
        let isOldSkipped = state.skipDamaged(old, of: "one")
        #expect(left == [0, 3] && lease == (false, false) && !isOldSkipped)
        let current = try reading(&state, isLeased: false)
        let isSkipped = state.skipDamaged(current, of: "one")
        let row = state.places[0].row
        #expect(isSkipped && row.cursor == 10 && row.drops == [.erased: 2, .corrupt: 8])
    }

    @Test("Retries are one batch until they are settled, and wait while samples of the log are leased")
    func retried() throws {
        var state = state(of: "one", samples: 10)
        state.places[0].retries = [1, 2, 3].map(record)
        // A larger batch does not take another retry into the lease.
        for count in [2, 10] {
            let batch = retries(&state, maxCount: count)
            #expect(batch == [1, 2])
        }
        var isSettled = state.settleRetries("one", through: 1, [1: "still no"])
        var place = state.places[0]
        #expect(isSettled && place.retries.map(\.sequence) == [2, 3] && place.leasedRetries == [2])
        #expect(place.row.dead == 1 && place.newLetters.map(\.reason) == ["still no"])
        isSettled = state.settleRetries("one", through: 2, [:])
        place = state.places[0]
        #expect(isSettled && place.row.acknowledged == 1 && place.goneLetters == [2])
        isSettled = state.settleRetries("one", through: 3, [:])
        #expect(!isSettled)
        let reading = try reading(&state, isLeased: false)
        _ = state.lease(read(0, 1, 2, 3), through: 3, of: reading, to: "one")
        var batch = retries(&state, maxCount: 10)
        #expect(batch == [])
        _ = state.settleRead("one", through: 3, [:])
        batch = retries(&state, maxCount: 10)
        #expect(batch == [3])
    }

    @Test("Changes that could not be saved come before those since, and without what those have removed")
    func unsaved() {
        var state = state(of: "one", "two", samples: 10)
        _ = state.takeChanges()
        state.places[0].newLetters = [letter(1), letter(2)]
        state.places[0].goneLetters = [8]
        state.places[0].isChanged = true
        state.places[0].row.cursor = 5
        state.leaveOut(6..<8)
        let changes = state.takeChanges()
        #expect(changes.places.map(\.row.name) == ["one"] && changes.absent.ranges == [6..<8])
        let (rest, areGapsTaken) = (state.takeChanges(), !state.hasUnsavedGaps)
        #expect(rest.isEmpty && areGapsTaken)
        // While the changes are being saved, a letter is discarded, and another one is made.
        state.places[0].removeLetters([2])
        state.places[0].newLetters.append(letter(3))
        state.putBack(changes)
        let (place, hasGaps) = (state.places[0], state.hasUnsavedGaps)
        #expect(place.newLetters.map(\.sequence) == [1, 3] && place.goneLetters == [8, 2])
        #expect(hasGaps && place.savedCursor == 0)
        let again = state.takeChanges()
        state.areSaved(again)
        let (cursors, end) = (state.places.map(\.savedCursor), state.forgettableEnd)
        #expect(cursors == [5, 0] && end == 0)
    }

    @Test("An erasure counts waiting samples and letters of each backend once, and takes retries for waiting samples")
    func erasing() {
        var state = state(of: "one", "two", samples: 10)
        state.places[0].row.cursor = 6
        state.places[0].row.dead = 2
        state.places[0].retries = [record(4)]
        state.places[0].newLetters = [letter(3)]
        var numbers = SequenceSet()
        numbers.append(3..<8)
        // Letter 5 is saved, letter 3 is not, and 4 waits for a retry.
        let gone = state.erase(numbers, ["one": [4, 5]])
        let (one, two, left) = (state.places[0], state.places[1], state.count(0..<10))
        #expect(gone == [3, 4, 5] && left == 5)
        #expect(one.row.drops == [.erased: 5] && two.row.drops == [.erased: 5])
        #expect(one.row.dead == 0 && one.retries.isEmpty)
        #expect(one.newLetters.isEmpty && one.goneLetters == [3, 4, 5])
        #expect((one.row.cursor, two.row.cursor) == (8, 0))
    }

    @Test("A queue that refuses new samples has room for those that every backend has passed")
    func room() {
        let limits = QueueLimits(maxCount: 10, maxBytes: 1000, whenFull: .refuseNew)
        var state = state(of: "one", "two", samples: 10, inLog: 0)
        var room = [state.room(for: 1, within: limits), state.room(for: 1, within: QueueLimits(maxCount: 10))]
        #expect(room == [nil, .max])
        state.places[0].row.cursor = 10
        room = [state.room(for: 1, within: limits)]
        #expect(room == [nil])
        state.places[1].row.cursor = 4
        room = [state.room(for: 4, within: limits), state.room(for: 5, within: limits)]
        #expect(room == [1000, nil])
        state.countRefused(5)
        let (count, refused) = (state.refusedCount, state.places.map { $0.row.drops[.refused] })
        #expect(count == 5 && refused == [5, 5])
    }

    @Test("Letters whose rows are lost count as corrupt, and retried letters are not dead")
    func letters() {
        var state = state(of: "one", samples: 10)
        state.places[0].row.dead = 4
        state.places[0].take([letter(1), letter(2, isRetried: true), letter(3)], of: 7)
        let place = state.places[0]
        #expect((place.row.dead, place.row.drops) == (2, [.corrupt: 1]))
        #expect(place.retries.map(\.id) == [SampleID(log: 7, sequence: 2)])
    }

    @Test("A forgotten backend leaves its name for the bookkeeping, and only the last one leaves no place")
    func forgotten() {
        var state = state(of: "one", "two", samples: 10)
        state.carry([Bookkeeping.CarriedSum(name: "one", acknowledged: 3, drops: [.age: 1])])
        state.carry([Bookkeeping.CarriedSum(name: "one", acknowledged: 4, drops: [.age: 1])])
        let sum = state.carried["one"]
        #expect(sum?.acknowledged == 7 && sum?.drops == [.age: 2])
        let isLast = [state.forget("one"), state.forget("two")]
        #expect(isLast == [false, true])
        let (sums, changes) = (state.carried, state.takeChanges())
        #expect(sums.isEmpty && changes.forgotten == ["one", "two"])
        let (limit, end) = (state.trimLimit(areUnclaimed: false), state.forgettableEnd)
        #expect(limit == nil && end == 10)
    }
}
