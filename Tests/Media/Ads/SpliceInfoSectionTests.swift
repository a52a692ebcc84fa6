import InstrumentJSON
import InstrumentTestKit
import InstrumentText
import Testing

@testable import InstrumentAds

@Suite("Splice information sections")
struct SpliceInfoSectionTests {
    private static let placement = "/DA0AAAAAAAA///wBQb+cr0AUAAeAhxDVUVJSAAAjn/PAAGlmbAICAAAAAAsoKGKNAIAmsnRfg=="

    @Test("A time signal decodes to its time, its segmentation and its identifier")
    func timeSignal() throws {
        let section = try SpliceInfoSection(text: Self.placement)
        #expect(section.command?.time?.seconds == 21388.766756)
        #expect(section.command?.name == "time_signal")
        let segmentation = try #require(section.segmentations.first)
        #expect(segmentation.type == SegmentationType(0x34))
        #expect(segmentation.type.name == "Provider Placement Opportunity Start")
        #expect(segmentation.duration?.seconds == 307)
        #expect(segmentation.upid.value == .number(0x2CA0_A18A))
        #expect(segmentation.eventID == 0x4800_008E)
        #expect(section.findings.isEmpty)
    }

    @Test("A splice insert decodes to its time, its break and its avail descriptor")
    func spliceInsert() throws {
        let section = try SpliceInfoSection(
            text: "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="
        )
        guard case .insert(let insert) = section.command else {
            Issue.record("the command must be a splice insert (found \(section))")
            return
        }
        #expect(insert.time?.seconds == 21514.559089)
        #expect(insert.breakDuration?.duration.seconds == 60.293567)
        #expect(insert.breakDuration?.isAutoReturn == true)
        #expect(insert.isOutOfNetwork)
        #expect(section.descriptors.map(\.content) == [.avail(0x135)])
    }

    @Test(
        "A splice insert without a specified time has a break and no time",
        arguments: [
            ("/DAhAAAAAAAAAP/wEAUAAALRf+9//gAaF7DAAAAAAAA+MhNj", 721),
            ("/DAhAAAAAAAAAP/wEAUAAALSf+9//gAaF7DAAAAAAABd4y1C", 722),
        ] as [(String, UInt32)]
    )
    func insertWithoutTime(text: String, event: UInt32) throws {
        let section = try SpliceInfoSection(text: text)
        guard case .insert(let insert) = section.command else {
            Issue.record("the command must be a splice insert (found \(section))")
            return
        }
        #expect((insert.eventID, insert.time) == (event, nil))
        #expect(insert.breakDuration?.duration.seconds == 19)
        #expect(insert.uniqueProgramID == 49152)
    }

