/* test_found_metrics.c - which numbers of a log are taken for metrics, and which are not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/steps.h"
#include "pollux/text.h"
#include "tap.h"

static void take(const char *name, double value, void *arg)
{
	text_addf(arg, "%s=%g ", name, value);
}

/* What is found in the text, fed in pieces of so many bytes. */
static char *found(const char *text, size_t piece)
{
	struct text got = TEXT_INIT;
	struct found_metrics *m = found_metrics_new();
	size_t n = strlen(text);

	for (size_t at = 0; at < n; at += piece)
		found_metrics_feed(m, text + at, n - at < piece ? n - at : piece, (double)NAN,
				   take, &got);
	found_metrics_end(m, take, &got);
	found_metrics_free(m);
	return text_detach(&got);
}

static void check(const char *text, const char *want, const char *name)
{
	for (size_t piece = 1; piece < 1000; piece *= 31) {
		char *got = found(text, piece);

		is_str(got, want, name);
		free(got);
	}
}

/* The line with the numbers 1 and 2 for each N in it, as two lines of a log. */
static void check_line(const char *line, const char *want)
{
	struct text log = TEXT_INIT;
	char *got;

	for (int n = 1; n <= 2; n++) {
		for (const char *c = line; *c; c++)
			text_addf(&log, "%c", *c == 'N' ? '0' + n : *c);
		text_add(&log, "\n");
	}
	got = found(log.data, log.length);
	is_str(got, want, line);
	free(got);
	text_release(&log);
}

static void test_found(void)
{
	check_line("Epoch N: loss=0.N acc=0.9N", "loss=0.1 loss=0.2 acc=0.91 acc=0.92 ");
	check_line("step N/100 | Loss: 0.N | lr: 1e-3", "loss=0.1 loss=0.2 ");
	check_line("{'loss': '4.N', 'grad_norm': '0.7', 'learning_rate': '4e-05', 'epoch': '0.N'}",
		   "loss=4.1 loss=4.2 ");
	check_line("{'eval_loss': 1.N, 'eval_accuracy': 0.5, 'eval_runtime': 3.1,"
		   " 'eval_samples_per_second': 20.1, 'epoch': N.0}",
		   "eval_loss=1.1 eval_loss=1.2 eval_accuracy=0.5 eval_accuracy=0.5 ");
	check_line("85/85 - 5s - 53ms/step - accuracy: 0.N - loss: 0.7N - val_loss: 0.6",
		   "accuracy=0.1 accuracy=0.2 loss=0.71 loss=0.72 val_loss=0.6 val_loss=0.6 ");
	check_line("Epoch 0:  1N%|#  | N/16 [00:00<00:01,  9.15it/s, train_loss=0.69N]",
		   "train_loss=0.691 train_loss=0.692 ");
	check_line("INFO:absl:epoch:  N, train_loss: 0.3, test_accuracy: 1.0N",
		   "train_loss=0.3 train_loss=0.3 test_accuracy=1.01 test_accuracy=1.02 ");
	check_line("Iteration N, loss = 0.72N", "loss=0.721 loss=0.722 ");
	check_line("epoch N train loss: 0.N acc: 50% val loss: 0.8 acc: 4N%",
		   "train_loss=0.1 train_loss=0.2 train_acc=50 train_acc=50 val_loss=0.8 "
		   "val_loss=0.8 val_acc=41 val_acc=42 ");
	check_line("epoch N | train: loss=0.N | val: loss=0.3",
		   "train_loss=0.1 train_loss=0.2 val_loss=0.3 val_loss=0.3 ");
	check_line("Train Epoch: N [640/60000 (1%)]\tLoss: 2.N", "train_loss=2.1 train_loss=2.2 ");
	check_line("step=N loss=tensor(0.N, device='cuda:0')", "loss=0.1 loss=0.2 ");
	check_line("epoch N loss: nan", "loss=nan loss=nan ");
	check_line("step: N box_loss: 0.N train_loss_epoch: 0.5 val_score=N",
		   "box_loss=0.1 box_loss=0.2 train_loss_epoch=0.5 train_loss_epoch=0.5 "
		   "val_score=1 val_score=2 ");
	check_line("[rank0]: step N loss=0.N\n[rank1]: step N loss=0.7", "loss=0.1 loss=0.2 ");
	check_line("\033[1mepoch N\033[0m \033[32mloss: 0.N\033[0m", "loss=0.1 loss=0.2 ");
}

