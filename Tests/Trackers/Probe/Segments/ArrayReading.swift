@testable import InstrumentProbe

// Segments of tests are arrays.

extension SegmentReader {
    mutating func read(
        _ media: [UInt8],
        initialization: [UInt8],
        inspecting isInspected: Bool,
        request: Int? = nil
    ) throws(SegmentDemuxer.Failure) -> SegmentContent {
        try read(FetchedBytes(media), initialization: initialization, inspecting: isInspected, request: request)
    }

    mutating func read(part media: [UInt8], initialization: [UInt8], request: Int) -> SegmentContent? {
        read(part: FetchedBytes(media), initialization: initialization, request: request)
    }
}

extension SegmentDemuxer {
    static func demux(
        _ media: [UInt8],
        initialization: [UInt8] = [],
        inspecting isInspected: Bool = false
    ) throws(Failure) -> SegmentContent {
        try demux(FetchedBytes(media), initialization: initialization, inspecting: isInspected)
    }
}
