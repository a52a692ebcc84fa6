internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentWatch

/// The streams of other monitors in the state file: no configuration names them.
extension MonitorModel {
    /// The streams to save; nil for a monitor that plays its streams.
    var savedPlaces: JSONValue? {
        guard places != nil else { return nil }
        return .array(
            order.compactMap { slot -> JSONValue? in
                guard let stream = streams[slot]?.stream, let origin = stream.origin else { return nil }
                return [
                    "stream": .string(origin.stream), "place": .string(origin.place),
                    "address": .string(stream.url.description),
                    "labels": .object(stream.labels.mapValues { .string($0) }),
                ]
            }
        )
    }

    /// Adds the streams that an earlier process knew, so that their alerts, incidents and history continue. A place
    /// that sends nothing any more is silent after the usual time.
    mutating func restorePlaces(_ saved: SavedMonitor, at now: Timestamp) {
        guard places != nil, case .array(let entries)? = saved.places else { return }
        for entry in entries.prefix(PlaceBook.mostStreams) {
            guard let name = entry["stream"]?.string, let place = entry["place"]?.string,
                let address = entry["address"]?.string.flatMap({ try? HTTPURL($0) }),
                LabelRules.problem(withValue: name, of: "name") == nil,
                LabelRules.problem(withValue: place, of: "location") == nil
            else { continue }
            let origin = StreamOrigin(stream: name, place: place)
            guard slots[origin.description] == nil, places?.restore(place, at: now) == true else { continue }
            var labels: [String: String] = [:]
            if case .object(let members)? = entry["labels"] { labels = members.compactMapValues(\.string) }
            let slot = add(origin, at: address, labels: labels)
            change(slot) { $0.latestSample = now.instant }
        }
    }
}

extension PlaceBook {
    /// Adds a place that an earlier process knew; false if there are too many.
    fileprivate mutating func restore(_ name: String, at now: Timestamp) -> Bool {
        if places[name] != nil { return true }
        guard places.count < Self.mostPlaces else { return false }
        places[name] = Place(latest: now)
        return true
    }
}
