// What players report beyond OpenAVT's vocabulary: requests, the buffer, latency and rate. Players send these fields,
// and quality metrics, reports and backends read them. All are our additions, and each is optional.

extension Action {
    /// A request for media has ended, with or without success. Carries `requestTime`, `timeToFirstByte`, `requestBytes`
    /// and, if it failed, `requestFailed`.
    public static let requestFinish = Action("RequestFinish")
    /// The playback rate has changed. Carries the new rate as `playbackRate`.
    public static let playbackRateChange = Action("PlaybackRateChange")
}

extension AttributeKey where Value == Bool {
    /// Whether a request failed.
    public static var requestFailed: Self { PlaybackField.requestFailed }
}

extension AttributeKey where Value == Double {
    /// The playback rate; 1 is normal.
    public static var playbackRate: Self { PlaybackField.playbackRate }
}

extension AttributeKey where Value == Int {
    /// Bytes of the body of a request.
    public static var requestBytes: Self { PlaybackField.requestBytes }
    /// The number of requests of the playback: for playlists, segments, initialization sections and keys.
    public static var countRequests: Self { PlaybackField.countRequests }
    /// The number of requests that failed.
    public static var countFailedRequests: Self { PlaybackField.countFailedRequests }
    /// The throughput of the latest segment, bit/s.
    public static var throughput: Self { PlaybackField.throughput }
}

extension AttributeKey where Value == Duration {
    /// Media ahead of the playhead. Whole milliseconds on the wire.
    public static var bufferLevel: Self { PlaybackField.bufferLevel }
    /// How far behind the live edge the playhead is. Whole milliseconds on the wire.
    public static var liveLatency: Self { PlaybackField.liveLatency }
    /// From a request to its last byte, or to its failure. Whole milliseconds on the wire.
    public static var requestTime: Self { PlaybackField.requestTime }
    /// From a request to the first byte of its body. Whole milliseconds on the wire.
    public static var timeToFirstByte: Self { PlaybackField.timeToFirstByte }
}

extension AttributeKey where Value == String {
    /// The kind of a request, for example `segment` or `manifest`.
    public static var requestKind: Self { PlaybackField.requestKind }
    /// The code of an error, in the words of the player: `notFound`, `AVFoundationErrorDomain -11800`, or the number of
    /// an error of the IMA SDK.
    public static var errorCode: Self { PlaybackField.errorCode }
}

/// The keys, created once: creating a key looks its name up in a table.
private enum PlaybackField {
    static let requestFailed = AttributeKey<Bool>("requestFailed")
    static let playbackRate = AttributeKey<Double>("playbackRate")
    static let requestBytes = AttributeKey<Int>("requestBytes")
    static let countRequests = AttributeKey<Int>("countRequests")
    static let countFailedRequests = AttributeKey<Int>("countFailedRequests")
    static let throughput = AttributeKey<Int>("throughput")
    static let bufferLevel = AttributeKey<Duration>("bufferLevel")
    static let liveLatency = AttributeKey<Duration>("liveLatency")
    static let requestTime = AttributeKey<Duration>("requestTime")
    static let timeToFirstByte = AttributeKey<Duration>("timeToFirstByte")
    static let requestKind = AttributeKey<String>("requestKind")
    static let errorCode = AttributeKey<String>("errorCode")
}
