/// Captures what happens, and reports it to the instrument that it was added to.
///
/// A tracker keeps the context that it is given, emits through it from any thread, and registers getters for what is
/// true at the moment of an event.
public protocol Tracker: AnyObject, Sendable {
    /// What is watched, sent as `trackerTarget`.
    var target: String? { get }
    /// The fields that it collects beside those of the vocabulary; asked once, when it is added. Others that it
    /// collects are not sent (``FieldAdmission``).
    var declaredFields: PrivacyCatalogue { get }
    /// The tracker was added; it may register getters and emit from now on.
    func begin(in context: TrackerContext)
    /// The instrument is ready; called once, after `begin`.
    func ready()
    /// Looks at an event of this tracker before the hub does: may change it, or end its journey.
    func process(_ event: inout Event) -> Verdict
    /// The tracker was removed or the instrument shut down; what it emits from now on goes nowhere.
    func end()
}

extension Tracker {
    /// Nothing in particular.
    public var target: String? { nil }
    /// None but those of the vocabulary.
    public var declaredFields: PrivacyCatalogue { [] }
    /// Lets every event pass.
    public func process(_ event: inout Event) -> Verdict { .accepted }
    /// Does nothing.
    public func ready() {}
    /// Does nothing.
    public func end() {}
}

/// A tracker's way to its instrument. Keeps the instrument alive no longer than others do.
public struct TrackerContext: Sendable {
    /// The tracker's number.
    public let id: TrackerID
    private weak let instrument: Instrument?

    init(id: TrackerID, instrument: Instrument) {
        self.id = id
        self.instrument = instrument
    }

    /// Reports that `action` happened; see ``Instrument/emit(_:from:at:attributes:)``.
    ///
    /// Attributes that neither the tracker nor the vocabulary nor the app declares are left out; see
    /// ``FieldAdmission``.
    public func emit(
        _ action: Action,
        at instant: MonotonicInstant? = nil,
        attributes: consuming Attributes = Attributes()
    ) {
        instrument?.submit(
            action,
            from: id,
            at: instant,
            scoped: .current,
            attributes: attributes,
            isCollected: true
        )
    }

    /// Declares again whether the tracker's declared fields are collected, for example because the person
    /// chose. What it did not declare when it was added is passed over; the app's own declarations and choices win.
    public func redeclare(_ fields: PrivacyCatalogue) {
        guard let instrument, let slot = instrument.slot(of: id) else { return }
        let own = fields.fields.filter { slot.fields.isOwn($0.name) }
        instrument.queue.declare(collected: PrivacyCatalogue(own))
    }

    /// Registers a getter: `read` is called on the emitting thread for each event that passes `filter`.
    ///
    /// A second getter for the same key replaces the first. One for a field that is not declared (``FieldAdmission``)
    /// is asked by name alone, as ``Instrument/value(of:from:)`` does.
    public func register<Value>(
        _ key: AttributeKey<Value>,
        when filter: (@Sendable (Event) -> Bool)? = nil,
        _ read: @escaping @Sendable () -> Value?
    ) {
        instrument?.slot(of: id)?.register(Getter(name: key.name, filter: filter) { read()?.attributeValue })
    }
}

/// How to read an attribute's value now.
struct Getter: Sendable {
    let name: AttributeName
    let filter: (@Sendable (Event) -> Bool)?
    let read: @Sendable () -> AttributeValue?
}
