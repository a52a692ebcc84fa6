SWIFT ?= swift
# The media to play: make play URL=https://example.org/film.mp4
URL ?=
# Further options: make play OPTIONS="--speed max --backend json"
OPTIONS ?=
SAMPLE = sample/three-renditions.ts
# Suites that measure time or memory have a name that ends in AloneTests. Beside others they pass, but what they measure is not judged.
export ALONE = AloneTests[/.]
# Of these, streams that wait for real time and leave the processors idle: some at a time.
export WAITING = OriginStreamAloneTests[/.]
# Suites that start the command lines: the release programs.
export PROGRAM_TESTS = ^(AdPlaybackTests|MonitorTests|OriginTests|PlayerMonitorTests)[.]
# Suites that start servers and players of others, or many processes, or play whole catalogues of streams.
export SERVER_TESTS = ^(KafkaTests|MPVTests|NATSTests|OpenBackendTests|DurableQueueTests|ServiceFaultTests)[.]|RealLRS|LegalStreamTests|RuleTableTests|SQLTests
# Names of steps to run alone.
STEPS ?=
SOURCES = Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources

.PHONY: help play check test test-long build lint format docs asan tsan fuzz mutate torture benchmark dependencies compare-mpv compare-probe compare-players origin soak demonstrate fleet try-monitor pictures

help:
	@echo "make play             plays a small sample; make play URL=… plays a path or an address"
	@echo "make origin           serves test media to try players against; OPTIONS has the schedule"
	@echo "make compare-mpv      plays the same schedules with the probe and with mpv, and prints one table"
	@echo "make compare-players  measures the trackers of libVLC, GStreamer, libmpv and Chromium, and the probe, against an eye, as one table"
	@echo "make compare-probe    plays the same schedules with the probe and with hls.js in Chromium, and prints one table"
	@echo "make check            lint, debug build, unit tests: after every change"
	@echo "make test             everything that a change must pass: release build, all tests and examples, the documentation"
	@echo "make test-long        what is slow by nature: sanitizers, long fuzz, torture, soak, comparisons with players"
	@echo "make build | lint | format | docs"
	@echo "make install          installs the release programs under PREFIX; make uninstall removes them"
	@echo "make package          makes a Debian package and an archive; make test-installation tests them in a bare Debian"
	@echo "make tsan | asan      the tests under Thread and Address Sanitizer"
	@echo "make fuzz             fifty thousand damaged segments under Address Sanitizer"
	@echo "make mutate           breaks definitions of metrics one at a time, and says which changes no test notices"
	@echo "make torture          10,000 kills, power cuts, frozen disks and failing system calls under the durable queue"
	@echo "make soak             watches 200 streams for an hour and plots memory and threads; OPTIONS has other numbers"
	@echo "make demonstrate      makes five outages and random faults in 50 streams for half an hour, and verifies incidents and alerts"
	@echo "make fleet            a day of 100,000 virtual players through Kafka and NATS into ClickHouse, with kills; compares every figure"
	@echo "make pictures         takes pictures of the dashboard in each of its states, and compares them with the stored ones"
	@echo "make try-monitor      runs the commands of the monitor's guide"
	@echo "make benchmark        measures the cost of an emit, the queue, the backends and streams"

dependencies:
	@scripts/install-dependencies.sh

play: dependencies
ifeq ($(URL),)
	@echo "Making a small sample to play: $(SAMPLE)"
	@scripts/make-sample.sh $(SAMPLE)
	@$(MAKE) --no-print-directory play URL=$(SAMPLE)
else
	@echo "Building player-monitor (the first time takes a few minutes)"
	@$(SWIFT) build -c release --product player-monitor
	@.build/release/player-monitor play $(OPTIONS) "$(URL)"
endif

# About 14 minutes; OPTIONS='--only libVLC --schedule seek' plays some rows, OPTIONS=--help describes the others. No registry has dash.js and
# Shaka: OPTIONS='--player dash.js=FILE --player shaka=FILE'.
compare-players: dependencies
	@scripts/install-dependencies.sh tests
	@scripts/install-hls-js.sh || [ $$? -eq 3 ]
	@scripts/install-video-js.sh || [ $$? -eq 3 ]
	$(SWIFT) build -c release --product PlayerTruth
	.build/release/PlayerTruth $(OPTIONS) || [ $$? -eq 3 ]

compare-probe: programs
	@scripts/install-hls-js.sh || [ $$? -eq 3 ]
	scripts/compare-players.py $(OPTIONS)

# OPTIONS has the number of changes, the seed, and other sources with their tests: scripts/mutate.py --help.
mutate: dependencies
	scripts/mutate.py $(OPTIONS)

soak: programs
	scripts/soak-monitor.py $(OPTIONS)

demonstrate: programs
	@scripts/install-prometheus.sh || [ $$? -eq 3 ]
	scripts/demonstrate-outages.py
	scripts/demonstrate-monitor.py $(OPTIONS)

# About 15 minutes on two cores; OPTIONS='--players 5000' for a quick run.
fleet: programs
	$(SWIFT) build -c release --package-path Benchmarks --scratch-path .build --product FleetSimulation
	@scripts/install-sql-engines.sh
	@scripts/install-servers.sh || [ $$? -eq 3 ]
	scripts/run-fleet.py $(OPTIONS)

