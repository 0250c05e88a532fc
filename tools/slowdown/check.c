// Receives a byte at a time from itself, as often as its argument says; tests the library.
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int count, char **arguments)
{
    int ends[2];
    char byte = 0;
    long times = count > 1 ? atol(arguments[1]) : 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return perror("socketpair"), 1;
    for (long done = 0; done < times; done++)
        if (send(ends[0], &byte, 1, 0) != 1 || recv(ends[1], &byte, 1, 0) != 1)
            return perror("send and recv"), 1;
    // Nothing was received here, so it is not counted.
    return recv(ends[1], &byte, 1, MSG_DONTWAIT) == 1;
}
