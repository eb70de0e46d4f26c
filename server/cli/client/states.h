/* states.h - read the states of a file in any of the formats, some rows at a time. */
#pragma once
#include "csv.h"
#include "json_lines.h"

typedef enum cli_format {
    CLI_JSON,
    CLI_JSON_LINES,
    CLI_CSV,
    CLI_NPY,
    CLI_NPZ,
    CLI_CBOR, /* a body of the service, which is sent or written as it is */
    CLI_MSGPACK,
    CLI_NO_FORMAT
} cli_format;

#define CLI_FORMATS "json|jsonl|csv|npy|npz|cbor|msgpack" /* the words of the options, in the order of cli_format */

/* The format that a word names, or that the end of a file's name tells; CLI_NO_FORMAT if neither. */
cli_format cli_format_named(const char *word);
cli_format cli_format_of_file(const char *file);

/* Returns the media type of a format in which the service sends and takes bodies; NULL for the others. */
const char *cli_format_media_type(cli_format format);

/* True for a format that is passed on unread. */
bool cli_format_is_opaque(cli_format format);

/* Tells the format of standard input, "-", by its first byte, which stays unread; CLI_NO_FORMAT for other files. */
cli_format cli_states_sniff(const char *file);

typedef struct cli_states {
    cli_format     format;
    const char    *name;  /* name of the file, for messages */
    const char    *field; /* the field that an .npy file has */
    FILE          *file;  /* formats that are read row by row; NULL: `whole` has all rows */
    double         size;  /* bytes of the file; 0: unknown */
    cli_csv        csv;
    cli_json_lines lines;
    cli_batch      whole;
    size_t         next;        /* first row of `whole` that has not been read */
    char          *text;        /* content of a file in JSON, CBOR or MessagePack; NULL otherwise */
    size_t         text_length; /* bytes of `text` */
} cli_states;

typedef struct cli_states_options {
    const char            *file;   /* "-" for standard input */
    cli_format             format; /* not CLI_NO_FORMAT */
    const char            *field;  /* name of the array of an .npy file */
    const char            *fields; /* fields to send, "q,qd"; NULL: all */
    const cli_coordinates *coordinates;
} cli_states_options;

/* Opens a file of states. The members of a JSON file that are no state are in states->whole.rest. False after printing
 * an error. */
bool cli_states_open(cli_states *states, const cli_states_options *options);

/* Reads at most `most` rows; 0 rows at the end. Release the batch before the next call. */
bool cli_states_read(cli_states *states, size_t most, cli_batch *batch);
void cli_states_release(const cli_states *states, cli_batch *batch);

/* Returns how much of the file has been read, from 0 to 1; negative if that is not known. */
double cli_states_fraction(const cli_states *states);

void cli_states_close(cli_states *states);
