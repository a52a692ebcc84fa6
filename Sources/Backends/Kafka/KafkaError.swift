/// The reason why a Kafka backend cannot be created.
public struct KafkaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; the set is open.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The spelling.
        public let description: String

        /// Creates a kind.
        package init(_ description: String) { self.description = description }

        /// The text of an endpoint cannot be read.
        public static let invalidEndpoint = Code("invalid endpoint")
        /// A setting contradicts the promises of the backend, or librdkafka refuses the setting.
        public static let invalidSetting = Code("invalid setting")
    }

    /// The kind of the error.
    public let code: Code
    /// The message for people; it contains no secrets.
    public let description: String

    /// Creates an error.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
