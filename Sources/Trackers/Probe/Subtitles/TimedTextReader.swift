internal import Instrument
internal import InstrumentXML

/// Counts the timed paragraphs and pictures of a TTML document (W3C Timed Text Markup Language 2, section 8.1.5; IMSC
/// profiles).
struct TimedTextReader {
    /// A film has some thousand paragraphs.
    private static let limits = MarkupLimits(
        bytes: 64 << 20,
        textBytes: 1 << 20,
        depth: 64,
        elements: 200_000,
        attributes: 100
    )
    /// The longest time expression that is read.
    private static let longestTime = 32
    /// The namespace of TTML 1 and 2 (section 5.1); drafts had others, which strict readers refuse.
    private static let namespace = "http://www.w3.org/ns/ttml"

    private var content = SubtitleContent()
    /// The declared frames of a second, before the multiplier: frames of a time expression are below it.
    private let frameCount: Double
    private let frameRate: Double
    private let tickRate: Double
    /// The time of the segment in nanoseconds; nil if cues are not compared with it.
    private var range: Range<Int64>?
    /// The times of the regions in the head, by their identifiers.
    private var regions: [String: Interval] = [:]

    static func read(_ bytes: [UInt8], range: Range<Int64>? = nil) -> SubtitleContent {
        var failed = SubtitleContent()
        let (root, namespace): (MarkupElement, String?)
        do throws(MarkupError) {
            (root, namespace) = try MarkupReader.readDocument(bytes, as: "the TTML document", limits: limits)
        } catch {
            failed.note(error.message)
            return failed
        }
        guard root.name == "tt" else {
            let found = "(found `\(root.name.prefix(80))`)"
            failed.note("the root element of a TTML document must be `tt` \(found); check the server's answer")
            return failed
        }
        var reader = TimedTextReader(root)
        reader.range = range
        if namespace != Self.namespace {
            let found = namespace.map { "`\($0.prefix(80))`" } ?? "no namespace"
            reader.content.note("the element `tt` must be in the namespace `\(Self.namespace)` (found \(found))")
        }
        if Self.multiplierText(root) != nil, Self.multiplier(root) == nil {
            reader.content.note("`frameRateMultiplier` must be two numbers above 0, such as `1000 1001`")
        }
        reader.readRegions(of: root)
        if let body = root.first("body") { reader.read(body, at: reader.interval(of: body, in: Interval())) }
        return reader.content
    }

    private init(_ root: MarkupElement) {
        // The parameters have the prefix of their namespace.
        func parameter(_ name: String) -> Double? {
            let key = root.attributes.keys.filter { $0.hasSuffix(":\(name)") }.min()
            return key.flatMap { root.attributes[$0] }.flatMap { Self.number($0[...]) }.flatMap { $0 > 0 ? $0 : nil }
        }
        frameCount = parameter("frameRate") ?? 30
        frameRate = frameCount * (Self.multiplier(root) ?? 1)
        tickRate = parameter("tickRate") ?? parameter("frameRate") ?? 1
    }

    /// The factor between the declared and the effective frame rate, such as 1000/1001 (`ttp:frameRateMultiplier`); nil
    /// without one.
    private static func multiplier(_ root: MarkupElement) -> Double? {
        guard let text = multiplierText(root), text.utf8.count <= 2 * longestTime else { return nil }
        // TTML 1 in its first edition has a colon between the numbers.
        let parts = text.split(whereSeparator: { $0 == " " || $0 == ":" }).map { number($0) }
        guard parts.count == 2, let numerator = parts[0], let denominator = parts[1], numerator > 0, denominator > 0
        else { return nil }
        return numerator / denominator
    }

    private static func multiplierText(_ root: MarkupElement) -> String? {
        root.attributes.keys.filter { $0.hasSuffix(":frameRateMultiplier") }.min().flatMap { root.attributes[$0] }
    }

    /// Reads the times during which the regions of the head show their content (section 11.1.2).
    private mutating func readRegions(of root: MarkupElement) {
        for region in root.first("head")?.first("layout")?.all("region") ?? NamedElements() {
            let time = interval(of: region, in: Interval())
            if time.isTimed, let name = region["xml:id"] { regions[name] = time }
        }
    }

