/* template.c - expands a template by the program xacro; see template.h. */
#define _GNU_SOURCE /* pipe2 */
#include "template.h"
#include "server/cli/options.h"
#include "server/store/durable_file.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts xacro with its output in the pipe. Returns 0 or an error number. */
static int start_xacro(const char *file, int pipe_end, pid_t *process)
{
    char                       program[] = "xacro", *copy = strdup(file);
    char                      *argv[] = {program, copy, NULL};
    posix_spawn_file_actions_t actions;
    int                        code = copy ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, pipe_end, STDOUT_FILENO);
        if (code == 0) code = posix_spawnp(process, program, &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(copy);
    return code;
}

static bool fail_start(const char *file, int code)
{
    if (code != ENOENT) return cli_error("%s: cannot run xacro: %s", file, strerror(code));
    return cli_error("%s is a template of xacro, and the program xacro is not installed: install it (with ROS, or by "
                     "pip install xacro), or run xacro %s > robot.urdf where it is, and give that file",
                     file, file);
}

/* Waits for xacro; true if it succeeded. */
static bool succeeded(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char *cli_template_expand(const char *file, size_t limit, size_t *length)
{
    int   ends[2];
    pid_t process;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cli_error("%s: cannot run xacro: %s", file, strerror(errno));
        return NULL;
    }
    int code = start_xacro(file, ends[1], &process);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        fail_start(file, code);
        return NULL;
    }
    FILE *output = fdopen(ends[0], "rb");
    char *text   = output ? srv_stream_read(output, limit, length) : NULL;
    if (output)
        fclose(output);
    else
        close(ends[0]);
    if (succeeded(process) && text) return text;
    cli_error("%s: xacro failed", file);
    free(text);
    return NULL;
}
