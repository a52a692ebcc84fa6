internal import Instrument
internal import InstrumentManifests

/// The bitrate of one rendition by the segments that were read: their bytes over the time that they play.
struct MeasuredBitrate: Sendable {
    private var rendition: Rendition.ID?
    private var bytes = 0
    private var duration: Int64 = 0

    /// Adds a whole segment of `bytes`; of another rendition than the last one, the measurement begins again.
    mutating func add(_ segment: MediaSegment, of rendition: Rendition.ID, bytes: Int) {
        if rendition != self.rendition { (self.rendition, self.bytes, duration) = (rendition, 0, 0) }
        guard segment.mediaDuration > 0, bytes > 0 else { return }
        self.bytes = self.bytes.saturatingAdd(bytes)
        duration = duration.saturatingAdd(segment.mediaDuration)
    }

    /// The bitrate of a rendition in bit/s; nil before a segment of it was read.
    func bitrate(of rendition: Rendition.ID) -> Int? {
        guard rendition == self.rendition, duration > 0 else { return nil }
        return Int(clamping: Int64(clamping: Double(bytes) * 8e9 / Double(duration)))
    }
}
