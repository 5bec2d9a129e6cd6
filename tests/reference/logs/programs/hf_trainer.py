# hf_trainer.py OUTPUT_DIR [--KEY VALUE]...: transformers' Trainer on a tiny GPT-2, with evaluation
import sys, torch
from transformers import GPT2Config, GPT2LMHeadModel, HfArgumentParser, Trainer, TrainingArguments, set_seed
args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
set_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2))
class D(torch.utils.data.Dataset):
    def __init__(s, n): s.x = torch.randint(0, 64, (n, 32), generator=torch.Generator().manual_seed(n))
    def __len__(s): return len(s.x)
    def __getitem__(s, i): return {"input_ids": s.x[i], "labels": s.x[i]}
t = Trainer(model, args, train_dataset=D(800), eval_dataset=D(200))
t.train(resume_from_checkpoint=args.resume_from_checkpoint)
if args.do_eval: print(t.evaluate())
