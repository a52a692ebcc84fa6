import Foundation

@testable import InstrumentProbe

/// Good media of each codec, and media that was broken in one place.
enum RefusedMedia {
    /// Media, and what a browser and the check of the probe say of it.
    struct Example: Sendable {
        var name: String
        /// The type of the browser's buffer.
        var type: String
        var initialization: [UInt8]
        var media: [UInt8]
        /// A word of the probe's message; nil for media that the probe does not report.
        var word: String?
        /// Whether this browser has the codec, so that its refusal or acceptance says something of the packaging.
        var isKnownToBrowser = true
        /// Whether the browser takes the media without an error, and has nothing of it to play.
        var isIgnored = false

        /// What the probe says.
        var refusal: MediaRefusal? {
            do throws(MediaRefusal) {
                let check = try InitializationCheck(initialization)
                if let refusal = check.chromiumRefusal { return refusal }
                return SegmentAcceptance.refusal(ofFragments: media, encryptedTracks: check.encryptedTracks)
            } catch {
                return error
            }
        }
    }

    private static let table = ["moov", "trak", "mdia", "minf", "stbl", "stsd"]

    /// A good file and the ways to break it.
    private struct Base {
        var name: String
        var type: String
        var initialization: [UInt8]
        var media: [UInt8]
        var isKnownToBrowser = true

        init(_ name: String, _ type: String, _ options: String, isKnownToBrowser: Bool = true) throws {
            (self.name, self.type, self.isKnownToBrowser) = (name, type, isKnownToBrowser)
            let file = try [UInt8](Fixtures.data(Fixtures.fragmented(name, options).get()))
            (initialization, media) = BoxEditor.split(file)
        }

        func good() -> Example { example("\(name) as it should be", nil, initialization, media) }

        /// With a change of its initialization section.
        func with(
            _ change: String,
            _ word: String?,
            at path: [String],
            _ edit: ([UInt8]) -> [UInt8]?
        ) -> Example {
            example("\(name) with \(change)", word, BoxEditor.edit(initialization, path, edit), media)
        }

        func without(_ path: [String]) -> Example {
            let box = path.last ?? ""
            return example(
                "\(name) without \(box)",
                "`\(box)`",
                BoxEditor.edit(initialization, path) { _ in nil },
                media
            )
        }

        func fragments(without path: [String]) -> Example {
            let box = path.last ?? ""
            return example(
                "\(name) without \(box)",
                "`\(box)`",
                initialization,
                BoxEditor.edit(media, path) { _ in nil }
            )
        }

        /// With the samples of each fragment in front of their description, which points to them.
        func mediaFirst() -> Example {
            let boxes = BoxEditor.boxes(media)
            let moved = zip(boxes, boxes.dropFirst()).flatMap { box, next -> [UInt8] in
                guard box.type == "moof", next.type == "mdat" else { return [] }
                let pointing = BoxEditor.edit(box.bytes, ["moof", "traf", "trun"]) { content in
                    // The size of `mdat` before the beginning of `moof`, and its header behind.
                    let offset = Int32(8 - next.bytes.count)
                    return content[..<8] + withUnsafeBytes(of: offset.bigEndian) { Array($0) } + content[12...]
                }
                return next.bytes + pointing
            }
            var example = example("\(name) with mdat before moof", "`mdat`", initialization, moved)
            example.isIgnored = true
            return example
        }

        /// As it is, which the probe refuses.
        func refused(_ word: String) -> Example { example("\(name)", word, initialization, media) }

        private func example(_ name: String, _ word: String?, _ initialization: [UInt8], _ media: [UInt8]) -> Example {
            Example(
                name: name,
                type: type,
                initialization: initialization,
                media: media,
                word: word,
                isKnownToBrowser: isKnownToBrowser
            )
        }
    }

    static func all() throws -> [Example] { try video() + audio() + codecs() + containers() }

