package import Instrument
package import InstrumentHTTP
package import InstrumentManifests
internal import InstrumentText

/// An interstitial of an HLS playlist: a date range of the class `com.apple.hls.interstitial` (RFC 8216bis, appendix
/// D).
///
/// Times are nanoseconds on the timeline of the content.
package struct Interstitial: Hashable, Sendable, Identifiable {
    /// The condition under which an interstitial plays, in addition to its position (`CUE`).
    package struct Cue: OptionSet, Hashable, Sendable {
        /// The bits.
        package let rawValue: Int
        /// Creates a cue.
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// Before the content.
        package static let pre = Cue(rawValue: 1)
        /// After the content.
        package static let post = Cue(rawValue: 2)
        /// Once only, though the person comes back to the position.
        package static let once = Cue(rawValue: 4)
    }

    /// The actions that the viewer may not take (`X-RESTRICT`).
    package struct Restrictions: OptionSet, Hashable, Sendable {
        /// The bits.
        package let rawValue: Int
        /// Creates restrictions.
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// The person must not seek or speed up while the interstitial plays.
        package static let skip = Restrictions(rawValue: 1)
        /// The person must not seek past the interstitial before it has played.
        package static let jump = Restrictions(rawValue: 2)
    }

    /// Which transitions move to the boundary of a segment (`X-SNAP`).
    package struct Snap: OptionSet, Hashable, Sendable {
        /// The bits.
        package let rawValue: Int
        /// Creates a set of transitions.
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// The transition from the content.
        package static let out = Snap(rawValue: 1)
        /// The transition to the content.
        package static let `in` = Snap(rawValue: 2)
    }

    /// The times at which the viewer may skip (`X-SKIP-CONTROL-…`), in nanoseconds.
    package struct SkipControl: Hashable, Sendable {
        /// The offset from which on a button is shown.
        package var offset: Int64
        /// The duration for which the button is shown; nil up to the end.
        package var duration: Int64?
        /// The identifier of the button's text.
        package var labelID: String?
    }

    /// The source of the media.
    package enum Source: Hashable, Sendable {
        /// One asset (`X-ASSET-URI`).
        case asset(HTTPURL)
        /// A list of assets (`X-ASSET-LIST`).
        case list(HTTPURL)
    }

    /// `ID`.
    package var id: String
    /// The start, in nanoseconds from the first segment of the playlist; for `PRE` and `POST` without effect.
    package var start: Int64
    /// `START-DATE`.
    package var date: WallTime
    /// The media.
    package var source: Source
    /// `CUE`, or `X-CUE`.
    package var cue: Cue = []
    /// `DURATION`, else the time up to `END-DATE`.
    package var duration: Int64?
    /// `PLANNED-DURATION`.
    package var plannedDuration: Int64?
    /// `X-RESUME-OFFSET`: where the content resumes, from the start; may be negative. nil: after the actual duration.
    package var resumeOffset: Int64?
    /// `X-PLAYOUT-LIMIT`: the longest time for which the interstitial plays.
    package var playoutLimit: Int64?
    /// `X-RESTRICT`.
    package var restrictions: Restrictions = []
    /// `X-SNAP`.
    package var snap: Snap = []
    /// `X-TIMELINE-OCCUPIES=RANGE`: the interstitial takes its duration on a timeline that is shown. False: a point.
    package var occupiesRange = false
    /// `X-CONTENT-MAY-VARY`: two persons may see different media. True unless the attribute says `NO`.
    package var contentMayVary = true
    /// `X-TIMELINE-STYLE=HIGHLIGHT`: the timeline shows the interstitial as apart from the content.
    package var isHighlighted = false
    /// `X-SKIP-CONTROL-…`; nil without a button.
    package var skipControl: SkipControl?
    /// The line of the tag.
    package var line: Int?

    /// The duration with its limit, before the assets are known.
    package var announcedDuration: Int64 { limited(duration ?? plannedDuration ?? 0) }

    func limited(_ duration: Int64) -> Int64 { max(0, min(duration, playoutLimit ?? .max)) }
}

