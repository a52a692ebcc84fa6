/// A message of a subject.
public struct NATSMessage: Hashable, Sendable {
    /// A name and a value beside the payload.
    public struct Header: Hashable, Sendable {
        /// The name, without spaces and colons.
        public var name: String
        /// The value, one line.
        public var value: String

        /// Creates a header.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The subject; nil takes the endpoint's.
    public var subject: String?
    /// The bytes that consumers read.
    public var payload: [UInt8]
    /// The headers beside `Nats-Msg-Id`, which the backend adds.
    public var headers: [Header]

    /// Creates a message.
    public init(subject: String? = nil, payload: [UInt8], headers: [Header] = []) {
        self.subject = subject
        self.payload = payload
        self.headers = headers
    }
}
