internal import Instrument

/// The handling of attributes about the picture and the network.
extension SessionModel {
    /// Holds the values of an event until a later event has others.
    mutating func notice(_ event: Event) {
        noticeRendition(event)
        if let position = event[milliseconds: .position] { picture.position = position }
        if let rate = event[.playbackRate], let scaled = Int(exactly: (rate * 1000).rounded()), scaled > 0 {
            picture.rate = min(scaled, 1_000_000)
        }
        if let latency = event[milliseconds: .liveLatency], latency >= 0 { notice(latency: latency) }
        if let level = event[milliseconds: .bufferLevel], level >= 0 { notice(level: level) }
        noticeRequests(event)
    }

    private mutating func noticeRendition(_ event: Event) {
        let bitrate = event[.bitrate].flatMap { $0 > 0 ? $0 : nil } ?? picture.bitrate
        let width = event[.resolutionWidth].flatMap { $0 > 0 ? $0 : nil } ?? picture.width
        let height = event[.resolutionHeight].flatMap { $0 > 0 ? $0 : nil } ?? picture.height
        let displayWidth = event[QualityField.displayWidth] ?? picture.displayWidth
        let displayHeight = event[QualityField.displayHeight] ?? picture.displayHeight
        let isPictureNew = width != picture.width || height != picture.height
        let isDisplayNew = displayWidth != picture.displayWidth || displayHeight != picture.displayHeight
        let isBitrateNew = bitrate != picture.bitrate
        guard isPictureNew || isDisplayNew || isBitrateNew else { return }
        (picture.bitrate, picture.width, picture.height) = (bitrate, width, height)
        (picture.displayWidth, picture.displayHeight) = (displayWidth, displayHeight)
        if isPictureNew || isDisplayNew { noticeSizes() }
        let hasSize = width != nil && height != nil
        if isPictureNew || (isBitrateNew && !hasSize) {
            picture.rendition = picture.computeRendition()
            recordSwitch()
        }
    }

    private mutating func noticeSizes() {
        picture.upscaling = picture.computeUpscaling()
        if let width = picture.width, let height = picture.height {
            session.picture.size = PictureSums.Size(width: width, height: height)
        }
        if let width = picture.displayWidth, let height = picture.displayHeight {
            session.picture.display = PictureSums.Size(width: width, height: height)
        }
    }

    private mutating func recordSwitch() {
        guard case .trace(let limit) = recording, let rendition = picture.rendition else { return }
        guard session.trace.switches.count < limit else { return session.trace.isTruncated = true }
        session.trace.switches.append(
            SessionTrace.Switch(
                instant: session.end.instant,
                position: picture.position,
                rendition: rendition,
                bitrate: picture.bitrate
            )
        )
    }

    private mutating func notice(latency: Int) {
        picture.latency = latency
        guard phase.hasStarted else { return }
        if session.picture.firstLatency == nil { session.picture.firstLatency = latency }
        session.picture.lastLatency = latency
    }

    private mutating func notice(level: Int) {
        picture.level = level
        guard case .trace(let limit) = recording else { return }
        guard session.trace.levels.count < limit else { return session.trace.isTruncated = true }
        session.trace.levels.append(SessionTrace.Level(instant: session.end.instant, level: level))
    }

    /// A request that a player reports with an event. It counts in place of the probe's sums.
    mutating func count(request event: Event) {
        session.network.requests.add(1)
        if event[.requestFailed] == true { session.network.errors.add(1) }
        if let time = event[milliseconds: .timeToFirstByte], time >= 0 {
            observation.timeToFirstByte = time
            session.network.timeToFirstByte.record(time)
        }
        if let bytes = event[.requestBytes], let time = event[milliseconds: .requestTime],
            bytes > 0, time > 0
        {
            session.network.bytes.add(bytes)
            session.network.activeTime.add(time)
            observation.throughput = bytes.saturatingMultiply(8000) / time
        }
        if let throughput = observation.throughput { session.network.throughput.record(throughput) }
        phase.reportsRequests = true
    }

    /// The sums of the probe: each new count of requests brings the throughput of the latest segment.
    private mutating func noticeRequests(_ event: Event) {
        guard !phase.reportsRequests, let requests = event[.countRequests] else { return }
        let known = picture.requestCount ?? 0
        if requests > known {
            session.network.requests = session.network.requests.saturatingAdd(requests.saturatingSubtract(known))
            if let throughput = event[.throughput], throughput > 0, throughput != picture.throughput {
                observation.throughput = throughput
                session.network.throughput.record(throughput)
                picture.throughput = throughput
            }
            picture.requestCount = requests
        }
        if let failed = event[.countFailedRequests] {
            let known = picture.failedRequestCount ?? 0
            if failed > known {
                session.network.errors = session.network.errors.saturatingAdd(failed.saturatingSubtract(known))
                picture.failedRequestCount = failed
            }
        }
    }
}

extension CurrentPicture {
    /// `WIDTHxHEIGHT`, else the bitrate; nil if neither is known.
    func computeRendition() -> String? {
        if let width, let height { return "\(width)x\(height)" }
        return bitrate.map(String.init)
    }

    /// The enlargement of the picture, in millionths: 0 at the display's size or above.
    ///
    /// The picture keeps its shape, so the smaller of the two scales applies.
    func computeUpscaling() -> Int? {
        guard let width, let height, let displayWidth, let displayHeight, displayWidth > 0, displayHeight > 0 else {
            return nil
        }
        let horizontal = displayWidth.saturatingMultiply(1_000_000) / width
        let vertical = displayHeight.saturatingMultiply(1_000_000) / height
        return max(0, min(horizontal, vertical) - 1_000_000)
    }
}