/// The interstitials of a playlist, and the invalid date ranges of their class.
package struct Interstitials: Hashable, Sendable {
    /// The rule of what an interstitial needs beyond a date range.
    package static let rule = "RFC 8216bis, appendix D.2"
    /// The rules of date ranges.
    private static let rangeRule = "RFC 8216bis, section 4.4.5.1"
    /// More than a day of breaks every five minutes with six ads each. A schedule of more would take too long to
    /// compute.
    private static let most = 2_000

    /// The valid interstitials, in the order of their tags.
    package private(set) var all: [Interstitial] = []
    /// Defects.
    package private(set) var findings: [AdFinding] = []

    /// Reads the interstitials of a media playlist.
    package init(_ playlist: HLSMediaPlaylist) {
        let clock = PlaylistClock(playlist)
        for range in playlist.dateRanges where range.rangeClass == DateRange.interstitialClass {
            do throws(Defect) {
                guard all.count < Self.most else {
                    throw Defect(message: "a playlist can have \(Self.most) interstitials; this one is left out")
                }
                all.append(try Interstitial(range, clock, playlist.url))
            } catch {
                guard findings.count < 200 else { continue }
                findings.append(AdFinding(.error, rule: error.rule, message: error.message, line: range.line))
            }
        }
    }

    struct Defect: Error {
        var rule = Interstitials.rule
        var message: String

        /// A defect that each date range may have.
        static func ofRange(_ message: String) -> Defect { Defect(rule: rangeRule, message: message) }
    }
}

extension Interstitial {
    init(_ range: DateRange, _ clock: PlaylistClock, _ base: HTTPURL) throws(Interstitials.Defect) {
        let attributes = range.attributes
        if let name = range.contradiction {
            throw .ofRange("the tags contradict each other in `\(name)`")
        }
        if let text = attributes["DURATION"], range.nanoseconds("DURATION").map({ $0 < 0 }) ?? true {
            throw .ofRange(
                "`DURATION` must be a number of seconds, not negative (found `\(text.excerpt(toBytes: 20))`)"
            )
        }
        let source = try Self.source(attributes, base)
        let cue = Cue(attributes["CUE"] ?? attributes["X-CUE"])
        guard !cue.contains([.pre, .post]) else {
            throw Interstitials.Defect(message: "`CUE` must not have PRE and POST")
        }
        guard let start = clock.position(of: range.start) else {
            throw .ofRange("the playlist must have `EXT-X-PROGRAM-DATE-TIME`")
        }
        self.init(id: range.id, start: start, date: range.start, source: source, cue: cue)
        duration = range.actualDuration
        plannedDuration = range.nanoseconds("PLANNED-DURATION")
        resumeOffset = range.nanoseconds("X-RESUME-OFFSET")
        playoutLimit = range.nanoseconds("X-PLAYOUT-LIMIT").flatMap { $0 >= 0 ? $0 : nil }
        let words = { (name: String) in
            Set((attributes[name] ?? "").split(separator: ",").map { $0.trimmingPrefix(" ") })
        }
        let (restrict, snap) = (words("X-RESTRICT"), words("X-SNAP"))
        if restrict.contains("SKIP") { restrictions.insert(.skip) }
        if restrict.contains("JUMP") { restrictions.insert(.jump) }
        if snap.contains("OUT") { self.snap.insert(.out) }
        if snap.contains("IN") { self.snap.insert(.in) }
        occupiesRange = attributes["X-TIMELINE-OCCUPIES"] == "RANGE"
        contentMayVary = attributes["X-CONTENT-MAY-VARY"] != "NO"
        isHighlighted = attributes["X-TIMELINE-STYLE"] == "HIGHLIGHT"
        if let offset = range.nanoseconds("X-SKIP-CONTROL-OFFSET") {
            skipControl = SkipControl(
                offset: max(0, offset),
                duration: range.nanoseconds("X-SKIP-CONTROL-DURATION"),
                labelID: attributes["X-SKIP-CONTROL-LABEL-ID"]
            )
        }
        line = range.line
    }

    private static func source(
        _ attributes: [String: String],
        _ base: HTTPURL
    ) throws(Interstitials.Defect) -> Source {
        let (asset, list) = (attributes["X-ASSET-URI"], attributes["X-ASSET-LIST"])
        guard (asset == nil) != (list == nil), let text = asset ?? list else {
            let found = asset == nil ? "none" : "both"
            throw Interstitials.Defect(
                message: "an interstitial must have one of X-ASSET-URI and X-ASSET-LIST (found \(found))"
            )
        }
        do throws(HTTPError) {
            let url = try base.resolving(text)
            return asset != nil ? .asset(url) : .list(url)
        } catch {
            throw Interstitials.Defect(message: "the address of an interstitial must be http or https")
        }
    }
}

extension Interstitial.Cue {
    fileprivate init(_ text: String?) {
        self = []
        for word in (text ?? "").split(separator: ",") {
            switch word.drop(while: { $0 == " " }) {
            case "PRE": insert(.pre)
            case "POST": insert(.post)
            case "ONCE": insert(.once)
            default: break
            }
        }
    }
}
