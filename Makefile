SWIFT ?= swift

.PHONY: test tsan build format lint

build:
	$(SWIFT) build

test: lint
	$(SWIFT) test
	$(SWIFT) run --package-path Examples/CustomBackend CustomBackend

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Examples

tsan:
	$(SWIFT) test --scratch-path .build-tsan --sanitize thread -Xswiftc -DTHREAD_SANITIZER
