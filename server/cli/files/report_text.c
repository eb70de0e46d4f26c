/* report_text.c - print reports of imports: group notes, count entries, state the verdict (report_text.h). */
#include "report_text.h"
#include <stdio.h>
#include <string.h>

/* Codes whose notes are grouped: the first `listed` are printed, the others are counted. */
typedef struct grouped_code {
    const char *code;
    size_t      listed;
    const char *one, *many; /* text behind the number of notes that are not listed: for one note, for several */
} grouped_code;

static const grouped_code grouped[] = {
    {"assumed", 3, "further assumption", "further assumptions"},
    {"unused", 3, "further part not used", "further parts not used"},
    {"dropped", 3, "further kind of part without a role in the dynamics",
     "further kinds of parts without a role in the dynamics"},
    {"merged", 0, "fixed link merged", "fixed links merged"},
};

static const grouped_code *find_grouped(const char *code)
{
    for (size_t i = 0; i < sizeof grouped / sizeof *grouped; i++)
        if (strcmp(grouped[i].code, code) == 0) return &grouped[i];
    return NULL;
}

/* Prints the number of notes of the latest group that were not listed. */
static void end_group(cli_report *report)
{
    const grouped_code *group  = report->verbose ? NULL : find_grouped(report->code);
    size_t              hidden = group && report->in_group > group->listed ? report->in_group - group->listed : 0;
    if (hidden > 0)
        printf("%s: info %s: %zu %s (--verbose lists %s)\n", report->subject, group->code, hidden,
               hidden == 1 ? group->one : group->many, hidden == 1 ? "it" : "them");
    report->code[0]  = '\0';
    report->in_group = 0;
}

void cli_report_entry(void *arg, const char *severity, const char *code, const char *where, const char *text)
{
    cli_report *report = arg;
    bool        note   = strcmp(severity, "warning") != 0;
    bool        lost   = !note && strcmp(code, "not-held") == 0;
    report->notes += note;
    report->losses += lost;
    report->warnings += !note && !lost;
    if (strcmp(report->code, note ? code : "") != 0) {
        end_group(report);
        snprintf(report->code, sizeof report->code, "%s", code);
    }
    report->in_group += note;
    const grouped_code *group = note && !report->verbose ? find_grouped(code) : NULL;
    if (!group || report->in_group <= group->listed)
        printf("%s: %s %s: %s (%s)\n", report->subject, severity, code, text, where);
}

/* Appends ", 2 warnings" to the list, or its first part "2 warnings"; nothing for a count of 0. */
static void append_count(char *list, size_t size, size_t n, const char *one, const char *many)
{
    size_t length = strlen(list);
    if (n > 0) snprintf(list + length, size - length, "%s%zu %s", length > 0 ? ", " : "", n, n == 1 ? one : many);
}

int cli_report_end(cli_report *report)
{
    char counts[120] = "";
    bool good        = report->warnings + report->losses == 0;
    end_group(report);
    append_count(counts, sizeof counts, report->warnings, "warning", "warnings");
    append_count(counts, sizeof counts, report->losses, "part not held", "parts not held");
    append_count(counts, sizeof counts, report->notes, "note", "notes");
    printf("%s: %s%s%s\n", report->subject, good ? "good" : "loads", !*counts ? "" : good ? ", " : ", with ", counts);
    return good ? 0 : report->losses > 0 ? CLI_LOST : CLI_WARNED;
}
