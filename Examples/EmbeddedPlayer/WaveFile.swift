import Foundation

/// The sound in a WAV file: 16-bit PCM (RIFF, `fmt ` and `data` chunks).
struct WaveFile {
    struct Unplayable: Error, CustomStringConvertible {
        let description: String
    }

    let path: String
    let bytesPerSecond: Int
    /// The bytes of one frame: one sample per channel.
    let frameSize: Int
    let sound: Data

    var duration: Duration { .nanoseconds(sound.count * 1_000_000_000 / bytesPerSecond) }

    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unplayable(description: "cannot read \(path)")
        }
        guard data.count > 44, data.prefix(4) == Data("RIFF".utf8), data[8..<12] == Data("WAVE".utf8) else {
            throw Unplayable(description: "\(path) must be a WAV file (found another format)")
        }
        var (rate, frame, sound) = (0, 0, Data())
        var offset = 12
        while offset + 8 <= data.count {
            let size = Self.number(in: data, at: offset + 4, bytes: 4)
            let body = data[min(data.count, offset + 8)..<min(data.count, offset + 8 + size)]
            if data[offset..<offset + 4] == Data("fmt ".utf8), body.count >= 16 {
                rate = Self.number(in: data, at: offset + 16, bytes: 4)
                frame = Self.number(in: data, at: offset + 20, bytes: 2)
            } else if data[offset..<offset + 4] == Data("data".utf8) {
                sound = Data(body)
            }
            offset += 8 + size + size % 2
        }
        guard rate > 0, frame > 0, !sound.isEmpty else {
            throw Unplayable(description: "\(path) must contain audio (found none)")
        }
        (self.path, bytesPerSecond, frameSize, self.sound) = (path, rate, frame, sound)
    }

    private static func number(in data: Data, at offset: Int, bytes: Int) -> Int {
        (0..<bytes).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) }
    }

    /// Writes a tone of two seconds, for a run without a WAV file.
    static func writeTone(to path: String) throws {
        let (rate, seconds) = (16_000, 2)
        func bytes(_ number: Int, _ count: Int) -> Data { Data((0..<count).map { UInt8(number >> (8 * $0) & 255) }) }
        var sound = Data()
        for index in 0..<rate * seconds {
            let level = Int(8000 * sin(Double(index) / Double(rate) * 440 * 2 * .pi))
            sound += bytes(level, 2)
        }
        var file = Data("RIFF".utf8) + bytes(36 + sound.count, 4) + Data("WAVEfmt ".utf8) + bytes(16, 4)
        file += bytes(1, 2) + bytes(1, 2) + bytes(rate, 4) + bytes(rate * 2, 4) + bytes(2, 2) + bytes(16, 2)
        try (file + Data("data".utf8) + bytes(sound.count, 4) + sound).write(to: URL(fileURLWithPath: path))
    }
}
