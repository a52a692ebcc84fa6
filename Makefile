SWIFT ?= swift

.PHONY: test tsan build format lint

build:
	$(SWIFT) build

test: lint
	$(SWIFT) test

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests

tsan:
	$(SWIFT) test --scratch-path .build-tsan --sanitize thread -Xswiftc -DTHREAD_SANITIZER
