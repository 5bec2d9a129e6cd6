"""A script whose options are TrainingArguments: a small GPT-2 of random weights. Each update
appends
its number and time to the file "updates"."""
import time

import torch
from transformers import (GPT2Config, GPT2LMHeadModel, HfArgumentParser, Trainer, TrainerCallback,
                          TrainingArguments)


class Note(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        time.sleep(0.1)
        with open("updates", "a") as file:
            print(state.global_step, time.monotonic(), file=file)


arguments, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2,
                                   bos_token_id=0, eos_token_id=0))
rows = torch.randint(0, 64, (400, 16), generator=torch.Generator().manual_seed(1))
data = [{"input_ids": row, "labels": row} for row in rows]
trainer = Trainer(model, arguments, train_dataset=data, callbacks=[Note()])
trainer.train(resume_from_checkpoint=arguments.resume_from_checkpoint)
