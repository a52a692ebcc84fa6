/// The order of the fragments (`moof`) of a segment and of their media (`mdat`).
struct FragmentOrder {
    private var hasFragment = false
    private var hasMedia = false
    /// Whether media are in front of the first fragment, which describes the media behind it alone (ISO/IEC 23009-1
    /// clause 6.3.4.2; W3C, ISO BMFF Byte Stream Format, section 4).
    private(set) var beginsWithMedia = false

    /// Reads the headers of the boxes, up to one that is damaged or cut.
    init(_ bytes: UnsafeRawBufferPointer) {
        guard SegmentFormat(bytes) == .isoBaseMedia else { return }
        _ = Box.all(in: bytes) { type, content in
            switch type {
            case "moof":
                if !hasFragment { beginsWithMedia = hasMedia }
                hasFragment = true
            case "mdat" where !content.isEmpty: hasMedia = true
            // A file without fragments.
            case "moov" where hasMedia: return false
            default: break
            }
            return true
        }
    }

    /// The defect for people, as a noun; nil without one.
    var defect: String? {
        if beginsWithMedia { return "media (`mdat`) before the fragment (`moof`) that describes them" }
        if hasFragment, !hasMedia { return "a fragment (`moof`) without its media (`mdat`)" }
        return hasMedia && !hasFragment ? "media (`mdat`) without a fragment (`moof`) that describes them" : nil
    }
}
