internal import Instrument
internal import InstrumentJSON

/// The latest values of mpv's properties.
struct MPVValues: Sendable {
    private var values: [MPVProperty: JSONValue] = [:]
    /// The media for the attribute `source`. Computed when mpv names the media, because the computation reads the file
    /// system.
    private var source: String?

    subscript(property: MPVProperty) -> JSONValue? {
        get { values[property] }
        set {
            let isLocation = (property == .path || property == .workingDirectory) && values[property] != newValue
            values[property] = newValue
            guard isLocation else { return }
            let directory = values[.workingDirectory]?.string
            source = values[.path]?.string.map { SourceText.location($0, in: directory) }
        }
    }

    /// Forgets what belonged to the last playback.
    mutating func forgetMedia() { for property in MPVProperty.ofMedia { values[property] = nil } }

    /// Width and height of the picture as it is decoded, else as the container has it.
    var picture: (width: Int, height: Int)? {
        if let decoded = Self.size(values[.decodedPicture]) { return decoded }
        guard let width = values[.width]?.int, let height = values[.height]?.int, width > 0, height > 0 else {
            return nil
        }
        return (width, height)
    }

    /// The decoder's picture in pixels; nil if none is decoded. Saturates.
    var decodedArea: Int? {
        guard let size = Self.size(values[.decodedPicture]) else { return nil }
        let (area, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        return overflow ? .max : area
    }

    /// The buffered media ahead of the playhead.
    var bufferedDuration: Duration? { time(.bufferedDuration) }

    var status: PlayerStatus {
        var status = PlayerStatus()
        status.position = time(.timePosition).map { max(.zero, $0) }
        status.duration = time(.duration)
        (status.resolutionWidth, status.resolutionHeight) = (picture?.width, picture?.height)
        status.bitrate = bitrate
        status.framesPerSecond = values[.framesPerSecond]?.number
        (status.volume, status.isMuted) = (volume, values[.isMuted]?.truth)
        status.language = values[.language]?.string
        status.subtitles = values[.subtitles]?.string
        status.source = source
        status.title = title
        return status
    }

    /// mpv amplifies up to 130 and more; the data model ends at 100.
    private var volume: Int? {
        values[.volume]?.number.flatMap { Int(exactly: min(100, max(0, $0)).rounded()) }
    }

    /// The audible volume in the data model's form; nil before mpv has reported both values.
    var sound: Sound? {
        guard let volume, let isMuted = values[.isMuted]?.truth else { return nil }
        return Sound(volume: volume, isMuted: isMuted)
    }

    /// How loud it is, and whether it is switched off.
    struct Sound: Hashable, Sendable {
        let volume: Int
        let isMuted: Bool
    }

    /// The media's own title. Without one mpv takes the end of the address, where secrets may stand in the query.
    private var title: String? {
        guard let title = values[.mediaTitle]?.string, let path = values[.path]?.string else {
            // The title is not reported while its origin is unknown.
            return nil
        }
        // By bytes: both come from outside, and searching by characters takes the product of their lengths.
        let pattern = BytePattern(title.utf8)
        let isFromPath =
            pattern.isContained(in: path.utf8) || pattern.isContained(in: SourceText.decoded(path[...]).utf8)
        return isFromPath ? SourceText.fileName(path) : title
    }

    /// bit/s of picture and sound together.
    private var bitrate: Int? {
        let rates = [MPVProperty.videoBitrate, .audioBitrate].compactMap { values[$0]?.number }.filter { $0 > 0 }
        return rates.isEmpty ? nil : Int(exactly: rates.reduce(0, +).rounded())
    }

    private func time(_ property: MPVProperty) -> Duration? {
        // Beyond 292 years a duration of nanoseconds ends.
        guard let seconds = values[property]?.number, abs(seconds) < 9e9 else { return nil }
        return .seconds(seconds)
    }

    private static func size(_ value: JSONValue?) -> (width: Int, height: Int)? {
        guard let width = value?["w"]?.int, let height = value?["h"]?.int, width > 0, height > 0 else { return nil }
        return (width, height)
    }
}
