/// A reason why a section of splice information is not decoded.
package struct SpliceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        package let description: String
        /// Creates a code.
        package init(_ description: String) { self.description = description }

        /// The text is neither base64 nor hexadecimal.
        package static let notation = Code("notation")
        /// The first byte is not the table identifier 0xFC.
        package static let tableID = Code("tableID")
        /// The section ends before a field that it must have.
        package static let truncated = Code("truncated")
        /// A length field contradicts the number of bytes.
        package static let length = Code("length")
        /// The checksum is wrong.
        package static let checksum = Code("checksum")
    }

    /// The kind of the error.
    package var code: Code
    /// The message: the value that was found, and the expected value.
    package var message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    package var description: String { "\(code): \(message)" }
}
