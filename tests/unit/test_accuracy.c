// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/run.h"
#include "tests/support/measured_fixture.h"

static const char *const fixed[] = { "perfmodel.estimator=fixed", "perfmodel.prefill_ms=20", "perfmodel.decode_ms=10",
                                     "kv_cache.num_blocks=100000", NULL };

static sim_settings settings_of(const char *text, const char *const *sets, sim_config **config) {
    static sim_config *base; // the row's configuration points into it
    static sim_measured *m;
    base = measured_base(sets);
    m = measured_from(base, text);
    sim_settings settings;
    sim_error error = { 0 };
    const sim_status status = sim_accuracy_row_settings(m, 0, base, config, &settings, &error);
    cr_assert_eq(status, SIM_OK, "%s", error.message);
    return settings;
}

Test(accuracy, a_row_implies_a_closed_loop_of_ten_requests_per_slot) {
    sim_config *config;
    const sim_settings s = settings_of("id,load.concurrency,measured.ttft_ms\na,300,1\n", fixed, &config);
    cr_assert_eq(s.load.mode, SIM_LOAD_CONCURRENCY);
    cr_assert_eq(s.load.concurrency, 300);
    cr_assert_eq(s.workload.requests, 3000);
    cr_assert_not(s.kv_cache.prefix_caching);
    cr_assert_eq(s.engine.max_num_seqs, 300);
    cr_assert_eq(s.engine.max_num_batched_tokens, 8192);
}

