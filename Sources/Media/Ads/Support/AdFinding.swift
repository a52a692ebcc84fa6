/// A defect of an ad response, a playlist or a signal.
public struct AdFinding: Hashable, Sendable, CustomStringConvertible {
    /// The consequence of a finding.
    public enum Severity: String, Hashable, Sendable {
        /// The ad, or a part of it, cannot be used.
        case error
        /// A rule is broken, and the ad can be used nevertheless.
        case warning
    }

    /// The consequence.
    public var severity: Severity
    /// The clause of the standard: `VAST 4.2, section 3.8.1`.
    public var rule: String
    /// The error code of VAST; nil for findings without a code.
    package var code: Int?
    /// The element, as a path of names: `VAST/Ad/InLine/Impression`; empty where unknown.
    package var path: String
    /// The message: the value that was found, the expected value, and the remedy; without secrets.
    public var message: String
    /// The line, counted from 1; nil where unknown.
    public var line: Int?

    /// Creates a finding.
    package init(
        _ severity: Severity,
        rule: String,
        code: Int? = nil,
        path: String = "",
        message: String,
        line: Int? = nil
    ) {
        (self.severity, self.rule, self.code) = (severity, rule, code)
        (self.path, self.message, self.line) = (path, message, line)
    }

    /// The severity, the rule, the place and the message.
    public var description: String {
        let place = path.isEmpty ? "" : " \(path)"
        let number = code.map { " (code \($0))" } ?? ""
        return "\(severity.rawValue) [\(rule)]\(place)" + (line.map { ":\($0)" } ?? "") + ": \(message)" + number
    }
}
