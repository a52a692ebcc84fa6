/// Collects notices: each once, up to the limit.
struct NoticeList: Hashable, Sendable {
    private(set) var notices: [ManifestNotice] = []
    private var known: Set<String> = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ code: ManifestNotice.Code, _ message: String, line: Int? = nil) {
        guard notices.count < limit, known.insert("\(code): \(message)").inserted else { return }
        notices.append(ManifestNotice(code, message, line: line))
    }

    /// Notes that samples are encrypted, by the name of the method.
    mutating func addEncryptedSamples(_ method: String, line: Int? = nil) {
        let message = "samples are encrypted (\(method)); the probe plays their times without decrypting them"
        add(.unsupportedEncryption, message, line: line)
    }

    mutating func add(_ others: [ManifestNotice]) {
        for notice in others { add(notice.code, notice.message, line: notice.line) }
    }
}
