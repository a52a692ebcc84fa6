internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// The request for a licence, whose answer the media of encrypted segments waits for.
///
/// The probe decrypts nothing. It measures the time that a licence server takes from a player's start: one request in a
/// playback, with what identifies the keys in place of the challenge of a decryption module.
struct LicenceLoading: Sendable {
    private enum State: Hashable {
        case idle
        case asked(body: [UInt8])
        case granted(MonotonicInstant)
    }

    /// The address of the licence server; nil asks for no licence.
    let url: HTTPURL?
    private var state = State.idle

    init(_ url: HTTPURL?) { self.url = url }

    /// Whether the media of a segment needs a licence. A key that the playlist has or gives the address of needs
    /// none.
    func covers(_ segment: MediaSegment) -> Bool {
        guard url != nil, let encryption = segment.encryption else { return false }
        return !encryption.coversContainer && encryption.keyURL == nil && encryption.key == nil
    }

    /// Whether the media of a segment is not playable yet.
    func withholds(_ segment: MediaSegment) -> Bool {
        if case .granted = state { return false }
        return covers(segment)
    }

    /// Whether a segment is the first one that needs a licence.
    func isToBeAsked(for segment: MediaSegment) -> Bool { state == .idle && covers(segment) }

    /// The body of the request; nil before it, and after its answer.
    var body: [UInt8]? { if case .asked(let body) = state { body } else { nil } }

    /// The arrivals of a segment's bytes as media: none is before the arrival of the licence.
    func playable(_ arrivals: ArrivalLog, of segment: MediaSegment) -> ArrivalLog {
        guard case .granted(let instant) = state, covers(segment) else { return arrivals }
        return arrivals.delayed(until: instant)
    }

    mutating func ask(body: [UInt8]) { state = .asked(body: body) }

    mutating func grant(at instant: MonotonicInstant) { state = .granted(instant) }
}

/// What a stream says of the keys of its samples: in an initialization section (ISO/IEC 23001-7, sections 8.1 and 8.2),
/// or in the manifest.
enum ContentProtection {
    /// The largest number of bytes; systems need a few hundred each.
    private static let most = 64 << 10

    /// The `pssh` boxes of the movie, one after another; without one, what the manifest declares; else the 16 bytes of
    /// the default key identifier; empty without all of these.
    static func data(in initialization: [UInt8], declared: [UInt8] = []) -> [UInt8] {
        var (systems, keyID): ([UInt8], [UInt8]) = ([], [])
        initialization.withUnsafeBytes { bytes in
            _ = Box.all(in: bytes) { type, movie in
                guard type == "moov" else { return true }
                return Box.all(in: movie) { type, content in
                    switch type {
                    case "pssh" where systems.count + content.count + 8 <= most:
                        let size = UInt32(content.count + 8)
                        systems += (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
                        systems += Array("pssh".utf8) + Array(content)
                    case "trak" where keyID.isEmpty: keyID = Self.keyID(in: content)
                    default: break
                    }
                    return true
                }
            }
        }
        if !systems.isEmpty { return systems }
        return declared.isEmpty || declared.count > most ? keyID : declared
    }

    /// The default key identifier of a track's first sample entry.
    private static func keyID(in track: UnsafeRawBufferPointer) -> [UInt8] {
        var found: [UInt8] = []
        func descend(_ path: ArraySlice<BoxType>, _ bytes: UnsafeRawBufferPointer) {
            _ = Box.all(in: bytes) { type, content in
                guard type == path.first else { return true }
                if path.count > 1 { descend(path.dropFirst(), content) } else { entry(content) }
                return false
            }
        }
        func entry(_ table: UnsafeRawBufferPointer) {
            guard let box = Box(table, at: 8), box.content.upperBound <= table.count else { return }
            // The fields in front of the boxes of an entry with video and with sound.
            let size = box.type == "encv" ? 78 : box.type == "enca" ? 28 : box.content.count
            guard size < box.content.count else { return }
            let boxes = box.content.dropFirst(size)
            protection(UnsafeRawBufferPointer(rebasing: table[boxes]), depth: 0)
        }
        // The identifier is two boxes deep; a hostile section nests without an end.
        func protection(_ bytes: UnsafeRawBufferPointer, depth: Int) {
            _ = Box.all(in: bytes) { type, content in
                switch type {
                case "sinf", "schi": if depth < 2 { protection(content, depth: depth + 1) }
                // Version and flags, four bytes of defaults, and the identifier.
                case "tenc" where content.count >= 24: found = Array(content[8..<24])
                default: break
                }
                return found.isEmpty
            }
        }
        descend(["mdia", "minf", "stbl", "stsd"], track)
        return found
    }
}
