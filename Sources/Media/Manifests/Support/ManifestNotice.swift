/// A defect or an unsupported feature of a manifest that does not prevent playback.
package struct ManifestNotice: Hashable, Sendable {
    /// The kind of a notice; an open set.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        package let description: String
        /// Creates a code.
        package init(_ description: String) { self.description = description }

        /// An unsupported feature is ignored.
        package static let unsupportedFeature = Code("unsupportedFeature")
        /// Media with an unsupported encryption is left out or marked.
        package static let unsupportedEncryption = Code("unsupportedEncryption")
        /// The manifest breaks a rule of its format that playback does not depend on.
        package static let oddity = Code("oddity")
        /// A reference that is neither `http` nor `https` is left out.
        package static let referenceRefused = Code("referenceRefused")
        /// A manifest was requested over `https` and redirected to `http`.
        package static let downgraded = Code("downgraded")
        /// The manifest exceeds a limit; the rest is left out.
        package static let limitReached = Code("limitReached")
    }

    /// The kind of the notice.
    package var code: Code
    /// The defect and its consequence, for people; without secrets.
    package var message: String
    /// The line of the first occurrence, counted from 1; nil where unknown.
    package var line: Int?
    /// The defect, from the list of all that parsers and timelines notice.
    package let subject: Subject
    /// The defect without its consequence, as a noun.
    package let found: String
    /// The number of occurrences.
    package var count = 1

    /// Creates a notice.
    ///
    /// - Parameters:
    ///   - subject: the defect.
    ///   - detail: what was found at this place, without secrets; nil adds nothing to the words of the subject.
    ///   - line: the line, counted from 1.
    package init(_ subject: Subject, _ detail: String? = nil, line: Int? = nil) {
        self.subject = subject
        self.line = line
        code = subject.code
        found = subject.noun + (detail.map { " (\($0))" } ?? "")
        message = found + subject.consequence
    }
}

extension ManifestNotice: CustomStringConvertible {
    /// The code, the line and the message.
    package var description: String { "\(code)" + (line.map { " (line \($0))" } ?? "") + ": \(message)" }
}
