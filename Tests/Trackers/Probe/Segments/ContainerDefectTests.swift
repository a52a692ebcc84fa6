import Testing

@testable import InstrumentProbe

@Suite("Defects of containers that a check finds")
struct ContainerDefectTests {
    private static let media: UInt16 = 0x100

    /// A packet of a transport stream; one that begins a unit of pictures has a start code.
    private static func packet(
        _ counter: UInt8,
        pid: UInt16 = media,
        begins: [UInt8]? = nil,
        isAnnounced: Bool = false,
        hasPayload: Bool = true
    ) -> [UInt8] {
        let control: UInt8 = (hasPayload ? 0x10 : 0) | (isAnnounced || !hasPayload ? 0x20 : 0) | counter & 0x0F
        var packet: [UInt8] = [0x47, UInt8(pid >> 8) | (begins == nil ? 0 : 0x40), UInt8(pid & 0xFF), control]
        if isAnnounced || !hasPayload { packet += [1, isAnnounced ? 0x80 : 0] }
        packet += begins ?? []
        return packet + Array(repeating: 0xFF, count: 188 - packet.count)
    }

    private static func gaps(_ packets: [[UInt8]]) -> Int {
        packets.flatMap { $0 }.withUnsafeBytes { PacketGaps.count(in: $0) }
    }

    private static let begin = packet(15, begins: [0, 0, 1, 0xE0])

    @Test("Counters that jump show missing packets; a repetition, an announced jump, and other packets do not")
    func packetGaps() {
        let packet = { (counter: UInt8) in Self.packet(counter) }
        #expect(Self.gaps([Self.begin, packet(0), packet(1), packet(2)]) == 0)
        #expect(Self.gaps([Self.begin, packet(1), packet(2), packet(5)]) == 2)
        #expect(Self.gaps([Self.begin, packet(0), packet(0), packet(1)]) == 0)
        #expect(Self.gaps([Self.begin, packet(0), packet(0), packet(0), packet(1)]) == 1)
        #expect(Self.gaps([Self.begin, Self.packet(7, isAnnounced: true), packet(8)]) == 0)
        // A packet without a payload has the counter of the one before.
        #expect(Self.gaps([Self.begin, Self.packet(15, hasPayload: false), packet(0)]) == 0)
        #expect(Self.gaps([Self.begin, Self.packet(3, pid: 0x1FFF), Self.packet(9, pid: 0x1FFF), packet(0)]) == 0)
        // Sections have no start code.
        #expect(Self.gaps([Self.begin, Self.packet(0, pid: 0), Self.packet(5, pid: 0), packet(0)]) == 0)
        #expect(Self.gaps([[1, 2, 3]]) == 0)
    }

    @Test("Packets of discs and broadcasters have more bytes than those of HLS", arguments: [188, 192, 204, 200])
    func packetSizes(size: Int) {
        let before = [UInt8](repeating: 1, count: size == 192 ? 4 : 0)
        let behind = [UInt8](repeating: 0, count: size == 192 ? 0 : size - 188)
        let packets: [UInt8] = (0..<4).flatMap { _ -> [UInt8] in before + Self.packet(0) + behind }
        func found(_ bytes: [UInt8]) -> Int? { bytes.withUnsafeBytes { TransportPacket.otherSize(in: $0) } }
        #expect(found(packets) == ([192, 204].contains(size) ? size : nil))
        #expect(found(Array(packets.prefix(2 * size))) == nil)
    }

    @Test("Transport streams with other packets are what browsers refuse")
    func otherPackets() throws {
        let plain = try [UInt8](Fixtures.data(Fixtures.ts.get()))
        let packets = stride(from: 0, to: plain.count - 187, by: 188).map { Array(plain[$0..<($0 + 188)]) }
        for (head, tail) in [(4, 0), (0, 16), (0, 0)] {
            let (before, behind) = ([UInt8](repeating: 0, count: head), [UInt8](repeating: 0, count: tail))
            let bytes: [UInt8] = packets.flatMap { (packet: [UInt8]) -> [UInt8] in before + packet + behind }
            let inspection = try SegmentInspection(media: bytes, initialization: [])
            let words = "the transport stream has packets of \(188 + head + tail) bytes"
            #expect(inspection.refusal?.found == (head + tail > 0 ? words : nil))
            #expect(inspection.refusal?.isWhole ?? true)
        }
    }

    @Test("A fragment and its media have an order")
    func order() {
        let (fragment, media) = (BoxEditor.box("moof", []), BoxEditor.box("mdat", [1]))
        let (type, empty) = (BoxEditor.box("styp", []), BoxEditor.box("mdat", []))
        func defect(_ boxes: [[UInt8]]) -> String? {
            boxes.flatMap { $0 }.withUnsafeBytes { FragmentOrder($0).defect }
        }
        #expect(defect([type, fragment, media]) == nil && defect([fragment, media, fragment, media]) == nil)
        #expect(defect([empty, fragment, media]) == nil && defect([]) == nil && defect([type]) == nil)
        let before = "media (`mdat`) before the fragment (`moof`) that describes them"
        #expect(defect([media, fragment]) == before && defect([type, media, fragment, media]) == before)
        #expect(defect([fragment]) == "a fragment (`moof`) without its media (`mdat`)")
        #expect(defect([media]) == "media (`mdat`) without a fragment (`moof`) that describes them")
        #expect(
            defect([BoxEditor.box("moov", []), media])
                == "media (`mdat`) without a fragment (`moof`) that describes them"
        )
    }

    /// A frame of AAC with its header, at 48 kHz.
    private static func frame(_ size: Int) -> [UInt8] {
        let header: [UInt8] = [0xFF, 0xF1, 0x4C, UInt8(size >> 11), UInt8(size >> 3 & 0xFF), UInt8(size & 7) << 5, 0]
        return header + Array(repeating: 0, count: size - header.count)
    }

    @Test("Packed audio that ends inside a frame is cut", arguments: [false, true])
    func packedAudio(hasTag: Bool) {
        let tag: [UInt8] = hasTag ? Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0] : []
        let whole = tag + Self.frame(300) + Self.frame(100) + Self.frame(200)
        let cases: [([UInt8], Bool)] = [
            (whole, false), (whole.dropLast(), true), (whole.dropLast(193), true), (whole.dropLast(200), false),
            (whole.dropLast(200) + [1, 2, 3], false), ([1, 2, 3], false), (tag, false),
        ]
        for (bytes, isCut) in cases {
            let isInside = bytes.withUnsafeBytes { ContainerEnd.isInside($0) }
            #expect(isInside == isCut, "\(bytes.count) bytes")
        }
    }

    @Test("Fragments that cannot be read are no unknown format: the reason is that of the initialization segment")
    func fragments() throws {
        let fragment =
            BoxEditor.box("moof", BoxEditor.box("mfhd", [0, 0, 0, 0, 0, 0, 0, 1])) + BoxEditor.box("mdat", [1])
        let error = #expect(throws: SegmentInspection.Failure.self) {
            _ = try SegmentInspection(media: fragment, initialization: BoxEditor.box("ftyp", Array("isom0000".utf8)))
        }
        guard case .unreadable(let reason)? = error else { throw SegmentInspection.Failure.undecipherable }
        #expect(reason == "fragments of MP4 for which the initialization section has no `moov` box")
    }
}
