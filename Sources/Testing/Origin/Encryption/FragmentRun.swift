/// The samples of a movie fragment with one track and one run (ISO/IEC 14496-12, 8.8).
struct FragmentRun: Sendable {
    /// The decode time of the first sample.
    let time: UInt64
    /// The sizes of the samples, which follow one another at the beginning of the media.
    let sizes: [Int]

    /// Nil for a fragment that none of the fixtures has.
    init?(_ moof: [UInt8]) {
        guard let track = BoxList(moof.dropFirst(8)).first("traf").map({ BoxList($0.dropFirst(8)) }),
            let header = track.first("tfhd"), let time = track.first("tfdt"), let run = track.first("trun")
        else { return nil }
        let headerFlags = header.flags
        var offset = 16
        // Base offset, description, duration; then the size.
        for (flag, length) in [(1, 8), (2, 4), (8, 4)] where headerFlags & flag != 0 { offset += length }
        let defaultSize = headerFlags & 0x10 != 0 ? header.number(at: offset, 4) : nil
        guard let start = time.number(at: 12, time.dropFirst(8).first == 1 ? 8 : 4), let count = run.number(at: 12, 4)
        else { return nil }
        self.time = UInt64(start)
        let flags = run.flags
        var place = 16
        for flag in [1, 4] where flags & flag != 0 { place += 4 }
        let fields = [0x100, 0x200, 0x400, 0x800].filter { flags & $0 != 0 }
        let sizePlace = fields.firstIndex(of: 0x200).map { 4 * $0 }
        var sizes: [Int] = []
        for index in 0..<count {
            let row = place + index * 4 * fields.count
            guard let size = sizePlace.map({ run.number(at: row + $0, 4) }) ?? defaultSize else { return nil }
            sizes.append(size)
        }
        self.sizes = sizes
    }

    /// The fragment with further boxes in its track, and offsets that fit to its new size. The last of the boxes is a
    /// `senc`, to which a `saio` is added.
    func moof(with boxes: [UInt8], _ moof: [UInt8]) -> [UInt8] {
        guard !boxes.isEmpty else { return moof }
        let added = boxes.count + 20
        var content: [UInt8] = []
        for (type, box) in BoxList(moof.dropFirst(8)) {
            guard type == "traf" else {
                content += box
                continue
            }
            var track: [UInt8] = []
            for (type, box) in BoxList(box.dropFirst(8)) {
                var box = box
                if type == "trun", box.flags & 1 != 0, let offset = box.number(at: 16, 4) {
                    box.replaceSubrange(16..<20, with: MP4Box.word(UInt32(truncatingIfNeeded: offset + added)))
                }
                track += box
            }
            // From the beginning of the fragment to the entries of `senc`, behind its header and count.
            let size = BoxList(boxes[...]).first("senc")?.count ?? 0
            let place = 8 + content.count + 8 + track.count + 20 + boxes.count - size + 16
            let offset = MP4Box.full("saio", MP4Box.word(1) + MP4Box.word(UInt32(place)))
            content += MP4Box.box("traf", track + offset + boxes)
        }
        return MP4Box.box("moof", content)
    }
}

/// The boxes of a container: types, and bytes with their headers.
struct BoxList: Sequence {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    func makeIterator() -> AnyIterator<(type: String, box: [UInt8])> {
        var rest = bytes
        return AnyIterator {
            guard rest.count >= 8 else { return nil }
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { return nil }
            let box = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            return (String(decoding: box[4..<8], as: UTF8.self), box)
        }
    }

    func first(_ type: String) -> [UInt8]? { first { $0.type == type }?.box }

    /// The content of a container with another box at a path; nil from `change` keeps the box.
    static func replacing(_ path: [String], in content: [UInt8], _ change: ([UInt8]) -> [UInt8]?) -> [UInt8] {
        BoxList(content).flatMap { type, box -> [UInt8] in
            guard type == path.first else { return box }
            if path.count == 1 { return change(box) ?? box }
            return MP4Box.box(type, replacing(Array(path.dropFirst()), in: Array(box.dropFirst(8)), change))
        }
    }
}

extension [UInt8] {
    /// The flags of a box (ISO/IEC 14496-12, 4.2), in its bytes with the header.
    fileprivate var flags: Int { (number(at: 8, 4) ?? 0) & 0xFF_FFFF }

    /// A number of some bytes, the highest first; nil beyond the end.
    fileprivate func number(at offset: Int, _ length: Int) -> Int? {
        guard offset >= 0, offset + length <= count else { return nil }
        return self[offset..<(offset + length)].reduce(0) { $0 << 8 | Int($1) }
    }
}
