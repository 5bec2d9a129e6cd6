"""Hugging Face Trainer: a small GPT-2 of random weights, accumulation over two passes, evaluation
and checkpoints. Arguments: OUTPUT_DIR [resume]"""
import hashlib
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=0,
                    eos_token_id=0)
model = GPT2LMHeadModel(config)
rows = torch.randint(0, 64, (210, 16), generator=torch.Generator().manual_seed(1))
data = [{"input_ids": r, "labels": r} for r in rows]
arguments = TrainingArguments(
    sys.argv[1], num_train_epochs=2, per_device_train_batch_size=8, gradient_accumulation_steps=2,
    save_steps=10, logging_steps=10, eval_strategy="epoch", report_to=[], use_cpu=True)
trainer = Trainer(model, arguments, train_dataset=data[:200], eval_dataset=data[200:])
trainer.train(resume_from_checkpoint=True if len(sys.argv) > 2 else None)
updates = trainer.state.global_step
print("seen", updates, "updates", 400, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
