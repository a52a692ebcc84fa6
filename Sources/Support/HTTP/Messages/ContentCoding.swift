/// A content coding that a client may ask for (RFC 9110 section 8.4.1), by the name in headers.
package enum ContentCoding: String, Hashable, Sendable, CaseIterable {
    case gzip, deflate
    case brotli = "br"
}

/// What a transport does with the content coding of a response's body.
package enum ContentDecoding: Hashable, Sendable {
    /// The body arrives as the server sent it. Apple's transport decodes it nevertheless.
    case none
    /// The transport decodes what it can, whether or not the request asked for a coding, and the limits of the request
    /// apply to the decoded body. `asking` are the codings of `Accept-Encoding`, as far as the transport has them; a
    /// request of a byte range asks for none.
    case decoded(asking: [ContentCoding])

    /// Asks for every coding that the transport has.
    package static let all = ContentDecoding.decoded(asking: ContentCoding.allCases)
    /// Asks for no coding, and decodes nevertheless: for media, which is compressed already.
    package static let unasked = ContentDecoding.decoded(asking: [])
}

extension HTTPHeaders {
    /// The content codings of a body in lower case, in the order in which the server applied them; empty for a plain
    /// body.
    package var contentCodings: [String] {
        values(of: "Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
            .filter { !$0.isEmpty && $0 != "identity" }
    }
}

extension HTTPError {
    /// Creates the error of a body that cannot be decoded.
    package static func undecodable(
        _ headers: HTTPHeaders,
        supported: [ContentCoding],
        url: HTTPURL,
        status: Int?,
        underlyingCode: Int? = nil
    ) -> HTTPError {
        let codings = headers.contentCodings
        let found = codings.joined(separator: ", ")
        let readable = supported.map(\.rawValue).joined(separator: ", ")
        if let unknown = codings.first(where: { !HTTPHeaders.registry.contains($0) }) {
            let message =
                "the head names an unknown Content-Encoding (found \(unknown), expected one of \(readable)); correct the "
                + "server's header"
            return HTTPError(.unknownCoding, message, url: url, status: status, underlyingCode: underlyingCode)
        }
        let message =
            codings.allSatisfy(decodableCodings.contains)
            ? "the head says Content-Encoding \(found), but the body is damaged, cut, or not in this coding; correct the "
                + "server, or the copy in the cache"
            : "the body has Content-Encoding \(found), which was not requested and cannot be read (expected one of "
                + "\(readable), or none); correct the server"
        return HTTPError(.contentCoding, message, url: url, status: status, underlyingCode: underlyingCode)
    }

    private static let decodableCodings: Set = ["gzip", "x-gzip", "deflate", "br"]
}

extension HTTPHeaders {
    /// The content codings that change a body: servers also write names that nobody registered over plain bodies.
    var registeredCodings: [String] { contentCodings.filter(Self.registry.contains) }

    /// IANA's registry of content codings.
    fileprivate static let registry: Set = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]
}
