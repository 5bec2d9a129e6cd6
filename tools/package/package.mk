# package.mk - a package for Debian and Ubuntu, and a wheel for pip. Neither is published by us.

DEB   = $(BUILD)/pollux_$(VERSION)_*.deb
WHEEL = $(BUILD)/pollux-$(VERSION)-*.whl

deb: all ## build/pollux_*.deb, a package for this release of Debian or Ubuntu
	@rm -f $(DEB)
	@tools/package/deb.sh $(VERSION) $(BUILD)

wheel: all ## build/pollux-*.whl, the program with its libraries, for pip
	@rm -f $(WHEEL)
	@tools/package/wheel.py $(VERSION) $(BUILD)

check-package: deb wheel ## both are installed, used and removed in a bare Debian
	@tests/package/check.sh $(BUILD)

NEED_deb     = deb
NEED_wheel   = wheel
NEED_check  += $(if $(filter check-package,$(MAKECMDGOALS)),package)
SHELL_FILES += $(wildcard tools/package/*.sh)
deb wheel check-package: | need

.PHONY: deb wheel check-package
