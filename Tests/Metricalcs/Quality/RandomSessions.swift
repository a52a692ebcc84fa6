import Instrument
import InstrumentQuality
import InstrumentTestKit

/// Random logs of several devices, through the ads hub.
enum RandomSessions {
    static let actions: [Action] = [
        .mediaRequest, .streamLoad, .start, .bufferBegin, .bufferFinish, .seekBegin, .seekFinish, .pauseBegin,
        .pauseFinish, .qualityChangeUp, .qualityChangeDown, .ping, .ping, .ping, .error, .requestFinish,
        Action("Custom"),
    ]
    static let endings: [Action] = [.end, .stop, .next, .error]
    static let adActions: [Action] = [
        .adBreakBegin, .adBreakFinish, .adBegin, .adFinish, .adBufferBegin, .adBufferFinish,
    ]

    /// The events of one device: about `count` of them.
    static func device(_ name: String, _ count: Int, _ generator: inout SeededGenerator) -> [Event] {
        var viewing = Viewing(name, at: Int.random(in: 0...1_000_000, using: &generator))
        for _ in 0..<count {
            let pause = Bool.random(using: &generator) ? 0 : Int.random(in: 0...20_000, using: &generator)
            let roll = Int.random(in: 0..<40, using: &generator)
            if roll == 0 {
                viewing.add(pause, endings.randomElement(using: &generator) ?? .end, ["isFatal": true])
            } else if roll < 8 {
                viewing.add(pause, adActions.randomElement(using: &generator) ?? .adBegin, from: Viewing.ads)
            } else {
                let action = actions.randomElement(using: &generator) ?? .ping
                viewing.add(pause, action, attributes(&generator))
            }
        }
        return viewing.events
    }

    private static func attributes(_ generator: inout SeededGenerator) -> Attributes {
        var attributes = Attributes()
        func one(_ chance: Int, in range: ClosedRange<Int>) -> AttributeValue? {
            Int.random(in: 0..<chance, using: &generator) == 0 ? .int(Int.random(in: range, using: &generator)) : nil
        }
        attributes["bitrate"] = one(4, in: 100_000...8_000_000)
        attributes["resolutionWidth"] = one(6, in: 1...4)
        attributes["resolutionHeight"] = one(6, in: 1...4)
        attributes["displayWidth"] = one(9, in: 1...8)
        attributes["displayHeight"] = one(9, in: 1...8)
        attributes["liveLatency"] = one(3, in: 0...20_000)
        attributes["bufferLevel"] = one(3, in: 0...30_000)
        attributes["requestTime"] = one(3, in: 0...3000)
        attributes["requestBytes"] = one(3, in: 0...3_000_000)
        attributes["timeToFirstByte"] = one(3, in: 0...300)
        attributes["countRequests"] = one(9, in: 0...300)
        attributes["countFailedRequests"] = one(9, in: 0...300)
        attributes["throughput"] = one(9, in: 0...30_000_000)
        attributes["position"] = one(2, in: 0...3_000_000)
        if Int.random(in: 0..<9, using: &generator) == 0 {
            attributes["playbackRate"] = .double([0.5, 1, 1.1, 2].randomElement(using: &generator) ?? 1)
        }
        if Int.random(in: 0..<20, using: &generator) == 0 { attributes["requestFailed"] = true }
        return attributes
    }

    /// The logs of several devices, mixed; each in its order.
    static func mixed(_ logs: [[Event]], _ generator: inout SeededGenerator) -> [Event] {
        var rest = logs.map { $0[...] }
        var events: [Event] = []
        while let index = rest.indices.filter({ !rest[$0].isEmpty }).randomElement(using: &generator) {
            events.append(rest[index].removeFirst())
        }
        return events
    }
}
