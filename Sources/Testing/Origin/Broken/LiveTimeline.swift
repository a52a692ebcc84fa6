extension Fixtures {
    /// A manifest of an endless stream whose segments are listed one by one (`SegmentTimeline`).
    func liveTimelineManifest(at moment: Moment, window: Int) -> String {
        let listed = LiveWindow.live(at: moment, segment: Int64(Self.segmentSeconds) * 1_000, window: window).listed
        var text = ManifestText(liveManifest(at: moment, window: window))
        text.lines = text.lines.flatMap { line -> [String] in
            guard line.contains("<SegmentTemplate"), let name = Self.trackName(in: line),
                let file = fragmentedFile(name)
            else { return [line] }
            var template = ManifestText(line)
            template.changeAttribute("duration") { _ in nil }
            template.changeAttribute("startNumber") { _ in "\(listed.lowerBound)" }
            template.replace("/>", with: ">")
            return template.lines + ["  <SegmentTimeline>"] + listed.map { Self.entry($0, file) }
                + ["  </SegmentTimeline>", "</SegmentTemplate>"]
        }
        return text.text
    }

    private static func entry(_ number: Int, _ file: FragmentedFile) -> String {
        let count = file.fragments.count
        let fragment = file.fragments[number % count]
        return "    <S t=\"\(number / count * file.duration + fragment.start)\" d=\"\(fragment.duration)\"/>"
    }

    /// The track in `media="NAME/$Number$.m4s"`.
    private static func trackName(in line: String) -> String? {
        line.firstRange(of: "media=\"").flatMap { range in
            line[range.upperBound...].split(separator: "/").first.map(String.init)
        }
    }
}
