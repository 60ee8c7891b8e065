// The tests in C on a machine with an operating system: all of them, and eight threads at once.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "checks.h"

LOCAL int checks;

void failed(const char *file, int line, const char *check)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, check);
    exit(1);
}

static void *work(void *argument)
{
    answers(0);
    *(int *)argument = checks;
    return NULL;
}

int main(void)
{
    pthread_t threads[8];
    int counts[8];
    misuse();
    doors();
    hash_based(1);
    answers(1);
    for (int i = 0; i < 8; i++) CHECK(!pthread_create(&threads[i], NULL, work, &counts[i]));
    for (int i = 0; i < 8; i++) CHECK(!pthread_join(threads[i], NULL) && counts[i] == counts[0] && counts[i] > 0);
    printf("%d checks\n", checks + 8 * counts[0]);
    return 0;
}
