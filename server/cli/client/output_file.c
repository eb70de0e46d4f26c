/* output_file.c - see output_file.h. */
#define _GNU_SOURCE /* O_PATH */
#include "output_file.h"
#include "server/cli/options.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINKS_MOST = 40, NAME_BYTES_MOST = 200, SUFFIX_LENGTH = 6, TRIES = 100, ACL_MAX = 4096, PROC_MAGIC = 0x9fa0 };

/* --- signals ------------------------------------------------------------------------------------------------------ */

/* Signals that end a process unless it says otherwise, and that users, terminals, batch systems and limits send. */
static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

static char *volatile unfinished; /* name of the temporary file; NULL: there is none */

/* Removes the temporary file and lets the signal end the process: its default action is taken when this handler
 * returns. */
static void remove_and_end(int number)
{
    if (unfinished) unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

/* Handles the signals that are not ignored: under nohup, SIGHUP stays ignored. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = remove_and_end}, before;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL);
}

static void block_signals(sigset_t *before)
{
    sigset_t ending;
    sigemptyset(&ending);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&ending, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &ending, before);
}

/* Runs `change`, which makes, renames or removes the temporary file, with the signals blocked, so that `unfinished`
 * always tells whether the file exists. Keeps errno. */
static bool change_temporary(cli_output_file *file, bool (*change)(cli_output_file *file))
{
    sigset_t before;
    block_signals(&before);
    bool good   = change(file);
    int  reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return good;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Length of the folder in a path, with its slash; 0: the path has none. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* True for a link that the kernel makes of a descriptor of a process, such as /proc/self/fd/1, where /dev/stdout leads.
 */
static bool is_descriptor_link(const char *path)
{
    struct statfs system;
    int           link = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool          is   = link >= 0 && fstatfs(link, &system) == 0 && system.f_type == PROC_MAGIC;
    if (link >= 0) close(link);
    return is;
}

/* Returns the path to which a symbolic link leads; malloc'd. NULL: `path` is no link (errno EINVAL), does not exist
 * (ENOENT), or another error. */
static char *read_link(const char *path)
{
    char    text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text);
    if (length < 0) return NULL;
    size_t folder = *text == '/' ? 0 : folder_length(path), size = folder + (size_t)length + 1;
    char  *next = malloc(size);
    if (next) snprintf(next, size, "%.*s%.*s", (int)folder, path, (int)length, text);
    return next;
}

/* Follows symbolic links to the file that `name` means, which need not exist; malloc'd. *descriptor is set if the way
 * leads through a descriptor of a process. NULL with errno. */
static char *follow_links(const char *name, bool *descriptor)
{
    char *path = strdup(name);
    for (int i = 0; path && i < LINKS_MOST; i++) {
        *descriptor = is_descriptor_link(path);
        char *next  = *descriptor ? NULL : read_link(path);
        if (!next && (*descriptor || errno == EINVAL || errno == ENOENT)) return path;
        free(path);
        path = next;
    }
    if (path) errno = ELOOP;
    free(path);
    return NULL;
}

/* Number of bytes of a file name that stay in the temporary name: whole characters of UTF-8. */
static int kept_length(const char *name)
{
    size_t length = strlen(name);
    if (length <= NAME_BYTES_MOST) return (int)length;
    length = NAME_BYTES_MOST;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    return (int)length;
}

/* --- the temporary file ------------------------------------------------------------------------------------------- */

/* Gives the new file access control list, owner, group and mode of the one that it will replace. Where the group cannot
 * be kept, it gets no more rights than all others. */
static void copy_access(int file, const char *target, const struct stat *status)
{
    static const char list_name[] = "system.posix_acl_access";
    char              list[ACL_MAX];
    mode_t            mode   = status->st_mode & 0777;
    ssize_t           length = getxattr(target, list_name, list, sizeof list);
    bool              owner  = fchown(file, status->st_uid, (gid_t)-1) ==
                 0; /* otherwise the owner is the user of the command: only root may change it */
    bool group  = fchown(file, (uid_t)-1, status->st_gid) == 0;
    bool listed = owner && group && length > 0 && fsetxattr(file, list_name, list, (size_t)length, 0) == 0;
    if (!group) mode &= 0707 | (mode & 07) << 3;
    if (!listed) fchmod(file, mode);
}

/* Opens a new file with a random name in the folder of the target. */
static bool make_temporary(cli_output_file *f)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    struct stat       status;
    bool              replaces = stat(f->target, &status) == 0;
    size_t            folder   = folder_length(f->target);
    size_t            size     = folder + NAME_BYTES_MOST + sizeof ".torqued-" + SUFFIX_LENGTH;
    int               file     = -1;
    f->temporary               = malloc(size);
    for (int i = 0; f->temporary && file < 0 && i < TRIES; i++) {
        unsigned char random[SUFFIX_LENGTH];
        char          suffix[SUFFIX_LENGTH + 1] = "";
        if (getrandom(random, sizeof random, 0) != sizeof random) return false;
        for (size_t k = 0; k < SUFFIX_LENGTH; k++)
            suffix[k] = digits[random[k] % 32];
        snprintf(f->temporary, size, "%.*s%.*s.torqued-%s", (int)folder, f->target, kept_length(f->target + folder),
                 f->target + folder, suffix);
        file = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
        if (file < 0 && errno != EEXIST) return false;
    }
    if (file < 0) return false;
    unfinished = f->temporary;
    if (replaces) copy_access(file, f->target, &status);
    f->stream = fdopen(file, "w");
    if (!f->stream) close(file);
    return f->stream != NULL;
}

