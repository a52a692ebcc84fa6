extension FaultRule {
    /// Reads a rule: `FAULT [on PATTERN] [nth N | first N | every N] [from DURATION] [until DURATION]`.
    ///
    /// `404 on *.ts nth 3`, `503 retry-after 2s first 2`, `reset`, `reset after 20000`, `hang`, `hang after 0`,
    /// `truncate after 5000`, `understate by 100`, `slow 2s`, `redirect to vod/ts/master.m3u8`, `redirect loop`,
    /// `content-type text/plain`, `html`, `body of vod/ts/v0/0.ts`, `endless`, `trickle 1 every 10ms`,
    /// `stale from 20s`.
    /// - Throws: ``OriginSyntaxError``, which names the expected form.
    public init(_ text: String) throws(OriginSyntaxError) {
        var reader = TextReader(text)
        self.init(try Self.fault(from: &reader))
        while !reader.isAtEnd {
            if reader.take("on") {
                pattern = try reader.word("a pattern like *.ts")
            } else if reader.take("nth") {
                occurrence = .nth(try reader.count("a number"))
            } else if reader.take("first") {
                occurrence = .first(try reader.count("a number"))
            } else if reader.take("every") {
                occurrence = .every(try reader.count("a number"))
            } else if reader.take("from") {
                start = try reader.duration()
            } else if reader.take("until") {
                end = try reader.duration()
            } else {
                throw reader.error("expected: FAULT [on PATTERN] [nth N | first N | every N] [from TIME] [until TIME]")
            }
        }
    }

    private static func fault(from reader: inout TextReader) throws(OriginSyntaxError) -> Fault {
        let word = try reader.word("a fault like 404, reset, hang or truncate")
        switch word.lowercased() {
        case "reset": return try after(&reader).map { .reset(afterBytes: $0) } ?? .resetBeforeHead
        case "hang": return try after(&reader).map { .hang(afterBytes: $0) } ?? .hangBeforeHead
        case "truncate": return .truncate(afterBytes: try after(&reader) ?? 0)
        case "understate": return .understate(byBytes: try counted("by", &reader))
        case "slow": return .slowFirstByte(try reader.duration())
        case "redirect":
            if reader.take("loop") { return .redirectToItself }
            return .redirect(to: try worded("to", "a path", &reader))
        case "content-type": return .contentType(try mediaType(&reader))
        case "html": return .html
        case "body": return .body(of: try worded("of", "a path", &reader))
        case "endless": return .endless
        case "stale": return .stale
        case "trickle":
            let bytes = try reader.count("a number of bytes")
            guard reader.take("every") else { throw reader.error("expected: trickle BYTES every DURATION") }
            return .trickle(bytes: bytes, every: try reader.duration())
        default: return try status(word, &reader)
        }
    }

    private static func status(_ word: String, _ reader: inout TextReader) throws(OriginSyntaxError) -> Fault {
        guard let code = Int(word), (200...599).contains(code) else {
            throw reader.error("'\(word)' is not a fault; expected a status from 200 to 599, \(names)")
        }
        return .status(code, retryAfter: reader.take("retry-after") ? try reader.duration() : nil)
    }

    private static var names: String {
        "reset, hang, truncate, understate, slow, redirect, content-type, html, body, endless, trickle or stale"
    }

    private static func after(_ reader: inout TextReader) throws(OriginSyntaxError) -> Int? {
        reader.take("after") ? try reader.count("a number of bytes") : nil
    }

    private static func counted(_ word: String, _ reader: inout TextReader) throws(OriginSyntaxError) -> Int {
        guard reader.take(word) else { throw reader.error("expected '\(word)' and a number of bytes") }
        return try reader.count("a number of bytes")
    }

    private static func worded(
        _ word: String,
        _ meaning: String,
        _ reader: inout TextReader
    ) throws(OriginSyntaxError) -> String {
        guard reader.take(word) else { throw reader.error("expected '\(word)' and \(meaning)") }
        return try reader.word(meaning)
    }

    private static func mediaType(_ reader: inout TextReader) throws(OriginSyntaxError) -> String {
        let type = try reader.word("a media type like text/plain")
        guard HeaderText.isSafe(type) else {
            throw reader.error("'\(type)' is not a media type; expected visible ASCII such as video/mp4")
        }
        return type
    }
}
