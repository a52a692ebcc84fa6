import Instrument

/// A promise that a store breaks.
enum StoreFault: String, CaseIterable {
    // The stored samples differ from the appended ones.
    case losesMetrics, losesMetricAttributes, losesKinds, losesUnits, losesMetricFractions, metricsBecomeEvents
    case cutsLongTexts, emptiesTextsWithNUL, cutsTextsAtNUL, normalisesTexts, losesEmoji, losesEmptyTexts
    case zeroesLargeIntegers, roundsIntegers, wrapsIntegers, losesSigns, losesSubnormals, clampsDoubles
    case wholeDoublesBecomeIntegers, integersBecomeDoubles, truthBecomesInteger
    case losesEmptyArrays, flattensArrays, losesEmptyObjects, cutsDepth, cutsManyAttributes
    case losesServices, losesTimeAttributes, losesActionNames, cutsInstants, clampsWallTimes, losesOldTimes,
        cutsTrackers
    // Order, numbers and identifiers.
    case turnsOrder, leavesGaps, newIdentifiers, twinIdentifiers, countsNothing
    // Batches and leases.
    case ignoresCount, ignoresBytes, overstepsBytes, givesNothingLarge, halvesBytes, readsOn
    case leaseGrows, leaseGrowsAfterShorter, leaseEndsWhenAppending, leaseEndsWhenAttaching, leaseOfBytesIsForgotten
    case leaseBindsAll, leaseSkipsErased
    // Reading without a lease.
    case readingLeases, readingTakes, readingSeesLeaseOnly, readingSkipsHeld, readingIgnoresStop, readingGivesOnePage
    // Places and fates.
    case attachingResets, attachesAtBeginning, forgetsAll, forgettingKeepsLedger, feedsStrangers, ignoresCase, cutsNames
    case settlesForAll, settlesTwice, countsWhatIsNotPassed, countsDeadTwice, losesDeadCount, backlogKeepsBytes
    case losesReasons, cutsReasons, deadLettersNewestFirst, sharesDeadLetters
    // Erasing and holding.
    case erasingLeavesDead, erasesNeighbours, erasesWithoutCounting, countsErasedForEach
    case holdingMovesMark, heldIsHidden, ignoresRelease, erasesWithoutMark, erasesBeforeMark, keepsMark, heldDeadStay
    // Threads.
    case losesUnderThreads, tearsLedger

    /// The promise that the contract has to name.
    var promise: String {
        switch self {
        case .losesServices: "a record names the service that its sample was appended for"
        case .leavesGaps: "numbers have no gaps"
        case .newIdentifiers: "identifiers stay the same"
        case .twinIdentifiers: "each sample has a unique identifier"
        case .countsNothing: "appending no samples adds nothing"
        case .ignoresCount: "a batch has no more samples than requested"
        case .ignoresBytes, .overstepsBytes: "a batch has no more bytes than requested"
        case .givesNothingLarge: "a batch has at least one sample, of any size"
        case .halvesBytes: "a batch is as large as allowed"
        case .readsOn: "an erasure examines every sample that waits, exactly as a backend reads it"
        case .leaseGrows, .leaseGrowsAfterShorter, .leaseEndsWhenAppending, .leaseEndsWhenAttaching,
            .leaseOfBytesIsForgotten, .leaseSkipsErased:
            "until it is settled, a batch is repeated unchanged, or shorter if fewer samples are requested, never longer"
        case .leaseBindsAll: "a batch of one backend does not bind another"
        case .readingLeases, .readingTakes: "reading leases no batch and moves no place"
        case .readingSeesLeaseOnly, .readingSkipsHeld, .readingGivesOnePage:
            "reading gives every sample that waits, exactly as a batch would, in pages"
        case .readingIgnoresStop: "reading stops when its reader returns false"
        case .attachingResets: "attaching a backend again changes nothing"
        case .attachesAtBeginning: "a place begins where its backend was attached"
        case .forgetsAll: "forgetting one backend leaves the others"
        case .forgettingKeepsLedger: "a forgotten backend has no samples, no ledger and no dead letters"
        case .feedsStrangers: "a forgotten backend has no samples, no ledger and no dead letters"
        case .settlesForAll, .ignoresCase, .cutsNames: "settling for one backend leaves the others where they are"
        case .settlesTwice: "settling settled samples changes nothing"
        case .countsWhatIsNotPassed, .countsDeadTwice, .losesDeadCount, .erasesWithoutCounting, .tearsLedger:
            "the ledger adds up: emitted = acknowledged + queued + dead + dropped"
        case .backlogKeepsBytes: "the backlog counts the samples that wait"
        case .losesReasons, .cutsReasons: "a dead letter keeps its sample, its identifier and its reason"
        case .deadLettersNewestFirst: "a dead letter keeps its sample exactly"
        case .sharesDeadLetters: "a dead letter belongs to one backend"
        case .erasingLeavesDead: "a dead letter is erased, too"
        case .erasesNeighbours, .countsErasedForEach: "each erased sample is counted once"
        case .holdingMovesMark, .erasesBeforeMark:
            "samples that were appended after the mark are erased, each counted once"
        case .heldDeadStay: "a held sample that became a dead letter is erased, and no other"
        case .heldIsHidden: "a mark does not change the samples that are read"
        case .ignoresRelease: "released samples are no longer held"
        case .erasesWithoutMark: "without a mark nothing is held"
        case .keepsMark: "erasing held samples removes the mark"
        case .losesUnderThreads:
            "samples that several threads append at the same time are all there, each once, in each thread's order"
        default: exactness
        }
    }

    private var exactness: String { "a sample comes back exactly as it was appended" }

