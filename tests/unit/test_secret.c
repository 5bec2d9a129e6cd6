/* test_secret.c - which names of variables are those of credentials. */
#include "pollux/secret.h"
#include "tap.h"

static const char *const secrets[] = {
	"HF_TOKEN", "WANDB_API_KEY=1", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "KEY",
	"apiKey", "openaiApikey", "OPENAI_APIKEY", "GOOGLE_APPLICATION_CREDENTIALS", "PGPASSWORD",
	"DB_PASSWORD_2", "MYSQL_PASSWD", "API_KEY2", "client-secret", "GITHUB_TOKEN=", "SSH.KEYS",
	"GPG_PASSPHRASE", "NPM_AUTHTOKEN",
};
static const char *const others[] = {
	"", "=KEY", "PATH=/a/KEY", "KEYBOARD", "XKB_KEYBOARD_LAYOUT", "MONKEY", "HOTKEY=1",
	"KEYRING",
	"TOKENIZERS_PARALLELISM", "MAX_TOKENS", "SECRETARY", "PASSWORDLESS", "PWD", "PASSES",
	"KE_Y", "GIT_CONFIG_KEY_0",
	"N_KEYED", "turKEYed", "\xff=TOKEN",
};

int main(void)
{
	struct strings env = { 0 }, here = { 0 };
	struct text t = TEXT_INIT, taken = TEXT_INIT, lacking = TEXT_INIT;

	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		ok(variable_is_secret(secrets[i]), secrets[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(!variable_is_secret(others[i]), others[i]);
	text_add_variable(&t, "A_KEY=x=y");
	text_add_variable(&t, " B=x");
	is_str(t.data, "A_KEY=*** B=x", "the value of a credential is not shown, others are");
	text_clear(&t);

	strings_add(&env, "A=1");
	strings_add(&env, "B_KEY");
	strings_add(&env, "C_KEY");
	strings_add(&env, "D_KEY");
	strings_add(&env, "D_KEY=4");
	strings_add(&here, "A=7");
	strings_add(&here, "B_KEY=2");
	is_int(secrets_add_names(&t, &env, false), 3, "credentials without a value are counted");
	is_str(t.data, "B_KEY, C_KEY, D_KEY", "credentials without a value are named");
	text_clear(&t);
	is_int(secrets_add_names(&t, &env, true), 1, "credentials with a value are counted");
	secrets_refill(&env, &here, &taken, &lacking);
	is_str(taken.data, "B_KEY", "a value that was forgotten is taken from others");
	is_str(lacking.data, "C_KEY", "a value that the others lack is told");
	text_clear(&t);
	for (size_t i = 0; i < env.count; i++)
		text_addf(&t, "%s ", env.items[i]);
	is_str(t.data, "A=1 B_KEY=2 D_KEY=4 ", "what had a value keeps it, what has none goes");
	text_release(&t);
	text_release(&taken);
	text_release(&lacking);
	strings_release(&env);
	strings_release(&here);
	return done();
}