# OPTIONS='--update' stores the pictures again, after a change of looks; OPTIONS='--only panel' takes some of them.
pictures:
	scripts/picture-pages.py $${OUT:-.build/pictures} $(OPTIONS)

try-monitor: programs
	scripts/try-monitor.sh

origin: dependencies
	$(SWIFT) run -c release test-origin $(OPTIONS)

compare-mpv: dependencies
	@scripts/install-dependencies.sh tests
	$(SWIFT) run -c release --package-path Benchmarks MPVComparison

build: dependencies
	$(SWIFT) build

# What to run after every change.
check: dependencies
	scripts/run-steps.py scripts/check.steps $(STEPS)

# Everything that a change must pass. STEPS="units lint" runs these steps alone.
test: dependencies
	@scripts/install-dependencies.sh tests
	scripts/run-steps.py scripts/test.steps $(STEPS)

# What is slow by nature; hours on two cores. docs/decisions/tests.md has the time of the last pass of each step.
test-long: dependencies
	@scripts/install-dependencies.sh tests
	scripts/run-steps.py scripts/test-long.steps $(STEPS)

lint:
	$(SWIFT) format lint --strict --recursive $(SOURCES)
	scripts/check-words.sh
	scripts/check-comments.sh
	scripts/check-locks.sh
	scripts/check-links.py
	scripts/check-graph.py
	scripts/check-apple.py
	scripts/check-pages.sh

format:
	$(SWIFT) format --in-place --recursive $(SOURCES)

docs: dependencies build
	scripts/check-snippets.sh
	scripts/check-documentation.sh

tsan: dependencies
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Support/thread-sanitizer.txt $(SWIFT) test --scratch-path .build-tsan --sanitize thread

# The toolchain itself leaks at exit.
asan: dependencies
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --scratch-path .build-asan --sanitize address

# Damaged segments through the demuxer, under Address Sanitizer; FUZZ_SEED=… starts elsewhere.
fuzz: dependencies
	FUZZ_ROUNDS=$${FUZZ_ROUNDS:-50000} ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --scratch-path .build-asan --sanitize address --filter SegmentFuzzTests

# Kills, power cuts, frozen disks and failing system calls under the durable queue; about half an hour on two cores. Power cuts and
# frozen disks need root and loop devices. TORTURE_KILLS=… says how many kills, TORTURE_SEED=… repeats a failure.
torture: dependencies
	@scripts/install-dependencies.sh tests
	TORTURE_KILLS=$${TORTURE_KILLS:-10000} $(SWIFT) test --no-parallel --filter 'TortureTests|KillTests|DurableStoreTests|LostBookkeepingTests'

benchmark: dependencies
	$(SWIFT) run -c release --package-path Benchmarks EmitBenchmark
	$(SWIFT) run -c release --package-path Benchmarks EmitBenchmark durable
	$(SWIFT) run -c release --package-path Benchmarks QueueBenchmark
	$(SWIFT) run -c release --package-path Benchmarks BackendBenchmark
	$(SWIFT) run -c release --package-path Benchmarks ReplayBenchmark
	$(SWIFT) run -c release --package-path Benchmarks QualityBenchmark
	$(SWIFT) run -c release --package-path Benchmarks ProbeBenchmark --plot cost-of-streams.svg

# Installing and packaging. PREFIX and DESTDIR have their usual meaning; PROGRAMS is the folder of the linked programs.
.PHONY: programs install uninstall package test-installation
PREFIX ?= /usr/local
PROGRAMS = .build/programs
PACKAGES = .build/packages
export PREFIX DESTDIR SWIFT

# The release programs as they are shipped: the Swift library inside, no symbols. Linking takes seconds.
programs: dependencies
	$(SWIFT) build -c release --product player-monitor
	$(SWIFT) build -c release --product test-origin
	packaging/link.py $(PROGRAMS)

# A user that has no Swift toolchain, such as root, installs what another user has built with `make programs`.
install:
	@if command -v $(SWIFT) >/dev/null; then $(MAKE) --no-print-directory programs; \
	elif [ -x $(PROGRAMS)/player-monitor ]; then echo "There is no Swift toolchain on PATH: installing the programs that were built before."; \
	else echo "install: there is no Swift toolchain on PATH. Run 'make programs' first, as a user that has one." >&2; exit 1; fi
	packaging/install.sh install $(PROGRAMS)

uninstall:
	packaging/install.sh uninstall

package: programs
	@scripts/install-dependencies.sh packages
	rm -rf $(PACKAGES)
	packaging/make-package.sh $(PROGRAMS) $(PACKAGES)
	packaging/sbom.py "$$(packaging/version.sh)" $(PROGRAMS)/* >$(PACKAGES)/sbom.spdx.json

# With quicker compression than that of a release. Without root or a bare Debian, the last step says SKIPPED and counts as passed.
test-installation: export LEVEL = 1
test-installation: package
	@scripts/install-dependencies.sh installation
	scripts/check-release.sh
	packaging/check-install.sh $(PROGRAMS)
	packaging/test-installation.sh $(PACKAGES) || [ $$? -eq 3 ]
