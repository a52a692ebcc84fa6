internal import Instrument
internal import InstrumentXML

/// Collects findings up to a limit.
struct FindingList {
    private(set) var findings: [AdFinding] = []
    private let limit: Int
    /// The standard and its version, for the clause.
    var standard: String

    init(standard: String, limit: Int) { (self.standard, self.limit) = (standard, limit) }

    mutating func error(
        _ section: String,
        _ path: String,
        _ message: String,
        code: VASTErrorCode? = .schema,
        line: Int?
    ) {
        add(.error, section, path, message, code, line)
    }

    mutating func warn(_ section: String, _ path: String, _ message: String, line: Int?) {
        add(.warning, section, path, message, nil, line)
    }

    private mutating func add(
        _ severity: AdFinding.Severity,
        _ section: String,
        _ path: String,
        _ message: String,
        _ code: VASTErrorCode?,
        _ line: Int?
    ) {
        guard findings.count < limit else { return }
        let rule = section.isEmpty ? standard : "\(standard), section \(section)"
        findings.append(
            AdFinding(severity, rule: rule, code: code?.rawValue, path: path, message: message, line: line)
        )
    }
}
