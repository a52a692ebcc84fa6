import Instrument

/// Sessions whose metrics the tests compute by hand.
enum Golden {
    /// 2 s join, 30 s play, 3 s stall, 30 s play, end: the check value.
    ///
    /// joining 0–2 s · playing 2–32 s · rebuffering 32–35 s · playing 35–65 s
    static let check: [Step] = [
        (0, .mediaRequest, [:]), (500, .streamLoad, [:]), (0, .bufferBegin, [:]), (1500, .bufferFinish, [:]),
        (0, .start, [:]), (30_000, .bufferBegin, [:]), (3000, .bufferFinish, [:]), (30_000, .end, [:]),
    ]

    /// Everything a content tracker can do.
    ///
    /// | ms | event | state until the next event |
    /// |---|---|---|
    /// | 0 | MediaRequest | joining 1000 |
    /// | 1000 | StreamLoad, 1 Mbit/s, 640×360 in 1280×720 | joining 1000 |
    /// | 2000 | Start | playing 10,000 (640x360, 1 Mbit/s) |
    /// | 12,000 | QualityChangeUp, 3 Mbit/s, 1280×720 | playing 20,000 (1280x720, 3 Mbit/s) |
    /// | 32,000 | BufferBegin | rebuffering 1000 |
    /// | 33,000 | PauseBegin | pausedBuffering 2000 |
    /// | 35,000 | BufferFinish | paused 5000 |
    /// | 40,000 | PauseFinish | playing 10,000 (1280x720, 3 Mbit/s) |
    /// | 50,000 | SeekBegin | seeking 100 |
    /// | 50,100 | BufferBegin | seeking 700 |
    /// | 50,800 | BufferFinish | seeking 200 |
    /// | 51,000 | SeekFinish | playing 4000 |
    /// | 55,000 | BufferBegin | rebuffering 2000 |
    /// | 57,000 | BufferFinish | playing 3000 |
    /// | 60,000 | QualityChangeDown, 1 Mbit/s, 640×360 | playing 6000 (640x360, 1 Mbit/s) |
    /// | 66,000 | BufferBegin | rebuffering 4000 |
    /// | 70,000 | Stop | stopped |
    static let eventful: [Step] = [
        (0, .mediaRequest, [:]),
        (
            1000, .streamLoad,
            [
                "bitrate": 1_000_000, "resolutionWidth": 640, "resolutionHeight": 360, "displayWidth": 1280,
                "displayHeight": 720,
            ]
        ),
        (1000, .start, [:]),
        (10_000, .qualityChangeUp, ["bitrate": 3_000_000, "resolutionWidth": 1280, "resolutionHeight": 720]),
        (20_000, .bufferBegin, [:]), (1000, .pauseBegin, [:]), (2000, .bufferFinish, [:]), (5000, .pauseFinish, [:]),
        (10_000, .seekBegin, [:]), (100, .bufferBegin, [:]), (700, .bufferFinish, [:]), (200, .seekFinish, [:]),
        (4000, .bufferBegin, [:]), (2000, .bufferFinish, [:]),
        (3000, .qualityChangeDown, ["bitrate": 1_000_000, "resolutionWidth": 640, "resolutionHeight": 360]),
        (6000, .bufferBegin, [:]), (4000, .stop, [:]),
    ]
}

extension Attributes {
    /// These attributes with others.
    func merged(_ others: Attributes) -> Attributes {
        var merged = self
        merged.merge(others)
        return merged
    }
}
