#!/usr/bin/env python3
"""Checks how scripts/compare-players.py reads the origin's log and decides, without players. Exits with 1 if a check fails."""
import argparse, contextlib, importlib.util, io, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
spec = importlib.util.spec_from_file_location("players", os.path.join(sys.path[0], "compare-players.py"))
players = importlib.util.module_from_spec(spec)
spec.loader.exec_module(players)


def record(number, path, outcome="complete", session="real", length=1):
    times = {"start": number, "firstByte": number, "lastByte": number + length}
    return {"number": number, "session": session, "path": path, "bytes": 100, "outcome": outcome, **times}


def shown(start=1.0, stalls=(), seeks=(), gap=0, error=None):
    lengths = {"stalls": [{"length": length} for length in stalls], "seeks": [{"length": length} for length in seeks]}
    return {"start": start, **lengths, "gap": gap, "error": error, "version": "1.6.15"}


def trial(real=None, probe=None, rungs=([("0", 5)], [("0", 5)]), sizes=(1000, 1000)):
    both = [players.Requests(list(rungs[index]), sizes[index]) for index in (0, 1)]
    return players.Trial(real or shown(), probe or shown(), *both)


class Log(unittest.TestCase):
    def test_requests_are_in_their_order_and_aborted_ones_are_marked(self):
        # The log is written in the order of ends.
        records = [record(2, "/v1/1.ts", outcome="aborted"), record(1, "/v0/0.ts"), record(3, "/v0/1.ts"), record(4, "/a/1.m4s")]
        self.assertEqual(players.requests_of(records, "real"), ([("0", 1), ("1!", 1), ("0", 1)], 400))

    def test_the_request_that_was_stopped_with_the_player_is_left_out(self):
        records = [record(1, "/v0/0.ts"), record(2, "/v0/1.ts", outcome="aborted")]
        self.assertEqual(players.requests_of(records, "real").rungs, [("0", 1)])

    def test_what_follows_the_end_of_the_other_player_does_not_count(self):
        # The probe was stopped at 3.5 s, in the middle of the other player's third request.
        records = [record(number, f"/v0/{number}.ts") for number in (1, 2, 3)]
        # The end of the connection is all that there is of this one.
        records.append(record(4, "/v0/4.ts", outcome="aborted", length=0))
        records.append(record(1, "/v0/1.ts", outcome="aborted", session="probe", length=2.5))
        self.assertEqual(players.requests_of(records, "real"), ([("0", 2)], 250))
        self.assertEqual(players.requests_of(records, "probe"), ([], 100))


class Tolerances(unittest.TestCase):
    def test_each_difference_is_found(self):
        cases = [
            ([], trial()),
            ([], trial(probe=shown(start=1.19), rungs=([("0", 5)], [("0", 7)]), sizes=(1000, 951))),
            (["start"], trial(probe=shown(start=1.21))),
            (["start"], trial(probe=shown(start=None))),
            (["order of rungs"], trial(rungs=([("0", 1), ("1!", 1)], [("0", 1), ("1", 1)]))),
            (["length of a run"], trial(rungs=([("0", 5)], [("0", 8)]))),
            (["bytes"], trial(sizes=(1000, 940))),
            (["number of stalls"], trial(real=shown(stalls=[1]))),
            ([], trial(real=shown(stalls=[1, 2]), probe=shown(stalls=[1.1, 1.9]))),
            (["length of a stall"], trial(real=shown(stalls=[1, 2]), probe=shown(stalls=[1, 2.3]))),
            (["number of seeks"], trial(real=shown(seeks=[1]))),
            ([], trial(real=shown(seeks=[1]), probe=shown(seeks=[1.1]))),
            (["length of a seek"], trial(real=shown(seeks=[1]), probe=shown(seeks=[0.7]))),
            (["an error of hls.js"], trial(real=shown(error="fragLoadError"))),
        ]
        for expected, case in cases:
            self.assertEqual(players.differences("hls.js", case), expected, case)


class Repeats(unittest.TestCase):
    def test_the_probe_agrees_if_it_agrees_with_one_of_two_plays_and_a_player_that_differs_from_itself_decides_nothing(self):
        def verdict(real, again, probe):
            played = trial(real=shown(start=real), probe=shown(start=probe))
            return players.verdict_of("hls.js", played._replace(again=shown(start=again), again_requests=played.real_requests))

        self.assertEqual(verdict(1, 1, 1), ([], True))
        self.assertEqual(verdict(1, 2, 2), ([], True))
        self.assertEqual(verdict(1, 1.1, 2), (["start"], True))
        self.assertEqual(verdict(1, 3, 2), (["start"], False))

    def test_a_seed_makes_the_same_schedules(self):
        def schedules(seed):
            source = players.random.Random(seed)
            return [players.random_schedule(source) for _ in range(100)]

        self.assertEqual(schedules(1), schedules(1))
        self.assertNotEqual(schedules(1), schedules(2))
        self.assertTrue(any(" 0k for" in schedule for schedule in schedules(1)))
        self.assertFalse(any(schedule.startswith("0k") or schedule.endswith(" 0k") for schedule in schedules(1)))


class Players(unittest.TestCase):
    def test_a_player_without_a_registry_needs_its_file(self):
        self.assertEqual(players.player_and_file("shaka=/p/shaka.js"), ("shaka", "/p/shaka.js"))
        self.assertTrue(players.player_and_file("hls.js")[1].endswith("hls.js"))
        for text in ("shaka", "dash.js=", "other=/p"):
            with self.assertRaises(argparse.ArgumentTypeError):
                players.player_and_file(text)


class Verdicts(unittest.TestCase):
    def verdict(self, *attempts):
        left = list(attempts)
        players.play = lambda *_: left.pop(0)
        options = argparse.Namespace(check=True)
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = players.Comparison(options, "hls.js", b"", "stream", "schedule").verdict
        return verdict, len(left)

    def test_the_majority_of_three_decides(self):
        same, other, late = trial(), trial(probe=shown(start=2)), trial(real=shown(gap=101))
        self.assertEqual(self.verdict(same), ("agree", 0))
        self.assertEqual(self.verdict(other, same, same), ("agree", 0))
        self.assertEqual(self.verdict(other, other, same), ("differ", 1))
        self.assertEqual(self.verdict(other, same, other), ("differ", 0))
        self.assertEqual(self.verdict(late, same), ("agree", 0))
        self.assertEqual(self.verdict(late, other, other), ("differ", 0))
        self.assertEqual(self.verdict(late, other, same), ("not judged", 0))
        self.assertEqual(self.verdict(late, late, other), ("not judged", 0))
        self.assertEqual(self.verdict(late, late, late), ("not judged", 0))


unittest.main(verbosity=0)
