internal import Foundation

#if canImport(FoundationXML)
internal import FoundationXML
#endif

/// Reads XML into elements. External entities are never resolved; a document type, in which entities are declared, is
/// refused before anything is parsed.
final class ManifestElementReader: NSObject, XMLParserDelegate {
    private let limits: ManifestLimits
    private var stack: [ManifestElement] = []
    private var root: ManifestElement?
    private var prefix = ""
    private var count = 0
    private var error: ManifestError?

    private init(limits: ManifestLimits) { self.limits = limits }

    static func read(_ bytes: [UInt8], limits: ManifestLimits) throws(ManifestError) -> ManifestElement {
        try check(bytes, limits)
        let reader = ManifestElementReader(limits: limits)
        let parser = XMLParser(data: Data(bytes))
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        let isWhole = parser.parse()
        if let error = reader.error { throw error }
        guard isWhole, let root = reader.root else {
            throw ManifestError(.malformed, "the MPD is no well-formed XML", line: max(1, parser.lineNumber))
        }
        return root
    }

    private static func check(_ bytes: [UInt8], _ limits: ManifestLimits) throws(ManifestError) {
        guard bytes.count <= limits.bytes else {
            throw ManifestError(.limitExceeded, "the MPD has more than \(limits.bytes) bytes")
        }
        // In another encoding a document type could hide.
        let prolog = String(decoding: bytes.prefix(200), as: UTF8.self).lowercased().prefix { $0 != ">" }
        let encoding = prolog.split(separator: "encoding").dropFirst().first?.split { "=\"' ".contains($0) }.first
        // And Foundation's parser traps on names that are not UTF-8 (Swift 6.3 on Linux; found by mutated manifests).
        let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
        guard isUTF8, !bytes.contains(0), ["utf-8", "us-ascii", "ascii", nil].contains(encoding) else {
            throw ManifestError(.unsupported, "the MPD is not in UTF-8")
        }
        guard !contains(bytes, Array("<!DOCTYPE".utf8)), !contains(bytes, Array("<!ENTITY".utf8)) else {
            throw ManifestError(.referenceRefused, "the MPD declares a document type, which is refused; leave it out")
        }
    }

    private static func contains(_ bytes: [UInt8], _ mark: [UInt8]) -> Bool {
        var start = 0
        while let index = bytes[start...].firstIndex(of: UInt8(ascii: "<")) {
            if bytes[index...].prefix(2).last == UInt8(ascii: "!"), bytes[index...].starts(with: mark) { return true }
            start = index + 1
        }
        return false
    }

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        count += 1
        if count == 1, let colon = elementName.firstIndex(of: ":") { prefix = String(elementName[...colon]) }
        guard count <= limits.elements, stack.count < limits.depth else {
            return stop(.limitExceeded, "the MPD has too many elements, or too many inside one another", parser)
        }
        guard !attributes.values.contains(where: { $0.utf8.count > limits.lineBytes }) else {
            return stop(.limitExceeded, "an attribute of the MPD has more than \(limits.lineBytes) bytes", parser)
        }
        let name = elementName.hasPrefix(prefix) ? String(elementName.dropFirst(prefix.count)) : elementName
        stack.append(ManifestElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard let last = stack.indices.last else { return }
        // Long texts are events' and keys'; what is read here is short.
        if stack[last].text.utf8.count + string.utf8.count <= limits.lineBytes { stack[last].text += string }
    }

    func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = stack.popLast() else { return }
        if let parent = stack.indices.last { stack[parent].children.append(element) } else { root = element }
    }

    private func stop(_ code: ManifestError.Code, _ message: String, _ parser: XMLParser) {
        if error == nil { error = ManifestError(code, message, line: parser.lineNumber) }
        parser.abortParsing()
    }
}
