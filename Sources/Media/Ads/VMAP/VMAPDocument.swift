internal import InstrumentText
internal import InstrumentXML

/// A schedule of ad breaks (IAB VMAP 1.0).
package struct VMAPDocument: Hashable, Sendable {
    /// The breaks in document order.
    package var breaks: [AdBreak] = []
    /// Defects of the document.
    package var findings: [AdFinding] = []
}

extension VMAPDocument {
    /// Reads a document.
    /// - Throws: ``VASTError`` with the code 100 (not XML, or too large), 101 (not VMAP) or 102 (version).
    package init(parsing bytes: [UInt8], limits: AdLimits = AdLimits()) throws(VASTError) {
        let root = try MarkupElement(adDocument: bytes, as: "the VMAP document", limits: limits)
        try self.init(root, limits)
    }

    init(_ root: MarkupElement, _ limits: AdLimits) throws(VASTError) {
        guard root.localName == "VMAP" else {
            let message = "the root element must be `VMAP` (found `\(root.name.excerpt())`)"
            throw VASTError(.schema, message, line: root.line)
        }
        guard let version = root["version"]?.trimmingWhitespace, version == "1" || version.hasPrefix("1.") else {
            let found = root["version"].map { "`\($0.excerpt(toBytes: 20))`" } ?? "none"
            throw VASTError(.version, "`version` of `VMAP` must be 1.0 (found \(found))", line: root.line)
        }
        var parser = VMAPParser(limits)
        breaks = parser.breaks(root)
        findings = parser.allFindings
    }
}
