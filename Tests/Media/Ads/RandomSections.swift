import InstrumentTestKit

@testable import InstrumentAds

/// Sections of every command and every descriptor, from a seed.
struct RandomSections {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func number<Value: FixedWidthInteger>(below limit: Value) -> Value {
        Value.random(in: 0..<limit, using: &generator)
    }
    private mutating func any<Value: FixedWidthInteger>() -> Value {
        Value.random(in: .min ... .max, using: &generator)
    }
    private mutating func flag() -> Bool { Bool.random(using: &generator) }
    private mutating func ticks() -> SpliceTicks { SpliceTicks(number(below: UInt64(1) << 33)) }
    private mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in any() } }
    private mutating func text(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: UInt8(ascii: "A")...UInt8(ascii: "Z"), using: &generator) }
    }

    /// A section; the index chooses the command, and in turn the descriptors.
    mutating func section(_ index: Int) -> SpliceInfoSection {
        var section = SpliceInfoSection()
        section.sapType = number(below: 4)
        section.ptsAdjustment = flag() ? SpliceTicks(0) : ticks()
        section.controlWordIndex = any()
        section.tier = number(below: 0x1000)
        section.command = command(index)
        let count = index % 3 + 1
        section.descriptors = (0..<count).map { descriptor(index / 7 + $0 * 3) }
        // Decoding states the lengths and the checksum.
        return section
    }

    mutating func command(_ index: Int) -> SpliceCommand {
        switch index % 8 {
        case 0: .null
        case 1: .schedule((0..<(index % 4)).map { _ in scheduled() })
        case 2, 3: .insert(insert())
        case 4: .timeSignal(flag() ? ticks() : nil)
        case 5: .bandwidthReservation
        case 6: .reserved(type: 0x20, bytes: bytes(index % 5))
        default: .privateCommand(identifier: any(), bytes: bytes(index % 9))
        }
    }

    private mutating func duration() -> BreakDuration? {
        flag() ? BreakDuration(isAutoReturn: flag(), duration: ticks()) : nil
    }

    private mutating func insert() -> SpliceInsert {
        var insert = SpliceInsert(eventID: any())
        insert.isCancelled = number(below: 8) == 0
        if insert.isCancelled { return insert }
        (insert.isOutOfNetwork, insert.isImmediate, insert.isEventIDCompliant) = (flag(), flag(), flag())
        insert.isProgramSplice = number(below: 4) != 0
        if insert.isProgramSplice {
            if !insert.isImmediate { insert.time = flag() ? ticks() : nil }
        } else {
            for _ in 0..<number(below: 4) {
                let time = insert.isImmediate ? nil : flag() ? ticks() : nil
                insert.components.append(SpliceInsert.Component(tag: any(), time: time))
            }
        }
        insert.breakDuration = duration()
        (insert.uniqueProgramID, insert.availNumber, insert.availsExpected) = (any(), any(), any())
        return insert
    }

    private mutating func scheduled() -> ScheduledSplice {
        var splice = ScheduledSplice(eventID: any())
        (splice.isCancelled, splice.isEventIDCompliant) = (number(below: 6) == 0, flag())
        if splice.isCancelled { return splice }
        (splice.isOutOfNetwork, splice.isProgramSplice) = (flag(), flag())
        if splice.isProgramSplice {
            splice.utcTime = any()
        } else {
            for _ in 0..<number(below: 4) {
                splice.components.append(ScheduledSplice.Component(tag: any(), utcTime: any()))
            }
        }
        splice.breakDuration = duration()
        (splice.uniqueProgramID, splice.availNumber, splice.availsExpected) = (any(), any(), any())
        return splice
    }

    mutating func descriptor(_ index: Int) -> SpliceDescriptor {
        let identifier = SpliceDescriptor.standardIdentifier
        let content: SpliceDescriptor.Content
        let tag: UInt8
        switch index % 9 {
        case 8:
            let content = SpliceDescriptor.Content.other(bytes(index % 7))
            return SpliceDescriptor(tag: 0xF0, length: UInt8(index % 7 + 4), identifier: 0x4142_4344, content: content)
        case 0: (tag, content) = (0, .avail(any()))
        case 1:
            let tones = String(
                decoding: (0..<number(below: 8)).map { _ in UInt8(ascii: "0") + number(below: 10) },
                as: UTF8.self
            )
            (tag, content) = (1, .dtmf(DTMFDescriptor(preroll: any(), tones: tones)))
        case 2:
            let value = TimeDescriptor(
                taiSeconds: number(below: UInt64(1) << 48),
                taiNanoseconds: number(below: 1_000_000_000),
                utcOffset: any()
            )
            (tag, content) = (3, .time(value))
        case 3:
            let components = (0..<number(below: 5)).map { _ in
                AudioComponent(
                    tag: any(),
                    language: ["eng", "deu", "fra"][number(below: 3)],
                    bitStreamMode: number(below: 8),
                    channels: number(below: 16),
                    isFullService: flag()
                )
            }
            (tag, content) = (4, .audio(components))
        default: (tag, content) = (2, .segmentation(segmentation()))
        }
        var descriptor = SpliceDescriptor(tag: tag, length: 0, identifier: identifier, content: content)
        descriptor.length = UInt8(descriptor.encoded.count - 2)
        return descriptor
    }

    private mutating func segmentation() -> SegmentationDescriptor {
        var value = SegmentationDescriptor(eventID: any())
        (value.isCancelled, value.isEventIDCompliant) = (number(below: 8) == 0, flag())
        if value.isCancelled { return value }
        value.isProgramSegmentation = number(below: 4) != 0
        value.duration = flag() ? SpliceTicks(number(below: UInt64(1) << 40)) : nil
        if flag() {
            value.restrictions = SegmentationDescriptor.Restrictions(
                isWebDeliveryAllowed: flag(),
                hasNoRegionalBlackout: flag(),
                isArchiveAllowed: flag(),
                deviceRestrictions: number(below: 4)
            )
        }
        if !value.isProgramSegmentation {
            for _ in 0..<number(below: 3) {
                value.components.append(SegmentationDescriptor.Component(tag: any(), offset: ticks()))
            }
        }
        let types: [UInt8] = [
            0x00, 0x01, 0x10, 0x11, 0x19, 0x20, 0x22, 0x23, 0x30, 0x34, 0x35, 0x36, 0x37, 0x3C, 0x40, 0x50, 0x51,
        ]
        value.type = SegmentationType(types[number(below: types.count)])
        value.upid = upid(depth: 0)
        (value.segmentNumber, value.segmentsExpected) = (any(), any())
        if [0x34, 0x36].contains(value.type.rawValue), flag() {
            value.subSegment = SegmentationDescriptor.SubSegment(number: any(), expected: any())
        }
        return value
    }

    mutating func upid(depth: Int) -> SegmentationUPID {
        let kind = SegmentationUPID.Kind(rawValue: number(below: depth == 0 ? 0x12 : 0x0C))
        let bytes: [UInt8] =
            switch kind {
            case .notUsed: []
            case .isci: text(8)
            case .adID, .tid: text(12)
            case .adi, .ads, .uri, .scr, .userDefined: text(number(below: 20) + 1)
            case .atsc: bytes(4) + text(number(below: 8) + 1)
            case .managedPrivate: text(4) + bytes(number(below: 12))
            case .multiple:
                (0..<(1 + number(below: 3))).flatMap { _ in
                    let member = upid(depth: 1)
                    return [member.type.rawValue, UInt8(member.bytes.count)] + member.bytes
                }
            default: bytes(kind.fixedLength ?? 8)
            }
        return SegmentationUPID(type: kind, bytes: bytes)
    }
}
