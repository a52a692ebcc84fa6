#if !canImport(Darwin)
internal import InstrumentCompression

/// Decodes a gzip body piece by piece, and knows whether it came whole.
final class GzipBody {
    private var gunzip = Gunzip()
    private(set) var isDamaged = false
    /// Whether bytes that are no gzip follow the last member; they are ignored, as browsers do.
    private var isOver = false

    /// Whether every member that began is there to its end.
    var isWhole: Bool { !isDamaged && !gunzip.isTorn }

    /// Decodes a piece; false where the transfer must end: the body is damaged, or `take` returned false.
    func unpack(_ bytes: UnsafeRawBufferPointer, _ take: (ArraySlice<UInt8>) -> Bool) -> Bool {
        guard !isOver else { return true }
        var isTaken = true
        do {
            try gunzip.unpack(Array(bytes)) { piece in isTaken = isTaken && take(piece) }
        } catch {
            isOver = gunzip.wholeMembersEnd > 0 && !gunzip.isTorn
            isDamaged = !isOver
        }
        return isTaken && !isDamaged
    }
}
#endif
