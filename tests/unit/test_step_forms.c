/* test_step_forms.c - lines as programs print them, generated over whole epochs: what is counted,
 * in which unit, and what is no training.
 *
 * In a line %e stands for the epoch, %i for the counter within the epoch, %g for the counter from
 * the beginning. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/text.h"
#include "steps/patterns.h"
#include "tap.h"

#define NO (double)NAN

struct form {
	const char *name;
	const char *header;			/* before all; NULL: none */
	/* of each epoch; each counter; each epoch; NULL: none */
	const char *before, *line, *after;
	int first_epoch, epochs;
	int first, last, by;			/* the counter within an epoch */
	int length;				/* of an epoch, for %g */
	const char *aside;			/* after each epoch, with its own counters; NULL */
	int asides;
	double position, total;			/* position NaN: nothing is recognised */
	enum step_unit unit;
	enum { ANY, EXACT, LEAST } least;	/* what more may have been done */
	bool in_doubt;				/* the total makes no end of the training */
};

#define NOTHING .position = (double)NAN, .total = (double)NAN

static const struct form forms[] = {
	{ .name = "epochs and steps with totals in brackets count batches",
	  .line = "Epoch [%e/3], Step [%i/600], Loss: 0.3121", .first_epoch = 1, .epochs = 2,
	  .first = 100, .last = 600, .by = 100, .position = 1200, .total = 1800,
	  .unit = STEP_BATCHES },
	{ .name = "epochs from 0 with their number in brackets count batches",
	  .line = "[Epoch %e/4] [Batch %i/10] [D loss: 0.69] [G loss: 0.7]", .epochs = 3,
	  .last = 9, .by = 1, .position = 29, .total = 40, .unit = STEP_BATCHES },
	{ .name = "two pairs without names count batches",
	  .line = "[%e/3][%i/10] Loss_D: 0.6 Loss_G: 1.2 D(x): 0.5 D(G(z)): 0.4 / 0.3", .epochs = 3,
	  .last = 9, .by = 1, .position = 29, .total = 30, .unit = STEP_BATCHES },
	{ .name = "a pair behind the epoch counts batches",
	  .line = "| epoch   %e |   %i/ 2928 batches | lr 20.00 | ms/batch 14.10 | loss  7.02 | "
		  "ppl  1100.1",
	  .after = "---\n| end of epoch   %e | time: 46.23s | valid loss  5.0 | "
		   "valid ppl  150.0\n---",
	  .first_epoch = 1, .epochs = 3, .first = 200, .last = 2800, .by = 200,
	  .position = 2 * 2928 + 2800, .total = NO, .unit = STEP_BATCHES },
	{ .name = "epochs alone from 1 count epochs",
	  .line = "Epoch: 0%e, Loss: 0.6, Train: 0.9, Val: 0.8, "
						  "Test: 0.7",
	  .first_epoch = 1, .epochs = 30, .by = 1, .position = 30, .total = NO,
	  .unit = STEP_EPOCHS },
	{ .name = "epochs alone from 0 count epochs",
	  .line = "Epoch 0000%e | Loss 0.61 | Accuracy 0.77",
	  .epochs = 30, .by = 1, .position = 30, .total = NO, .unit = STEP_EPOCHS },
	{ .name = "epochs alone by their short name count epochs",
	  .line = "ep:%e loss:0.61", .first_epoch = 1,
	  .epochs = 30, .by = 1, .position = 30, .total = NO, .unit = STEP_EPOCHS },
	{ .name = "epochs alone that are announced count epochs",
	  .line = "Epoch %e/24\n----------\ntrain Loss: 0.5 Acc: "
						     "0.7\nval Loss: 0.3 Acc: 0.9\n",
	  .epochs = 4, .by = 1, .position = 3, .total = 25, .unit = STEP_EPOCHS },
	{ .name = "samples of an epoch count samples",
	  .line = "Train Epoch: %e [%i/60000 (1%)]\tLoss: 0.312000",
	  .after = "\nTest set: Average loss: 0.0512, Accuracy: 9822/10000 (98%)\n",
	  .first_epoch = 1, .epochs = 3, .last = 59520, .by = 640, .position = 2 * 60000 + 59520,
	  .total = NO, .unit = STEP_SAMPLES },
	{ .name = "steps from the beginning beside the epoch count updates",
	  .line = "[2026/11/22 10:00:00] INFO: epoch: [%e/5], global_step: %g, lr: 0.001000, loss: "
		  "2.1, avg_reader_cost: 0.1 s",
	  .first_epoch = 1, .epochs = 4, .first = 10, .last = 100, .by = 10, .length = 100,
	  .position = 400, .total = NO, .unit = STEP_UPDATES },
	{ .name = "steps beside the epoch keep a total that is not the epoch's",
	  .line = "[TRAIN] epoch: %e, iter: %g/1000, loss: 0.9, lr: 0.01, ips: 20 samples/sec | "
		  "ETA "
		  "00:03:00",
	  .first_epoch = 1, .epochs = 4, .first = 10, .last = 100, .by = 10, .length = 100,
	  .position = 400, .total = 1000, .unit = STEP_UPDATES },
	{ .name = "steps before the epoch count updates", .line = "INFO\t[step=%g/1000,epoch=%e]",
	  .epochs = 2, .first = 1, .last = 50, .by = 1, .length = 50, .position = 100,
	  .total = 1000, .unit = STEP_UPDATES },
	{ .name = "steps below a header of each epoch count batches",
	  .before = "Epoch %e/3", .line = "step %i/938 - loss: 0.5000 - acc: 0.8 - 12ms/step",
	  .aside = "Eval begin...\nstep %i/157 - loss: 0.5 - acc: 0.8 - 5ms/step", .asides = 157,
	  .first_epoch = 1, .epochs = 3, .first = 8, .last = 938, .by = 10, .position = 2814,
	  .total = 2814, .unit = STEP_BATCHES },
	{ .name = "names behind brackets count, and evaluations do not",
	  .line = "INFO: [Train][Epoch %e/3][Iter: %i/100]lr(PiecewiseDecay): 0.1, loss: 2.1",
	  .aside = "INFO: [Eval][Epoch 3][Iter: %i/100]CELoss: 0.2, loss: 0.2", .asides = 90,
	  .first_epoch = 1, .epochs = 3, .last = 90, .by = 10, .position = 290, .total = 300,
	  .unit = STEP_BATCHES },
	{ .name = "epochs and iterations between dashes count batches",
	  .line = "2026-11-22 10:00:00,000 epoch %e - iter %i/120 - loss 0.5 - "
				    "time (sec): 1.2 - samples/sec: 320.1",
	  .first_epoch = 1, .epochs = 3, .first = 12, .last = 120, .by = 12, .position = 360,
	  .total = NO, .unit = STEP_BATCHES },
	{ .name = "updates of all epochs count before the pair of an epoch",
	  .line = "| INFO | train_inner | epoch 00%e:    %i / 1234 loss=5.2, wps=1000, bsz=10, "
		  "num_updates=%g, lr=1e-4",
	  .first_epoch = 1, .epochs = 2, .first = 100, .last = 1200, .by = 100, .length = 1234,
	  .position = 2434, .total = NO, .unit = STEP_UPDATES },
	{ .name = "updates in JSON count updates",
	  .line = "[INFO] - {\"epoch\": 1, \"update\": 0.081, \"loss\": \"5.2\", "
				  "\"num_updates\": \"%i\", \"lr\": \"0.1\"}",
	  .epochs = 1, .first = 100, .last = 900, .by = 100, .position = 900, .total = NO,
	  .unit = STEP_UPDATES },
	{ .name = "numbers before their names count batches",
	  .line = "(trainer:736) INFO: %eepoch:train:1-%ibatch: iter_time=0.1, loss=8.2",
	  .first_epoch = 1, .epochs = 2, .first = 50, .last = 1000, .by = 50, .position = 2000,
	  .total = NO, .unit = STEP_BATCHES },
	{ .name = "updates count, and passes do not",
	  .line = "Epoch 1 | iter %i step %g | loss train: 1.2, val: n/a | iter time: 123.4 ms",
	  .epochs = 1, .first = 1, .last = 100, .by = 1, .position = 100, .total = NO,
	  .unit = STEP_UPDATES },
	{ .name = "the end of a range counts batches",
	  .line = "INFO:root:Epoch[%e] Batch [0-%i]\tSpeed: 1234.5 samples/sec",
	  .epochs = 2, .first = 50, .last = 500, .by = 50, .position = 1000, .total = NO,
	  .unit = STEP_BATCHES },
	{ .name = "a counter in the middle of a line counts updates",
	  .line = "                \033[1m Learning iteration %i/1500 \033[0m       \n"
		  "            Total timesteps: 98304\n            Iteration time: 0.7s",
	  .epochs = 1, .last = 19, .by = 1, .position = 19, .total = 1500, .unit = STEP_UPDATES },
	{ .name = "a counter with commas between thousands counts updates",
	  .line = "INFO: [epoch:  0, iter:   %i,000, lr:(2.000e-04,)] l_pix: 1.2",
	  .epochs = 1, .first = 1, .last = 50, .by = 1, .position = 50000, .total = NO,
	  .unit = STEP_UPDATES },
	{ .name = "a Python dict counts batches",
	  .line = "{'epoch': %e, 'iter': %i, 'avg_loss': 9.3}", .epochs = 2,
	  .last = 990, .by = 10, .position = 1980, .total = NO, .unit = STEP_BATCHES },
	{ .name = "pairs below a header count batches", .before = "----------\nepoch %e/3",
	  .line = "%i/41, train_loss: 0.5123", .after = "epoch %e average loss: 0.4012",
	  .first_epoch = 1, .epochs = 3, .first = 1, .last = 41, .by = 1, .position = 123,
	  .total = 123, .unit = STEP_BATCHES },
	{ .name = "epochs and iterations with totals count batches",
	  .line = "ITERATION - Epoch[%e/3] Iteration[%i/100] Loss: 0.5", .first_epoch = 1,
	  .epochs = 3, .first = 10, .last = 100, .by = 10, .position = 300, .total = 300,
	  .unit = STEP_BATCHES },
	{ .name = "a step after its name and a blank counts batches",
	  .line = "epoch %e step %i loss 0.2",
	  .first_epoch = 1, .epochs = 3, .first = 10, .last = 100, .by = 10, .position = 300,
	  .total = NO, .unit = STEP_BATCHES },
	{ .name = "a step from the beginning after a blank counts updates",
	  .line = "epoch %e step %g loss 0.2",
	  .first_epoch = 1, .epochs = 3, .first = 10, .last = 100, .by = 10, .length = 100,
	  .position = 300, .total = NO, .unit = STEP_UPDATES },
	{ .name = "evaluations with totals in between do not count",
	  .line = "Train Step [%g/250] loss 0.5",
	  .aside = "Val Step [%i/60] loss 0.4", .asides = 60, .epochs = 5, .first = 10, .last = 50,
	  .by = 10, .length = 50, .position = 250, .total = 250, .unit = STEP_UPDATES },
	{ .name = "evaluations without totals in between do not count",
	  .line = "step %g loss 0.5", .aside = "Eval step %i",
	  .asides = 40, .epochs = 3, .first = 10, .last = 250, .by = 10, .length = 250,
	  .position = 750, .total = NO, .unit = STEP_UPDATES },
	{ .name = "test batches in between do not count",
	  .line = "step %g loss 0.5", .aside = "Test: batch %i",
	  .asides = 40, .epochs = 3, .first = 10, .last = 250, .by = 10, .length = 250,
	  .position = 750, .total = NO, .unit = STEP_UPDATES },
	{ .name = "validation batches in between do not count",
	  .line = "batch %g loss 0.5", .aside = "Validation batch %i",
	  .asides = 40, .epochs = 3, .first = 10, .last = 250, .by = 10, .length = 250,
	  .position = 750, .total = NO, .unit = STEP_UPDATES },
	{ .name = "tests of torchvision in between do not count",
	  .line = "Epoch: [%e]  [ %i/100]  eta: 0:01:00  lr: 0.1  loss: 6.9 (6.9)  time: 0.5  "
		  "data: "
		  "0.1  max mem: 5432",
	  .aside = "Test:  [ %i/40]  eta: 0:00:10  loss: 1 (1)  time: 0.3  data: 0.1  max mem: 5",
	  .asides = 39, .epochs = 2, .last = 90, .by = 10, .position = 190, .total = NO,
	  .unit = STEP_BATCHES },
	{ .name = "tests of the ImageNet example in between do not count",
	  .line = "Epoch: [%e][ %i/100]\tTime  0.200 ( 0.300)\tData 0.1 ( 0.1)\tLoss 7.0e+00",
	  .aside = "Test: [ %i/40]\tTime  0.200 ( 0.300)\tLoss 7.0e+00 (7.0e+00)", .asides = 39,
	  .epochs = 2, .first = 1, .last = 91, .by = 10, .position = 191, .total = NO,
	  .unit = STEP_BATCHES },
	{ .name = "validations of mmengine in between do not count",
	  .line = "mmengine - INFO - Epoch(train) [%e][%i/50]  lr: 1e-2 eta: 0:01:00 time: 0.02 "
		  "data_time: 0.01 loss: 1",
	  .aside = "mmengine - INFO - Epoch(val) [3][%i/50]    eta: 0:00:01 time: 0.02",
	  .asides = 50,
	  .first_epoch = 1, .epochs = 3, .first = 10, .last = 50, .by = 10, .position = 150,
	  .total = NO, .unit = STEP_BATCHES },
	{ .name = "rounds of CatBoost count updates",
	  .line = "%i:\tlearn: 0.68\ttotal: 50ms\tremaining: 49.9s",
	  .epochs = 1, .last = 90, .by = 10, .position = 91, .total = NO, .unit = STEP_UPDATES },
	{ .name = "a bar with bars in its description counts updates",
	  .line = "1|%i|Loss: 2.3:  50%|## | %i/200 [00:%i<01:00,  1.00s/it]", .epochs = 1,
	  .first = 1, .last = 59, .by = 1, .position = 59, .total = 200, .unit = STEP_UPDATES },
	{ .name = "bars of epochs numbered with a hash count batches",
	  .line = "Epoch #%e:  50%|### | %i/1000 [00:10<00:10, 100.00it/s, env_step=100]",
	  .first_epoch = 1, .epochs = 2, .last = 1000, .by = 50, .position = 2000, .total = NO,
	  .unit = STEP_BATCHES },

	{ .name = "total_steps beside the step is its total",
	  .line = "step=%i total_steps=1000 loss=0.5", .epochs = 1, .first = 10, .last = 80,
	  .by = 10, .position = 80, .total = 1000, .unit = STEP_UPDATES, .least = LEAST },
	{ .name = "total_steps before the step in JSON is its total",
	  .line = "{\"total_steps\": 1000, \"step\": %i, \"loss\": 0.5}", .epochs = 1,
	  .first = 1, .last = 80, .by = 1, .position = 80, .total = 1000, .unit = STEP_UPDATES,
	  .least = EXACT },
	{ .name = "a plural beside the singular is its total",
	  .line = "{\"steps\": 900, \"step\": %i, \"loss\": 0.5}", .epochs = 1, .first = 1,
	  .last = 80, .by = 1, .position = 80, .total = 900, .unit = STEP_UPDATES },
	{ .name = "max_steps in two words is a total",
	  .line = "iter %i, loss 0.5 (max steps 500)", .epochs = 1, .first = 1, .last = 80,
	  .by = 1, .position = 80, .total = 500, .unit = STEP_UPDATES },
	{ .name = "a total in a word of its own case is a total",
	  .line = "{\"step\":%i,\"maxSteps\":500}", .epochs = 1, .first = 1, .last = 80,
	  .by = 1, .position = 80, .total = 500, .unit = STEP_UPDATES },
	{ .name = "a total that grows with the step is the position",
	  .line = "iteration %i total_timesteps %i000 reward 1.0", .epochs = 1, .first = 1,
	  .last = 9, .by = 1, .position = 9000, .total = NO, .unit = STEP_UPDATES,
	  .least = LEAST },
	{ .name = "a total that was passed is dropped", .line = "step %i loss 0.5 max_steps=50",
	  .epochs = 1, .first = 10, .last = 80, .by = 10, .position = 80, .total = NO,
	  .unit = STEP_UPDATES },
	{ .name = "the number of epochs beside the epoch is its total",
	  .line = "{\"epoch\": %e, \"num_epochs\": 4, \"loss\": 0.5}", .first_epoch = 1,
	  .epochs = 2, .by = 1, .position = 2, .total = 4, .unit = STEP_EPOCHS },
	{ .name = "a total beside steps from the beginning is the training's",
	  .line = "epoch %e step %g max_steps 300 loss 0.5", .first_epoch = 1, .epochs = 2,
	  .first = 1, .last = 100, .by = 1, .length = 100, .position = 200, .total = 300,
	  .unit = STEP_UPDATES },
	{ .name = "a total beside steps of an epoch is not the epoch's",
	  .line = "epoch %e step %i max_steps 300 loss 0.5", .first_epoch = 1, .epochs = 2,
	  .first = 1, .last = 100, .by = 1, .position = 200, .total = NO,
	  .unit = STEP_BATCHES },
	{ .name = "a number of batches beside the batch is the epoch's",
	  .line = "{\"epoch\": %e, \"batch\": %i, \"num_batches\": 55}", .first_epoch = 1,
	  .epochs = 3, .first = 10, .last = 50, .by = 10, .position = 160, .total = NO,
	  .unit = STEP_BATCHES, .least = LEAST },
	{ .name = "samples in brackets behind a prefix count samples",
	  .line = "2026-11-28,10:00:00 | INFO | Train Epoch: %e [  %i/102400 (12%)] Data (t): "
		  "0.012 Batch (t): 0.812, 315.1/s LR: 0.000500 Logit Scale: 14.3 Loss: 5.1",
	  .aside = "2026-11-28,10:00:00 | INFO | Eval Epoch: %e [256 / 5000]\tClip Loss: 6.9",
	  .asides = 1, .epochs = 2, .first = 256, .last = 102400, .by = 12768,
	  .position = 204800, .total = NO, .unit = STEP_SAMPLES, .least = EXACT },
	{ .name = "lines of every fiftieth batch tell the least",
	  .line = "2026-11-28 10:00:00,518 INFO [train.py:1034] (0/2) Epoch %e, batch %i, "
		  "loss[loss=0.7, over 2223.00 frames. ], tot_loss[loss=1.1, over 438207.72 "
		  "frames. ], batch size: 8, lr: 2.25e-02",
	  .after = "2026-11-28 10:00:09,518 INFO [train.py:1066] Epoch %e, validation: loss=0.4, "
		   "over 3737520.00 frames. ",
	  .first_epoch = 1, .epochs = 3, .last = 450, .by = 50, .position = 1350, .total = NO,
	  .unit = STEP_BATCHES, .least = LEAST },
	{ .name = "every tenth round of LightGBM tells the least",
	  .line = "[%i]\tvalid_0's l2: 0.5", .epochs = 1, .first = 10, .last = 90, .by = 10,
	  .position = 90, .total = NO, .unit = STEP_UPDATES, .least = LEAST },
	{ .name = "a step in brackets before values counts updates",
	  .line = "I1128 10:00:00.123456 140000 logging_writer.py:48] [%i] loss=2.31, "
		  "accuracy=0.1",
	  .epochs = 1, .first = 50, .last = 500, .by = 50, .position = 500, .total = NO,
	  .unit = STEP_UPDATES, .least = LEAST },
	{ .name = "a date before a time of day is no counter",
	  .line = "[11/28 10:00:00] ppdet.engine INFO: Epoch: [%e] [ %i/100] learning_rate: "
		  "0.000025 loss: 37.6 eta: 10 days, 19:39:33 batch_cost: 6.6 ips: 4.8 images/s",
	  .epochs = 2, .last = 80, .by = 20, .position = 180, .total = NO,
	  .unit = STEP_BATCHES, .least = LEAST },
	{ .name = "a pair in brackets behind the epoch in brackets counts batches",
	  .line = "Epoch: [%e] [ %i/100] loss 0.5", .epochs = 1, .first = 20, .last = 100,
	  .by = 20, .position = 100, .total = NO, .unit = STEP_BATCHES, .least = EXACT },
	{ .name = "a line an epoch with its last batch counts batches",
	  .line = "epoch %e/5 batch %i/12", .first_epoch = 1, .epochs = 5, .first = 12,
	  .last = 12, .by = 1, .position = 60, .total = 60, .unit = STEP_BATCHES },
	{ .name = "steps from 0 within epochs without totals have whole epochs",
	  .line = "epoch %e step %i loss 0.5", .first_epoch = 1, .epochs = 3, .last = 19,
	  .by = 1, .position = 59, .total = NO, .unit = STEP_BATCHES, .least = EXACT },
	{ .name = "steps from 0 that begin again have whole epochs",
	  .line = "step %i loss 0.5", .epochs = 4, .last = 19, .by = 1, .position = 79,
	  .total = NO, .unit = STEP_BATCHES },
	{ .name = "rows below names of columns count epochs",
	  .before = NULL, .line = "      %e        0.9384       0.3333     +  0.0182",
	  .header = "  epoch    train_loss    valid_acc    cp     dur\n"
		    "-------  ------------  -----------  ----  ------",
	  .first_epoch = 1, .epochs = 4, .by = 1, .position = 4, .total = NO,
	  .unit = STEP_EPOCHS },
	{ .name = "rows of values between commas count epochs",
	  .line = "%e,0.5,0.6", .header = "epoch,train_loss,val_loss", .epochs = 4, .by = 1,
	  .position = 4, .total = NO, .unit = STEP_EPOCHS },
	{ .name = "rows of a table with an epoch and a step count batches",
	  .line = "| %e | %i | 0.5 |", .header = "| epoch | step | loss |\n|---|---|---|",
	  .first_epoch = 1, .epochs = 2, .first = 1, .last = 20, .by = 1, .position = 40,
	  .total = NO, .unit = STEP_BATCHES },
	{ .name = "rows of spaCy count updates",
	  .line = "  %e    %i          0.00     46.32    0.00",
	  .header = "E    #       LOSS TOK2VEC  LOSS NER  SCORE \n"
		    "---  ------  ------------  --------  ------",
	  .epochs = 1, .last = 1600, .by = 200, .position = 1600, .total = NO,
	  .unit = STEP_UPDATES, .least = LEAST },
	{ .name = "iterations of scikit-learn's boosting are no updates",
	  .line = "        %i           1.2613            0.12s",
	  .header = "      Iter       Train Loss   Remaining Time ", .epochs = 1, .first = 10,
	  .last = 100, .by = 10, .position = 100, .total = NO, .unit = STEP_ITERATIONS,
	  .least = LEAST },
	{ .name = "iterations of scikit-learn are no updates",
	  .line = "Iteration %i, loss = 0.76170579", .epochs = 1, .first = 1, .last = 30,
	  .by = 1, .position = 30, .total = NO, .unit = STEP_ITERATIONS },
	{ .name = "trees of a forest make no end",
	  .line = "building tree %i of 40", .epochs = 1, .first = 1, .last = 40, .by = 1,
	  .position = 40, .total = 40, .unit = STEP_ITERATIONS, .in_doubt = true },
	{ .name = "percent of a bar count percent",
	  .line = "Training \xe2\x94\x81\xe2\x94\x81\xe2\x95\xb8\xe2\x94\x81"
		  "  %i% 0:00:02",
	  .epochs = 1, .last = 90, .by = 2, .position = 90, .total = 100,
	  .unit = STEP_PERCENT, .in_doubt = true },
	{ .name = "a bar with a count and a total is no update",
	  .line = "Working... \xe2\x94\x81\xe2\x94\x81\xe2\x95\xba\xe2\x94\x81"
		  " %i/120 0:00:02",
	  .epochs = 1, .last = 90, .by = 2, .position = 90, .total = 120,
	  .unit = STEP_ITERATIONS, .in_doubt = true },
	{ .name = "epochs of one fold of several have no total",
	  .line = "epoch %e/8 loss 0.5", .header = "=== Fold 1/5 ===", .first_epoch = 1,
	  .epochs = 8, .by = 1, .position = 8, .total = NO, .unit = STEP_EPOCHS },
	{ .name = "steps of the last stage have a total",
	  .line = "step %i/20 loss 0.5", .header = "Stage 2 of 2", .epochs = 1, .first = 1,
	  .last = 20, .by = 1, .position = 20, .total = 20, .unit = STEP_UPDATES },

	/* no training */
	{ .name = "bars of other work in percent are no training",
	  .line = "Downloading \xe2\x94\x81\xe2\x94\x81\xe2\x95\xb8\xe2\x94\x81"
		  "  %i% 0:00:02",
	  .epochs = 1, .last = 90, .by = 2, NOTHING },
	{ .name = "rows without names of columns are no training", .line = "%i 0.5 0.6",
	  .epochs = 1, .last = 90, .by = 1, NOTHING },
	{ .name = "sentences name no columns", .line = "%i 0.5 0.6",
	  .header = "Each epoch takes a while.", .epochs = 1, .last = 90, .by = 1, NOTHING },
	{ .name = "numbered rows below names of columns are no training", .line = "%i 0.5 0.6",
	  .header = "# size score", .epochs = 1, .last = 90, .by = 1, NOTHING },
	{ .name = "settings are no training",
	  .line = "num_epochs: 10\nmax_steps = 1000\nbatch size: 64\nwarmup steps: 100\nTotal "
		  "optimization steps = 300\nsteps per epoch: 100\n  Num Epochs = 3\n  Gradient "
		  "Accumulation steps = 4\nepochs: 10\nsaving every 500 steps\nstep size 5\n"
		  "epochs 5",
	  .epochs = 1, .last = 5, .by = 1, NOTHING },
	{ .name = "names of files are no training",
	  .line = "writing model_step_%i.ckpt, epoch_%i.pt, checkpoint-%i/, epoch=%i-step=%i.ckpt",
	  .epochs = 1, .last = 20, .by = 1, NOTHING },
	{ .name = "rates are no training",
	  .line = "%i.5 it/s, %i ms/step, %i steps/s, 1.2 s/iter %i", .epochs = 1,
	  .last = 20, .by = 1, NOTHING },
	{ .name = "a bar of an evaluation is no training",
	  .line = "Evaluating:  50%|## | %i/100 [00:%i<01:00,  2.00it/s]", .epochs = 1, .last = 59,
	  .by = 1, NOTHING },
	{ .name = "evaluations alone are no training",
	  .line = "Test Epoch: 1 [%i/100]\n[eval] step %i/100\nval batch %i\nval_step: %i\n"
		  "Inference step %i\ndev | epoch 1 | step %i",
	  .epochs = 1, .last = 99, .by = 1, NOTHING },
	{ .name = "loading is no training",
	  .line = "Loading checkpoint shards:  50%|##| %i/99 [00:30<00:30, 30.0s/it]\n"
				     "Downloading batch %i/100\nTokenizing step %i",
	  .epochs = 1, .last = 99, .by = 1, NOTHING },
	{ .name = "dates, versions and sizes are no training",
	  .line = "2026-11-22 step-by-step 3.%i, iter/sec %i, batch=[3], epoch time %i s, "
		  "1/%i files",
	  .epochs = 1, .last = 30, .by = 1, NOTHING },
};

