public import Instrument

/// The promises of every store; run the contract on a custom one.
///
/// - Samples come back exactly as they were appended, to the last bit, in order, numbered without gaps, with the same
///   identifiers each time: every type of value at its limits (``AwkwardSamples``), events and metrics.
/// - Records and dead letters name the service that a sample was appended for (`SampleRecord.service`).
/// - Each backend has its own place, from the point where it was attached; a backend that is not attached has no
///   samples.
/// - A batch is as large as allowed, with at least one sample. Until it is settled, it is repeated unchanged, or
///   shorter if fewer samples are requested, never longer.
/// - Reading the queued samples changes nothing: it leases no batch and moves no place.
/// - The ledger adds up at any moment, dead letters keep sample and reason, and a forgotten backend leaves nothing.
/// - Erased samples, held ones included, are gone from everywhere, and all other samples stay.
/// - All of this holds when several threads append, read and settle at the same time.
/// - ``checkReopening(_:)``: for a durable store, all of this holds after it was reopened.
public enum StoreContract {
    /// Checks the promises.
    ///
    /// - Parameter makeStore: makes a store that holds nothing yet, and has room for 10,000 samples and 16 MiB. It is
    ///   called many times; several of its stores are never in use at the same time.
    /// - Throws: ``ContractViolation``, which names the promise.
    public static func check(_ makeStore: () -> any SampleStore) throws(ContractViolation) {
        try checkSamples(CheckedStore(makeStore()))
        try checkServices(CheckedStore(makeStore()))
        try checkOrder(CheckedStore(makeStore()))
        try checkBytes(CheckedStore(makeStore()))
        try checkLeases(CheckedStore(makeStore()))
        try checkPlaces(CheckedStore(makeStore()))
        try checkForgetting(CheckedStore(makeStore()))
        try checkStrangers(CheckedStore(makeStore()))
        try checkLeaseLimits(CheckedStore(makeStore()))
        try checkFates(CheckedStore(makeStore()))
        try checkDeadLetters(CheckedStore(makeStore()))
        try checkErasing(CheckedStore(makeStore()))
        try checkErasedLease(CheckedStore(makeStore()))
        try checkHolding(CheckedStore(makeStore()))
        try checkReleasing(CheckedStore(makeStore()))
        try checkReading(CheckedStore(makeStore()))
        try checkReadingPart(CheckedStore(makeStore()))
        try checkThreads(CheckedStore(makeStore()))
    }

    /// A small sample with a number; events and metrics take turns.
    static func sample(_ number: Int) -> Sample {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(number)),
            wallTime: WallTime(milliseconds: Int64(number))
        )
        let attributes: Attributes = [
            "number": .int(number), "text": "text \u{1F600}", "share": 0.5, "is": true, "list": [1, "two"],
            "map": ["a": 1],
        ]
        let tracker = TrackerID(number % 3)
        if number.isMultiple(of: 2) {
            return .event(Event(Action("Numbered"), tracker: tracker, time: time, attributes: attributes))
        }
        let name = MetricName("Numbers", .counter)
        return .metric(Metric(name, .int(number), tracker: tracker, time: time, attributes: attributes))
    }

    static func samples(_ numbers: some Sequence<Int>) -> [Sample] { numbers.map(sample) }
}
