// The process that the tests of a started mpv kill.
//
//   MPVChild FILE ARGUMENT...
//
// It opens FILE in a manner that children inherit, starts an mpv with the arguments, says 'playing', and waits.

import Foundation
import Instrument
import InstrumentMPV

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2, open(arguments[0], O_RDONLY) >= 0 else { exit(2) }
let player = try MPVPlayer(starting: MPVLaunch(arguments: Array(arguments.dropFirst())))
player.report { signal in
    if signal.action == .start { FileHandle.standardOutput.write(Data("playing\n".utf8)) }
}
player.connect()
_ = await player.waitUntilGone()
