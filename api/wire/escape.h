/* escape.h - percent-encoding of what stands in a target (RFC 3986, section 2.1). */
#pragma once

/* The byte that the escape at `from`, "%xx", stands for; -1 when it is none. */
int api_percent_decode(const char *from);
