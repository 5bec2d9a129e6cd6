# kit.mk - the GPU kit: a folder that is carried to a machine with a GPU and proves pollux there.

KIT_RESULTS = $(BUILD)/gpu-results
KIT_PROGRAMS = all examples $(CUDA_HOST) $(STANDIN) $(FAULT)

gpu-kit: $(KIT_PROGRAMS) ## build/gpu-kit: proves pollux on a machine with a GPU
	@tests/gpu-kit/pack.sh $(BUILD)/gpu-kit $(BUILD)

# GPU_KIT_PYTHON=python3.12: and the two calls of fifteen-minutes.sh, four minutes of stand-ins.
gpu-kit-check: gpu-kit ## the kit on a bare system with another glibc, without a GPU
	@tests/gpu-kit/check.sh $(BUILD)/gpu-kit

# GPU_KIT='--only STEP' for some of it. It takes several calls of nine minutes; each goes on.
check-gpu: $(KIT_PROGRAMS) ## the kit's steps from this checkout, on a machine with a GPU
	@$(TEST_ENV) tests/gpu-kit/run.sh --out $(KIT_RESULTS) --budget 1h $(GPU_KIT); rc=$$?; \
	[ ! -e $(KIT_RESULTS)/RESULTS-gpu.md ] || cp $(KIT_RESULTS)/RESULTS-gpu.md benchmarks/; \
	exit $$rc

NEED_gpu      = example data gpu-kit
SHELL_FILES  += $(wildcard tests/gpu-kit/*/*.sh) tests/gpu-kit/standin/nvidia-smi
gpu-kit gpu-kit-check check-gpu: | need

.PHONY: gpu-kit gpu-kit-check check-gpu
