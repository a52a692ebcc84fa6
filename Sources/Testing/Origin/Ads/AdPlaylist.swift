internal import Instrument
internal import InstrumentText

/// A playlist of the fixtures with signals of ad breaks or with interstitials: `vod/PACKAGING/ads-NAME.m3u8`, and for
/// some also `live/PACKAGING/ads-NAME.m3u8`.
enum AdPlaylist: String, CaseIterable, Sendable {
    /// A pre-roll by address, and a mid-roll by list.
    case interstitials
    /// `EXT-X-DATERANGE` with SCTE35-OUT and SCTE35-IN.
    case dateRange = "daterange"
    /// `EXT-X-CUE-OUT` and `EXT-X-CUE-IN`.
    case cue
    /// `EXT-X-CUE-OUT`, `EXT-X-CUE-OUT-CONT` and `EXT-X-CUE-IN`.
    case cueContinued = "cue-cont"
    /// `EXT-OATCLS-SCTE35`.
    case oatcls
    /// `EXT-X-SCTE35`.
    case scte35
    /// `EXT-X-SPLICEPOINT-SCTE35`.
    case splicePoint = "splicepoint"
    /// `EXT-X-CUE-IN` without a begin.
    case orphaned
    /// `emsg` boxes in the segments.
    case eventMessage = "emsg"
    /// A stream of type 0x86 in the segments.
    case stream

    /// The name in a path.
    static func named(_ name: String) -> AdPlaylist? {
        guard name.hasPrefix("ads-"), name.hasSuffix(".m3u8") else { return nil }
        return AdPlaylist(rawValue: String(name.dropFirst(4).dropLast(5)))
    }

    /// The date of the first segment of a stream that is complete.
    private static let date = WallTime(milliseconds: 1_795_341_600_000)
    /// A live stream has a break in every run of this many segments.
    private static let livePeriod = 6

    /// Whether a stream has this playlist.
    func isServed(_ kind: StreamKind, _ packaging: Track.Packaging) -> Bool {
        switch self {
        case .eventMessage: kind == .vod && packaging == .fragmented
        case .stream: kind == .vod && packaging == .transport
        case .interstitials, .dateRange, .cue, .cueContinued: kind != .event
        default: kind == .vod
        }
    }

    /// The packaging under which the catalogue names the playlist.
    var packaging: Track.Packaging { self == .eventMessage ? .fragmented : .transport }

    /// The playlist with the tags of this kind. The break begins before the second segment, and in a live stream before
    /// the second segment of each run.
    /// - Parameter first: the number of the first segment.
    func text(of playlist: String, segmentSeconds: Int, from first: Int) -> String {
        let isLive = playlist.contains("#EXT-X-PROGRAM-DATE-TIME")
        var (lines, number, date) = ([String](), first, Self.date)
        for line in playlist.split(separator: "\n").map(String.init) {
            if line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") {
                date = WallTime(rfc3339: line.drop { $0 != ":" }.dropFirst()) ?? date
            }
            if line.hasPrefix("#EXTINF") {
                if number == 0, !isLive { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Self.date.rfc3339)") }
                let (run, place) = isLive ? number.quotientAndRemainder(dividingBy: Self.livePeriod) : (0, number)
                let name = isLive ? "-\(run)" : ""
                lines += tags(before: place, of: name, at: date, segmentSeconds)
                if !isLive { date = WallTime(milliseconds: date.milliseconds + Int64(segmentSeconds) * 1_000) }
                number += 1
            }
            let isSignalled = !line.hasPrefix("#") && [.eventMessage, .stream].contains(self)
            lines.append(isSignalled ? SignalSegments.prefix + line : line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The tags before a segment.
    /// - Parameters:
    ///   - place: the number of the segment, in a live stream within its run.
    ///   - name: ends the identifiers of the run.
    ///   - date: the begin of the segment.
    private func tags(before place: Int, of name: String, at date: WallTime, _ seconds: Int) -> [String] {
        let begin = WallTime(milliseconds: date.milliseconds - Int64((place - 1) * seconds) * 1_000).rfc3339
        let range = "#EXT-X-DATERANGE:ID=\"break\(name)\",START-DATE=\"\(begin)\""
        let head = "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\""
        switch (self, place) {
        case (.interstitials, 0) where name.isEmpty:
            return [
                head + ",ID=\"pre\",START-DATE=\"\(date.rfc3339)\",CUE=\"PRE\",X-ASSET-URI=\"master.m3u8\",DURATION=4,"
                    + "X-PLAYOUT-LIMIT=2,X-RESUME-OFFSET=0",
                head + ",ID=\"mid\",START-DATE=\"\(begin)\",X-ASSET-LIST=\"../../ads/assets.json\",X-RESUME-OFFSET=0",
            ]
        case (.interstitials, 1) where !name.isEmpty:
            let list = "X-ASSET-LIST=\"../../ads/assets.json\",X-PLAYOUT-LIMIT=\(seconds)"
            return [head + ",ID=\"mid\(name)\",START-DATE=\"\(begin)\",\(list)"]
        case (.dateRange, 1):
            return [range + ",PLANNED-DURATION=\(SpliceCue.seconds),SCTE35-OUT=\(SpliceCue.begin.hexadecimal)"]
        case (.dateRange, 1 + (SpliceCue.seconds + seconds - 1) / seconds):
            return [range + ",DURATION=\(SpliceCue.seconds),SCTE35-IN=\(SpliceCue.end.hexadecimal)"]
        case (.cue, 1): return ["#EXT-X-CUE-OUT:\(seconds)"]
        case (.cueContinued, 1): return ["#EXT-X-CUE-OUT:\(3 * seconds)"]
        case (.cueContinued, 2...3): return ["#EXT-X-CUE-OUT-CONT:\((place - 1) * seconds)/\(3 * seconds)"]
        case (.cue, 2), (.orphaned, 2), (.cueContinued, 4): return ["#EXT-X-CUE-IN"]
        case (.oatcls, 1): return ["#EXT-OATCLS-SCTE35:" + SpliceCue.begin.base64]
        case (.scte35, 1): return ["#EXT-X-SCTE35:TYPE=5,CUE=\"\(SpliceCue.begin.base64)\""]
        case (.splicePoint, 1): return ["#EXT-X-SPLICEPOINT-SCTE35:" + SpliceCue.begin.base64]
        default: return []
        }
    }

    var summary: String {
        switch self {
        case .interstitials: "HLS interstitials: a pre-roll and a mid-roll"
        case .dateRange: "HLS, an ad break in EXT-X-DATERANGE"
        case .cue: "HLS, an ad break in EXT-X-CUE-OUT"
        case .cueContinued: "HLS, an ad break in EXT-X-CUE-OUT and EXT-X-CUE-OUT-CONT"
        case .oatcls: "HLS, SCTE-35 in EXT-OATCLS-SCTE35"
        case .scte35: "HLS, SCTE-35 in EXT-X-SCTE35"
        case .splicePoint: "HLS, SCTE-35 in EXT-X-SPLICEPOINT-SCTE35"
        case .orphaned: "HLS, EXT-X-CUE-IN without a begin"
        case .eventMessage: "HLS, SCTE-35 in emsg boxes"
        case .stream: "HLS, SCTE-35 in a stream of type 0x86"
        }
    }
}
