/// An MPD of the fixtures with signals of ad breaks, or with ads: `vod/dash/ads-NAME.mpd`.
enum AdManifest: String, CaseIterable, Sendable {
    /// SCTE-35 in binary and in XML, and an address to call.
    case signals
    /// SCTE-35 in `emsg` boxes of the segments.
    case inband
    /// Presentations that are inserted into the content, and that replace a part of it.
    case alternative
    /// An ad in a separate period.
    case periods

    /// The name in a path.
    static func named(_ name: String) -> AdManifest? {
        guard name.hasPrefix("ads-"), name.hasSuffix(".mpd") else { return nil }
        return AdManifest(rawValue: String(name.dropFirst(4).dropLast(4)))
    }

    var summary: String {
        switch self {
        case .signals: "DASH, SCTE-35 and a callback in EventStream"
        case .inband: "DASH, SCTE-35 in emsg boxes"
        case .alternative: "DASH, alternative presentations"
        case .periods: "DASH, an ad in a period"
        }
    }

    /// The elements at the begin of the period.
    /// - Parameter base: the address of the origin as the client reached it, with its session.
    func events(base: String) -> String {
        switch self {
        case .signals:
            """
                <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="1">
                  <Event presentationTime="4" duration="4" id="1"><Signal xmlns="http://www.scte.org/schemas/35"><Binary>\(SpliceCue.begin.base64)</Binary></Signal></Event>
                </EventStream>
                <EventStream schemeIdUri="urn:scte:scte35:2013:xml" timescale="1">
                  <Event presentationTime="12" duration="4" id="2"><SpliceInfoSection xmlns="urn:scte:scte35:2013:xml"><SpliceInsert spliceEventId="2" outOfNetworkIndicator="1"><BreakDuration autoReturn="1" duration="360000"/></SpliceInsert></SpliceInfoSection></Event>
                  <Event presentationTime="16" id="3"><SpliceInfoSection xmlns="urn:scte:scte35:2013:xml"><SpliceInsert spliceEventId="2" outOfNetworkIndicator="0"/></SpliceInfoSection></Event>
                </EventStream>
                <EventStream schemeIdUri="urn:mpeg:dash:event:callback:2015" value="1" timescale="1">
                  <Event presentationTime="8" id="4">\(base)ads/beacon?event=callback</Event>
                </EventStream>

            """
        case .alternative:
            """
                <EventStream schemeIdUri="urn:mpeg:dash:event:alternativeMPD:insert:2025" timescale="1">
                  <Event presentationTime="4" id="1"><InsertPresentation uri="number.mpd" maxDuration="4"/></Event>
                </EventStream>
                <EventStream schemeIdUri="urn:mpeg:dash:event:alternativeMPD:replace:2025" timescale="1">
                  <Event presentationTime="12" id="2"><ReplacePresentation uri="number.mpd" maxDuration="4"/></Event>
                </EventStream>

            """
        case .inband, .periods: ""
        }
    }
}

extension AdManifest {
    /// The text of the manifest.
    /// - Parameter base: the address of the origin as the client reached it, with its session.
    func text(of fixtures: Fixtures, base: String) -> String {
        switch self {
        case .signals, .alternative:
            return fixtures.manifest(.number).inserting(events(base: base), behind: "<Period ")
        case .inband:
            let stream = "      <InbandEventStream schemeIdUri=\"urn:scte:scte35:2013:bin\" value=\"1\"/>\n"
            let plain = fixtures.manifest(.number).inserting(stream, behind: "<AdaptationSet contentType=\"video\"")
            return plain.replacing("media=\"v", with: "media=\"\(SignalSegments.prefix)v")
        case .periods:
            return fixtures.manifest(ofPeriods: [(0..<4, "film"), (4..<6, "ad"), (6..<fixtures.segmentCount, "film")])
        }
    }
}

extension String {
    /// The text with lines behind the first line that has a mark.
    fileprivate func inserting(_ lines: String, behind mark: String) -> String {
        guard let found = firstRange(of: mark), let end = self[found.upperBound...].firstIndex(of: "\n") else {
            return self
        }
        return String(self[...end]) + lines + String(self[index(after: end)...])
    }
}
