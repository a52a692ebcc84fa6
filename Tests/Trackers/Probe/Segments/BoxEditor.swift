/// Changes boxes of MP4 files, so that tests can break good ones.
enum BoxEditor {
    /// The bytes of a box before its children; containers and sample entries.
    private static let headers: [String: Int] = {
        var sizes: [String: Int] = [:]
        for name in ["moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf", "sinf", "schi"] { sizes[name] = 8 }
        sizes["stsd"] = 16
        for name in ["avc1", "hvc1", "hev1", "vp09", "av01", "mp4v", "encv"] { sizes[name] = 8 + 78 }
        for name in ["mp4a", "Opus", "fLaC", "ac-3", "ec-3", "enca", "dtsc"] { sizes[name] = 8 + 28 }
        return sizes
    }()

    /// The boxes of a file or container: types and bytes with their headers.
    static func boxes(_ bytes: some Collection<UInt8>) -> [(type: String, bytes: [UInt8])] {
        var (rest, found) = (Array(bytes), [(type: String, bytes: [UInt8])]())
        while rest.count >= 8 {
            let size = rest[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { break }
            found.append((String(decoding: rest[4..<8], as: UTF8.self), Array(rest[..<size])))
            rest.removeFirst(size)
        }
        return found
    }

    /// Replaces the content of each box at a path; nil removes the box.
    static func edit(_ bytes: [UInt8], _ path: [String], _ change: ([UInt8]) -> [UInt8]?) -> [UInt8] {
        boxes(bytes).flatMap { type, box -> [UInt8] in
            guard type == path.first else { return box }
            if path.count == 1 { return change(Array(box[8...])).map { self.box(type, $0) } ?? [] }
            let header = headers[type] ?? 8
            return self.box(type, box[8..<header] + edit(Array(box[header...]), Array(path.dropFirst()), change))
        }
    }

    static func box(_ type: String, _ content: some Sequence<UInt8>) -> [UInt8] {
        let content = Array(content)
        return withUnsafeBytes(of: UInt32(content.count + 8).bigEndian) { Array($0) } + Array(type.utf8) + content
    }

    /// A file, cut behind its `moov` box.
    static func split(_ file: [UInt8]) -> (initialization: [UInt8], media: [UInt8]) {
        let boxes = boxes(file)
        let end = (boxes.firstIndex { $0.type == "moov" } ?? -1) + 1
        return (boxes[..<end].flatMap(\.bytes), boxes[end...].flatMap(\.bytes))
    }
}
