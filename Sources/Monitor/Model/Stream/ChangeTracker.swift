internal import Instrument
internal import InstrumentTerminal
internal import InstrumentText

/// What a stream was like in the latest minutes, so that what becomes different is noticed; bounded.
///
/// Servers answer from several addresses, and players move on a ladder: a value counts as new if it was not seen in
/// the latest ten minutes, while another one was.
struct ChangeTracker: Sendable {
    private struct Facet: Hashable {
        var kind: StreamChange.Kind
        var subject: String
    }

    private struct Value {
        var text: String
        var seen: WallTime
    }

    /// The changes of each kind that are kept.
    static let mostChanges = 4
    private static let mostFacets = 16
    private static let mostValues = 8
    /// How long a value is known after it was last seen.
    private static let memory = Duration.seconds(600)
    /// Values of the first minute are no changes: the tracker learns what the stream is like.
    private static let learning = Duration.seconds(60)
    /// Listed values of a playlist that became different.
    private static let mostListed = 3

    private var facets: [Facet: [Value]] = [:]
    /// What the playlist declared last, by subject.
    private var outline: [String: Set<String>] = [:]
    private var begin: WallTime?
    /// The oldest first.
    private(set) var changes: [StreamChange] = []

    /// Takes where a request went that was answered.
    mutating func see(_ request: RequestObservation, at time: WallTime) {
        guard request.failure == nil, ["manifest", "playlist", "segment"].contains(request.kind),
            let host = request.address.flatMap({ Self.host(of: $0) })
        else { return }
        see(host, as: .host, of: request.kind, at: time) { "\(request.kind)s come from \($0), before from \($1)" }
        guard let server = request.server else { return }
        see(server, as: .server, of: host, at: time) { "\(host) answers from \($0), before from \($1)" }
    }

    /// Takes the encoding that is played.
    mutating func see(bitrate: Int, width: Int?, height: Int?, at time: WallTime) {
        // Measured bit rates of one rendition differ a little.
        guard bitrate > 0 else { return }
        let size = width.flatMap { width in height.map { ", \(width) × \($0)" } } ?? ""
        let value = Figure.rate(Self.rounded(bitrate)).string + size
        see(value, as: .rendition, at: time) { "the player plays \($0); before \($1)" }
    }

    /// Takes the title of the programme.
    mutating func see(title: String, at time: WallTime) {
        see(title, as: .title, at: time) { "the title is '\($0)', before '\($1)'" }
    }

    /// Takes what the playlist or manifest declares.
    mutating func see(outline new: [String: Set<String>], at time: WallTime) {
        guard !new.isEmpty else { return }
        for (subject, values) in new.sorted(by: { $0.key < $1.key }) {
            guard let known = outline[subject], known != values else { continue }
            let (added, gone) = (values.subtracting(known), known.subtracting(values))
            let isSingle = added.count == 1 && gone.count == 1 && values.count == 1
            let text =
                isSingle
                ? "\(subject): \(Self.list(added)), before \(Self.list(gone))"
                : [("new", added), ("gone", gone)].filter { !$0.1.isEmpty }
                    .map { "\(subject): \($0) \(Self.list($1))" }.joined(separator: "; ")
            note(.playlist, text, at: time)
        }
        outline = new
    }

    /// Notes a change that is known as such.
    mutating func note(_ kind: StreamChange.Kind, _ text: String, at time: WallTime) {
        changes.append(StreamChange(kind, text, at: time))
        if changes.count(where: { $0.kind == kind }) > Self.mostChanges,
            let oldest = changes.firstIndex(where: { $0.kind == kind })
        {
            changes.remove(at: oldest)
        }
    }

    private mutating func see(
        _ value: String,
        as kind: StreamChange.Kind,
        of subject: String = "",
        at time: WallTime,
        words: (_ new: String, _ before: String) -> String
    ) {
        let text = value.utf8.count > StreamChange.longestText ? String(value.prefix(100)) : value
        let facet = Facet(kind: kind, subject: subject)
        let isLearning = Self.elapsed(begin ?? time, time) < Self.learning
        begin = begin ?? time
        guard facets[facet] != nil || facets.count < Self.mostFacets else { return }
        // Taken out, so that the values are changed in place.
        var values = facets.removeValue(forKey: facet) ?? []
        defer { facets[facet] = values }
        if values.last?.text == text {
            // While nothing else is seen, nothing is forgotten.
            values[values.count - 1].seen = time
            return
        }
        let before = values.last
        let index = values.firstIndex { $0.text == text }
        let isKnown = index.map { Self.elapsed(values[$0].seen, time) <= Self.memory } ?? false
        if let index { values.remove(at: index) }
        values.append(Value(text: text, seen: time))
        if values.count > Self.mostValues { values.removeFirst() }
        guard !isKnown, !isLearning, let before else { return }
        note(kind, words(text, before.text), at: time)
    }

    private static func elapsed(_ begin: WallTime, _ end: WallTime) -> Duration {
        .milliseconds(max(0, end.milliseconds.saturatingSubtract(begin.milliseconds)))
    }

    /// Two digits of a number.
    private static func rounded(_ number: Int) -> Int {
        var unit = 1
        while number / unit >= 100 { unit *= 10 }
        return number / unit * unit
    }

    private static func list(_ values: Set<String>) -> String {
        let listed = values.sorted().prefix(mostListed).joined(separator: ", ")
        return values.count > mostListed ? "\(listed) and \(values.count - mostListed) more" : listed
    }

    /// The host and port of an address; nil for one without.
    private static func host(of address: String) -> String? {
        guard let scheme = address.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = address.utf8[scheme...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        return String(rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
    }
}