    @Test("The same section decodes from base64, hexadecimal text and bytes")
    func notations() throws {
        let bytes = try #require(Base64.decode(Self.placement))
        let hexadecimal = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let expected = try SpliceInfoSection(bytes: bytes)
        let texts = [
            Self.placement, " \n" + Self.placement + "\n", "0x" + hexadecimal, "0X" + hexadecimal.uppercased(),
            hexadecimal,
            String(Self.placement.prefix { $0 != "=" }),
        ]
        for text in texts { #expect(try SpliceInfoSection(text: text) == expected) }
        #expect(try SpliceInfoSection(bytes: bytes + [0xFF, 0xFF]) == expected)
    }

    @Test(
        "A text that is neither base64 nor hexadecimal is refused",
        arguments: ["", "0x", "0xFC3", "0xFG", "%%%", "/DA*"]
    )
    func wrongNotation(text: String) {
        #expect(throws: SpliceError.self) { try SpliceInfoSection(text: text) }
        do { _ = try SpliceInfoSection(text: text) } catch { #expect(error.code == .notation) }
    }

    @Test("A generated section decodes to the section that was encoded")
    func roundTrip() throws {
        var random = RandomSections(seed: 11)
        for index in 0..<700 {
            let section = random.section(index)
            let bytes = section.encoded
            var decoded = try SpliceInfoSection(bytes: bytes)
            #expect(decoded.sectionLength == bytes.count - 3)
            #expect(Int(decoded.commandLength) == section.command?.encoded.count)
            (decoded.sectionLength, decoded.commandLength, decoded.crc, decoded.findings) = (0, 0, 0, [])
            #expect(decoded == section)
        }
    }

    @Test("The splice time wraps at 33 bits when the adjustment is added")
    func adjustment() throws {
        var section = SpliceInfoSection()
        section.command = .timeSignal(SpliceTicks(1 << 33 - 90_000))
        section.ptsAdjustment = SpliceTicks(180_000)
        #expect(try SpliceInfoSection(bytes: section.encoded).adjustedTime == SpliceTicks(90_000))
    }

    @Test("A section from an old encoder decodes when its command length is unknown")
    func unknownCommandLength() throws {
        var random = RandomSections(seed: 3)
        for index in [0, 1, 2, 3, 4, 5] {
            var section = random.section(index)
            section.commandLength = 0xFFF
            let decoded = try SpliceInfoSection(bytes: section.encoded)
            #expect(decoded.command == section.command)
            #expect(decoded.descriptors == section.descriptors)
            #expect(decoded.findings.count >= 1)
        }
    }

    @Test("An encrypted section is reported and not decoded")
    func encrypted() throws {
        var section = SpliceInfoSection()
        section.encryption = SpliceEncryption(algorithm: 2, payload: [6, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        section.commandLength = 5
        let decoded = try SpliceInfoSection(bytes: section.encoded)
        #expect(decoded.encryption == section.encryption)
        #expect(decoded.encryption?.algorithmName == "DES-CBC")
        #expect(decoded.command == nil)
        #expect(decoded.descriptors.isEmpty)
        #expect(decoded.findings.count == 1)
    }

    @Test("A section with any byte changed is refused")
    func flippedBytes() throws {
        var random = RandomSections(seed: 5)
        for index in 0..<40 {
            let bytes = random.section(index).encoded
            for place in bytes.indices {
                for mask: UInt8 in [0x01, 0x80, 0xFF] {
                    var damaged = bytes
                    damaged[place] ^= mask
                    #expect(throws: SpliceError.self) { try SpliceInfoSection(bytes: damaged) }
                }
            }
        }
    }

    @Test("A section that ends at any byte too early is refused as truncated")
    func cutSections() throws {
        var random = RandomSections(seed: 6)
        for index in 0..<40 {
            let bytes = random.section(index).encoded
            for length in bytes.indices {
                do throws(SpliceError) {
                    _ = try SpliceInfoSection(bytes: bytes.prefix(length))
                    Issue.record("a section of \(length) of \(bytes.count) bytes must be refused")
                } catch {
                    #expect(error.code == .truncated)
                }
            }
        }
    }

    @Test("A section whose bytes are damaged and sealed again decodes or is refused, and never traps")
    func sealedDamage() throws {
        var random = RandomSections(seed: 7)
        var generator = SeededGenerator(seed: 8)
        var refused = 0
        for index in 0..<600 {
            var bytes = Array(random.section(index).encoded.dropLast(4))
            for _ in 0..<3 {
                bytes[Int.random(in: 3..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            // A wrong length inside the section.
            do throws(SpliceError) {
                _ = try SpliceInfoSection(bytes: SpliceInfoSection.sealed(bytes)).json
            } catch {
                refused += 1
                #expect([.truncated, .length].contains(error.code))
            }
        }
        #expect(refused > 50)
    }

    @Test("Each defect of a section has its code")
    func errorCodes() throws {
        let bytes = try #require(Base64.decode(Self.placement))
        func code(_ change: (inout [UInt8]) -> Void, isSealed: Bool = true) -> SpliceError.Code? {
            var damaged = bytes
            change(&damaged)
            if isSealed { damaged = SpliceInfoSection.sealed(Array(damaged.dropLast(4))) }
            do throws(SpliceError) { _ = try SpliceInfoSection(bytes: damaged) } catch { return error.code }
            return nil
        }
        #expect(code({ _ in }) == nil)
        #expect(code({ $0[0] = 0x47 }) == .tableID)
        #expect(code({ $0[bytes.count - 1] ^= 1 }, isSealed: false) == .checksum)
        #expect(code({ $0[2] += 1 }) == .truncated)
        #expect(code({ $0.append(0x00) }, isSealed: false) == .length)
        #expect(code({ $0[12] = 2 }) == .length)
        // descriptor_loop_length, descriptor_length, segmentation_upid_length.
        #expect(code({ $0[20] = 0xFF }) == .length)
        #expect(code({ $0[22] = 0xF0 }) == .length)
        #expect(code({ $0[39] = 0x60 }) == .length)
    }

    @Test("Identifiers of content have the notation of their registry")
    func identifiers() {
        func value(_ kind: SegmentationUPID.Kind, _ bytes: [UInt8]) -> SegmentationUPID.Value {
            SegmentationUPID(type: kind, bytes: bytes).value
        }
        let eidr: [UInt8] = [0x14, 0x78, 0x77, 0x91, 0x85, 0x34, 0x2C, 0x23, 0x90, 0x30, 0x86, 0x10]
        #expect(value(.eidr, eidr) == .text("10.5240/7791-8534-2C23-9030-8610-5"))
        #expect(value(.uuid, Array(0..<16)) == .text("00010203-0405-0607-0809-0a0b0c0d0e0f"))
        #expect(value(.adID, Array("ABCD0123000H".utf8)) == .text("ABCD0123000H"))
        #expect(value(.uri, Array("urn:x:1".utf8)) == .text("urn:x:1"))
        #expect(value(.managedPrivate, Array("ABCD".utf8) + [1]) == .managedPrivate(format: 0x4142_4344, bytes: [1]))
        #expect(SegmentationUPID(type: .adID, bytes: [1]).isMalformed)
        #expect(SegmentationUPID(type: .multiple, bytes: [0x03, 12, 1]).isMalformed)
        let nested = SegmentationUPID(type: .multiple, bytes: [0x0D, 2, 0x0D, 0])
        guard case .multiple(let members) = nested.value else {
            Issue.record("a MID must have members (found \(nested.value))")
            return
        }
        #expect(members.map(\.isMalformed) == [true])
    }

    @Test("JSON names every field of the section")
    func json() throws {
        let json = try SpliceInfoSection(text: Self.placement).json
        #expect(json["splice_command"]?["pts_time_seconds"] == .double(21388.766756))
        #expect(json["splice_command"]?["pts_time"] == .int(1_924_989_008))
        guard case .array(let descriptors) = json["descriptors"] else {
            Issue.record("`descriptors` must be an array")
            return
        }
        #expect(descriptors[0]["segmentation_type_id"] == .int(0x34))
        #expect(descriptors[0]["segmentation_upid"]?["value"] == .string("0x2ca0a18a"))
        #expect(descriptors[0]["device_restrictions"] == .int(3))
    }
}
