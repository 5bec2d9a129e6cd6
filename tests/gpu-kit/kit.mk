# kit.mk - the GPU kit: a folder that is carried to a machine with a GPU and proves pollux there.

KIT_PROGRAMS = all examples $(CUDA_HOST) $(STANDIN) $(FAULT)

gpu-kit: $(KIT_PROGRAMS) ## build/gpu-kit: what proves pollux on a machine with a GPU, at most 60 MiB
	@tests/gpu-kit/pack.sh $(BUILD)/gpu-kit $(BUILD)

gpu-kit-check: gpu-kit ## the kit on a bare system with another glibc, as far as it goes without a GPU
	@tests/gpu-kit/check.sh $(BUILD)/gpu-kit

# GPU_KIT='--only STEP' for some of it. It takes several calls of nine minutes; each goes on.
check-gpu: $(KIT_PROGRAMS) ## the kit's steps from this checkout, on a machine with a GPU
	@$(TEST_ENV) tests/gpu-kit/run.sh --out $(BUILD)/gpu-results --budget 1h $(GPU_KIT); rc=$$?; \
	! [ -e $(BUILD)/gpu-results/RESULTS-gpu.md ] || \
		cp $(BUILD)/gpu-results/RESULTS-gpu.md benchmarks/RESULTS-gpu.md; exit $$rc

NEED_gpu      = example data gpu-kit
SHELL_FILES  += $(wildcard tests/gpu-kit/*/*.sh) tests/gpu-kit/standin/nvidia-smi
gpu-kit gpu-kit-check check-gpu: | need

.PHONY: gpu-kit gpu-kit-check check-gpu