    /// Reads an element with its time and that of its region; the depth of the document is limited.
    private mutating func read(_ element: MarkupElement, at own: Interval, in region: Interval? = nil) {
        // An element without a region is in that of the element around it.
        let region = element["region"].map { regions[$0] } ?? region
        if element.isImage, own.isTimed || region != nil { return count(own, in: region) }
        guard element.name == "p" else {
            for (child, time) in timed(element.children.filter { ["div", "p"].contains($0.name) }, of: element, own) {
                read(child, at: time, in: region)
            }
            return
        }
        let spans = timed(element.children.filter { $0.name == "span" }, of: element, own).map(\.time)
        guard own.isTimed || region != nil || spans.contains(where: \.isTimed) else { return }
        count(own.isTimed ? own : spans.first(where: \.isTimed) ?? own, in: region)
    }

    /// Children with their times: together, or one after another in an element with `timeContainer="seq"` (section
    /// 12.2.4), where a child without an end takes no time.
    private mutating func timed(
        _ children: [MarkupElement],
        of element: MarkupElement,
        _ own: Interval
    ) -> [(child: MarkupElement, time: Interval)] {
        let isSequence = element["timeContainer"] == "seq"
        var around = own
        return children.map { child in
            var time = interval(of: child, in: around)
            guard isSequence else { return (child, time) }
            if child["end"] == nil, child["dur"] == nil { time.end = time.begin }
            around.begin = max(around.begin, time.end ?? time.begin)
            return (child, time)
        }
    }

    /// Counts a cue, unless its region has all of its time before or behind that of the cue.
    private mutating func count(_ own: Interval, in region: Interval?) {
        var shown = own
        if let region {
            shown.begin = max(own.begin, region.begin)
            shown.end = [own.end, region.end].compactMap(\.self).min()
            if let end = shown.end, end <= shown.begin { return }
        }
        content.cueCount += 1
        let start = Duration(clampingSeconds: shown.begin).nanoseconds
        content.note(start: start)
        content.note(cueFrom: start, to: shown.end.map { Duration(clampingSeconds: $0).nanoseconds } ?? .max, in: range)
    }

    /// The time of an element in seconds, which begins with that of the element around it.
    private struct Interval {
        var begin = 0.0
        /// nil for no end.
        var end: Double?
        var isTimed = false
    }

    /// Reads the times of an element, which count from the beginning of the element around it (section 12.3.1).
    private mutating func interval(of element: MarkupElement, in outer: Interval) -> Interval {
        var times: [String: Double] = [:]
        for name in ["begin", "end", "dur"] {
            guard let text = element[name] else { continue }
            guard let time = time(text) else {
                content.note("`\(name)` of line \(element.line) must be a time expression of TTML")
                continue
            }
            times[name] = time
        }
        if let begin = times["begin"], let end = times["end"], end < begin {
            content.note("`end` of line \(element.line) must not be before `begin`")
        }
        let begin = outer.begin + (times["begin"] ?? 0)
        let ends = [times["end"].map { outer.begin + $0 }, times["dur"].map { begin + $0 }, outer.end]
        return Interval(
            begin: begin,
            end: ends.compactMap(\.self).min(),
            isTimed: outer.isTimed || !times.isEmpty
        )
    }

    /// Seconds of `HH:MM:SS.fraction`, `HH:MM:SS:frames`, or a number with `h`, `m`, `s`, `ms`, `f` or `t` (section
    /// 12.3.1).
    private func time(_ text: String) -> Double? {
        guard text.utf8.count <= Self.longestTime else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count >= 3 {
            guard parts.count <= 4, let hours = Self.number(parts[0]), let minutes = Self.number(parts[1]),
                let seconds = Self.number(parts[2]), minutes < 60, seconds <= 60
            else { return nil }
            let frames = parts.count == 4 ? Self.number(parts[3]) : 0
            guard frames.map({ $0 < frameCount }) ?? true else { return nil }
            return frames.map { hours * 3600 + minutes * 60 + seconds + $0 / frameRate }
        }
        let units: [(name: String, seconds: Double)] = [
            ("ms", 0.001), ("h", 3600), ("m", 60), ("s", 1), ("f", 1 / frameRate), ("t", 1 / tickRate),
        ]
        guard parts.count == 1, let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        return Self.number(text.dropLast(unit.name.count)).map { $0 * unit.seconds }
    }

    /// A number of digits, with at most one point.
    private static func number(_ text: Substring) -> Double? {
        guard !text.isEmpty, text.utf8.count <= longestTime, text.utf8.first != UInt8(ascii: "."),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text)
    }
}

extension MarkupElement {
    /// Whether the element is shown as a picture: a `div` of the image profile of IMSC 1.1, with an `image`, or of IMSC
    /// 1.0, with `smpte:backgroundImage`.
    fileprivate var isImage: Bool {
        name == "div" && (first("image") != nil || attributes.keys.contains { $0.hasSuffix(":backgroundImage") })
    }
}
