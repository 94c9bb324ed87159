/*
 * What each fuzzer is: one function that is given any bytes, and that fails (by
 * abort) where the code under test breaks its word. libFuzzer calls it in a build
 * with `-Dfuzzers=true`; standalone.c calls it in every build.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