    private static func video() throws -> [Example] {
        let avc = try Base("avc", "video/mp4; codecs=\"avc1.42c00d\"", "-c:v libx264 -preset ultrafast -an")
        let hevc = try Base(
            "hevc",
            "video/mp4; codecs=\"hvc1.1.6.L60.90\"",
            "-c:v libx265 -an",
            isKnownToBrowser: false
        )
        let vp9 = try Base("vp9", "video/mp4; codecs=\"vp09.00.10.08\"", "-c:v libvpx-vp9 -cpu-used 8 -an")
        let av1 = try Base(
            "av1",
            "video/mp4; codecs=\"av01.0.00M.08\"",
            "-c:v libaom-av1 -usage realtime -cpu-used 8 -an"
        )
        let (avcC, hvcC) = (table + ["avc1", "avcC"], table + ["hev1", "hvcC"])
        return [
            avc.good(), avc.without(avcC),
            avc.with("avcC of version 0", "version", at: avcC) { [0] + $0.dropFirst() },
            avc.with("avcC of 6 bytes", "6 bytes", at: avcC) { Array($0.prefix(6)) },
            avc.with("lengths of 3 bytes", "3 bytes", at: avcC) { $0.prefix(4) + [0xFE] + $0.dropFirst(5) },
            avc.with("a parameter set that is too long", "parameter set", at: avcC) {
                $0.prefix(6) + [0xFF, 0xFF] + $0.dropFirst(8)
            },
            hevc.good(), hevc.without(hvcC),
            hevc.with("hvcC of version 0", "version", at: hvcC) { [0] + $0.dropFirst() },
            hevc.with("a parameter set that is cut", "parameter set", at: hvcC) { Array($0.dropLast(4)) },
            vp9.good(), vp9.without(table + ["vp09", "vpcC"]),
            vp9.with("vpcC of 5 bytes", "5 bytes", at: table + ["vp09", "vpcC"]) { Array($0.prefix(5)) },
            av1.good(), av1.without(table + ["av01", "av1C"]),
            av1.with("av1C of version 0", "version", at: table + ["av01", "av1C"]) { [0x80] + $0.dropFirst() },
            av1.with("av1C without a marker", "marker", at: table + ["av01", "av1C"]) { [1] + $0.dropFirst() },
        ]
    }

    private static func audio() throws -> [Example] {
        let aac = try Base("aac", "audio/mp4; codecs=\"mp4a.40.2\"", "-c:a aac -vn")
        let opus = try Base("opus", "audio/mp4; codecs=\"opus\"", "-c:a libopus -vn")
        let flac = try Base("flac", "audio/mp4; codecs=\"flac\"", "-c:a flac -strict -2 -vn")
        let ac3 = try Base("ac3", "audio/mp4; codecs=\"ac-3\"", "-c:a ac3 -vn", isKnownToBrowser: false)
        let eac3 = try Base("eac3", "audio/mp4; codecs=\"ec-3\"", "-c:a eac3 -vn", isKnownToBrowser: false)
        let esds = table + ["mp4a", "esds"]
        func configuration(_ bytes: [UInt8], _ change: String, _ word: String?) -> Example {
            aac.with(change, word, at: esds) { _ in description(bytes) }
        }
        /// The frames are stereo of AAC-LC: whether the browser has begun to decode them, and failed, when it reports
        /// is a matter of time.
        func configurationOfOtherFrames(_ bytes: [UInt8], _ change: String) -> Example {
            var example = configuration(bytes, change, nil)
            example.isKnownToBrowser = false
            return example
        }
        return [
            aac.good(), aac.without(esds),
            aac.with("no decoder configuration", "AudioSpecificConfig", at: esds) { _ in description(nil) },
            configuration([], "an empty configuration", "empty"),
            configuration([0x11], "a configuration of one byte", "1 bytes"),
            configuration([0x01, 0x90], "the object type 0", "type 0"),
            configuration([0x16, 0x90], "the frequency index 13", "index 13"),
            configuration([0x17, 0x10], "the frequency index 14", "index 14"),
            configuration([0x11, 0x90], "a short configuration", nil),
            configurationOfOtherFrames([0xEB, 0x11, 0x88, 0x00], "parametric stereo"),
            configurationOfOtherFrames([0x11, 0xB8], "eight channels"),
            opus.good(), opus.without(table + ["Opus", "dOps"]),
            opus.with("dOps of 4 bytes", "4 bytes", at: table + ["Opus", "dOps"]) { Array($0.prefix(4)) },
            flac.good(), flac.without(table + ["fLaC", "dfLa"]),
            flac.with("another block first", "STREAMINFO", at: table + ["fLaC", "dfLa"]) {
                $0.prefix(4) + [0x84] + $0.dropFirst(5)
            },
            flac.with("dfLa of 12 bytes", "12 bytes", at: table + ["fLaC", "dfLa"]) { Array($0.prefix(12)) },
            ac3.good(), ac3.without(table + ["ac-3", "dac3"]), eac3.good(), eac3.without(table + ["ec-3", "dec3"]),
        ]
    }

