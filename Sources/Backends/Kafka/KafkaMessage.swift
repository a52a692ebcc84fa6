/// A message of a topic: the key, which chooses the partition, the value, and the headers.
public struct KafkaMessage: Hashable, Sendable {
    /// A name and a value beside the message's value.
    public struct Header: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a header.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Messages with one key are in one partition, in their order; nil lets the producer choose a partition.
    public var key: String?
    /// The bytes that consumers read.
    public var value: [UInt8]
    /// The headers.
    public var headers: [Header]

    /// Creates a message.
    public init(key: String?, value: [UInt8], headers: [Header] = []) {
        self.key = key
        self.value = value
        self.headers = headers
    }
}
