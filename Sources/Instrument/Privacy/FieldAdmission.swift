/// Field admission: which fields must be declared before the queue accepts them.
///
/// With every choice, the queue leaves out a field that is declared and off (``PrivacyRules/choices``), and applies
/// field rules and consent.
public enum FieldAdmission: String, Hashable, Sendable, CaseIterable {
    /// A field that a tracker collects must be declared: by the tracker (``Tracker/declaredFields``), the vocabulary or
    /// the app. The app's own attributes need no declaration.
    ///
    /// A tracker collects the attributes that it emits through its ``TrackerContext``, that its getters read, and that
    /// it adds in ``Tracker/process(_:)``; the signals of a player come that way. The app's own attributes are those
    /// that the app emits (``Instrument/emit(_:from:at:attributes:)``, ``Analytics``), its scoped values, and the
    /// attributes that it sets on an instrument.
    ///
    /// The instrument leaves undeclared fields out of their event, and reports each name once
    /// (``Diagnostic/Kind/undeclared``).
    case declaredByTrackers
    /// All fields must be declared, the app's own too. The queue leaves out and reports undeclared fields.
    ///
    /// The payload that an app hands to one service's logger (``BatchQueue/append(_:for:)``) belongs to that service:
    /// the queue removes from it only fields that are declared and off.
    case declaredOnly
    /// No field must be declared.
    case open
}
