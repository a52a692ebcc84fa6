package import InstrumentJSON
package import InstrumentTerminal

/// The terminal view: a table of streams that sorts and filters by key, and one stream in detail. A value; the terminal
/// itself is elsewhere.
package struct StreamTable: Sendable {
    package enum Sort: String, Hashable, Sendable, CaseIterable {
        case trouble, name, start, stalls, bitrate, errors
    }

    /// What a person asks the monitor to do.
    package enum Action: Hashable, Sendable {
        case acknowledge(incident: String, note: String)
        case release(incident: String)
        case close(incident: String)
        case tryNow(stream: String)
        case checkNow(stream: String)
        case silence(stream: String, reason: String)
        case maintain(stream: String, name: String)
        case end(Hiding)
    }

    /// What is typed.
    private enum Input: Hashable {
        case filter
        case note(incident: String)
        case closing(incident: String)
        case reason(stream: String)
        case work(stream: String)
        case ending(Hiding)
    }

    package private(set) var rows: [TableRow] = []
    package private(set) var sort = Sort.trouble
    package private(set) var filter = ""
    package private(set) var selected: String?
    /// The stream that is shown in detail; nil for the table.
    package private(set) var opened: String?
    package private(set) var hasEnded = false
    /// A line about the connection; empty without a problem.
    package var problem: TerminalText = ""
    /// The outcome of the latest action; empty without one.
    package var notice: TerminalText = ""
    private var input: Input?
    private var typed = ""
    private var actions: [Action] = []
    private var top = 0
    private var troubles: [Trouble] = []
    private var hidings: [Hiding] = []
    private var upToday: Double?
    private var places: [PlaceState] = []
    private var detail: JSONValue?
    private var now: Int64?
    /// Whether the monitor has ever answered.
    private var hasDocument = false
    private let isColored: Bool
    private let hasSelection: Bool
    private var canAct: Bool
    private var height = 24

    /// - Parameters:
    ///   - hasSelection: whether the line that keys act on is marked; false for a table that is printed.
    ///   - canAct: whether the person may act; a document that names a role says so itself.
    package init(isColored: Bool, hasSelection: Bool = true, canAct: Bool = false) {
        (self.isColored, self.hasSelection, self.canAct) = (isColored, hasSelection, canAct)
    }

    package var isTyping: Bool { input != nil }

    /// Takes the monitor's state document.
    package mutating func take(_ document: JSONValue) {
        hasDocument = true
        if case .array(let streams)? = document["streams"] { rows = streams.compactMap { TableRow($0) } }
        if case .array(let list)? = document["places"] { places = list.compactMap { PlaceState($0) } }
        if document["silences"] != nil || document["maintenance"] != nil {
            hidings = ["silences", "maintenance"].flatMap { name -> [Hiding] in
                if case .array(let list)? = document[name] { list.compactMap { Hiding($0) } } else { [] }
            }
        }
        upToday = document["upToday"]?.number
        if let role = document["role"]?.string { canAct = role == "act" }
        if let time = TableRow.time(document["time"]) { now = time }
        if case .array(let list)? = document["incidents"] {
            // The most urgent first, then the oldest: a screen has three lines for them.
            troubles = list.compactMap { Trouble(incident: $0) }.sorted { $0.place < $1.place }
        } else if case .array(let list)? = document["alerts"] {
            troubles = list.map { Trouble(alert: $0) }
        }
    }

    /// Takes note that there is no document, and why: a sentence.
    package mutating func take(failure reason: String) {
        problem = "\(reason) \(hasDocument ? "The figures are old. " : "")Retrying."
    }

    /// Takes the document of the stream that is opened.
    package mutating func take(detail document: JSONValue?) { detail = document }

    /// Returns what the keys since the last call ask for.
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The rows in the order of the table.
    package var shown: [TableRow] {
        let kept = filter.isEmpty ? rows : rows.filter { $0.contains(filter) }
        return kept.sorted { left, right in
            let (a, b): (Double, Double) =
                switch sort {
                case .name: (0, 0)
                case .trouble: (Double(left.trouble), Double(right.trouble))
                case .start: (Double(left.startup ?? -1), Double(right.startup ?? -1))
                case .stalls: (left.rebufferRatio, right.rebufferRatio)
                case .bitrate: (Double(left.bitrate ?? -1), Double(right.bitrate ?? -1))
                case .errors: (Double(left.errors), Double(right.errors))
                }
            return a == b ? left.name < right.name : a > b
        }
    }

    // MARK: Keys

    /// Applies a key.
    package mutating func press(_ key: TerminalKey) {
        notice = ""
        if let input { return type(key, input) }
        switch key {
        case .character("q"): hasEnded = true
        case .escape: if opened != nil { (opened, detail) = (nil, nil) } else { filter = "" }
        case .character("/"): (input, typed) = (.filter, filter)
        case .character("o"):
            let all = Sort.allCases
            sort = all[((all.firstIndex(of: sort) ?? 0) + 1) % all.count]
        case .character("a"): beginAcknowledgement()
        case .character("r"):
            if let id = incident(where: { $0.state == "acknowledged" }, is: "acknowledged") {
                actions.append(.release(incident: id))
            }
        case .character("x"):
            if let id = incident(where: { _ in true }, is: "open") { (input, typed) = (.closing(incident: id), "") }
        case .character("s"): if let current, mayAct { (input, typed) = (.reason(stream: current), "") }
        case .character("m"): if let current, mayAct { (input, typed) = (.work(stream: current), "") }
        case .character("u"): beginEnding()
        case .character("t"): if let current, mayAct { actions.append(.tryNow(stream: current)) }
        case .character("c"): if let current, mayAct { actions.append(.checkNow(stream: current)) }
        case .enter: if opened == nil { opened = current } else { (opened, detail) = (nil, nil) }
        case .up, .character("k"): move(-1)
        case .down, .character("j"): move(1)
        case .pageUp: move(-max(1, height - 5))
        case .pageDown: move(max(1, height - 5))
        case .home: move(-.max / 2)
        case .end: move(.max / 2)
        case .character, .backspace: break
        }
    }

    /// Whether the person may act; says so if not.
    private var mayAct: Bool {
        mutating get {
            if !canAct { notice = "This monitor allows no actions here: they need a token whose role is 'act'." }
            return canAct
        }
    }

    private mutating func beginAcknowledgement() {
        if let id = incident(where: \.isOpen, is: "open") { (input, typed) = (.note(incident: id), "") }
    }

    /// Asks whether what hides the current stream is to end.
    private mutating func beginEnding() {
        guard mayAct, let row = currentRow else { return }
        guard let hiding = hiding(of: row).first else {
            return notice = "No silence and no planned work hides \(row.name)."
        }
        (input, typed) = (.ending(hiding), "")
    }

    private var currentRow: TableRow? { current.flatMap { name in rows.first { $0.name == name } } }

    /// What hides a stream now, with the alerts of its incidents.
    private func hiding(of row: TableRow) -> [Hiding] {
        let own = troubles.filter { $0.streams.contains(row.name) }
        let alerts = Set(own.flatMap(\.alerts))
        return hidings.filter { $0.hasBegun(at: now) && $0.hides(row, alerts: alerts) }
    }

    /// The incident of the current stream that fulfils a condition. Without one, and where the person may not act, a
    /// notice says so.
    private mutating func incident(where isWanted: (Trouble) -> Bool, is word: TerminalText) -> String? {
        guard mayAct, let current else { return nil }
        let id = troubles.first { $0.id != nil && $0.streams.contains(current) && isWanted($0) }?.id
        if id == nil { notice = "\(current) has no \(word.string) incident." }
        return id
    }

    private mutating func type(_ key: TerminalKey, _ input: Input) {
        switch key {
        case .enter: enter(input)
        case .escape: (self.input, filter) = (nil, input == .filter ? "" : filter)
        case .backspace: typed = String(typed.dropLast())
        case .character(let character): if typed.count < 200 { typed.append(character) }
        case .up, .down, .pageUp, .pageDown, .home, .end: break
        }
        if input == .filter, self.input != nil { filter = typed }
    }

    private mutating func enter(_ input: Input) {
        switch input {
        case .filter: break
        case .note(let incident): actions.append(.acknowledge(incident: incident, note: typed))
        case .closing(let incident): actions.append(.close(incident: incident))
        case .reason(let stream):
            // A silence without a reason is a riddle for the next person.
            if typed.allSatisfy(\.isWhitespace) { return notice = "Type a reason, or press Esc." }
            actions.append(.silence(stream: stream, reason: typed))
        case .work(let stream):
            if typed.allSatisfy(\.isWhitespace) { return notice = "Type what the work is, or press Esc." }
            actions.append(.maintain(stream: stream, name: typed))
        case .ending(let hiding): actions.append(.end(hiding))
        }
        self.input = nil
    }

    private var current: String? {
        let names = shown.map(\.name)
        return opened ?? selected.flatMap { names.contains($0) ? $0 : nil } ?? names.first
    }

    private mutating func move(_ step: Int) {
        let names = shown.map(\.name)
        guard !names.isEmpty else { return }
        let place = selected.flatMap { names.firstIndex(of: $0) } ?? 0
        selected = names[min(names.count - 1, max(0, place + step))]
        if opened != nil { (opened, detail) = (selected, nil) }
    }

    // MARK: Drawing

    /// The incidents, or alerts, above the table.
    private static let mostTroubles = 3

    /// The lines of a screen of this size; never more, and none wider.
    package mutating func lines(columns: Int, rows height: Int) -> [TerminalText] {
        self.height = height
        let list = shown
        var lines = [cut(headline(list), columns, bold: true)]
        if !problem.isEmpty { lines.append(cut(problem, columns, "31")) }
        if !notice.isEmpty { lines.append(cut(notice, columns, "1")) }
        if let opened {
            lines += detailLines(opened, columns, height - lines.count - 1)
        } else {
            lines += troubleLines(columns)
            lines += tableLines(list, columns, height - lines.count - 1)
        }
        lines = Array(lines.prefix(max(0, height - 1)))
        if height > 1 {
            while lines.count < height - 1 { lines.append("") }
            lines.append(cut(footer, columns, "2"))
        }
        return lines
    }

    private func headline(_ list: [TableRow]) -> TerminalText {
        let down = rows.count { $0.state == "down" }
        let stalled = rows.count { $0.state == "stalled" }
        let open = troubles.count { $0.isOpen }
        let kind = troubles.contains { $0.id != nil } ? "incident" : "alert"
        let some: TerminalText = list.count < rows.count ? "\(list.count) of " : ""
        let head: TerminalText =
            some
            + "\(rows.count) stream\(rows.count == 1 ? "" : "s"), \(down) down, \(stalled) stalled, \(open) \(kind)\(open == 1 ? "" : "s")"
            + (upToday.map { ", \(Figure.percent($0)) up today" } ?? "")
        guard !places.isEmpty else { return head }
        let silent = places.compactMap { $0.silence(at: now) }
        return ([head + ", \(places.count) place\(places.count == 1 ? "" : "s")"] + silent).joined(separator: ", ")
    }

    private var footer: TerminalText {
        switch input {
        case .filter?: return "filter by name, label, state or error: \(typed)_  (Enter applies, Esc clears)"
        case .note?: return "acknowledge for an hour; note: \(typed)_  (Enter acknowledges, Esc cancels)"
        case .closing?: return "close the incident  (Enter closes, Esc cancels)"
        case .reason(let stream)?:
            return "silence \(stream) for an hour; reason: \(typed)_  (Enter silences, Esc cancels)"
        case .work(let stream)?:
            return "planned work on \(stream) for an hour; what: \(typed)_  (Enter begins, Esc cancels)"
        case .ending(let hiding)?: return "end the \(hiding.text)  (Enter ends, Esc cancels)"
        case nil: break
        }
        let filtered: TerminalText = filter.isEmpty ? "" : ", filter '\(filter)'"
        let keys: TerminalText =
            "  a acknowledge  r release  x close  t try now  c check now  s silence  m maintenance  u end it"
        let acting = canAct ? keys : ""
        return opened == nil
            ? "q quit  / filter  o order (\(sort.rawValue))" + filtered + "  Enter detail" + acting
            : "q quit  Esc back  Up/Down other stream" + acting
    }

    private func troubleLines(_ columns: Int) -> [TerminalText] {
        // The last line names the number of those that have no line.
        let room = troubles.count > Self.mostTroubles ? Self.mostTroubles - 1 : Self.mostTroubles
        var lines = troubles.prefix(room).map { trouble in
            cut(trouble.text(at: now), columns, trouble.isOpen ? trouble.isUrgent ? "31" : "33" : "2")
        }
        if troubles.count > room { lines.append(cut("+\(troubles.count - room) more", columns, "33")) }
        return lines
    }

    private mutating func tableLines(_ list: [TableRow], _ columns: Int, _ height: Int) -> [TerminalText] {
        // A list that does not fit ends with the number of its further streams.
        let room = list.count > max(0, height - 1) && height > 2 ? height - 2 : max(0, height - 1)
        // Of two lines, one is a stream.
        let isLong = list.count > room && height > 2
        let place = current.flatMap { name in list.firstIndex { $0.name == name } } ?? 0
        if place < top { top = place }
        if room > 0, place >= top + room { top = place - room + 1 }
        top = max(0, min(top, list.count - room))
        let part = list.dropFirst(top).prefix(room)
        let layout = TableLayout(columns: columns - (mark(false).columns), rows: part, now: now)
        let name = current
        let head = cut(mark(false) + layout.header, columns, "2")
        if list.isEmpty {
            let reason: TerminalText =
                !hasDocument
                ? "Nothing is known yet." : rows.isEmpty ? "No stream is configured." : "No stream matches the filter."
            return Array([head, cut(mark(false) + reason, columns)].prefix(max(0, height)))
        }
        var lines = [head]
        lines += part.map { row in
            let isSelected = hasSelection && row.name == name
            let line = cut(mark(isSelected) + layout.line(of: row), columns)
            if isSelected { return style(line, "7") }
            return row.trouble > 0 ? style(line, row.trouble >= 4 ? "31" : "33") : line
        }
        if isLong {
            let below = list.count - top - part.count
            let above: TerminalText = top > 0 ? "\(top) above" : ""
            let rest: TerminalText = below > 0 ? "+\(below) more" : ""
            lines.append(cut(mark(false) + [rest, above].filter { !$0.isEmpty }.joined(separator: ", "), columns, "2"))
        }
        return lines
    }

    /// What marks a line without colours.
    private func mark(_ isSelected: Bool) -> TerminalText {
        if isColored || !hasSelection { return "" }
        return isSelected ? ">" : " "
    }

    private func detailLines(_ name: String, _ columns: Int, _ height: Int) -> [TerminalText] {
        guard let row = rows.first(where: { $0.name == name }) else { return ["\(name) is no longer configured."] }
        var lines: [TerminalText] = [
            "", "\(row.name)  " + row.stateText(at: now),
            "  start \(Figure.duration(row.startup)), \(row.rebuffers) stalls, "
                + "stalled \(Figure.duration(row.rebuffering)) (\(Figure.percent(row.rebufferRatio))), played \(Figure.duration(row.playing))",
            "  bitrate \(Figure.rate(row.bitrate)), behind live \(Figure.duration(row.latency)), buffer \(Figure.duration(row.buffer)), playlist unchanged for \(Figure.duration(row.age))",
        ]
        if let cause = row.causeText { lines += wrapped(cause, columns) }
        if let code = row.errorCode { lines += wrapped("latest error \(code): \(row.errorMessage ?? "")", columns) }
        if !row.broken.isEmpty { lines += wrapped("broken: \(row.broken.joined(separator: ", "))", columns) }
        lines += hiding(of: row).map { "  hidden by the \($0.text)" }
        lines += siblingLines(of: row)
        lines.append("")
        if case .array(let log)? = detail?["log"] {
            lines.append("  events (UTC)")
            for entry in log.suffix(max(0, height - lines.count)).reversed() {
                lines.append(
                    "  \(String((entry["time"]?.string ?? "").dropFirst(11).prefix(8)))  \(entry["text"]?.string ?? "")"
                )
            }
        }
        return lines.map { cut($0, columns) }
    }

    /// The lines that a detail takes at most: its end is what followed.
    private static let mostWrapped = 5

    /// A text in lines of whole words; what the last line has no room for is cut.
    private func wrapped(_ text: String, _ columns: Int) -> [TerminalText] {
        var lines: [TerminalText] = []
        for word in text.split(separator: " ").map({ TerminalText($0) }) {
            if let last = lines.last, lines.count == Self.mostWrapped || last.columns + 1 + word.columns <= columns {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append((lines.isEmpty ? "  " : "    ") + word)
            }
        }
        return lines
    }

    /// What other places see of a stream.
    private func siblingLines(of row: TableRow) -> [TerminalText] {
        guard let origin = row.origin else { return [] }
        let others = rows.filter { $0.origin == origin && $0.name != row.name }.sorted { $0.name < $1.name }
        guard !others.isEmpty else { return [] }
        let names = others.map { TerminalText($0.place ?? $0.name) }
        let width = names.map(\.columns).max() ?? 0
        let lines = zip(others, names).map { other, name -> TerminalText in
            let reason = other.reason(at: now)
            let rest: TerminalText =
                reason.isEmpty
                ? "start \(Figure.duration(other.startup)), stalled \(Figure.percent(other.rebufferRatio))" : reason
            return "  " + name.padded(toColumns: width, isRight: false) + "  " + other.stateText(at: now) + "  " + rest
        }
        return ["", "  from other places"] + lines
    }

    private func cut(_ text: TerminalText, _ columns: Int, _ code: String? = nil, bold: Bool = false) -> TerminalText {
        let short = text.prefix(columns: max(0, columns))
        if bold { return style(short, "1") }
        return code.map { style(short, $0) } ?? short
    }

    private func style(_ text: TerminalText, _ code: String) -> TerminalText {
        guard isColored else { return text }
        return TerminalText(trusted: "\u{1B}[\(code)m") + text + "\u{1B}[0m"
    }
}

