/* older_libraries.c - lets the portable server run with glibc 2.34 and without ICU (deploy/portable/build.py).
 *
 * The static library of libxml2 asks ICU, whose data are 31 MB, for encodings that iconv does not
 * know. Here ICU knows no encoding, so that libxml2 refuses such a file. */
#include <math.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>

UConverter *ucnv_open(const char *name, UErrorCode *error)
{
    (void)name;
    *error = U_UNSUPPORTED_ERROR;
    return NULL;
}

void ucnv_close(UConverter *converter)
{
    (void)converter;
}

/* libxml2 calls the functions below only with an open converter. */
void ucnv_setToUCallBack(UConverter *converter, UConverterToUCallback action, const void *context,
                         UConverterToUCallback *old, const void **old_context, UErrorCode *error)
{
    (void)converter, (void)action, (void)context, (void)old, (void)old_context;
    *error = U_UNSUPPORTED_ERROR;
}

void ucnv_setFromUCallBack(UConverter *converter, UConverterFromUCallback action, const void *context,
                           UConverterFromUCallback *old, const void **old_context, UErrorCode *error)
{
    (void)converter, (void)action, (void)context, (void)old, (void)old_context;
    *error = U_UNSUPPORTED_ERROR;
}

void UCNV_TO_U_CALLBACK_STOP(const void *context, UConverterToUnicodeArgs *arguments, const char *units, int32_t length,
                             UConverterCallbackReason reason, UErrorCode *error)
{
    (void)context, (void)arguments, (void)units, (void)length, (void)reason;
    *error = U_UNSUPPORTED_ERROR;
}

void UCNV_FROM_U_CALLBACK_STOP(const void *context, UConverterFromUnicodeArgs *arguments, const UChar *units,
                               int32_t length, UChar32 character, UConverterCallbackReason reason, UErrorCode *error)
{
    (void)context, (void)arguments, (void)units, (void)length, (void)character, (void)reason;
    *error = U_UNSUPPORTED_ERROR;
}

void ucnv_convertEx(UConverter *target, UConverter *source, char **to, const char *to_end, const char **from,
                    const char *from_end, UChar *pivot, UChar **pivot_source, UChar **pivot_target,
                    const UChar *pivot_end, UBool reset, UBool flush, UErrorCode *error)
{
    (void)target, (void)source, (void)to, (void)to_end, (void)from, (void)from_end, (void)pivot, (void)pivot_source;
    (void)pivot_target, (void)pivot_end, (void)reset, (void)flush;
    *error = U_UNSUPPORTED_ERROR;
}

#ifdef __x86_64__
/* The newest hypot has the version GLIBC_2.35; this one only differs in reporting errors by a function of the program.
 */
double earlier_hypot(double x, double y);
__asm__(".symver earlier_hypot, hypot@GLIBC_2.2.5");

double hypot(double x, double y)
{
    return earlier_hypot(x, y);
}
#endif