Test(accuracy, what_is_implied_gives_way_to_base_row_and_set_in_this_order) {
    static const char *const sets[] = { "perfmodel.estimator=fixed", "perfmodel.prefill_ms=20",
                                        "perfmodel.decode_ms=10",    "kv_cache.num_blocks=100000",
                                        "workload.requests=7",       NULL };
    sim_config *config;
    const sim_settings s = settings_of("id,load.concurrency,workload.requests,engine.max_num_seqs,"
                                       "kv_cache.prefix_caching,measured.ttft_ms\na,5,99,9000,true,1\n",
                                       sets, &config);
    cr_assert_eq(s.workload.requests, 7); // --set
    cr_assert_eq(s.engine.max_num_seqs, 9000);
    cr_assert_eq(s.engine.max_num_batched_tokens, 9000); // at least max_num_seqs
    cr_assert(s.kv_cache.prefix_caching);

    sim_config *base = measured_base(NULL);
    static const char text[] = "[perfmodel]\nestimator = polynomial\n[load]\nconcurrency = 3\nmode = poisson\n"
                               "rate = 2\n[kv_cache]\nnum_blocks = 100000\n"
                               "[engine]\nmax_num_batched_tokens = 512\n";
    sim_error error = { 0 };
    cr_assert_eq(sim_config_load_text(base, text, strlen(text), "base.ini", &error), SIM_OK);
    sim_measured *m = measured_from(base, "id,engine.max_num_batched_tokens,load.concurrency,measured.ttft_ms\n"
                                          "a,,10,1\nb,1024,10,1\n");
    sim_settings t;
    cr_assert_eq(sim_accuracy_row_settings(m, 0, base, &config, &t, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(t.load.mode, SIM_LOAD_POISSON);
    cr_assert_eq(t.engine.max_num_batched_tokens, 512); // of the base: an empty cell gives nothing
    cr_assert_eq(t.workload.requests, 100);             // an open loop has no slots to multiply
    sim_config_free(config);
    cr_assert_eq(sim_accuracy_row_settings(m, 1, base, &config, &t, &error), SIM_OK);
    cr_assert_eq(t.engine.max_num_batched_tokens, 1024);
    sim_config_free(config);
    sim_measured_free(m);
    sim_config_free(base);
}

Test(accuracy, a_refused_value_is_placed_in_the_table_even_when_set_hides_it) {
    static const char *const sets[] = { "kv_cache.num_blocks=1000", "engine.max_num_seqs=4", NULL };
    sim_config *base = measured_base(sets), *config;
    sim_measured *m = measured_from(base, "id,engine.max_num_seqs,measured.ttft_ms\na,8,1\nb,none,1\n");
    sim_settings s;
    sim_error error = { 0 };
    cr_assert_eq(sim_accuracy_row_settings(m, 1, base, &config, &s, &error), SIM_USAGE);
    cr_assert_eq(error.line, 3);
    cr_assert(strstr(error.message, "engine.max_num_seqs: \"none\""), "%s", error.message);
    cr_assert_null(config);
    sim_measured_free(m);
    sim_config_free(base);
}

// What a full replay of the same settings has in its summary.
static void check_against_replay(const sim_config *config, const sim_settings *settings) {
    const sim_run_options options = { .n_threads = 1 };
    sim_run *run;
    sim_prediction p;
    sim_error error = { 0 };
    cr_assert_eq(sim_run_execute(&run, config, settings, &options, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(sim_accuracy_predict(config, settings, NULL, NULL, &p, &error), SIM_OK, "%s", error.message);
    const sim_summary *summary = sim_run_summary(run);
    const double wanted[SIM_TARGETS] = { summary->ttft_ms.mean, summary->tpot_ms.mean, summary->itl_ms.mean,
                                         summary->e2e_latency_ms.mean, summary->output_throughput_tok_s };
    for (int i = 0; i < SIM_TARGETS; i++)
        cr_assert_float_eq(p.values[i], wanted[i], 1e-12 * wanted[i], "%s: %.17g, replay %.17g", sim_targets[i].column,
                           p.values[i], wanted[i]);
    cr_assert_eq(p.n_completed, summary->completed_requests);
    sim_run_free(run);
}

Test(accuracy, a_prediction_is_what_the_summary_of_a_replay_says) {
    static const char *const backends[] = { "vllm", "sglang", "trtllm" };
    for (int i = 0; i < 3; i++) {
        for (int n_ranks = 1; n_ranks <= 2; n_ranks++) {
            char text[400];
            snprintf(text, sizeof text,
                     "id,engine.backend,parallel.data,workload.input_tokens,workload.output_tokens,load.concurrency,"
                     "load.warmup_requests,kv_cache.num_blocks,measured.ttft_ms\n"
                     "a,%s,%d,\"uniform(10,3000)\",\"uniform(1,300)\",24,%d,%d,1\n",
                     backends[i], n_ranks, n_ranks == 2 ? 24 : 0, i == 1 ? 60000 : 3000);
            sim_config *config;
            static const char *const sets[] = { "perfmodel.estimator=polynomial", NULL };
            const sim_settings s = settings_of(text, sets, &config);
            check_against_replay(config, &s);
        }
    }
}

static sim_row_result *run_all(const sim_measured *m, const sim_config *base, uint32_t n_threads) {
    const sim_row_pool_options options = { .n_threads = n_threads };
    sim_row_result *results;
    sim_error error = { 0 };
    cr_assert_eq(sim_accuracy_run(m, base, &options, &results, &error), SIM_OK, "%s", error.message);
    return results;
}

// 20 ms a prompt, 10 ms a token: with one slot TTFT is 20 and TPOT 10 whatever else happens.
static const char table[] = "id,label.a,label.b,load.concurrency,workload.output_tokens,kv_cache.block_size,"
                            "measured.ttft_ms,measured.tpot_ms\n"
                            "exact,x,1,1,10,,20,10\n"
                            "half,x,2,1,10,,40,5\n"
                            "no_tpot,y,1,1,1,,20,10\n"
                            "ttft_only,y,1,1,10,,25,\n"
                            "bad,x,1,1,10,0,20,10\n"
                            "bad_too,y,1,1,10,0,20,10\n";

Test(accuracy, errors_follow_their_definitions_overall_and_by_group) {
    sim_config *base = measured_base(fixed);
    sim_measured *m = measured_from(base, table);
    sim_row_result *results = run_all(m, base, 1);
    sim_accuracy_report *report;
    sim_error error = { 0 };
    cr_assert_eq(sim_accuracy_report_new(&report, m, results, "label.a", 2, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(report->all.n_rows, 6);
    cr_assert_eq(report->all.n_predicted, 3);
    cr_assert_eq(report->all.n_failed, 3);
    const sim_target_errors *ttft = &report->all.targets[SIM_TARGET_TTFT],
                            *tpot = &report->all.targets[SIM_TARGET_TPOT];
    cr_assert_eq(ttft->n_rows, 3); // APE 0, 50, 20 %
    cr_assert_float_eq(ttft->mape_pct, 70.0 / 3, 1e-9);
    cr_assert_float_eq(ttft->median_ape_pct, 20, 1e-9);
    cr_assert_float_eq(ttft->p90_ape_pct, 50, 1e-9);
    cr_assert_float_eq(ttft->bias_pct, -70.0 / 3, 1e-9);
    cr_assert_float_eq(ttft->log_error, (log(2) + log(1.25)) / 3, 1e-12);
    cr_assert_eq(tpot->n_rows, 2); // 0, 100 %
    cr_assert_float_eq(tpot->mape_pct, 50, 1e-9);
    cr_assert_float_eq(tpot->bias_pct, 50, 1e-9);
    cr_assert_float_eq(tpot->log_error, log(2) / 2, 1e-12);
    cr_assert_eq(report->n_groups, 2);
    cr_assert_eq(report->groups[0].n_rows, 3);
    cr_assert_float_eq(report->groups[0].targets[SIM_TARGET_TTFT].mape_pct, 25, 1e-9);
    cr_assert_eq(report->groups[1].n_predicted, 1);
    cr_assert_eq(report->groups[1].targets[SIM_TARGET_TPOT].n_rows, 0);
    cr_assert_eq(report->n_worst, 2);
    cr_assert_str_eq(sim_measured_id(m, report->worst[0]), "half");
    cr_assert_str_eq(sim_measured_id(m, report->worst[1]), "ttft_only");
    cr_assert_eq(report->n_failures, 2);
    cr_assert_eq(report->failures[0].n_rows, 2);
    cr_assert(strstr(report->failures[0].reason, "kv_cache.block_size: 0 is out of range"));
    cr_assert_eq(report->failures[0].first_row, 4);
    cr_assert_eq(sim_accuracy_next_failed(report, 4), 5);
    cr_assert_eq(sim_accuracy_next_failed(report, 5), 6);
    cr_assert(strstr(report->failures[1].reason, "no TPOT is predicted"));
    sim_accuracy_report_free(report);
    cr_assert_eq(sim_accuracy_report_new(&report, m, results, "label.a,label.b", 0, &error), SIM_OK);
    cr_assert_eq(report->n_groups, 3);
    sim_accuracy_report_free(report);
    cr_assert_eq(sim_accuracy_report_new(&report, m, results, "", 99, &error), SIM_OK);
    cr_assert_eq(report->n_groups, 0);
    cr_assert_eq(report->n_worst, 3);
    sim_accuracy_report_free(report);
    cr_assert_eq(sim_accuracy_report_new(&report, m, results, "label.a,lable.b", 0, &error), SIM_USAGE);
    cr_assert(strstr(error.message, "did you mean label.b?"));
    sim_row_results_free(results, m->n_rows);
    sim_measured_free(m);
    sim_config_free(base);
}

static char *json_of(const sim_measured *m, const sim_row_result *results) {
    sim_accuracy_report *report;
    char *text;
    size_t n;
    cr_assert_eq(sim_accuracy_report_new(&report, m, results, "label.a", 10, NULL), SIM_OK);
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(sim_accuracy_write_json(report, out, NULL), SIM_OK);
    cr_assert_eq(sim_accuracy_write_csv(report, out, "x", NULL), SIM_OK);
    cr_assert_eq(sim_accuracy_write_table(report, out, NULL), SIM_OK);
    fclose(out);
    sim_accuracy_report_free(report);
    return text;
}

Test(accuracy, any_number_of_threads_gives_the_same_bytes) {
    sim_config *base = measured_base(fixed);
    sim_measured *m = measured_from(base, table);
    char *first = NULL;
    for (uint32_t n_threads = 1; n_threads <= 16; n_threads *= 2) {
        sim_row_result *results = run_all(m, base, n_threads);
        char *text = json_of(m, results);
        if (first) cr_assert_str_eq(text, first);
        if (first) free(text);
        if (!first) first = text;
        sim_row_results_free(results, m->n_rows);
    }
    free(first);
    sim_measured_free(m);
    sim_config_free(base);
}

Test(accuracy, a_signal_leaves_the_rows_that_were_run) {
    volatile sig_atomic_t stopped = SIGINT;
    sim_config *base = measured_base(fixed);
    sim_measured *m = measured_from(base, table);
    const sim_row_pool_options options = { .n_threads = 1, .stopped = &stopped };
    sim_row_result *results;
    sim_error error = { 0 };
    cr_assert_eq(sim_accuracy_run(m, base, &options, &results, &error), SIM_INTERRUPTED);
    char *text = json_of(m, results);
    cr_assert(strstr(text, "\"interrupted\":\ttrue"));
    cr_assert(strstr(text, "\"predicted_rows\":\t0"));
    cr_assert(strstr(text, "\"ttft_mape_pct\":\tnull"));
    cr_assert(strstr(text, ",not_run,\n"));
    free(text);
    sim_row_results_free(results, m->n_rows);
    sim_measured_free(m);
    sim_config_free(base);
}

Test(accuracy, a_row_with_rejected_requests_is_not_the_run_that_was_measured) {
    sim_config *base = measured_base(fixed);
    sim_measured *m = measured_from(base, "id,workload.input_tokens,engine.max_model_len,measured.ttft_ms\n"
                                          "a,\"uniform(100,1000)\",600,1\n");
    sim_row_result *results = run_all(m, base, 1);
    cr_assert_eq(results[0].status, SIM_ROW_FAILED);
    cr_assert(strstr(results[0].reason, "requests are rejected: "), "%s", results[0].reason);
    sim_row_results_free(results, 1);
    sim_measured_free(m);
    sim_config_free(base);
}
