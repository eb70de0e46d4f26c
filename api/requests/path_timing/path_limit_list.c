/* path_limit_list.c - names the limits of a path and writes their list (path_limits.h). */
#include "path_limits.h"

const char *api_path_limit_kind(const api_path_limits *limits, size_t number)
{
    const size_t n = limits->list.n, behind = n + limits->frames.n_limits;
    if (number >= behind) return api_contact_limit_name(limits->contacts->limit[number - behind].kind);
    return number < n ? api_limit_names[limits->list.limit[number].kind]
                      : api_frame_limit_names[limits->frames.limit[number - n].kind];
}

const char *api_path_limit_owner(const api_path_limits *limits, size_t number)
{
    const size_t n = limits->list.n, behind = n + limits->frames.n_limits;
    if (number >= behind)
        return limits->contacts->held->choice.contact->names[limits->contacts->limit[number - behind].frame];
    return number < n ? limits->list.owner[number].name : limits->frames.limit[number - n].name;
}

void api_path_limits_emit(const api_path_limits *limits, api_emit *to)
{
    api_emit_array(to);
    api_limits_emit_entries(&limits->list, to);
    api_path_frames_emit(&limits->frames, to);
    if (limits->contacts) api_path_contacts_emit(limits->contacts, to);
    api_emit_end(to);
}
