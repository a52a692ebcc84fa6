public import Instrument

/// Emits the events of a short playback with a pause.
public func play(on instrument: Instrument) {
    let player = instrument.add(ManualTracker())
    instrument.set(.source, to: "https://example.org/film.mp4")
    instrument.set(.title, to: "A film")
    instrument.set(.duration, to: .seconds(60))
    let events: [(action: Action, seconds: Int)] = [
        (.mediaRequest, 0), (.streamLoad, 0), (.start, 0), (.pauseBegin, 20), (.pauseFinish, 20), (.end, 60),
    ]
    for (action, seconds) in events {
        var attributes = Attributes()
        attributes[.position] = .seconds(seconds)
        instrument.emit(action, from: player, attributes: attributes)
    }
}

/// Prints what another backend would send, for a backend that opens its connections itself.
public struct Preview: Backend {
    /// The name of the other backend.
    public let name: BackendName
    private let describe: @Sendable (SampleRecord) -> String?

    /// Creates a preview.
    ///
    /// - Parameters:
    ///   - name: the name of the other backend.
    ///   - describe: returns the text of a sample; nil if the other backend leaves the sample out.
    public init(_ name: BackendName, _ describe: @escaping @Sendable (SampleRecord) -> String?) {
        self.name = name
        self.describe = describe
    }

    /// Prints the batch.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records { if let text = describe(record) { print(text) } }
        return .acknowledged
    }
}
