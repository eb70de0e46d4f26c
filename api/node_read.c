/* node_read.c - see node_read.h. */
#include "node_read.h"

bool api_read_request(api_evaluation *e, api_node *root)
{
    const api_input *input = e->input;
    if (e->call->content == API_MEDIA_CBOR) return api_read_cbor(e, input->body, input->length, root);
    switch (api_read_text(e, input->body, input->length, root)) {
    case API_TAKEN: return true;
    case API_NOT_TAKEN: return api_read_json(e, input->body, input->length, root);
    case API_REFUSED: break;
    }
    return false;
}
