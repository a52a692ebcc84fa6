internal import Instrument
internal import InstrumentText
internal import InstrumentXML

extension VASTResponse {
    /// Reads a response.
    /// - Throws: ``VASTError`` with the code 100 (not XML, or too large), 101 (not VAST) or 102 (version).
    package init(parsing bytes: [UInt8], limits: AdLimits = AdLimits()) throws(VASTError) {
        let root = try MarkupElement(adDocument: bytes, as: "the VAST response", limits: limits)
        try self.init(root, limits)
    }

    /// Reads the response in an element, which a VMAP document may contain.
    init(_ root: MarkupElement, _ limits: AdLimits) throws(VASTError) {
        // Inside a VMAP document, only the prefix of the document's own root is gone.
        if let colon = root.name.lastIndex(of: ":") {
            try self.init(root.removingPrefix(root.name[...colon]), limits)
            return
        }
        guard root.name != "VideoAdServingTemplate" else {
            let message = "the root element is that of VAST 1; VAST 2.0 to 4.2 are supported"
            throw VASTError(.version, message, line: root.line)
        }
        guard root.localName == "VAST" else {
            let message = "the root element must be `VAST` (found `\(root.name.excerpt())`)"
            throw VASTError(.schema, message, line: root.line)
        }
        guard let text = root["version"], let version = VASTVersion(text.trimmingWhitespace) else {
            let found = root["version"].map { "`\($0.excerpt(toBytes: 20))`" } ?? "none"
            throw VASTError(
                .schema,
                "`version` of `VAST` must be a version such as 4.2 (found \(found))",
                line: root.line
            )
        }
        guard version.isSupported else {
            throw VASTError(.version, "VAST \(version) is not supported; send VAST 2.0 to 4.2", line: root.line)
        }
        self.init(version: version)
        var parser = VASTParser(version, limits)
        (ads, errors) = parser.response(root)
        (refused, findings) = (parser.refused, parser.findings.findings)
    }
}

extension MarkupElement {
    /// Reads an XML document of an ad server.
    init(adDocument bytes: [UInt8], as name: String, limits: AdLimits) throws(VASTError) {
        let markup = MarkupLimits(
            bytes: limits.bytes,
            textBytes: limits.textBytes,
            depth: limits.depth,
            elements: limits.elements,
            attributes: 200
        )
        do {
            self = try MarkupReader.read(bytes, as: name, limits: markup)
        } catch {
            throw VASTError(.xml, error.message, line: error.line)
        }
    }

    /// The name without any prefix.
    var localName: Substring { name.split(separator: ":").last ?? "" }

    /// The text without white space around it; nil if empty or incomplete.
    var content: String? {
        guard !isTextIncomplete else { return nil }
        let text = text.trimmingWhitespace
        return text.isEmpty ? nil : String(text)
    }

    /// The text of a child; nil if absent or empty.
    func content(of name: String) -> String? { first(name)?.content }

    /// An attribute without white space around it, as the schema reads tokens (XML Schema, part 2, section 3.3.2).
    func token(_ attribute: String) -> String? { self[attribute].map { String($0.trimmingWhitespace) } }

    /// An attribute that is a number and not negative.
    func number(_ attribute: String) -> Int? {
        guard let text = self[attribute]?.trimmingWhitespace, 1...9 ~= text.utf8.count,
            text.utf8.allSatisfy(\.isDigit)
        else { return nil }
        return Int(text)
    }

    /// An attribute that is a truth: `true`, `1`, `false`, `0`.
    func truth(_ attribute: String) -> Bool? {
        switch self[attribute]?.trimmingWhitespace.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}
