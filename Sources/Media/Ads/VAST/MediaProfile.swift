/// The capabilities of a player, for the choice of an ad's media file.
public struct MediaProfile: Hashable, Sendable {
    /// The highest bit rate, in kbit/s; nil for no limit.
    package var maximumBitrate: Int?
    /// The greatest width, in pixels; nil for no limit.
    package var maximumWidth: Int?
    /// The greatest height, in pixels; nil for no limit.
    package var maximumHeight: Int?
    /// The MIME types that can be played, in lower case, without parameters.
    package var types: Set<String>

    /// The MIME types of HLS and DASH.
    static let streamingTypes: Set<String> = [
        "application/x-mpegurl", "application/vnd.apple.mpegurl", "audio/mpegurl", "audio/x-mpegurl",
        "application/dash+xml",
    ]
    /// The types of a player with the usual codecs.
    public static let usualTypes: Set<String> = streamingTypes.union([
        "video/mp4", "video/webm", "video/ogg", "video/3gpp", "video/quicktime", "video/x-m4v", "video/mp2t",
        "application/mp4", "audio/mp4", "audio/mpeg", "audio/mp3", "audio/x-mp3", "audio/aac", "audio/ogg",
        "audio/webm", "audio/wav", "audio/x-wav", "audio/x-m4a", "audio/flac",
    ])

    /// Creates a profile; by default without limits, for the usual types.
    public init(
        maximumBitrate: Int? = nil,
        maximumWidth: Int? = nil,
        maximumHeight: Int? = nil,
        types: Set<String> = usualTypes
    ) {
        (self.maximumBitrate, self.maximumWidth) = (maximumBitrate, maximumWidth)
        (self.maximumHeight, self.types) = (maximumHeight, types)
    }
}

extension LinearCreative {
    /// The media file for a profile: a stream if there is one, else the progressive file with the highest bit rate
    /// within the limits, else the one with the lowest bit rate; nil if no file is playable (error 403). A file whose
    /// address is not one of `http` or `https` is not playable: an ad server names no file of this machine.
    public func mediaFile(for profile: MediaProfile) -> MediaFile? {
        let playable = mediaFiles.filter {
            $0.apiFramework == nil && profile.types.contains($0.plainType) && $0.url.isOfServer
        }
        if let stream = playable.first(where: \.isStream) { return stream }
        let fitting = playable.filter { profile.fits($0) }
        return fitting.max { $0.rank < $1.rank } ?? playable.min { $0.rank < $1.rank }
    }
}

extension MediaFile {
    /// The MIME type without parameters.
    var plainType: String { String(type.prefix { $0 != ";" && $0 != " " }) }
    package var isStream: Bool { MediaProfile.streamingTypes.contains(plainType) }

    /// Orders files by their bit rate, then by their size.
    fileprivate var rank: (Int, Int) { (bitrate ?? maxBitrate ?? 0, (width ?? 0) * (height ?? 0)) }
}

extension MediaProfile {
    fileprivate func fits(_ file: MediaFile) -> Bool {
        isWithin(file.bitrate ?? file.maxBitrate, maximumBitrate) && isWithin(file.width, maximumWidth)
            && isWithin(file.height, maximumHeight)
    }

    private func isWithin(_ value: Int?, _ limit: Int?) -> Bool {
        guard let value, let limit else { return true }
        return value <= limit
    }
}
