import InstrumentJSON

enum JSONText {
    /// A text in quotes, as JSON writes it.
    static func quoted(_ text: String) -> String { JSONValue.string(text).description }
}
