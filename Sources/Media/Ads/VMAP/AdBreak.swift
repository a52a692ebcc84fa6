internal import Instrument

/// A break of a schedule (VMAP 1.0, section 2.3.3).
package struct AdBreak: Hashable, Sendable {
    /// The time of a break.
    package enum Time: Hashable, Sendable {
        /// Before the content.
        case start
        /// After the content.
        case end
        /// An offset into the content.
        case offset(AdOffset)
        /// The break with this number, from 1, among the breaks that the content itself marks.
        case position(Int)

        /// Reads `start`, `end`, `HH:MM:SS(.mmm)`, `n%` or `#n`; nil if the text has another form.
        init?(_ text: some StringProtocol) {
            if text == "start" {
                self = .start
            } else if text == "end" {
                self = .end
            } else if text.hasPrefix("#") {
                let digits = text.dropFirst()
                guard 1...6 ~= digits.utf8.count, digits.utf8.allSatisfy(\.isDigit), let number = Int(digits),
                    number > 0
                else { return nil }
                self = .position(number)
            } else if let offset = AdOffset(text) {
                self = .offset(offset)
            } else {
                return nil
            }
        }

        /// The position in the content in nanoseconds; nil for `end` of content without duration, a share of it, and
        /// `#n` beyond the marked breaks.
        package func nanoseconds(of duration: Int64?, marks: [Int64] = []) -> Int64? {
            switch self {
            case .start: 0
            case .end: duration
            case .offset(let offset): offset.nanoseconds(of: duration)
            case .position(let number): number <= marks.count ? marks[number - 1] : nil
            }
        }

        /// The time as VMAP writes it.
        package var text: String {
            switch self {
            case .start: "start"
            case .end: "end"
            case .offset(let offset): offset.text
            case .position(let number): "#\(number)"
            }
        }
    }

    /// The form of ads that a break allows.
    package enum Kind: String, Hashable, Sendable {
        /// Media in place of the content.
        case linear
        /// Images over the content.
        case nonLinear = "nonlinear"
        /// Images beside the player.
        case display
    }

    /// The source of a break's ads.
    package enum Source: Hashable, Sendable {
        /// A VAST response inside the document.
        case response(VASTResponse)
        /// The address of a VAST response.
        case tag(AdURL)
        /// Another format, with the name of its template; not supported.
        case custom(template: String)
    }

    /// `timeOffset`.
    package var time: Time
    /// `breakType`.
    package var kinds: [Kind]
    /// `breakId`.
    package var id: String?
    /// `repeatAfter` in nanoseconds: the break repeats after every such duration; nil if the break takes place once.
    package var repeatAfter: Int64?
    /// `AdSource`; nil for a break that only tracks.
    package var source: Source?
    /// `allowMultipleAds` of the source.
    package var allowsMultipleAds = true
    /// `followRedirects` of the source.
    package var followsRedirects = true
    /// The addresses of `breakStart`.
    package var startURLs: [AdURL] = []
    /// The addresses of `breakEnd`.
    package var endURLs: [AdURL] = []
    /// The addresses of `error`.
    package var errorURLs: [AdURL] = []

    /// Schedules round times, and media ends a little earlier or later than they say.
    private static let tolerance: Int64 = 500_000_000

    /// The role of the break's ads: `pre`, `mid` or `post`. A break at the end of the content is a post-roll; a break
    /// behind the end stays a mid-roll, which the content never reaches.
    package func role(in duration: Int64?) -> String {
        switch time {
        case .start, .offset(.time(0)), .offset(.percent(0)): "pre"
        case .end, .offset(.percent(100)): "post"
        case .offset(.time(let offset)) where duration.map { offset >= $0 } ?? false:
            isBehindEnd(of: duration) ? "mid" : "post"
        default: "mid"
        }
    }

    /// Whether the break lies behind the end of content with a known duration, so that a player never reaches it (VMAP
    /// 1.0, section 2.3.3: `timeOffset` is a time in the content; only `end` is behind it).
    package func isBehindEnd(of duration: Int64?) -> Bool {
        guard let duration, case .offset(.time(let offset)) = time, offset > 0 else { return false }
        return offset > duration.saturatingAdd(Self.tolerance)
    }
}
