/// The end of a segment's container.
enum ContainerEnd {
    /// Whether the bytes end inside a packet of a transport stream, a box of an ISO base media file, or a frame of
    /// packed AAC.
    static func isInside(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch SegmentFormat(bytes) {
        case .transportStream: bytes.count % 188 != 0
        case .isoBaseMedia: isInsideBox(bytes)
        case .other: PackedAudioTimestamp.media(in: bytes).map { ADTSFrames.areCut($0) } ?? false
        }
    }

    private static func isInsideBox(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < bytes.count {
            // A box of size 0 reaches to the end of the file.
            if bytes.unsigned32(at: offset) == 0 { return false }
            guard bytes.count - offset >= 8 else { return true }
            guard let box = Box(bytes, at: offset) else { return false }
            offset = box.content.upperBound
        }
        return offset > bytes.count
    }
}
