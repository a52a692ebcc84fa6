/// A reason why a document is not read. The message repeats names of the document only, and no values.
package struct MarkupError: Error, Hashable, Sendable {
    /// The kind of an error.
    package enum Code: Hashable, Sendable {
        /// The document is not well-formed.
        case malformed
        /// The document exceeds a limit.
        case limitExceeded
        /// The document is not in UTF-8.
        case encoding
        /// The document declares a document type or an entity.
        case documentType
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of the error.
    package var code: Code
    /// The defect and the rule, for people.
    package var message: String
    /// The line, counted from 1; nil if no single line is wrong.
    package var line: Int?

    /// Creates an error.
    package init(_ code: Code, _ message: String, line: Int? = nil) {
        (self.code, self.message, self.line) = (code, message, line)
    }

    /// Throws if the current task is cancelled, so that reading of a large document ends early.
    static func checkCancellation() throws(MarkupError) {
        if Task.isCancelled {
            throw MarkupError(.cancelled, "parsing ended early because the task was cancelled")
        }
    }
}
