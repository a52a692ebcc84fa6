// How many xAPI statements a second the validator judges.
//
//   ValidationBenchmark [COUNT]     (default 100,000 statements with the video profile, about 1 kB each)
//
// The rate is of this process's CPU time, which a busy machine disturbs less than the clock on the wall. Under
// `valgrind --tool=callgrind`, the difference of the totals for two counts is the cost of the further statements.

import CMeasure
import Foundation
import InstrumentXAPI

/// A statement of the video profile, as the backend writes it.
func statement(_ number: Int) -> [UInt8] {
    let identifier = "-0B30-422D-A4E6-\(100_000_000_000 + number)"
    let video = "https://w3id.org/xapi/video"
    return Array(
        """
        {"actor":{"account":{"homePage":"https://example.org","name":"viewer-\(number % 100)"},"objectType":"Agent"},\
        "context":{"contextActivities":{"category":[{"id":"\(video)","objectType":"Activity"}]},"extensions":\
        {"\(video)/extensions/length":5400.25,"\(video)/extensions/session-id":"5EF683BE\(identifier)"},\
        "registration":"10F34527\(identifier)"},"id":"49BB59F8\(identifier)","object":{"definition":{"name":\
        {"en":"A film of the evening"},"type":"\(video)/activity-type/video"},"id":"https://media.example.org/films/1",\
        "objectType":"Activity"},"result":{"extensions":{"\(video)/extensions/played-segments":"0[.]12.5[,]20[.]31.75",\
        "\(video)/extensions/progress":0.125,"\(video)/extensions/time":\(number % 5400).5}},\
        "timestamp":"2026-11-23T21:16:36.120Z","verb":{"display":{"en":"paused"},"id":"\(video)/verbs/paused"}}
        """.utf8
    )
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let validator = StatementValidator(version: .v2)
let statements = (0..<1_000).map(statement)
for failure in validator.findings(inJSON: statements[0]) { print(failure) }
let (start, instructions) = (clock(), measure_instructions())
var findings = 0
for number in 0..<count { findings += validator.findings(inJSON: statements[number % statements.count]).count }
let used = (measure_instructions() - instructions) / Int64(max(1, count))
let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
print(
    "\(count) statements of \(statements[0].count) bytes, \(findings) findings: "
        + "\(Int(Double(count) / max(seconds, 1e-9))) statements/s of CPU time, "
        + (instructions < 0 ? "instructions not counted here" : "\(used) instructions each")
)
