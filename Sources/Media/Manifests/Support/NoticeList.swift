/// Collects notices: each once with the number of its occurrences, up to the limit.
struct NoticeList: Hashable, Sendable {
    private(set) var notices: [ManifestNotice] = []
    private var known: [String: Int] = [:]
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ subject: ManifestNotice.Subject, _ detail: String? = nil, line: Int? = nil) {
        add(ManifestNotice(subject, detail, line: line))
    }

    mutating func add(_ others: [ManifestNotice]) {
        for notice in others { add(notice) }
    }

    mutating func add(_ notice: ManifestNotice) {
        let key = notice.subject.rawValue + (notice.subject.isOnePerDetail ? " " + notice.message : "")
        if let place = known[key] {
            notices[place].count += 1
        } else if notices.count < limit {
            known[key] = notices.count
            notices.append(notice)
        }
    }
}
