/// Field admission: which fields must be declared before the queue accepts them.
///
/// Whatever is chosen, a field that is declared and off is left out (``PrivacyRules/choices``), and field rules and
/// consent hold.
public enum FieldAdmission: String, Hashable, Sendable, CaseIterable {
    /// What a tracker collects has to be declared, by the tracker itself (``Tracker/declaredFields``), the vocabulary
    /// or the app. What the app says is the app's to say.
    ///
    /// A tracker collects what it emits through its ``TrackerContext``, what its getters read, and what it adds in
    /// ``Tracker/process(_:)``; the signals of a player come that way. The app says what it emits itself
    /// (``Instrument/emit(_:from:at:attributes:)``, ``Analytics``), its scoped values, and the attributes that it
    /// sets on an instrument.
    ///
    /// What is not declared is left out of its event, and reported once for each name (``Diagnostic/undeclared(_:)``).
    case declaredByTrackers
    /// All fields have to be declared, the app's own, too. What is not is left out and reported likewise.
    ///
    /// What an app hands to one service through that service's logger (``BatchQueue/append(_:for:)``) is no field that anybody
    /// collects but that service's payload: of it only what is declared and off is left out.
    case declaredOnly
    /// Nothing has to be declared.
    case open
}
