package import InstrumentJSON
package import InstrumentTerminal

/// A key of the keyboard.
package enum TerminalKey: Hashable, Sendable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end, enter, escape, backspace

    /// Reads the keys in bytes of a terminal; bytes that are no key are left out.
    package static func keys(in bytes: [UInt8]) -> [TerminalKey] {
        let sequences: [(String, TerminalKey)] = [
            ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
            ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[F", .end),
            ("\u{1B}[4~", .end),
        ]
        var keys: [TerminalKey] = []
        var rest = bytes[...]
        while let first = rest.first {
            if let (text, key) = sequences.first(where: { rest.starts(with: $0.0.utf8) }) {
                keys.append(key)
                rest = rest.dropFirst(text.utf8.count)
            } else if first == 0x1B {
                // An escape sequence that is not known is skipped up to its last byte; a lone escape is a key.
                if rest.count > 1, rest[rest.startIndex + 1] == UInt8(ascii: "[") {
                    rest = rest.dropFirst(2).drop { !(0x40...0x7E).contains($0) }.dropFirst()
                } else {
                    keys.append(.escape)
                    rest = rest.dropFirst()
                }
            } else {
                let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
                let text = String(validating: rest.prefix(length), as: UTF8.self)
                rest = rest.dropFirst(text == nil ? 1 : length)
                switch first {
                case 0x0A, 0x0D: keys.append(.enter)
                case 0x08, 0x7F: keys.append(.backspace)
                case 0..<0x20: break
                default: keys += (text ?? "").map { .character($0) }
                }
            }
        }
        return keys
    }
}