/* --- generation --- */

static void add_line(struct text *t, const char *format, int epoch, int i, int g)
{
	for (; *format; format++) {
		if (*format != '%' || !strchr("eig", format[1])) {
			text_addf(t, "%c", *format);
			continue;
		}
		format++;
		text_addf(t, "%d", *format == 'e' ? epoch : *format == 'i' ? i : g);
	}
	text_add(t, "\n");
}

static void add_epoch(struct text *t, const struct form *f, int epoch)
{
	int done = (epoch - f->first_epoch) * f->length;

	if (f->before)
		add_line(t, f->before, epoch, 0, 0);
	for (int i = f->first; i <= f->last; i += f->by)
		add_line(t, f->line, epoch, i, done + i);
	if (f->after)
		add_line(t, f->after, epoch, 0, 0);
	for (int i = 1; i <= f->asides; i++)
		add_line(t, f->aside, epoch, i, i);
}

/* --- what came out --- */

static void sink(const struct step_event *e, void *arg)
{
	*(struct step_event *)arg = *e;
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

static void test_form(const struct form *f)
{
	struct step_event last = { .position = NO, .total = NO };
	scoped(text_release) struct text t = TEXT_INIT;
	struct err err;
	struct steps *s = steps_new(NULL, &err);
	bool right;

	if (f->header)
		add_line(&t, f->header, 0, 0, 0);
	for (int epoch = 0; epoch < f->epochs; epoch++)
		add_epoch(&t, f, f->first_epoch + epoch);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	right = same(last.position, f->position) && same(last.total, f->total) &&
		(isnan(f->position) || last.unit == f->unit) &&
		(f->least == ANY || (last.unseen > 0) == (f->least == LEAST)) &&
		(!f->in_doubt || last.total_may_be_of_epoch);
	ok(right, f->name);
	if (!right)
		printf("# got %g of %g in unit %d, want %g of %g in %d\n",
		       last.position, last.total,
		       (int)last.unit, f->position, f->total, (int)f->unit);
	steps_free(s);
}

/* The part of the last counter's own total that may be done. */
static void test_part(void)
{
	static const struct {
		const char *format;
		int first, last, by;	/* of the counter */
		double part;
		const char *name;
	} cases[] = {
		{ "epoch 1 batch %i/10", 1, 10, 1, 1, "batches that came to their end are done" },
		{ "epoch 1 batch %i/10", 1, 6, 1, 0.6, "batches that ended early tell their part" },
		{ "epoch 1 batch %i/93", 10, 90, 10, 99. / 93,
		  "where each tenth batch has a line, the last line may be the end" },
		{ "epoch 1 batch %i/93", 10, 60, 10, 69. / 93,
		  "where each tenth batch has a line, a line long before the end is none" },
		{ "step %i/25", 0, 24, 1, 1, "where the first is 0, the last is one less" },
		{ "Epoch %i/3", 1, 3, 1, 1, "the last epoch may be over" },
		{ "Epoch %i/30", 1, 3, 1, 3. / 30, "an early epoch tells its part" },
		{ "step %i loss 0.5", 1, 30, 1, NO, "a counter without a total tells none" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct step_event last = { .part = NO };
		scoped(text_release) struct text t = TEXT_INIT;
		struct err err;
		struct steps *s = steps_new(NULL, &err);

		for (int at = cases[i].first; at <= cases[i].last; at += cases[i].by)
			add_line(&t, cases[i].format, 0, at, 0);
		steps_feed(s, t.data, t.length, NO, sink, &last);
		ok(same(last.part, cases[i].part), cases[i].name);
		steps_free(s);
	}
}

/* A relaunched program, at its third epoch of eight: what it prints, with and without what it
 * printed before. */
static void test_relaunch(void)
{
	struct form f = {
		.line = "epoch %e step %i loss 0.2", .epochs = 2, .first = 10, .last = 100, .by = 10
	};
	struct step_event last = { .position = NO };
	scoped(text_release) struct text t = TEXT_INIT;
	struct err err;
	struct steps *s = steps_new(NULL, &err);

	add_epoch(&t, &f, 0);
	add_epoch(&t, &f, 1);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	steps_begin_run(s);
	text_clear(&t);
	add_line(&t, f.line, 2, 10, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 210, 0, "a known counter goes on from the first line of a new run");
	ok(last.begins, "the first line of a new run begins it");

	steps_clear(s);
	text_clear(&t);
	for (int i = 1; i <= 40; i++)
		add_line(&t, "step %i/100", 0, i, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	steps_begin_run(s);
	text_clear(&t);
	add_line(&t, "step 1/70", 0, 0, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 31, 0, "a loop over what was left goes on where its total says");
	near(last.total, 100, 0, "a loop over what was left keeps the former total");

	steps_begin_run(s);
	text_clear(&t);
	add_line(&t, "step 1/100", 0, 0, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 1, 0, "a loop with the whole total begins anew");

	/* The log of a job has all its runs. The second one begins anew, the third goes on. */
	steps_clear(s);
	text_clear(&t);
	text_add(&t, "# pollux job 7 run 1 on cpu:0\n");
	for (int i = 1; i <= 40; i++)
		add_line(&t, "step %i/100", 0, i, 0);
	text_add(&t, "[stopped by pollux: requeued]\n# pollux job 7 run 2 on cpu:0\n");
	for (int i = 1; i <= 30; i++)
		add_line(&t, "step %i/100", 0, i, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 30, 0, "a run that begins anew stands where its lines say");
	near(last.total, 100, 0, "a run that begins anew keeps its total");
	text_clear(&t);
	text_add(&t, "# pollux job 7 run 3 on cpu:0\nkilled\n");
	text_add(&t, "# pollux job 7 run 4 on cpu:0\n");
	for (int i = 31; i <= 33; i++)
		add_line(&t, "step %i/100", 0, i, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 33, 0, "a run that goes on stands where its lines say");
	near(last.total, 100, 0, "a run that goes on after one that began anew has the total");

	steps_clear(s);
	steps_expect_epochs(s, 6);
	text_clear(&t);
	add_line(&t, "Epoch 1:  50%|### | 50/100 [00:10<00:10, 100.00it/s]", 0, 0, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.total, 600, 0, "the known number of epochs gives the total");
	steps_free(s);
}

/* The second training of a sweep. */
static void test_trials(void)
{
	struct step_event last = { .position = NO };
	scoped(text_release) struct text t = TEXT_INIT;
	struct err err;
	struct steps *s = steps_new(NULL, &err);

	for (int trial = 0; trial < 3; trial++) {
		add_line(&t, "[2026-11-22 16:51:17,477][HYDRA] \t#%i : +lr=0.01", 0, trial, 0);
		for (int i = 10; i <= 200; i += 10)
			add_line(&t,
				 "[2026-11-22 16:51:19,015][__main__][INFO] - step %i loss 0.12",
				 0, i,
				 0);
	}
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 600, 0, "three trials of Hydra count one after the other");

	steps_clear(s);
	text_clear(&t);
	for (int trial = 0; trial < 3; trial++)
		for (int i = 10; i <= 130 + 10 * trial; i += 10)
			add_line(&t, "step %i loss 0.12", 0, i, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 130 + 140 + 150, 0,
	     "trainings of different lengths count one after the other");

	steps_clear(s);
	text_clear(&t);
	for (int i = 1; i <= 500; i++) {
		add_line(&t, "step %i loss 0.12", 0, i, 0);
		for (int k = 1; i % 100 == 0 && k < 20; k++)
			add_line(&t, "step %i loss 0.12", 0, k, 0);
	}
	add_line(&t, "step 501 loss 0.12", 0, 0, 0);
	steps_feed(s, t.data, t.length, NO, sink, &last);
	near(last.position, 501, 0, "an evaluation in the same words is taken back as it ends");
	steps_free(s);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		test_form(&forms[i]);
	test_part();
	test_relaunch();
	test_trials();
	return done();
}
