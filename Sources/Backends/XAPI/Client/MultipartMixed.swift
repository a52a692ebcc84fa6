internal import Instrument

/// The data of an attachment, to be sent with its statement.
///
/// Source: xAPI 1.0.3, Data 2.4.11 and Communication 1.5.2.
public struct AttachmentContent: Hashable, Sendable {
    /// The data.
    public let bytes: [UInt8]
    /// Of what type they are.
    public let contentType: String

    /// Creates the data of an attachment.
    public init(_ bytes: [UInt8], contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// The SHA-256 sum in hexadecimal digits, which ties statement and data together.
    public var sha2: String { SHA256.hexadecimal(of: bytes) }

    /// The attachment as a statement names it.
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

/// Statements and data in one body: the statements first, each of the data with its sum.
struct MultipartMixed {
    let contentType: String
    let body: [UInt8]

    /// The boundary follows from what is inside, so that the same gives the same bytes.
    init(statements: [UInt8], _ attachments: [AttachmentContent]) {
        let parts = [statements] + attachments.map(\.bytes)
        var boundary = SHA256.hexadecimal(of: attachments.reduce(statements) { $0 + Array($1.sha2.utf8) })
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