/// The terminal view: a table of streams that sorts and filters by key, and one stream in detail. A value; the terminal
/// itself is elsewhere.
package struct StreamTable: Sendable {
    package enum Sort: String, Hashable, Sendable, CaseIterable {
        case trouble, name, start, stalls, bitrate, errors
    }

    package private(set) var rows: [TableRow] = []
    package private(set) var sort = Sort.trouble
    package private(set) var filter = ""
    package private(set) var isTyping = false
    package private(set) var selected: String?
    /// The stream that is shown in detail; nil for the table.
    package private(set) var opened: String?
    package private(set) var hasEnded = false
    /// A line about the connection; empty without a problem.
    package var problem: TerminalText = ""
    private var top = 0
    private var alerts: [(isFiring: Bool, text: TerminalText)] = []
    private var detail: JSONValue?
    private let isColored: Bool
    private let hasSelection: Bool
    private var height = 24

    /// - Parameter hasSelection: whether the line that keys act on is marked; false for a table that is printed.
    package init(isColored: Bool, hasSelection: Bool = true) {
        (self.isColored, self.hasSelection) = (isColored, hasSelection)
    }

    /// Takes the monitor's state document.
    package mutating func take(_ document: JSONValue) {
        if case .array(let streams)? = document["streams"] { rows = streams.compactMap { TableRow($0) } }
        guard case .array(let list)? = document["alerts"] else { return }
        alerts = list.map { alert in
            let isFiring = alert["firing"] == .bool(true)
            let text: TerminalText =
                "\(isFiring ? "FIRING" : "pending") \(alert["alert"]?.string ?? ""): \(alert["stream"]?.string ?? "") \(alert["reason"]?.string ?? "")"
            return (isFiring, text)
        }
    }

    /// Takes the document of the stream that is opened.
    package mutating func take(detail document: JSONValue?) { detail = document }

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

    /// Applies a key.
    package mutating func press(_ key: TerminalKey) {
        if isTyping { return type(key) }
        switch key {
        case .character("q"): hasEnded = true
        case .escape: if opened != nil { (opened, detail) = (nil, nil) } else { filter = "" }
        case .character("/"): isTyping = true
        case .character("s"):
            let all = Sort.allCases
            sort = all[((all.firstIndex(of: sort) ?? 0) + 1) % all.count]
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

    private mutating func type(_ key: TerminalKey) {
        switch key {
        case .enter: isTyping = false
        case .escape: (isTyping, filter) = (false, "")
        case .backspace: filter = String(filter.dropLast())
        case .character(let character): if filter.count < 60 { filter.append(character) }
        case .up, .down, .pageUp, .pageDown, .home, .end: break
        }
    }

    private var current: String? {
        let names = shown.map(\.name)
        return selected.flatMap { names.contains($0) ? $0 : nil } ?? names.first
    }

    private mutating func move(_ step: Int) {
        let names = shown.map(\.name)
        guard !names.isEmpty else { return }
        let place = selected.flatMap { names.firstIndex(of: $0) } ?? 0
        selected = names[min(names.count - 1, max(0, place + step))]
        if opened != nil { (opened, detail) = (selected, nil) }
    }

    // MARK: Drawing

    /// The lines of a screen of this size; never more, and none wider.
    package mutating func lines(columns: Int, rows height: Int) -> [TerminalText] {
        self.height = height
        let list = shown
        var lines = [cut(headline(list), columns, bold: true)]
        if !problem.isEmpty { lines.append(cut(problem, columns, "31")) }
        if let opened {
            lines += detailLines(opened, columns, height - lines.count - 1)
        } else {
            for alert in alerts.prefix(3) { lines.append(cut(alert.text, columns, alert.isFiring ? "31" : "33")) }
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
        let down = rows.count { $0.isUp == false }
        let stalled = rows.count { $0.state == "stalled" }
        let some: TerminalText = list.count < rows.count ? "\(list.count) of " : ""
        return some
            + "\(rows.count) stream\(rows.count == 1 ? "" : "s"), \(down) down, \(stalled) stalled, \(alerts.count { $0.isFiring }) alerts"
    }

    private var footer: TerminalText {
        if isTyping { return "filter: \(filter)_  (Enter applies, Esc clears)" }
        let filtered: TerminalText = filter.isEmpty ? "" : ", filter '\(filter)'"
        return opened == nil
            ? "q quit  / filter  s sort (\(sort.rawValue))" + filtered + "  Enter detail"
            : "q quit  Esc back  Up/Down other stream"
    }

    private mutating func tableLines(_ list: [TableRow], _ columns: Int, _ height: Int) -> [TerminalText] {
        let room = max(0, height - 1)
        let place = current.flatMap { name in list.firstIndex { $0.name == name } } ?? 0
        if place < top { top = place }
        if place >= top + room { top = place - room + 1 }
        top = max(0, min(top, list.count - room))
        let part = list.dropFirst(top).prefix(room)
        let widest = part.map { TerminalText($0.name).columns }.max() ?? 0
        let layout = Layout(columns: columns, widestName: widest)
        let name = current
        let head = cut(mark(false) + layout.header, columns, "2")
        if list.isEmpty {
            let reason: TerminalText = rows.isEmpty ? "No stream is configured." : "No stream matches the filter."
            return Array([head, cut(mark(false) + reason, columns)].prefix(max(0, height)))
        }
        return [head]
            + part.map { row in
                let isSelected = hasSelection && row.name == name
                let line = cut(mark(isSelected) + layout.line(of: row), columns)
                if isSelected { return style(line, "7") }
                return row.trouble > 0 ? style(line, row.trouble >= 4 ? "31" : "33") : line
            }
    }

    /// What marks a line without colours.
    private func mark(_ isSelected: Bool) -> TerminalText {
        if isColored || !hasSelection { return "" }
        return isSelected ? ">" : " "
    }

    private func detailLines(_ name: String, _ columns: Int, _ height: Int) -> [TerminalText] {
        guard let row = rows.first(where: { $0.name == name }) else { return ["\(name) is no longer configured."] }
        var lines: [TerminalText] = [
            "", "\(row.name)  \(row.state)",
            "  start \(Figure.duration(row.startup)), \(row.rebuffers) stalls, "
                + "stalled \(Figure.duration(row.rebuffering)) (\(Figure.percent(row.rebufferRatio))), played \(Figure.duration(row.playing))",
            "  quality \(Figure.rate(row.bitrate)), latency \(Figure.duration(row.latency)), buffer \(Figure.duration(row.buffer)), playlist unchanged for \(Figure.duration(row.age))",
        ]
        if let code = row.errorCode { lines.append("  latest error \(code): \(row.errorMessage ?? "")") }
        if !row.broken.isEmpty { lines.append("  broken: \(row.broken.joined(separator: ", "))") }
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

/// The columns of the table, as many as fit.
private struct Layout {
    private let nameWidth: Int
    private let isWide: Bool
    private let isNarrow: Bool

    init(columns: Int, widestName: Int) {
        isWide = columns >= 110
        isNarrow = columns < 60
        nameWidth = min(max(8, widestName), max(8, columns - (isNarrow ? 14 : isWide ? 80 : 54)))
    }

    var header: TerminalText {
        line(["STREAM", "STATE", "START", "STALLS", "STALLED", "QUALITY", "LATENCY", "BUFFER", "ERROR"])
    }

    func line(of row: TableRow) -> TerminalText {
        let error = row.broken.first ?? (row.isUp == false ? row.errorCode : nil) ?? ""
        return line([
            "\(row.name)", "\(row.state)", Figure.duration(row.startup), "\(row.rebuffers)",
            Figure.percent(row.rebufferRatio),
            Figure.rate(row.bitrate), Figure.duration(row.latency), Figure.duration(row.buffer), "\(error)",
        ])
    }

    private func line(_ cells: [TerminalText]) -> TerminalText {
        let widths = [nameWidth, 11, 9, 6, 8, 7, 9, 9, 0]
        let wanted = isNarrow ? [0, 1] : isWide ? Array(0...8) : [0, 1, 2, 3, 5, 8]
        let parts = wanted.map { index -> TerminalText in
            let isRight = (2...7).contains(index)
            let cell = widths[index] > 0 ? cells[index].prefix(columns: widths[index]) : cells[index]
            return cell.padded(toColumns: widths[index], isRight: isRight)
        }
        return parts.joined(separator: "  ")
    }
}
