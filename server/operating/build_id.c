/* build_id.c - finds the note with the build identifier among the segments of this program. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "build_id.h"
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES = 20 /* SHA-1 */ };

static char text[2 * ID_BYTES + 1];

/* Writes the identifier that is among these notes, each of which has a name and a value, padded to 4 bytes. */
static void read_notes(const unsigned char *notes, size_t size)
{
    ElfW(Nhdr) note;
    for (size_t begin = 0; size - begin >= sizeof note;) {
        memcpy(&note, notes + begin, sizeof note);
        const size_t name = begin + sizeof note, value = name + ((note.n_namesz + 3U) & ~3U);
        if (value > size || note.n_descsz > size - value) return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            !memcmp(notes + name, "GNU", sizeof "GNU") && note.n_descsz == ID_BYTES)
            for (size_t i = 0; i < ID_BYTES; i++)
                snprintf(text + 2 * i, 3, "%02x", notes[value + i]);
        begin = value + ((note.n_descsz + 3U) & ~3U);
        if (begin > size) return;
    }
}

/* Reads the notes of the first object, which is the program, and stops. Notes aligned to 8 bytes hold other properties.
 */
static int read_program(struct dl_phdr_info *program, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (size_t i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE && segment->p_align <= 4)
            read_notes((const unsigned char *)(program->dlpi_addr + segment->p_vaddr), segment->p_memsz);
    }
    return 1;
}

const char *srv_build_id(void)
{
    if (!*text) dl_iterate_phdr(read_program, NULL);
    return text;
}
