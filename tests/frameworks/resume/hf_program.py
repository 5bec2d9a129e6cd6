"""Hugging Face Trainer: a small GPT-2 with dropout, accumulation over two passes, shuffled data, a
partial last batch. Nothing in it saves or resumes when it is told to stop."""
import hashlib
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments


class Note(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        time.sleep(0.15)
        with open("updates", "a") as file:
            print(state.global_step, time.monotonic(), file=file)


torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2,
                                   bos_token_id=0, eos_token_id=0))
rows = torch.randint(0, 64, (196, 16), generator=torch.Generator().manual_seed(1))
arguments = TrainingArguments(
    "out", num_train_epochs=6, per_device_train_batch_size=8, gradient_accumulation_steps=2,
    save_steps=1000, logging_steps=10, report_to=[], use_cpu=True)
trainer = Trainer(model, arguments, train_dataset=[{"input_ids": r, "labels": r} for r in rows],
                  callbacks=[Note()])
trainer.train()
print("seen", trainer.state.global_step, "updates", 6 * 196, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16], flush=True)
