import Instrument
import Testing

@testable import InstrumentProbe

@Suite("The first media of a player")
struct FirstMediaTests {
    /// A reader that needs 65 ms to start.
    private static func media(look: Bool = true) -> FirstMedia {
        var profile = PlayerProfile.hlsJS
        if !look { profile.pacing = IndependentTracks() }
        var media = FirstMedia(profile)
        media.begins(at: instant(0))
        media.begins(at: instant(50))
        return media
    }

    private static func instant(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test(
        "The reader starts with the first segment of either track",
        arguments: [
            (Int64?.none, 4, 65), (60, 4, 35), (0, 4, 4), (90, 4, 65), (nil, 6, 65), (0, 6, 6), (0, 80, 65),
        ] as [(Int64?, Int64, Int64)]
    )
    func reading(sound: Int64?, work: Int64, expected: Int64) {
        var media = Self.media()
        if let sound, sound < 90 {
            _ = media.arrived(.audio, work: .milliseconds(work), at: Self.instant(sound))
        }
        let time = media.arrived(.main, work: .milliseconds(work), at: Self.instant(90))
        #expect(time == .milliseconds(expected))
    }

    @Test(
        "Both are appended after the next look of audio that came first, and at once after audio that came last",
        arguments: [
            // The arrivals of sound and pictures, and when both are appended.
            (10, 50, 110), (10, 95, 110), (10, 96, 210), (100, 110, 210), (400, 50, 410), (115, 50, 125),
        ] as [(Int64, Int64, Int64)]
    )
    func appending(sound: Int64, pictures: Int64, expected: Int64) {
        var media = Self.media()
        let arrivals = [(StreamRole.audio, sound), (.main, pictures)].sorted { $0.1 < $1.1 }
        for (role, arrival) in arrivals {
            #expect(media.appended == nil && media.wait == nil)
            _ = media.arrived(role, work: .milliseconds(4), at: Self.instant(arrival))
        }
        #expect(media.appended == Self.instant(expected))
        #expect(media.wait == .milliseconds(expected - max(sound, pictures)))
    }

    @Test("Nothing waits in a player whose audio does not look for pictures, and without audio")
    func withoutLook() {
        for look in [false, true] {
            var media = Self.media(look: look)
            _ = media.arrived(.main, work: .milliseconds(4), at: Self.instant(50))
            if !look { _ = media.arrived(.audio, work: .milliseconds(4), at: Self.instant(60)) }
            #expect(media.appended == nil && media.wait == nil)
        }
    }
}