static void test_not_found(void)
{
	static const char *const lines[] = {
		"loss: 0.N", "acc=0.N of 12 files", "Accuracy: 4N.4%, Avg loss: 0.8",
		"epoch N loss_scale=1024 loss_weight: 0.5 lr: 0.N",
		"epoch N best val_loss: 0.N", "epoch N: val_loss improved from 0.5 to loss=0.N",
		"epoch N best loss: 0.N", "epoch N test_size=0.N eval_steps=50N val_ratio: 0.2",
		"epoch N acc: 9N/100", "epoch N acc: 9N / 100", "epoch N loss: 0.5 -> 0.N",
		"epoch N loss: 5Nms", "epoch N loss: 10:0N", "epoch N loss: 1.2.N",
		"epoch N loss: mse", "epoch N loss: 0x1N", "epoch N KL loss: 0.N",
		"epoch N loss: 0.N loss: 0.5", "epoch N accum=N accelerator=1",
		"namespace(epoch=N, loss=0.N)", "/data/epoch=N/loss=0.N.ckpt",
		"Validation epoch N/5 loss: 0.N", "Validating:  1N%|#  | N/16 [00:00, loss=0.N]",
		"Epoch N val:  10%|#  | N/16 [00:00<00:01, 9it/s, loss=0.N]",
		"Saving to step=N-val_loss=0.N.ckpt", "epoch N eval_runtime: 3.N time_loss: N",
		"Test set: Average loss: 0.0N, Accuracy: 9800/10000 (98%)",
		"step N loss 0.N", "epoch N val: 0.N", "epoch N LOSS", "epoch N loss=",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_line(lines[i], "");
	check("epoch 1 loss=0.5 val_acc=1\nepoch 1 loss=0.5 val_acc=1\n", "",
	      "what never changes is a setting");
	check("epoch 1 loss=0.5\nepoch 1 loss=0.4", "loss=0.5 loss=0.4 ",
	      "a value that changes is none");
	check("epoch 1 loss=0.5\r\nepoch 2 loss=0.4\repoch 3 loss=\bnan\n",
	      "loss=0.5 loss=0.4 loss=nan ", "lines end in all ways");
}

static void test_bounds(void)
{
	struct text log = TEXT_INIT;
	char *got;
	int n = 0;

	for (int epoch = 1; epoch <= 2; epoch++)
		for (int i = 0; i < 26; i++)
			text_addf(&log, "epoch %d %c%c_loss=%d val_%c%c=%d\n", epoch, 'a' + i,
				  'a' + i, epoch, 'a' + i, 'b', epoch);
	for (int epoch = 1; epoch <= 3; epoch++)
		text_addf(&log, "epoch %d loss=0.%d\n", epoch, epoch);
	got = found(log.data, 100);
	for (const char *c = got; (c = strchr(c, '=')); c++)
		n++;
	is_int(n, 2 * FOUND_UNCOMMON_MAX + 3, "few names are taken");
	ok(strstr(got, " loss=0.1 loss=0.2 loss=0.3 ") != NULL, "there is room for the usual ones");
	free(got);
	text_clear(&log);
	for (int i = 0; i < 5000; i++)
		text_addf(&log, "epoch %d %s_loss=1 \033]0;x\007\xff ", i, "aaaaaaaaaaaaaaaaaaaaaa"
			  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	free(found(log.data, log.length));
	text_release(&log);
}

static void take_address(enum web_service service, const char *address, void *arg)
{
	text_addf(arg, "%s %s ", service == WEB_WANDB ? "wandb" : "tensorboard", address);
}

static void check_address(const char *line, const char *want)
{
	struct text got = TEXT_INIT;
	struct web_addresses *w = web_addresses_new();

	web_addresses_feed(w, line, strlen(line) / 2, take_address, &got);
	web_addresses_feed(w, line + strlen(line) / 2, strlen(line) - strlen(line) / 2,
			   take_address, &got);
	web_addresses_feed(w, "\n", 1, take_address, &got);
	is_str(got.data, want, line);
	web_addresses_free(w);
	text_release(&got);
}

static void test_addresses(void)
{
	struct text line = TEXT_INIT;

	check_address("wandb: \xf0\x9f\x9a\x80 View run at https://wandb.ai/me/nets/runs/ab12",
		      "wandb https://wandb.ai/me/nets/runs/ab12 ");
	check_address("\033[34m\033[1mwandb\033[0m: View run \033[33mglow-1\033[0m at: "
		      "\033[34m\033[4mhttps://wandb.ai/me/nets/runs/ab12?nw=1\033[0m",
		      "wandb https://wandb.ai/me/nets/runs/ab12?nw=1 ");
	check_address("TensorBoard 2.15.0 at http://localhost:6006/ (Press CTRL+C to quit)",
		      "tensorboard http://localhost:6006/ ");
	check_address("wandb: View project at https://wandb.ai/me/nets", "");
	check_address("see https://wandb.ai/site: wandb: View run at nowhere", "");
	check_address("TensorBoard 2.15.0 at file:///tmp/x", "");
	check_address("wandb: View run at https://", "");
	check_address("wandb: View run at http://x/\x01y'<script>", "wandb http://x/ ");
	check_address("wandb: View run at ://", "");
	check_address("wandb: View run at htt://", "");
	text_add(&line, "wandb: View run at https://");
	text_add_byte(&line, 'a', 300);
	check_address(line.data, "");
	text_release(&line);
}

int main(void)
{
	test_addresses();
	test_found();
	test_not_found();
	test_bounds();
	return done();
}
