/* measured_columns.c - the columns of what was measured: observations, gradients, models, kinds of
 * devices, and the sizes that were tried. */
#include "columns.h"
#include "rows.h"
#include "pollux/store_measurements.h"

/* --- observations --- */

#define ROW struct observation
static const struct store_column of_observation[] = {
	C("run_id", INT64, run_id, KNOWN, KEY),
	C("update_time_s", DOUBLE, update_time_s, KNOWN, 0),
	C("n_steps", INT64, n_steps, KNOWN, 0),
	C("n_windows", INT64, n_windows, KNOWN, 0),
	C("n_dropped", INT64, n_dropped, KNOWN, 0),
	C("n_outliers", INT64, n_outliers, KNOWN, 0),
	C("step_time_s", DOUBLE, step_time_s, UNKNOWN, 0),
	C("step_time_sd_s", DOUBLE, step_time_sd_s, UNKNOWN, 0),
	C("step_time_min_s", DOUBLE, step_time_min_s, UNKNOWN, 0),
	C("sync_time_s", DOUBLE, sync_time_s, UNKNOWN, 0),
};
static const struct store_column observation_of_run[] = {
	C("job_id", INT64, job_id, KNOWN, 0),
	CHARS("plan", configuration.plan, 0),
	C("width", INT, configuration.width, ZERO, 0),
	C("measured_cores", INT, cores, ZERO, 0),
};

static const struct store_columns observation_columns = COLUMNS(of_observation),
	observation_run_columns = COLUMNS(observation_of_run);

/* The whole configuration of a run is part of the key, with the tier of its devices: a suspended
 * run may go on on others. The kind of device and the number of nodes of a run never change. */
const struct store_table observations_table = {
	"observations", sizeof(ROW), {
		{ .columns = &observation_columns },
		{ PART(configuration_columns, configuration), .only = OBSERVED,
		  .flags = KEY | NOT_NULL },
		{ PART(configuration_columns, configuration), .only = OF_TIER,
		  .flags = KEY | NOT_NULL },
		{ .columns = &observation_run_columns, OF_ITS_RUN },
	},
};
#undef ROW

/* --- gradients --- */

#define ROW struct gradient_row
static const struct store_column of_gradient_row[] = {
	C("run_id", INT64, run_id, KNOWN, KEY),
	C("window", INT, window.window, KNOWN, KEY),
	C("first_samples", DOUBLE, window.first_samples, UNKNOWN, 0),
	C("last_samples", DOUBLE, window.last_samples, UNKNOWN, 0),
	C("n", INT64, window.n, KNOWN, 0),
	C("sum_grad_sqr", DOUBLE, window.sum_grad_sqr, KNOWN, 0),
	C("sum_grad_var", DOUBLE, window.sum_grad_var, KNOWN, 0),
	C("m2_grad_sqr", DOUBLE, window.m2_grad_sqr, UNKNOWN, 0),
	C("m2_grad_var", DOUBLE, window.m2_grad_var, UNKNOWN, 0),
	C("entries", INT64, window.entries, ZERO, 0),
	C("cross_grad", DOUBLE, window.cross_grad, UNKNOWN, 0),
	C("n_losses", INT64, window.losses.n, KNOWN, 0),
	C("mean_loss", DOUBLE, window.losses.mean, KNOWN, 0),
	C("mean_loss_x", DOUBLE, window.losses.mean_x, KNOWN, 0),
	C("m2_loss", DOUBLE, window.losses.m2, KNOWN, 0),
	C("m2_loss_x", DOUBLE, window.losses.m2_x, KNOWN, 0),
	C("cross_loss", DOUBLE, window.losses.cross, KNOWN, 0),
};
static const struct store_column gradient_of_run[] = {
	C("job_id", INT64, job_id, KNOWN, 0),
};
#undef ROW

static const struct store_columns gradient_columns = COLUMNS(of_gradient_row),
	gradient_run_columns = COLUMNS(gradient_of_run);

#define ROW struct gradient_row
const struct store_table gradients_table = {
	"gradient_statistics", sizeof(ROW), {
		{ .columns = &gradient_columns },
		{ .columns = &gradient_run_columns, OF_ITS_RUN },
		{ PART(configuration_columns, window.configuration), .only = INHERITED,
		  OF_ITS_RUN },
		{ PART(configuration_columns, window.configuration), .only = GRADIENT },
	},
};
#undef ROW

/* --- models --- */

