internal import InstrumentText

/// A value of a configuration file with its place.
struct ConfigurationValue: Sendable {
    indirect enum Content: Sendable {
        /// A text; `isPlain` without quotes, so that it may mean a number or a truth.
        case scalar(String, isPlain: Bool)
        case list([ConfigurationValue])
        case map([Member])
        case null
    }

    struct Member: Sendable {
        var key: String
        var place: ConfigurationPlace
        var value: ConfigurationValue
    }

    var content: Content
    var place: ConfigurationPlace

    /// The kind of value for a message.
    var kindName: String {
        switch content {
        case .scalar(let text, _): "`\(text.excerpt())`"
        case .list: "a list"
        case .map: "a mapping"
        case .null: "nothing"
        }
    }
}
