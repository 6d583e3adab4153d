// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every allocation of reading a trace or making a workload fails once: the outcome must be SIM_NO_MEMORY, nothing may leak, and nothing may
// be freed twice. The allocator of the C library is replaced by one that counts and can refuse; under the address sanitizer, which has an
// allocator of its own, the test steps aside.
#include <gsl/gsl_errno.h>
#include <zlib.h>

#include "sim/workload/trace_info.h"
#include "tests/support/workload_fixture.h"

#if defined __SANITIZE_ADDRESS__ || !defined __GLIBC__
#define CAN_REFUSE 0
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define CAN_REFUSE 0
#endif
#endif
#ifndef CAN_REFUSE
#define CAN_REFUSE 1
#endif

static bool is_counting;
static long n_live, refuse_at; // refuse_at: allocations until one is refused; 0 = never
static bool was_refused;

#if CAN_REFUSE
// NOLINTBEGIN: the names are glibc's
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);
extern void __libc_free(void *block);
// NOLINTEND

static bool refuses(void) {
    if (!is_counting || refuse_at == 0 || --refuse_at > 0) return false;
    was_refused = true;
    return true;
}

static void *counted(void *block) {
    if (is_counting && block) n_live++;
    return block;
}

void *malloc(size_t n) { return refuses() ? NULL : counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return refuses() ? NULL : counted(__libc_calloc(n, size)); }
void *aligned_alloc(size_t alignment, size_t n) { return refuses() ? NULL : counted(__libc_memalign(alignment, n)); }
void *realloc(void *old, size_t n) {
    if (refuses()) return NULL;
    void *block = __libc_realloc(old, n);
    if (is_counting && block && !old) n_live++;
    return block;
}
void free(void *block) {
    if (is_counting && block) n_live--;
    __libc_free(block);
}
#endif

typedef struct attempt {
    const char *text; // NULL: what the settings say
    sim_workload_config settings;
} attempt;

static sim_status run(const attempt *a, sim_error *error) {
    sim_workload *workload = NULL;
    sim_load *load = NULL;
    const sim_load_config how = { .mode = SIM_LOAD_POISSON, .speedup = 1, .concurrency = 10, .rate = 5, .seed = 1 };
    if (a->text)
        workload = workload_from_text(a->text, strlen(a->text), &a->settings, error);
    else
        sim_workload_new(&workload, NULL, &a->settings, 1, error);
    sim_status status = workload ? SIM_OK : error->code;
    sim_trace_info info;
    if (!status) status = sim_trace_info_compute(workload, &info, error);
    if (!status) status = sim_load_new(&load, NULL, &how, workload, error);
    sim_load_free(load);
    sim_workload_free(workload);
    return status;
}

static void refuse_each(const attempt *a) {
    enum { MOST = 1000 };
    sim_error error = { 0 };
    cr_assert_eq(run(a, &error), SIM_OK, "%s", error.message);
    for (long at = 1; at < MOST; at++) {
        error = (sim_error){ 0 };
        n_live = 0;
        refuse_at = at;
        was_refused = false;
        is_counting = true;
        const sim_status status = run(a, &error);
        is_counting = false;
        cr_assert_eq(n_live, 0, "refusing allocation %ld: %ld blocks are left", at, n_live);
        if (!was_refused) {
            cr_assert_eq(status, SIM_OK);
            cr_assert_gt(at, 3, "nothing was allocated");
            return;
        }
        // Giving back unused space may fail without consequence.
        cr_assert(status == SIM_NO_MEMORY || status == SIM_OK, "refusing allocation %ld: status %d, %s", at,
                  (int)status, error.message);
        if (status) cr_assert(error.message[0]);
    }
    cr_assert(false, "more than %d allocations for a few rows", MOST);
}

Test(workload_memory, a_compressed_file_is_no_exception) {
    if (!CAN_REFUSE) cr_skip_test("SKIPPED: the sanitizer has an allocator of its own");
    static const char path[] = "workload-memory-test.jsonl.gz";
    gsl_set_error_handler_off();
    gzFile out = gzopen(path, "wb");
    cr_assert(out);
    for (int i = 0; i < 5000; i++)
        gzprintf(out, "{\"timestamp\":%d,\"input_length\":5,\"output_length\":1}\n", i * 7919);
    gzclose(out);
    attempt a = { .settings = trace_settings() };
    a.settings.path = path;
    refuse_each(&a);
    remove(path);
}

Test(workload_memory, every_failing_allocation_is_an_error_that_leaves_nothing_behind) {
    if (!CAN_REFUSE) cr_skip_test("SKIPPED: the sanitizer has an allocator of its own");
    gsl_set_error_handler_off();
    attempt attempts[] = {
        // sessions, dense ids, a block of two sizes, rows out of order, dropped rows of several reasons
        { .text =
              "{\"timestamp\":5000,\"input_length\":600,\"output_length\":1,\"hash_ids\":[1,2],\"session_id\":\"a\"}\n"
              "{\"timestamp\":0.5,\"input_length\":700,\"output_length\":1,\"hash_ids\":[1,2],\"session_id\":\"b\"}\n"
              "{\"timestamp\":1,\"input_length\":0,\"output_length\":1}\n"
              "nonsense\n"
              "{\"timestamp\":2,\"input_length\":7,\"output_length\":1,\"delay\":1}\n"
              "{\"input_length\":7,\"output_length\":1,\"session_id\":\"b\",\"delay\":1}\n" },
        // sparse ids; no stamps
        { .text = "{\"input_length\":600,\"output_length\":1,\"hash_ids\":[1,18446744073709551615]}\n"
                  "{\"input_length\":700,\"output_length\":1,\"hash_ids\":[2,18446744073709551615]}\n" },
        // no stamps at first
        { .text = "{\"input_length\":600,\"output_length\":1,\"hash_ids\":[1,2],\"session_id\":7}\n"
                  "{\"timestamp\":1,\"input_length\":700,\"output_length\":1,\"hash_ids\":[2,3],\"session_id\":8}\n" },
        // quotes over lines, header with a warning
        { .text = "timestamp,ContextTokens,GeneratedTokens,\"No\nte\"\n2023-11-16 18:15:46,10,1,\"a\n\"\"b\"\n"
                  "2023-11-16 18:15:45,\"10\",1,c\nx,y,z,\"\n\"\n" },
        { .text = NULL }, // synthetic
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        attempts[i].settings = attempts[i].text ? trace_settings() : synthetic_settings();
        if (attempts[i].text) attempts[i].settings.on_bad_record = SIM_BAD_RECORD_SKIP;
        refuse_each(&attempts[i]);
    }
}
