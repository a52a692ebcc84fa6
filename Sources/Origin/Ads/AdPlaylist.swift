internal import Instrument
internal import InstrumentText

/// A playlist of the fixtures with signals of ad breaks or with interstitials: `vod/PACKAGING/ads-NAME.m3u8`.
enum AdPlaylist: String, CaseIterable, Sendable {
    /// A pre-roll by address, and a mid-roll by list.
    case interstitials
    /// `EXT-X-DATERANGE` with SCTE35-OUT and SCTE35-IN.
    case dateRange = "daterange"
    /// `EXT-X-CUE-OUT`, `EXT-X-CUE-OUT-CONT` and `EXT-X-CUE-IN`.
    case cue
    /// `EXT-OATCLS-SCTE35`.
    case oatcls
    /// `EXT-X-SCTE35`.
    case scte35
    /// `EXT-X-SPLICEPOINT-SCTE35`.
    case splicePoint = "splicepoint"
    /// `EXT-X-CUE-IN` without a begin.
    case orphaned

    /// A splice insert of 60.293567 s in base64 and in hexadecimal.
    private static let base64 = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="
    private static let hexadecimal =
        "0xFC302F000000000000FFFFF014054800008F7FEFFE7369C02EFE0052CCF500000000000A0008435545490000013562DBA30A"

    /// The name in a path.
    static func named(_ name: String) -> AdPlaylist? {
        guard name.hasPrefix("ads-"), name.hasSuffix(".m3u8") else { return nil }
        return AdPlaylist(rawValue: String(name.dropFirst(4).dropLast(5)))
    }

    /// The date of the first segment.
    private static let date = WallTime(milliseconds: 1_795_341_600_000)

    /// The playlist with the tags of this kind. The break begins before the second segment and ends before the third.
    func text(of playlist: String, segmentSeconds: Int) -> String {
        var (lines, number) = ([String](), 0)
        for line in playlist.split(separator: "\n").map(String.init) {
            if line.hasPrefix("#EXTINF") {
                if number == 0 { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Self.date.rfc3339)") }
                lines += tags(before: number, segmentSeconds)
                number += 1
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func tags(before number: Int, _ seconds: Int) -> [String] {
        let begin = WallTime(milliseconds: Self.date.milliseconds + Int64(seconds) * 1_000).rfc3339
        let range = "#EXT-X-DATERANGE:ID=\"break\",START-DATE=\"\(begin)\""
        switch (self, number) {
        case (.interstitials, 0):
            let start = Self.date.rfc3339
            let head = "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\""
            return [
                head + ",ID=\"pre\",START-DATE=\"\(start)\",CUE=\"PRE\",X-ASSET-URI=\"master.m3u8\",DURATION=4,"
                    + "X-PLAYOUT-LIMIT=2,X-RESUME-OFFSET=0",
                head + ",ID=\"mid\",START-DATE=\"\(begin)\",X-ASSET-LIST=\"../../ads/assets.json\",X-RESUME-OFFSET=0",
            ]
        case (.dateRange, 0): return [range + ",PLANNED-DURATION=60.293,SCTE35-OUT=\(Self.hexadecimal)"]
        case (.dateRange, 2): return [range + ",SCTE35-IN=\(Self.hexadecimal)"]
        case (.cue, 1): return ["#EXT-X-CUE-OUT:\(seconds)"]
        case (.cue, 2), (.orphaned, 2): return ["#EXT-X-CUE-IN"]
        case (.oatcls, 1): return ["#EXT-OATCLS-SCTE35:" + Self.base64]
        case (.scte35, 1): return ["#EXT-X-SCTE35:TYPE=5,CUE=\"\(Self.base64)\""]
        case (.splicePoint, 1): return ["#EXT-X-SPLICEPOINT-SCTE35:" + Self.base64]
        default: return []
        }
    }

    var summary: String {
        switch self {
        case .interstitials: "HLS interstitials: a pre-roll and a mid-roll"
        case .dateRange: "HLS, an ad break in EXT-X-DATERANGE"
        case .cue: "HLS, an ad break in EXT-X-CUE-OUT"
        case .oatcls: "HLS, SCTE-35 in EXT-OATCLS-SCTE35"
        case .scte35: "HLS, SCTE-35 in EXT-X-SCTE35"
        case .splicePoint: "HLS, SCTE-35 in EXT-X-SPLICEPOINT-SCTE35"
        case .orphaned: "HLS, EXT-X-CUE-IN without a begin"
        }
    }
}
