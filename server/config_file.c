/* config_file.c - reads the file of --config: lines KEY=VALUE with the names of the environment variables.
 *
 * The form is that of systemd's EnvironmentFile, as far as both mean the same: lines that begin with # or ; are
 * comments, quotes around a whole value are no part of it, blanks around it neither. */
#include "settings.h"
#include "server/access/regular_file.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 1 << 20 };

typedef struct settings_file {
    srv_config *config;
    unsigned    line;
    char       *error;
    size_t      error_size;
} settings_file;

static bool refuse_line(const settings_file *f, const char *reason)
{
    snprintf(f->error, f->error_size, "line %u of %.200s: %s", f->line, f->config->file, reason);
    return false;
}

static char *trim_blanks(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Removes quotes around the whole value. Escapes are refused: readers of such files differ in them. NULL after a
 * message. */
static char *unquote(const settings_file *f, char *value)
{
    size_t length = strlen(value);
    char   quote  = *value == '"' || *value == '\'' ? *value : '\0';
    if (strchr(value, '\\')) {
        refuse_line(f, "expected a value on one line, without backslashes");
        return NULL;
    }
    if (!quote) return value;
    if (length < 2 || value[length - 1] != quote || strchr(value + 1, quote) != value + length - 1) {
        refuse_line(f, "expected quotes around the whole value, or none");
        return NULL;
    }
    value[length - 1] = '\0';
    return value + 1;
}

static bool refuse_key(const settings_file *f, const char *key)
{
    char reason[400], suggestion[120];
    srv_config_suggest(key, false, suggestion, sizeof suggestion);
    snprintf(reason, sizeof reason, "%.80s is no setting of torqued%s%s", key, suggestion,
             strncmp(key, SRV_VARIABLE_PREFIX, strlen(SRV_VARIABLE_PREFIX)) == 0
                 ? ""
                 : "; other variables belong into the environment of the process");
    return refuse_line(f, reason);
}

static bool set_line(const settings_file *f, const srv_setting *s, const char *key, const char *value)
{
    char            reason[400], source[300];
    const unsigned *before = &f->config->line[s - srv_settings];
    if (s->offset == offsetof(srv_config, file)) {
        snprintf(reason, sizeof reason, "%s cannot be in the file itself; give --config FILE or the variable", key);
        return refuse_line(f, reason);
    }
    if (*before > 0) {
        snprintf(reason, sizeof reason, "%s is in line %u, too; leave one of them", key, *before);
        return refuse_line(f, reason);
    }
    if (!*value) return true; /* an empty value counts like an empty variable: the setting is not given */
    snprintf(source, sizeof source, "%s in line %u of %.200s", key, f->line, f->config->file);
    const srv_given entry = {.text = value, .source = source, .origin = SRV_BY_FILE, .line = f->line};
    return srv_setting_set(f->config, s, &entry, f->error, f->error_size);
}

static bool read_setting_line(const settings_file *f, char *line)
{
    char *text = trim_blanks(line), *equals = strchr(text, '=');
    if (!*text || *text == '#' || *text == ';') return true;
    if (!equals || equals == text || isblank((unsigned char)equals[-1])) return refuse_line(f, "expected KEY=VALUE");
    *equals              = '\0';
    const srv_setting *s = srv_setting_of_variable(text, strlen(text));
    if (!s) return refuse_key(f, text);
    char *value = unquote(f, trim_blanks(equals + 1));
    return value && set_line(f, s, text, value);
}

/* Reads text[0 .. size) and adds a NUL. False with a reason. */
static bool fill_text(FILE *in, char *text, size_t size, char *reason, size_t reason_size)
{
    size_t length = fread(text, 1, size, in);
    text[length]  = '\0';
    if (!ferror(in) && !memchr(text, '\0', length)) return true;
    snprintf(reason, reason_size, "%s", ferror(in) ? strerror(errno) : "it has a NUL byte");
    return false;
}

/* Reads the whole file. NULL after a message. */
static char *read_settings_text(const settings_file *f)
{
    char        reason[200] = "no memory", *text = NULL;
    struct stat status;
    FILE       *in    = srv_trusted_file_open(f->config->file, reason, sizeof reason);
    off_t       bytes = in && fstat(fileno(in), &status) == 0 ? status.st_size : 0;
    if (bytes > FILE_MOST)
        snprintf(reason, sizeof reason, "it is larger than 1 MiB");
    else if (in && (text = malloc((size_t)bytes + 1)) && !fill_text(in, text, (size_t)bytes, reason, sizeof reason)) {
        free(text);
        text = NULL;
    }
    if (in) fclose(in);
    if (!text) snprintf(f->error, f->error_size, "cannot use the file %.200s of --config: %s", f->config->file, reason);
    return text;
}

bool srv_config_read_file(srv_config *config, char *error, size_t error_size)
{
    settings_file f   = {.config = config, .error = error, .error_size = error_size};
    config->file_text = read_settings_text(&f);
    for (char *line = config->file_text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        f.line++;
        if (!read_setting_line(&f, line)) return false;
    }
    return config->file_text != NULL;
}
