/// A component that observes a player or another source and reports events to its instrument.
///
/// A tracker keeps the context that ``begin(in:)`` receives, emits through it from any thread, and registers getters
/// for values that are read at the moment of an event.
public protocol Tracker: AnyObject, Sendable {
    /// The name of the observed player or source, sent as `trackerTarget`.
    var target: String? { get }
    /// The fields that it collects in addition to those of the vocabulary; read once, when the tracker is added. The
    /// instrument does not send other fields that the tracker collects (``FieldAdmission``).
    var declaredFields: PrivacyCatalogue { get }
    /// The tracker was added; it may register getters and emit from now on.
    func begin(in context: TrackerContext)
    /// The instrument is ready; called once, after `begin`.
    func ready()
    /// Processes an event of this tracker before the hub does: may change or reject the event.
    func process(_ event: inout Event) -> Verdict
    /// The tracker was removed or the instrument shut down; events that it emits from now on are ignored.
    func end()
}

extension Tracker {
    /// Nil: no name.
    public var target: String? { nil }
    /// Empty: only fields of the vocabulary.
    public var declaredFields: PrivacyCatalogue { [] }
    /// Accepts every event unchanged.
    public func process(_ event: inout Event) -> Verdict { .accepted }
    /// Does nothing.
    public func ready() {}
    /// Does nothing.
    public func end() {}
}

/// A tracker's connection to its instrument, which it references weakly.
public struct TrackerContext: Sendable {
    /// The tracker's number.
    public let id: TrackerID
    private weak let instrument: Instrument?

    init(id: TrackerID, instrument: Instrument) {
        self.id = id
        self.instrument = instrument
    }

    /// Reports ``Action/trackerInit`` with the version of the library: the one event of a tracker that names it.
    package func emitInit() {
        var attributes = Attributes()
        attributes[.instrumentVersion] = InstrumentVersion.current
        emit(.trackerInit, attributes: attributes)
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
            scoped: .inForce,
            attributes: attributes,
            isCollected: true
        )
    }

    /// Declares again whether the tracker's declared fields are collected, for example because the person changed a
    /// choice. Ignores fields that the tracker did not declare when it was added; the app's declarations and choices
    /// win.
    public func redeclare(_ fields: PrivacyCatalogue) {
        instrument?.slot(of: id)?.fields.redeclare(fields)
    }

    /// Registers a getter: `read` is called on the emitting thread for each event that passes `filter`.
    ///
    /// A second getter for the same key replaces the first. The getter of an undeclared field (``FieldAdmission``) is
    /// read only by name, as ``Instrument/value(of:from:)`` does.
    public func register<Value>(
        _ key: AttributeKey<Value>,
        when filter: (@Sendable (Event) -> Bool)? = nil,
        _ read: @escaping @Sendable () -> Value?
    ) {
        let getter = Getter(name: key.name, filter: filter, source: .value { read()?.attributeValue })
        instrument?.slot(of: id)?.register(getter)
    }

    /// Registers getters for several fields that `read` returns together: called once, on the emitting thread, for each
    /// event that lacks at least one of the fields.
    ///
    /// Attributes that `read` returns under other names are ignored. A later getter for one of the fields replaces
    /// this one for that field.
    public func register(_ names: [AttributeName], _ read: @escaping @Sendable () -> Attributes) {
        guard let slot = instrument?.slot(of: id) else { return }
        let status = Getter.SharedStatus(read)
        for name in names { slot.register(Getter(name: name, filter: nil, source: .status(status))) }
    }
}