    func loses(_ sample: Sample) -> Bool {
        switch (self, sample) {
        case (.losesMetrics, .metric): true
        case (.losesOldTimes, _): sample.time.wallTime.milliseconds < 0
        default: false
        }
    }

    /// The sample as this store changes it; nil if it is stored unchanged.
    func change(_ sample: Sample) -> Sample? {
        switch sample {
        case .event(let event): changed(event)
        case .metric(let metric): changed(metric)
        }
    }

    private func changed(_ event: Event) -> Sample? {
        let (action, time) = (event.action, event.time)
        switch self {
        case .losesTimeAttributes: return .event(copy(event, action: Action(action.name)))
        case .losesActionNames where action.name.unicodeScalars.contains("\u{0}"):
            return .event(copy(event, action: Action("")))
        case .cutsTrackers:
            return .event(copy(event, tracker: TrackerID(Int(Int32(truncatingIfNeeded: event.tracker.number)))))
        case .cutsInstants:
            let cut = MonotonicInstant(nanoseconds: time.instant.nanoseconds / 1_000_000 * 1_000_000)
            return .event(copy(event, time: Timestamp(instant: cut, wallTime: time.wallTime)))
        case .clampsWallTimes:
            let clamped = WallTime(milliseconds: max(0, min(time.wallTime.milliseconds, 253_402_300_799_999)))
            return .event(copy(event, time: Timestamp(instant: time.instant, wallTime: clamped)))
        default: return .event(copy(event, attributes: changed(event.attributes)))
        }
    }

    private func copy(
        _ event: Event,
        action: Action? = nil,
        tracker: TrackerID? = nil,
        time: Timestamp? = nil,
        attributes: Attributes? = nil
    ) -> Event {
        Event(
            action ?? event.action,
            tracker: tracker ?? event.tracker,
            time: time ?? event.time,
            attributes: attributes ?? event.attributes
        )
    }

    private func changed(_ metric: Metric) -> Sample? {
        var (name, value, attributes) = (metric.name, metric.value, changed(metric.attributes))
        switch self {
        case .losesMetrics: return nil
        case .losesMetricAttributes: attributes = [:]
        case .losesKinds: name = MetricName(name.spelling, .gauge, unit: name.unit)
        case .losesUnits: name = MetricName(name.spelling, name.kind)
        case .losesMetricFractions: if case .double(let number) = value, number.magnitude < 1 { value = .double(0) }
        case .metricsBecomeEvents:
            return .event(
                Event(Action(name.spelling), tracker: metric.tracker, time: metric.time, attributes: attributes)
            )
        default: break
        }
        return .metric(Metric(name, value, tracker: metric.tracker, time: metric.time, attributes: attributes))
    }

    private func changed(_ attributes: Attributes) -> Attributes {
        var result = Attributes()
        for element in self == .cutsManyAttributes ? Array(attributes.prefix(255)) : Array(attributes) {
            if self == .losesServices, element.name == "instrument.addressee" { continue }
            result[element.name] = changed(element.value, depth: 0)
        }
        return result
    }

    private func changed(_ value: AttributeValue, depth: Int) -> AttributeValue? {
        switch value {
        case .string(let text): changed(text)
        case .int(let number): changed(number)
        case .double(let number): changed(number)
        case .bool(let truth): self == .truthBecomesInteger ? .int(truth ? 1 : 0) : value
        case .array(let elements): changed(elements, depth)
        case .object(let members):
            if members.isEmpty, self == .losesEmptyObjects {
                nil
            } else if self == .cutsDepth, depth > 16 {
                .object([:])
            } else {
                .object(members.compactMapValues { changed($0, depth: depth + 1) })
            }
        }
    }

    private func changed(_ elements: [AttributeValue], _ depth: Int) -> AttributeValue? {
        if elements.isEmpty, self == .losesEmptyArrays { return nil }
        let kept = elements.compactMap { changed($0, depth: depth + 1) }
        guard self == .flattensArrays else { return .array(kept) }
        return .array(kept.flatMap { if case .array(let inner) = $0 { inner } else { [$0] } })
    }

    private func changed(_ text: String) -> AttributeValue? {
        switch self {
        case .cutsLongTexts: .string(String(text.prefix(10_000)))
        case .emptiesTextsWithNUL: .string(text.unicodeScalars.contains("\u{0}") ? "" : text)
        case .cutsTextsAtNUL: .string(String(text.prefix { $0 != "\u{0}" }))
        case .normalisesTexts:
            .string(
                text.unicodeScalars.elementsEqual("e\u{301}n\u{303}\u{17F}\u{323}\u{307}".unicodeScalars)
                    ? "\u{E9}\u{F1}\u{1E9B}\u{323}" : text
            )
        case .losesEmoji: .string(String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value < 0x10000 })))
        case .losesEmptyTexts: text.isEmpty ? nil : .string(text)
        default: .string(text)
        }
    }

    private func changed(_ number: Int) -> AttributeValue {
        switch self {
        case .zeroesLargeIntegers: .int(number.magnitude > 1 << 53 ? 0 : number)
        case .roundsIntegers: .int(Int(exactly: Double(number)) ?? .max)
        case .wrapsIntegers: .int(Int(Int32(truncatingIfNeeded: number)))
        case .integersBecomeDoubles: .double(Double(number))
        default: .int(number)
        }
    }

    private func changed(_ number: Double) -> AttributeValue {
        switch self {
        case .losesSigns: .double(number == 0 ? 0 : number)
        case .losesSubnormals: .double(number.isSubnormal ? 0 : number)
        case .clampsDoubles: .double(max(-1e308, min(1e308, number)))
        case .wholeDoublesBecomeIntegers: Int(exactly: number).map(AttributeValue.int) ?? .double(number)
        default: .double(number)
        }
    }
}