    /// An `esds` of AAC with this configuration; nil for none.
    private static func description(_ configuration: [UInt8]?) -> [UInt8] {
        let specific = configuration.map { [5, UInt8($0.count)] + $0 } ?? []
        let decoder = [0x40, 0x15] + [UInt8](repeating: 0, count: 11) + specific
        let stream = [0, 1, 0, 4, UInt8(decoder.count)] + decoder + [6, 1, 2]
        return [0, 0, 0, 0, 3, UInt8(stream.count)] + stream
    }

    private static func codecs() throws -> [Example] {
        let aac = "audio/mp4; codecs=\"mp4a.40.2\""
        let avc = "video/mp4; codecs=\"avc1.42c00d\""
        return try [
            Base("mpeg4", avc, "-c:v mpeg4 -an").refused("MPEG-4"),
            Base("mpeg2", avc, "-c:v mpeg2video -an").refused("MPEG-2"),
            Base("dts", aac, "-c:a dca -strict -2 -vn").refused("DTS"),
            // In doubt: other browsers have these.
            Base("alac", aac, "-c:a alac -vn", isKnownToBrowser: false).good(),
            // Chromium has these codecs, but not in MP4.
            Base("mp3", aac, "-c:a libmp3lame -vn").refused("MPEG audio"),
            Base("mp2", aac, "-c:a mp2 -vn").refused("MPEG audio"),
            // The stream that transmuxers make of layers 2 and 3 of MPEG audio.
            Example(
                name: "layer 2 without a container",
                type: "audio/mpeg",
                initialization: [],
                media: [UInt8](Fixtures.data(Fixtures.mp2.get()))
            ),
        ]
    }

    private static func containers() throws -> [Example] {
        let type = "video/mp4; codecs=\"avc1.42c00d\""
        let avc = try Base("avc", type, "-c:v libx264 -preset ultrafast -an")
        let plain = try Base("unfragmented", type, "-c:v libx264 -preset ultrafast -an -movflags faststart")
        let absolute = try Base(
            "absolute offsets",
            type,
            "-c:v libx264 -preset ultrafast -an -movflags frag_keyframe+empty_moov"
        )
        let encryption =
            "-encryption_scheme cenc-aes-ctr -encryption_key 000102030405060708090a0b0c0d0e0f "
            + "-encryption_kid a7e61c373e219033c21091fa607bf3b8"
        let protected = try Base("protected", type, "-c:v libx264 -preset ultrafast -an \(encryption)")
        let scheme = table + ["encv", "sinf"]
        return [
            avc.without(["moov", "mvhd"]), avc.without(["moov", "mvex"]), avc.without(["moov", "mvex", "trex"]),
            avc.with("trex of another track", "`trex`", at: ["moov", "mvex", "trex"]) {
                $0.prefix(4) + [0, 0, 0, 9] + $0.dropFirst(8)
            },
            avc.with("a sample description of number 0", "number 0", at: ["moov", "mvex", "trex"]) {
                $0.prefix(8) + [0, 0, 0, 0] + $0.dropFirst(12)
            },
            avc.without(["moov", "trak", "tkhd"]), avc.without(["moov", "trak", "mdia", "hdlr"]), avc.without(table),
            avc.fragments(without: ["moof", "mfhd"]), avc.fragments(without: ["moof", "traf", "tfhd"]),
            avc.fragments(without: ["moof", "traf", "tfdt"]), avc.mediaFirst(), plain.refused("`mvex`"),
            absolute.refused("offset"),
            // This ffmpeg writes the initialization vectors nowhere.
            protected.refused("initialization vectors"), protected.without(scheme),
            protected.without(scheme + ["frma"]), protected.without(scheme + ["schm"]),
            protected.with("the scheme cens", "`cens`", at: scheme + ["schm"]) {
                $0.prefix(4) + Array("cens".utf8) + $0.dropFirst(8)
            },
            protected.without(scheme + ["schi", "tenc"]), protected.without(table + ["encv", "avcC"]),
        ]
    }
}
