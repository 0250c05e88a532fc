// Makes a server slower by a known amount: preloaded into it, it spins for a set number of nanoseconds
// after each receive from a socket that yields something.
//
// Beside the library, whose path is L, are two files:
//   L.ns      how many nanoseconds, in decimal; read when the process starts
//   L.calls   two native 64-bit integers that are added to: calls that were slowed down, nanoseconds spun
// The environment is asked for nothing, because backslide passes none on to servers. Processes that a
// server forks add to the same two numbers. A server that cannot read or write them does not start.
//
//   cc -std=c11 -O2 -Wall -Wextra -U_FORTIFY_SOURCE -shared -fPIC -o libslow.so slowdown.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The content of L.calls.
struct tally {
    _Atomic uint64_t calls;
    _Atomic uint64_t nanoseconds;
};

static uint64_t wanted;
// The cost of reading the clock: the two readings around the spin are part of it.
static uint64_t reading;
static struct tally unmapped;
static struct tally *tally = &unmapped;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void spin(void)
{
    if (wanted == 0) {
        atomic_fetch_add_explicit(&tally->calls, 1, memory_order_relaxed);
        return;
    }
    uint64_t start = now(), end;
    do {
        end = now();
    } while (end - start + reading < wanted);
    atomic_fetch_add_explicit(&tally->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->nanoseconds, end - start + reading, memory_order_relaxed);
}

// `recv` is `recvfrom` without an address, so the real one need not be looked for.
ssize_t recv(int socket, void *buffer, size_t length, int flags)
{
    ssize_t received = recvfrom(socket, buffer, length, flags, NULL, NULL);
    if (received > 0) {
        int kept = errno;
        spin();
        errno = kept;
    }
    return received;
}

// `recv` in programs compiled with _FORTIFY_SOURCE, with a known buffer size.
ssize_t __recv_chk(int socket, void *buffer, size_t length, size_t size, int flags);
ssize_t __recv_chk(int socket, void *buffer, size_t length, size_t size, int flags)
{
    if (length > size)
        abort();
    return recv(socket, buffer, length, flags);
}

static _Noreturn void fail(const char *what, const char *path)
{
    fprintf(stderr, "slowdown: %s %s: %s\n", what, path, errno ? strerror(errno) : "not a number");
    _exit(1);
}

// The whole number in a file.
static uint64_t number_in(const char *path)
{
    char text[32] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) < 0)
        fail("cannot read", path);
    close(file);
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || text[0] == '-' || (*end != '\0' && *end != '\n'))
        fail("cannot read", path);
    return number;
}

static struct tally *tally_in(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, sizeof(struct tally)) < 0)
        fail("cannot write", path);
    void *mapped = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        fail("cannot map", path);
    close(file);
    return mapped;
}

// The least that two readings in a row are apart.
static uint64_t cost_of_reading(void)
{
    uint64_t least = UINT64_MAX;
    for (int times = 0; times < 1000; times++) {
        uint64_t start = now(), apart = now() - start;
        if (apart < least)
            least = apart;
    }
    return least;
}

__attribute__((constructor)) static void begin(void)
{
    Dl_info self;
    char path[4096];
    if (dladdr(&tally, &self) == 0 || self.dli_fname == NULL) {
        errno = ENOENT;
        fail("cannot find", "its own path");
    }
    // The longer of the two names first.
    if (snprintf(path, sizeof path, "%s.calls", self.dli_fname) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        fail("cannot use", self.dli_fname);
    }
    tally = tally_in(path);
    snprintf(path, sizeof path, "%s.ns", self.dli_fname);
    wanted = number_in(path);
    reading = cost_of_reading();
}
