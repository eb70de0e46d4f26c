/* escape.h - decode percent-encoding in a request target (RFC 3986, section 2.1). */
#pragma once

/* Returns the byte that the escape "%xx" at `from` encodes; -1 if the escape is malformed. */
int api_percent_decode(const char *from);
