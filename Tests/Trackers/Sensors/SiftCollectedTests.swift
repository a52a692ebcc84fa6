import Instrument
import InstrumentJSON
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentSensors
@testable import InstrumentSift

@Suite("Sift and collectors", .ownThread)
struct SiftCollectedTests {
    /// Takes everything.
    private struct Taking: HTTPTransport {
        let requests = Collected<Int>()
        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            requests.add(request.body.count)
            return HTTPResponse(status: 200, headers: HTTPHeaders(), body: [], url: request.url)
        }
    }

    private func record(_ action: Action, _ attributes: Attributes, at milliseconds: Int64 = 5) -> SampleRecord {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: milliseconds))
        let event = Event(action, tracker: TrackerID(0), time: time, attributes: attributes)
        return SampleRecord(id: SampleID(log: 1, sequence: 0), sequence: 0, sample: .event(event))
    }

    @Test("What a collector reports becomes ios_app_state, with the words and units of Sift's format")
    func appState() throws {
        var state = AppState()
        (state.batteryLevel, state.batteryState, state.applicationState) = (0.5, .unplugged, .active)
        (state.deviceOrientation, state.screenTitles) = (.portraitUpsideDown, ["A"])
        var place = Location()
        (place.latitude, place.longitude, place.horizontalAccuracy) = (48, 11, 5)
        state.location = place
        state.accelerometer = [Acceleration(at: WallTime(milliseconds: 3), SensorVector(x: 0, y: -1, z: .nan))]
        var attributes = state.attributes
        attributes["senderId"] = "x-0"
        attributes["userId"] = "u-1"
        let event = try #require(SiftMapping.events(record(.appState, attributes)))
        let expected: JSONValue = [
            "time": 5, "user_id": "u-1",
            "ios_app_state": [
                "battery_level": 0.5, "battery_state": "ui_device_battery_state_unplugged",
                "application_state": "ui_application_state_active",
                "device_orientation": "ui_device_orientation_portrait_upside_down",
                "window_root_view_controller_titles": ["A"],
                "location": ["latitude": 48.0, "longitude": 11.0, "horizontal_accuracy": 5.0],
                "raw_accelerometer": [["time": 3, "acceleration_x": 0.0, "acceleration_y": -1.0]],
            ],
        ]
        #expect(event.json(.legacy) == expected)
    }

    @Test("Every property of the device has a place in ios_device_properties")
    func properties() throws {
        var attributes = Attributes()
        for field in DeviceProperties.fields {
            let value: AttributeValue =
                switch field.kind {
                case .text: .string(field.name)
                case .integer: 7
                case .truth: true
                default: [.string(field.name)]
                }
            attributes.set(value, for: AttributeName(field.name))
        }
        let event = try #require(SiftMapping.events(record(.deviceProperties, attributes)))
        guard case .object(let members)? = event.json(.legacy)["ios_device_properties"] else {
            throw SiftEventError(description: "no properties")
        }
        #expect(members.count == DeviceProperties.fields.count)
        #expect(members["device_ifv"] == "vendorIdentifier")
        #expect(members["evidence_dyld_present"] == nil)
        #expect(members["evidence_dylds_present"] == ["evidenceLibrariesLoaded"])
    }

    @Test("Properties go to a separate queue, and equal properties within an hour are omitted")
    func queue() async throws {
        let credentials = try #require(SiftCredentials(accountID: "a", beaconKey: "b"))
        let store = SiftSettingsMemory()
        let uplink = SiftUplink(
            SiftConfiguration(),
            credentials,
            store: store,
            clock: VirtualClock(),
            randomness: RandomSource(),
            report: { _ in }
        )
        let transport = Taking()
        let backend = SiftBackend(.deviceProperties, uplink, transport)
        var laptop = DeviceProperties()
        laptop.deviceName = "laptop"
        for time in [1_000, 2_000, 3_601_001] as [Int64] {
            let batch = Batch(records: [record(.deviceProperties, laptop.attributes, at: time)])
            #expect(await backend.deliver(batch) == .acknowledged)
        }
        #expect(transport.requests.values.count == 2)
        #expect(uplink.settings.queues["sift-devprops"]?.lastEvent?.time == WallTime(milliseconds: 3_601_001))
        let other = Batch(records: [record(.appState, AppState().attributes, at: 9)])
        #expect(await backend.deliver(other) == .acknowledged)
        #expect(uplink.settings.queues["sift-devprops"]?.lastEvent?.deviceProperties?.deviceName == "laptop")
        #expect(transport.requests.values.count == 2)
    }
}
