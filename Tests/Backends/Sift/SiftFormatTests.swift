import Instrument
import InstrumentJSON
import InstrumentSensors
import Testing

@testable import InstrumentSift

@Suite("The format of Sift's events")
struct SiftFormatTests {
    private func body(_ events: [SiftEvent], _ profile: SiftProfile = .current) -> String {
        String(decoding: SiftRequest.body(of: events.map { $0.json(profile) }), as: UTF8.self)
    }

    @Test("An event with all fields has the expected form in both profiles", arguments: SiftProfile.allCases)
    func full(profile: SiftProfile) throws {
        #expect(body([FullEvent.make()], profile) == (try Make.golden("full-\(profile.rawValue).json")))
    }

    @Test("Nil and empty texts are omitted; an empty object stays")
    func absent() {
        let time = WallTime(milliseconds: 0)
        var empty = SiftEvent(time: time, type: "", path: "", userID: "", fields: [:])
        empty.installationID = ""
        empty.metrics = [:]
        empty.appState = AppState()
        empty.deviceProperties = DeviceProperties()
        #expect(
            body([SiftEvent(time: time), empty])
                == #"{"data":[{"time":0},{"fields":{},"ios_app_state":{},"ios_device_properties":{},"metrics":{},"time":0}]}"#
        )
        #expect(body([]) == #"{"data":[]}"#)
    }

    @Test("Empty lists stay where they mean that nothing was found, and are omitted where nothing was measured")
    func emptyLists() {
        var event = SiftEvent(time: WallTime(milliseconds: 0))
        event.appState = AppState()
        event.appState?.networkAddresses = []
        event.deviceProperties = DeviceProperties()
        event.deviceProperties?.evidenceFilesPresent = []
        #expect(
            body([event], .legacy)
                == #"{"data":[{"ios_app_state":{"network_addresses":[]},"ios_device_properties":{"evidence_files_present":[]},"#
                + #""time":0}]}"#
        )
    }

    @Test("A very large event is complete")
    func large() throws {
        let text = String(repeating: "😀\"", count: 500_000)
        let event = SiftEvent(time: Make.wallTime, fields: ["text": text])
        let json = try JSONValue(parsing: body([event]))
        guard case .array(let events)? = json["data"] else { throw Complaint(what: "no data") }
        #expect(events.first?["fields"]?["text"]?.string == text)
    }

    @Test("App state and device properties have the fields that the format lists, and no others")
    func names() throws {
        let event = FullEvent.make()
        for profile in SiftProfile.allCases {
            #expect(try Self.names(event.json(profile)["ios_app_state"]) == Self.appState(profile))
            #expect(try Self.names(event.json(profile)["ios_device_properties"]) == Self.deviceProperties(profile))
        }
    }

    @Test("A location without a valid accuracy is an empty object", arguments: [nil, -1, .nan, .infinity, -0.5])
    func invalidLocation(accuracy: Double?) {
        var location = FullEvent.location()
        location.horizontalAccuracy = accuracy
        for profile in SiftProfile.allCases { #expect(location.json(profile) == [:]) }
    }

    @Test("Parts of a location that are marked as unknown by their sign are omitted")
    func partialLocation() {
        var location = FullEvent.location()
        (location.verticalAccuracy, location.speed, location.course) = (-1, -1, -1)
        (location.floor, location.time) = (nil, nil)
        #expect(location.json(.legacy) == ["latitude": 52.5, "longitude": 13.25, "horizontal_accuracy": 10.0])
        #expect(location.json(.current) == ["latitude": 52.5, "longitude": 13.25])
        location.latitude = .nan
        #expect(location.json(.current) == ["longitude": 13.25])
    }

    @Test("A heading without accuracy keeps its other fields")
    func heading() {
        var heading = FullEvent.heading()
        (heading.accuracy, heading.trueHeading, heading.rawMagneticField.y) = (-1, -1, .infinity)
        #expect(
            heading.json(.legacy)
                == ["time": 1_795_248_300_043, "raw_magnetic_field_x": 1.0, "raw_magnetic_field_z": 3.0]
        )
    }

    @Test("An uncalibrated magnetic field is omitted")
    func uncalibrated() {
        var motion = DeviceMotion()
        motion.magneticField = SensorVector(x: 1, y: 2, z: 3)
        motion.roll = .nan
        #expect(motion.json(.legacy) == [:])
    }

    @Test("A battery level outside 0 to 1 is omitted", arguments: [-1, 1.01, .nan, .infinity])
    func battery(level: Double) {
        var state = AppState()
        state.batteryLevel = level
        #expect(state.json(.current) == [:])
    }

    @Test("A member of the wrong type is omitted, and the other members are kept")
    func wrongTypes() throws {
        let json: JSONValue = [
            "battery_level": "half", "battery_state": "exploded", "proximity_state": 1, "sdk_version": 7,
            "network_addresses": [1, "192.0.2.7", nil], "location": [], "motion": [1, ["time": "now"]],
        ]
        let state = try #require(AppState(json: json))
        #expect(state.json(.legacy) == ["network_addresses": ["192.0.2.7"], "motion": [[:]]])
    }

    @Test(
        "An event is refused when a text is not a string",
        arguments: [
            #"{"time":1,"fields":{"a":1}}"#, #"{"time":1,"metrics":{"a":null}}"#, #"{"time":1,"fields":[]}"#,
            #"{"time":1,"device_properties":{"a":{}}}"#, #"{"time":"1"}"#, #"{"fields":{}}"#, "[]", "null",
        ]
    )
    func invalid(text: String) throws {
        let json = try JSONValue(parsing: text)
        #expect(throws: SiftEventError.self) { try SiftEvent(json: json) }
    }

    private static func names(_ json: JSONValue?) throws -> Set<String> {
        guard case .object(let members)? = json else { throw Complaint(what: "no object") }
        return Set(members.keys)
    }

    private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

    private static func appState(_ profile: SiftProfile) -> Set<String> {
        let current = words(
            "sdk_version window_root_view_controller_titles battery_level battery_state proximity_state "
                + "network_addresses location"
        )
        let legacy = words(
            "application_state device_orientation heading motion raw_accelerometer raw_gyro raw_magnetometer"
        )
        return profile == .legacy ? current.union(legacy) : current
    }

    private static func deviceProperties(_ profile: SiftProfile) -> Set<String> {
        let current = words(
            "app_name app_version app_version_short sdk_version device_name device_system_name device_system_version "
                + "device_ifv initial_device_ifv mobile_carrier_name mobile_iso_country_code mobile_country_code "
                + "mobile_network_code device_hardware_machine evidence_files_present evidence_directories_symlinked "
                + "evidence_directories_writable evidence_dylds_present"
        )
        let legacy = words(
            "device_model device_localized_model device_ifa device_hardware_model device_kernel_version "
                + "device_kernel_boot_session_uuid device_host_name device_os_type device_os_release "
                + "device_screen_width device_screen_height device_memory_size device_page_size cpu_count "
                + "cpu_physical_cpu_count cpu_logical_cpu_count cache_line_size cache_l1_dcache_size "
                + "cache_l1_icache_size cache_l2_cache_size cache_l3_cache_size is_simulator cpu_64bit_capable"
        )
        return profile == .legacy ? current.union(legacy) : current
    }
}