#define ROW struct stored_model
static const struct store_column of_model[] = {
	C("workload", TEXT, workload, KNOWN, KEY),
	C("device_kind", TEXT, device_kind, KNOWN, KEY),
	CHARS("basis", basis, NOT_NULL),
	C("n_steps", INT64, model.n_steps, KNOWN, 0),
	C("max_replicas", INT, model.max_replicas, KNOWN, 0),
	C("max_local_batch_size", INT64, model.max_local_batch_size, KNOWN, 0),
	CHARS("observations_key", model.observations_key, NOT_NULL),
	C("fit_time_s", DOUBLE, model.fit_time_s, KNOWN, 0),
	C("max_nodes", INT, model.max_nodes, KNOWN, 0),
};
#undef ROW

#define ROW struct fit_result
static const struct store_column of_fit[] = {
	C("alpha_grad", DOUBLE, params.alpha_grad, KNOWN, 0),
	C("beta_grad", DOUBLE, params.beta_grad, KNOWN, 0),
	C("alpha_sync_local", DOUBLE, params.alpha_sync_local, KNOWN, 0),
	C("beta_sync_local", DOUBLE, params.beta_sync_local, KNOWN, 0),
	C("alpha_sync_node", DOUBLE, params.alpha_sync_node, KNOWN, 0),
	C("beta_sync_node", DOUBLE, params.beta_sync_node, KNOWN, 0),
	C("gamma", DOUBLE, params.gamma, KNOWN, 0),
	C("ln_tier_fast", DOUBLE, params.ln_tier[TIER_FAST], KNOWN, 0),
	C("ln_tier_switch", DOUBLE, params.ln_tier[TIER_SWITCH], KNOWN, 0),
	C("ln_tier_numa", DOUBLE, params.ln_tier[TIER_NUMA], KNOWN, 0),
	C("ln_tier_machine", DOUBLE, params.ln_tier[TIER_FAR], KNOWN, 0),
	NAMES("stop", stop, KNOWN, fit_stop_names, 0),
	C("objective", DOUBLE, objective, KNOWN, 0),
	C("rmse_grad", DOUBLE, rmse_grad, KNOWN, 0),
	C("rmse_step", DOUBLE, rmse_step, KNOWN, 0),
	C("n_observations", INT, n_observations, KNOWN, 0),
};
#undef ROW

static const struct store_columns model_columns = COLUMNS(of_model), fit_columns = COLUMNS(of_fit);

#define ROW struct stored_model
const struct store_table models_table = {
	"models", sizeof(ROW), { { .columns = &model_columns }, { PART(fit_columns, model.fit) } },
};
#undef ROW

/* --- kinds of devices --- */

#define ROW struct stored_measurement
static const struct store_column of_device_measurement[] = {
	CHARS("device_kind", device_kind, KEY | NOT_NULL),
	NAMES("what", measurement.what, KNOWN, measured_names, KEY),
	CHARS("variant", measurement.variant, KEY | NOT_NULL),
	C("devices", INT, measurement.devices, KNOWN, KEY),
	C("m", INT64, measurement.m, KNOWN, KEY),
	C("n", INT64, measurement.n, KNOWN, KEY),
	C("k", INT64, measurement.k, KNOWN, KEY),
	C("bytes", INT64, measurement.bytes, KNOWN, KEY),
	C("time_s", DOUBLE, measurement.time_s, KNOWN, 0),
	C("time_sd_s", DOUBLE, measurement.time_sd_s, UNKNOWN, 0),
	C("repetitions", INT64, measurement.repetitions, KNOWN, 0),
	C("steady", BOOL, measurement.steady, KNOWN, 0),
	C("measured_time_s", DOUBLE, measured_time_s, KNOWN, 0),
};

const struct store_table device_measurements_table =
	TABLE_OF("device_measurements", of_device_measurement);
#undef ROW

/* --- sizes that were tried --- */

#define ROW struct observation
static const struct store_column of_tried[] = {
	C("id", INT64, run_id, KNOWN, 0),
};
static const struct store_column of_measured[] = {
	C("max(run_id)", INT64, run_id, KNOWN, COMPUTED),
	C("sum(n_windows)", INT64, n_windows, KNOWN, COMPUTED),
};

static const struct store_columns tried_columns = COLUMNS(of_tried),
	measured_columns = COLUMNS(of_measured);

const struct store_table tried_table = {
	"runs", sizeof(ROW), {
		{ .columns = &tried_columns },
		{ PART(configuration_columns, configuration), .only = TRIED },
	},
};
const struct store_table measured_table = {
	"observations", sizeof(ROW), {
		{ .columns = &measured_columns },
		{ PART(configuration_columns, configuration), .only = TRIED },
	},
};
#undef ROW