/// A place whose monitor sends samples.
private struct PlaceState: Sendable {
    private let name: String
    private let isSilent: Bool
    private let latest: Int64?

    /// Reads a place of the document; nil for a value of another form.
    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string else { return nil }
        (self.name, isSilent, latest) = (name, json["state"]?.string == "silent", TableRow.time(json["latest"]))
    }

    /// `rome silent for 4 min`; nil for a place that reports.
    func silence(at now: Int64?) -> TerminalText? {
        guard isSilent else { return nil }
        guard let now, let latest, now >= latest else { return "\(name) silent" }
        return "\(name) silent for " + Figure.duration(Int(clamping: (now - latest) / 1_000 * 1_000))
    }
}

/// An incident, or an alert of a monitor without incidents, as a line.
private struct Trouble: Sendable {
    /// Nil for an alert, which cannot be acknowledged.
    let id: String?
    let state: String
    let isOpen: Bool
    let isUrgent: Bool
    let streams: [String]
    /// The names of the alerts.
    let alerts: [String]
    private let head: TerminalText
    private let since: Int64?
    private var urgency = 1

    /// Reads an incident of the document; nil for one that is over, or for a value of another form.
    init?(incident json: JSONValue) {
        guard let id = json["id"]?.string, let state = json["state"]?.string, state != "closed" else { return nil }
        (self.id, self.state, isOpen, isUrgent) = (id, state, state == "open", json["severity"]?.string == "critical")
        streams = if case .array(let names)? = json["streams"] { names.compactMap(\.string) } else { [] }
        alerts = if case .array(let names)? = json["alerts"] { names.compactMap(\.string) } else { [] }
        since = TableRow.time(json["since"])
        let count = json["streamCount"]?.int ?? streams.count
        let by = json["by"]?.string.map { " by " + $0 } ?? ""
        let title: TerminalText = "\(state == "open" ? "" : state + by + ": ")\(json["title"]?.string ?? "")"
        // A receiver, a place or a budget is no stream.
        head = count > 0 ? title + "  \(count) stream\(count == 1 ? "" : "s")" : title
        urgency = ["critical": 0, "warning": 1, "info": 2][json["severity"]?.string ?? ""] ?? 1
    }

    /// Where the incident stands among others: those that nobody hides first, then by urgency and age.
    var place: (Int, Int, Int64) {
        (["silenced", "maintenance"].contains(state) ? 1 : 0, urgency, since ?? .max)
    }

    init(alert json: JSONValue) {
        let isFiring = json["firing"] == .bool(true)
        (id, state, isOpen, isUrgent, since) = (nil, isFiring ? "open" : "pending", isFiring, isFiring, nil)
        streams = json["stream"]?.string.map { [$0] } ?? []
        alerts = json["alert"]?.string.map { [$0] } ?? []
        head =
            "\(isFiring ? "FIRING" : "pending") \(json["alert"]?.string ?? ""): \(json["stream"]?.string ?? "") \(json["reason"]?.string ?? "")"
    }

    func text(at now: Int64?) -> TerminalText {
        guard let now, let since, now >= since else { return head }
        return head + "  " + Figure.duration(Int(clamping: (now - since) / 1_000 * 1_000))
    }
}
