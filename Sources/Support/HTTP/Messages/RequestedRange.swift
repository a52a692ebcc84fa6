internal import Instrument

/// The byte range of a request, and the comparison of a response of status 206 with it (RFC 9110 sections 14.4 and
/// 15.3.7).
package struct RequestedRange: Hashable, Sendable {
    /// The first byte.
    private let first: Int64
    /// The last byte; nil for all bytes to the end.
    private let last: Int64?

    /// Reads the header `Range` of a request; nil without one, and for suffixes and lists of ranges.
    package init?(_ headers: HTTPHeaders) {
        guard let text = headers["Range"], text.hasPrefix("bytes=") else { return nil }
        let numbers = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let first = Self.number(numbers[0]) else { return nil }
        guard let last = Self.number(numbers[1]) else {
            guard numbers[1].isEmpty else { return nil }
            (self.first, self.last) = (first, nil)
            return
        }
        guard last >= first else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Returns the reason why a response is not the requested range, as far as its head says; nil if it may be.
    package func defect(ofHead headers: HTTPHeaders) -> String? {
        let codings = headers.registeredCodings
        guard codings.isEmpty else {
            return "the server sent a byte range of a body with Content-Encoding \(codings.joined(separator: ", ")), "
                + "whose bytes are not those of the file; send media without a content coding"
        }
        guard let sent = ContentRange(headers) else {
            let kind = headers["Content-Type"] ?? ""
            guard kind.lowercased().hasPrefix("multipart/byteranges") else { return defect(ofLength: headers) }
            return "the server sent several byte ranges (multipart/byteranges), expected \(description); "
                + "correct the server"
        }
        guard sent.first == first, last.map({ sent.last <= $0 }) ?? true, isWhole(sent) else {
            return "the server sent Content-Range \(sent), expected \(description); correct the server's byte ranges"
        }
        return defect(ofLength: headers)
    }

    /// Returns the reason why a body is not the requested range; nil if it is, or may become it.
    ///
    /// - Parameters:
    ///   - count: the bytes so far.
    ///   - isComplete: whether no more bytes come.
    package func defect(ofBody count: Int, _ headers: HTTPHeaders, isComplete: Bool) -> String? {
        guard let expected = expectedCount(headers), isComplete ? count != expected : count > expected else {
            return nil
        }
        // A server that says nothing of the range may have reached the end of the file.
        if ContentRange(headers) == nil, count < expected { return nil }
        return Self.message(found: isComplete ? "\(count)" : "more than \(expected)", expected)
    }

    private func defect(ofLength headers: HTTPHeaders) -> String? {
        guard let length = headers["Content-Length"].flatMap({ Self.number($0[...]) }),
            let expected = expectedCount(headers), length > expected
        else { return nil }
        return Self.message(found: "\(length)", expected)
    }

    private static func message(found: String, _ expected: Int64) -> String {
        "the body of the byte range has \(found) bytes, expected \(expected); correct the server, which may have sent "
            + "another part or the whole file"
    }

    /// Whether a range reaches to the end of what was requested, or of the file.
    private func isWhole(_ sent: ContentRange) -> Bool {
        guard let total = sent.total else { return true }
        return sent.last == last || sent.last == total - 1
    }

    /// The bytes that a body must have; nil if nothing says so.
    private func expectedCount(_ headers: HTTPHeaders) -> Int64? {
        if let sent = ContentRange(headers) { return sent.length }
        return last.map { $0 - first + 1 }
    }

    /// Digits only; nil for a number that is too large.
    fileprivate static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int64(text), number < 1 << 62 else {
            return nil
        }
        return number
    }
}

extension RequestedRange: CustomStringConvertible {
    package var description: String { "bytes \(first)-\(last.map { "\($0)" } ?? "")" }
}

/// The header `Content-Range` of a response. Servers also write `bytes=0-9/10`, or leave the unit out.
package struct ContentRange: CustomStringConvertible {
    let first: Int64
    let last: Int64
    /// The size of the file; nil if unknown.
    package let total: Int64?

    /// Reads the header; nil without it, or with another form.
    package init?(_ headers: HTTPHeaders) {
        guard let text = headers["Content-Range"] else { return nil }
        let numbers = text.drop { !$0.isASCII || !$0.isNumber }
        let parts = numbers.split(separator: "/", omittingEmptySubsequences: false)
        let ends = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, parts.count <= 2, let first = RequestedRange.number(ends[0]),
            let last = RequestedRange.number(ends[1]), last >= first
        else { return nil }
        (self.first, self.last) = (first, last)
        total = parts.count == 2 ? RequestedRange.number(parts[1]) : nil
    }

    /// The number of bytes.
    package var length: Int64 { last.saturatingSubtract(first).saturatingAdd(1) }

    package var description: String { "bytes \(first)-\(last)/\(total.map { "\($0)" } ?? "*")" }
}
