internal import Foundation
internal import Instrument
internal import InstrumentFrameCode
internal import InstrumentJSON

/// The texts of rows: for a terminal, for documents and for programs.
package struct TruthTable: Sendable {
    package static let headings = [
        "player", "start s", "eye s", "off ms", "stalls s", "off ms", "seeks, pauses s", "off ms", "requests",
        "probe s",
        "verdict",
    ]
    private static let widths = [9, 7, 6, 6, 12, 10, 15, 9, 8, 14]

    package var rows: [TruthRow] = []

    package init() {}

    /// What the columns mean.
    package static let legend = """
        start, eye: seconds since the command to play, by the tracker and by the eye; lengths are the tracker's, those in
        parentheses the eye's alone. off: the tracker's largest errors in ms, at the begin/at the end. told: the delay of a
        report that the eye cannot see. requests: the tracker's/the origin's. probe: start; stalls, in the player's profile.
        """

    /// The reasons of known errors, in the order of their numbers.
    package var reasons: [String] {
        rows.reduce(into: []) { reasons, row in
            if case .known(let found) = row.verdict { reasons += found.filter { !reasons.contains($0) } }
        }
    }

    /// A line of the terminal's table.
    package static func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths).enumerated().map { number, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return number == 0 ? cell.0 + padding : padding + cell.0
        }
        return "  " + (padded + cells.dropFirst(widths.count)).joined(separator: "  ")
    }

    /// The cells of a row, in the order of `headings`.
    package func cells(_ row: TruthRow) -> [String] {
        let motion = row.motion
        return [
            row.player, Self.seconds(motion.trackedStart), Self.seconds(motion.seenStart),
            Self.error(motion.startError),
            row.stalls.isEmpty ? "none" : row.stalls.map(Self.length).joined(separator: ", "), Self.errors(row.stalls),
            others(row),
            Self.errors(row.others), "\(row.reportedRequests.map(String.init) ?? "–")/\(row.loggedRequests)",
            row.probed.map(Self.text) ?? "–", verdict(row),
        ]
    }

    /// The table of a document, with the reasons below it.
    package var markdown: String {
        let headings = ["schedule"] + Self.headings
        let lines =
            [headings, headings.map { _ in "---" }].map { "|" + $0.map { " \($0) " }.joined(separator: "|") + "|" }
            + rows.map { row in "|" + ([row.schedule] + cells(row)).map { " \($0) " }.joined(separator: "|") + "|" }
        let notes = reasons.enumerated().map { "\n\($0.offset + 1). \($0.element)" }
        return lines.joined(separator: "\n") + "\n" + notes.joined()
    }

    /// A row as a line of JSON, times in seconds.
    package static func json(_ row: TruthRow) -> String {
        let interruptions = row.motion.interruptions.map { one in
            JSONValue.object([
                "kind": one.kind.map { .string($0.rawValue) } ?? .null, "trackedBegin": number(one.tracked?.begin),
                "trackedEnd": number(one.tracked?.end), "seenBegin": number(one.seen?.begin),
                "seenEnd": number(one.seen?.end),
            ])
        }
        let asked = row.asked.map { JSONValue.object(["kind": .string($0.kind.rawValue), "delay": number($0.delay)]) }
        let probed = row.probed.map { probed in
            JSONValue.object([
                "start": number(probed.start), "stalls": .array(probed.stalls.map { number($0) }),
                "failed": .bool(probed.hasFailed),
            ])
        }
        let members: [String: JSONValue] = [
            "schedule": .string(row.schedule), "player": .string(row.player),
            "packaging": .string(row.packaging.rawValue),
            "trackedStart": number(row.motion.trackedStart), "seenStart": number(row.motion.seenStart),
            "interruptions": .array(interruptions), "asked": .array(asked),
            "reportedRequests": row.reportedRequests.map { .int($0) } ?? .null,
            "loggedRequests": .int(row.loggedRequests), "probe": probed ?? .null, "lateness": number(row.lateness),
            "verdict": .string(words(row.verdict)),
        ]
        return JSONValue.object(members).description
    }

    /// The seeks, pauses and ends, and those that were asked for within another interruption.
    private func others(_ row: TruthRow) -> String {
        let shown = row.others.map { "\($0.kind?.rawValue ?? "") \(Self.length($0))" }
        return (shown + row.hidden.map { "\($0.kind.rawValue) told \(Self.error($0.delay))" }).joined(separator: ", ")
    }

    private func verdict(_ row: TruthRow) -> String {
        guard case .known(let found) = row.verdict else { return Self.words(row.verdict) }
        let numbers = found.map { "\((reasons.firstIndex(of: $0) ?? reasons.count) + 1)" }
        return "as known (\(numbers.joined(separator: ", ")))"
    }

    private static func words(_ verdict: TruthRow.Verdict) -> String {
        switch verdict {
        case .within: "within"
        case .known(let reasons): reasons.joined(separator: " ")
        case .outside(let found): "outside: " + found.joined(separator: ", ")
        case .notJudged(let lateness): "not judged: late by \(seconds(lateness)) s"
        }
    }

    private static func text(_ probed: TruthRow.Probed) -> String {
        let rest = probed.stalls.map { $0 == nil ? "open" : seconds($0) } + (probed.hasFailed ? ["error"] : [])
        return seconds(probed.start) + (rest.isEmpty ? "" : "; " + rest.joined(separator: " "))
    }

    private static func length(_ interruption: MotionComparison.Interruption) -> String {
        guard let tracked = interruption.tracked else {
            return interruption.seen?.length.map { "(\(seconds($0)))" } ?? "(open)"
        }
        return tracked.length.map { seconds($0) } ?? "open"
    }

    /// The largest errors at both ends.
    private static func errors(_ interruptions: [MotionComparison.Interruption]) -> String {
        if interruptions.isEmpty { return "" }
        func largest(_ errors: [Duration?]) -> String {
            errors.compactMap { $0 }.max { abs($0 / .seconds(1)) < abs($1 / .seconds(1)) }.map { error($0) } ?? "–"
        }
        return largest(interruptions.map(\.beginError)) + "/" + largest(interruptions.map(\.endError))
    }

    private static func seconds(_ duration: Duration?) -> String {
        duration.map { String(format: "%.2f", $0 / .seconds(1)) } ?? "none"
    }

    private static func error(_ duration: Duration?) -> String {
        duration.map { String(format: "%+d", Int(($0 / .milliseconds(1)).rounded())) } ?? "–"
    }

    private static func number(_ duration: Duration?) -> JSONValue {
        duration.map { .double(($0 / .milliseconds(1)).rounded() / 1000) } ?? .null
    }
}