static bool rename_temporary(cli_output_file *f)
{
    if (rename(f->temporary, f->target) != 0) return false;
    unfinished = NULL;
    return true;
}

/* Makes signals leave the temporary file, which is not removed. */
static bool release_temporary(cli_output_file *f)
{
    (void)f;
    unfinished = NULL;
    return true;
}

static bool remove_temporary(cli_output_file *f)
{
    if (unfinished) unlink(f->temporary);
    return release_temporary(f);
}

/* --- open, check, keep, discard ----------------------------------------------------------------------------------- */

static bool open_as_is(cli_output_file *f)
{
    int file  = open(f->target, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    f->stream = file >= 0 ? fdopen(file, "a") : NULL;
    if (!f->stream) cli_error("cannot write %s: %s", f->name, strerror(errno));
    if (!f->stream && file >= 0) close(file);
    free(f->target);
    f->target = NULL;
    return f->stream != NULL;
}

/* Prints why no temporary file can be made. */
static void report_folder(const cli_output_file *f)
{
    int         reason = errno;
    const char *folder = f->target;
    size_t      length = folder_length(f->target);
    cli_error("cannot write %s: cannot make a file in the folder %.*s: %s", f->name, length > 0 ? (int)length : 1,
              length > 0 ? folder : ".", strerror(reason));
}

bool cli_output_file_open(cli_output_file *file, const char *name)
{
    bool        to_stdout = !name || strcmp(name, "-") == 0, descriptor = false;
    struct stat status;
    *file = (cli_output_file){.name = to_stdout ? "standard output" : name};
    if (to_stdout) {
        file->stream = stdout;
        return true;
    }
    file->target = follow_links(name, &descriptor);
    if (!file->target) return cli_error("cannot write %s: %s", name, strerror(errno));
    bool exists = stat(file->target, &status) == 0;
    if (descriptor || (exists && !S_ISREG(status.st_mode))) return open_as_is(file);
    bool allowed = !exists || faccessat(AT_FDCWD, file->target, W_OK, AT_EACCESS) == 0;
    if (!allowed) cli_error("cannot write %s: %s", name, strerror(errno));
    handle_signals();
    if (allowed && change_temporary(file, make_temporary)) return true;
    if (allowed) report_folder(file);
    cli_output_file_discard(file);
    return false;
}

/* Prints why a write has failed; returns false. */
static bool report_write(const cli_output_file *file)
{
    if (file->stream == stdout) return cli_stdout_error(errno);
    return cli_error("cannot write %s: %s", file->name, strerror(errno));
}

bool cli_output_file_check(const cli_output_file *file)
{
    return !ferror(file->stream) || report_write(file);
}

bool cli_output_file_keep(cli_output_file *file)
{
    bool written = fflush(file->stream) == 0 && !ferror(file->stream);
    if (!written) return report_write(file);
    if (file->stream == stdout) return true;
    bool synced  = !file->target || fsync(fileno(file->stream)) == 0 || errno == EINVAL || errno == ENOTSUP;
    bool closed  = fclose(file->stream) == 0;
    file->stream = NULL;
    if (synced && closed && !file->target) return true;
    if (!synced || !closed) return report_write(file);
    if (change_temporary(file, rename_temporary)) return true;
    cli_error("cannot rename the complete %s to %s: %s", file->temporary, file->target, strerror(errno));
    change_temporary(file, release_temporary);
    return false;
}

void cli_output_file_discard(cli_output_file *file)
{
    if (file->stream && file->stream != stdout) fclose(file->stream);
    if (file->temporary) change_temporary(file, remove_temporary);
    free(file->temporary);
    free(file->target);
    *file = (cli_output_file){0};
}
