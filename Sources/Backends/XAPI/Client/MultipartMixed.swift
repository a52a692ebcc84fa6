internal import Instrument

/// The content of an attachment, which is sent with its statement.
///
/// Source: xAPI 1.0.3, Data 2.4.11 and Communication 1.5.2.
public struct AttachmentContent: Hashable, Sendable {
    /// The content.
    public let bytes: [UInt8]
    /// The media type of the content.
    public let contentType: String

    /// Creates the content of an attachment.
    public init(_ bytes: [UInt8], contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// The SHA-256 checksum in hexadecimal digits, which links the statement to the content.
    package var sha2: String { SHA256.hexadecimal(of: bytes) }

    /// The attachment as it appears in a statement.
    public func attachment(usageType: IRI, display: LanguageMap) -> Statement.Attachment {
        Statement.Attachment(
            usageType: usageType,
            display: display,
            contentType: contentType,
            length: bytes.count,
            sha2: sha2
        )
    }
}

/// Statements and attachment contents in one body: the statements first, then each content with its checksum.
struct MultipartMixed {
    let contentType: String
    let body: [UInt8]

    /// The boundary is derived from the parts, so that the same parts give the same bytes.
    init(statements: [UInt8], _ attachments: [AttachmentContent]) {
        let parts = [statements] + attachments.map(\.bytes)
        var boundary = SHA256.hexadecimal(of: attachments.reduce(into: statements) { $0 += Array($1.sha2.utf8) })
        while parts.contains(where: { $0.firstRange(of: Array(boundary.utf8)) != nil }) {
            boundary = SHA256.hexadecimal(of: boundary.utf8)
        }
        contentType = "multipart/mixed; boundary=\(boundary)"
        var body = Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + statements
        var known: Set<String> = []
        for attachment in attachments where known.insert(attachment.sha2).inserted {
            let type = attachment.contentType.unicodeScalars.filter { $0.value > 0x1F && $0.value < 0x7F }
            body += Array("\r\n--\(boundary)\r\nContent-Type: \(String(String.UnicodeScalarView(type)))\r\n".utf8)
            body += Array("Content-Transfer-Encoding: binary\r\n".utf8)
            body += Array("X-Experience-API-Hash: \(attachment.sha2)\r\n\r\n".utf8) + attachment.bytes
        }
        self.body = body + Array("\r\n--\(boundary)--\r\n".utf8)
    }
}

/// The parts of a multipart response of an LRS.
///
/// Source: RFC 2046, section 5.1.
struct MultipartParts {
    struct Part {
        /// Header fields by name, in lower case.
        let headers: [String: String]
        let bytes: [UInt8]
    }

    private(set) var parts: [Part] = []

    /// Reads the parts; nil if the body is not multipart.
    init?(_ body: [UInt8], contentType: String) {
        guard let boundary = Self.boundary(of: contentType) else { return nil }
        let (line, blank) = (Array("\r\n--\(boundary)".utf8), Array("\r\n\r\n".utf8))
        // The first boundary may be at the very beginning.
        var rest = ([13, 10] + body)[...]
        guard let first = rest.firstRange(of: line) else { return nil }
        rest = rest[first.upperBound...]
        while !rest.starts(with: Array("--".utf8)) {
            guard let end = rest.firstRange(of: line), let head = rest[..<end.lowerBound].firstRange(of: blank) else {
                return nil
            }
            let headers = Self.headers(rest[..<head.lowerBound])
            parts.append(Part(headers: headers, bytes: Array(rest[head.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
    }

    private static func boundary(of contentType: String) -> String? {
        guard contentType.lowercased().hasPrefix("multipart/mixed") else { return nil }
        let parameters = contentType.split(separator: ";").dropFirst().map { $0.drop { $0 == " " } }
        guard let value = parameters.first(where: { $0.lowercased().hasPrefix("boundary=") })?.dropFirst(9) else {
            return nil
        }
        let boundary = value.filter { $0 != "\"" }
        // RFC 2046, section 5.1.1 allows no longer boundaries, and each byte of a boundary costs one more pass
        // over the body.
        return 1...70 ~= boundary.utf8.count ? boundary : nil
    }

    private static func headers(_ bytes: ArraySlice<UInt8>) -> [String: String] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let fields = lines.compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        return Dictionary(fields) { first, _ in first }
    }
}
