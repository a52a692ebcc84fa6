import Foundation
import InstrumentOrigin

/// Which byte of a transport stream brings which moment of it, as ffprobe says; and from that, what a player with a
/// given threshold shows over a given link. Independent of the probe and its model.
struct PacketTable {
    private struct Packet {
        var isVideo: Bool
        /// Seconds from the start of the media.
        var end: Double
        /// The number of bytes that must have arrived. Sound is complete with the last byte of its PES packet, which
        /// says how long it is; a picture when the next one begins, because its PES packet does not (ISO/IEC 13818-1,
        /// section 2.4.3.7).
        var bytes: Int
    }

    private var packets: [Packet] = []

    init(of path: String) throws {
        let lines = try Self.output(of: [
            "ffprobe", "-v", "error", "-show_entries", "packet=codec_type,pts_time,duration_time,size,pos", "-of",
            "csv=p=0", path,
        ])
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        var origin = Double.infinity
        var picture: Double?
        var sound: (ends: [Double], position: Int, size: Int) = ([], 0, 0)
        for line in lines.split(separator: "\n") {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count >= 5, let time = Double(fields[1]), let length = Double(fields[2]) else { continue }
            origin = min(origin, time)
            let position = Int(fields[4])
            if fields[0] == "video" {
                guard let position else { continue }
                if let picture { packets.append(Packet(isVideo: true, end: picture, bytes: position + 188)) }
                picture = time + length
            } else {
                // Several frames of sound share a PES packet: only the first has a place.
                if let position {
                    packets += Self.frames(sound)
                    sound = ([], position, 0)
                }
                sound.ends.append(time + length)
                sound.size += Int(fields[3]) ?? 0
            }
        }
        packets += Self.frames(sound)
        if let picture { packets.append(Packet(isVideo: true, end: picture, bytes: size)) }
        for index in packets.indices { packets[index].end -= origin }
        packets.sort { $0.bytes < $1.bytes }
    }

    /// The frames of one PES packet: its header of 14 bytes and they, in transport packets of 184 bytes and 4 of
    /// header.
    private static func frames(_ sound: (ends: [Double], position: Int, size: Int)) -> [Packet] {
        let bytes = sound.position + (sound.size + 14 + 183) / 184 * 188
        return sound.ends.map { Packet(isVideo: false, end: $0, bytes: bytes) }
    }

    /// What is shown: playback begins, and continues after a stall, when `threshold` seconds are there, and stalls when
    /// the playhead meets the end of what is there of picture or sound.
    func viewing(over schedule: DeliverySchedule, after bytes: Int, threshold: Double) -> Viewing {
        var viewing = Viewing(outcome: "")
        var (video, audio) = (0.0, 0.0)
        // While it plays: when the playhead would have been at the start of the media.
        var playing: Double?
        var (playhead, stalledAt) = (0.0, 0.0)
        for packet in packets {
            guard let arrival = schedule.instant(ofByte: bytes + packet.bytes, startingAt: .zero) else { break }
            let now = arrival / .seconds(1)
            let buffered = min(video, audio)
            if let zero = playing, now - zero > buffered, packet.end > buffered {
                (playing, playhead, stalledAt) = (nil, buffered, zero + buffered)
            }
            if packet.isVideo { video = max(video, packet.end) } else { audio = max(audio, packet.end) }
            let isLast = packet.bytes == packets.last?.bytes
            guard playing == nil, min(video, audio) - playhead >= threshold || isLast else { continue }
            if viewing.start == nil {
                viewing.start = now
            } else {
                viewing.stalls.append(Viewing.Stall(begin: stalledAt, length: now - stalledAt))
            }
            playing = now - playhead
        }
        return viewing
    }

    private static func output(of command: [String]) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
