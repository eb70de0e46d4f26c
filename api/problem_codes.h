/* problem_codes.h - lists every problem that a request can have: code, status of the answer, title, and remedy.
 *
 * API_PROBLEMS(X) lists X(CODE, "code", status, "title", "meaning and remedy"). The enum, the problem documents (RFC
 * 9457) and GET /problems/{code} are generated from it. Codes never change: clients branch on them. */
#pragma once

/* clang-format off */
#define API_PROBLEMS(X) \
    /* problems with the syntax of a request */ \
    X(BAD_REQUEST, "bad-request", 400, "Malformed request", \
      "The request violates HTTP: conflicting lengths, an unknown transfer coding, a bad header or chunk. The connection is closed. Correct the client.") \
    X(BAD_JSON, "bad-json", 400, "Not JSON", \
      "The body is not one JSON text (RFC 8259) in UTF-8. `offset` is the byte at which reading stopped.") \
    X(BAD_CBOR, "bad-cbor", 400, "Not CBOR", \
      "The body is not one well-formed CBOR item (RFC 8949) with text keys and UTF-8 texts. `offset` is the byte of the item at which reading stopped.") \
    X(BAD_MSGPACK, "bad-msgpack", 400, "Not MessagePack", \
      "The body is not one well-formed MessagePack object with text keys and UTF-8 texts. `offset` is the byte of the object at which reading stopped.") \
    X(BAD_XML, "bad-xml", 400, "Not XML", \
      "The body is not one well-formed XML text in UTF-8. `offset` is the byte at which reading stopped.") \
    X(BAD_CODING, "bad-coding", 400, "Damaged content coding", \
      "The body is not what its Content-Encoding says: it is damaged or cut off, or it is not compressed at all. Compress it again, or send it without Content-Encoding.") \
    X(BAD_ARCHIVE, "bad-archive", 400, "Not an archive to read", \
      "The body is not one zip or tar archive, tar.gz or multipart/form-data with plain files: it is damaged, encrypted or expands too much; or a name in it is a link, a device, a duplicate or leads outside. `detail` names the entry.") \
    X(DUPLICATE_KEY, "duplicate-key", 400, "Duplicate key", \
      "An object has the same key twice, so its meaning is undefined. Send each key once.") \
    X(TOO_DEEP, "too-deep", 400, "Nested too deeply", \
      "Arrays and objects are nested deeper than the limit that GET /v1 publishes as limits.nesting.") \
    X(BAD_TIMEOUT, "bad-timeout", 400, "Bad Request-Timeout", \
      "Request-Timeout must be a positive decimal number of seconds, such as 2 or 0.5.") \
    X(BAD_CHANGE, "bad-change", 400, "Bad Model-Change", \
      "Model-Change must be the number that a PUT or DELETE has answered. Send the largest one that is known.") \
    /* problems with the client's right to make the request */ \
    X(UNAUTHORIZED, "unauthorized", 401, "No valid credential", \
      "The path needs a client that the server knows: send Authorization: Bearer TOKEN with a token of this server, or connect with a client certificate. An operator makes tokens with torqued token.") \
    X(FORBIDDEN, "forbidden", 403, "Not allowed", \
      "The client is known, but lacks the role for this method and path, or may not use this model. Ask an operator for a token with the role that `detail` names.") \
    /* problems with the resource, the method, a precondition or the size of a request */ \
    X(NO_SUCH_PATH, "no-such-path", 404, "No such path", \
      "There is no such path. GET /v1 lists the operations, GET /openapi.json is the whole contract.") \
    X(NO_SUCH_MODEL, "no-such-model", 404, "No such model", \
      "There is no model of this name. GET /v1/models lists the models; PUT creates one.") \
    X(NO_SUCH_OPERATION, "no-such-operation", 404, "No such operation", \
      "No operation has this name. GET /v1 lists them.") \
    X(METHOD_NOT_ALLOWED, "method-not-allowed", 405, "Method not allowed", \
      "The path exists but does not support this method. The Allow header lists the supported methods.") \
    X(NOT_ACCEPTABLE, "not-acceptable", 406, "Not acceptable", \
      "The server has none of the media types in Accept. Ask for application/json or */*.") \
    X(REQUEST_TIMEOUT, "request-timeout", 408, "Request not received in time", \
      "The request did not arrive completely within the server's read deadline. Send it again.") \
    X(PRECONDITION_FAILED, "precondition-failed", 412, "Precondition failed", \
      "If-Match, If-None-Match or Model-Revision does not hold: the model has changed, or exists already. Read it again, then decide.") \
    X(BODY_TOO_LARGE, "body-too-large", 413, "Body too large", \
      "The body is longer than limits.body in GET /v1. Split the request.") \
    X(TOO_MANY_ROWS, "too-many-rows", 413, "Too many rows", \
      "The batch has more states than limits.rows in GET /v1. Split the batch.") \
    X(ANSWER_TOO_LARGE, "answer-too-large", 413, "Answer too large", \
      "The answer would be longer than limits.answer in GET /v1; it was not computed. `detail` says how many rows fit.") \
    X(TOO_MANY_STEPS, "too-many-steps", 413, "Too many steps", \
      "The simulation would need more steps than the limit. Use longer steps, or simulate a shorter time.") \
    X(TOO_MUCH_MEMORY, "too-much-memory", 413, "Needs too much memory", \
      "The decoded request and its answer need more bytes than limits.memory in GET /v1, even without other requests. " \
      "Split the batch.") \
    X(MODEL_TOO_LARGE, "model-too-large", 413, "Model too large", \
      "The model has more links or degrees of freedom than the limits in GET /v1.") \
    X(URI_TOO_LONG, "uri-too-long", 414, "URI too long", \
      "The path and query together are too long for any resource here. Correct the client.") \
    X(MISDIRECTED_REQUEST, "misdirected-request", 421, "Unknown host name", \
      "Host is a name that this server does not answer to. Use an IP address or localhost, or start the server with this name in --host. The check protects browsers against DNS rebinding.") \
    X(UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", 415, "Unsupported media type", \
      "The server does not support the body's Content-Type, charset or Content-Encoding. Send application/json in UTF-8, not compressed; operations also accept application/cbor and application/vnd.msgpack, models application/xml.") \
    X(TOO_MANY_REQUESTS, "too-many-requests", 429, "Too many requests", \
      "The client sends more requests per second than the server allows. Try again after Retry-After seconds; send many states in one request.") \
    X(TOO_MANY_CONNECTIONS, "too-many-connections", 429, "Too many connections", \
      "The client has more connections than the server allows. Keep few, and send one request after another on each. Try again after Retry-After seconds.") \
    X(HEADERS_TOO_LARGE, "headers-too-large", 431, "Headers too large", \
      "The request's headers are longer, or more in number, than the server accepts. Send fewer; clear the browser's cookies.") \
    /* problems with the content of a body */ \
    X(WRONG_TYPE, "wrong-type", 422, "Wrong type", \
      "A value has the wrong type for its field: a string instead of a number, an object instead of an array.") \
    X(WRONG_SHAPE, "wrong-shape", 422, "Wrong shape", \
      "An array has an unexpected length, or batched fields differ in their number of rows.") \
    X(MISSING_FIELD, "missing-field", 422, "Missing field", \
      "A required field is absent.") \
    X(UNKNOWN_FIELD, "unknown-field", 422, "Unknown field", \
      "The request has a field that does not exist here. Unknown fields are refused, so that a misspelt one is not silently ignored.") \
    X(UNKNOWN_NAME, "unknown-name", 422, "Unknown name", \
      "A link, frame, joint or output of this name does not exist. GET the model for its names.") \
    X(DUPLICATE_NAME, "duplicate-name", 422, "Duplicate name", \
      "A name appears twice where names must be unique.") \
    X(BAD_NAME, "bad-name", 422, "Bad name", \
      "A name is empty, too long or has characters that are not allowed in names.") \
    X(BAD_VALUE, "bad-value", 422, "Bad value", \
      "A value has the right type but is outside the range of the field.") \
    X(UNKNOWN_PARAMETER, "unknown-parameter", 422, "Unknown query parameter", \
      "The query has a parameter that this resource does not support.") \
    X(NON_FINITE, "non-finite", 422, "Not a finite number", \
      "A number is infinite, NaN, or too large for a 64-bit float. Only finite numbers are accepted.") \
    X(RESULT_NOT_FINITE, "result-not-finite", 422, "Result not finite", \
      "The figures are so large that an entry of the answer overflowed. Answers have finite numbers only.") \
    X(ANGLE_TOO_LARGE, "angle-too-large", 422, "Angle too large", \
      "An angle is beyond limits.angle in GET /v1, up to which sine and cosine are accurate. Wrap it.") \
    X(BAD_QUATERNION, "bad-quaternion", 422, "Not a unit quaternion", \
      "The norm of a quaternion [x,y,z,w] differs from 1 by more than 1e-6. Normalise it, or give \"normalise\": true.") \
    X(BAD_ROTATION, "bad-rotation", 422, "Not a rotation", \
      "A matrix is not a rigid transform: its rows are not orthonormal, it is a reflection, or its last row is wrong.") \
    X(BAD_INERTIA, "bad-inertia", 422, "Invalid inertia", \
      "A mass is negative, or an inertia tensor has an eigenvalue below -1e-9 times its largest.") \
    X(BAD_MODEL, "bad-model", 422, "Not a model", \
      "The links do not form a tree: a parent is missing, or links form a cycle. Or no joint moves, or a loop joins frames that no joint can move.") \
    X(NOT_SUPPORTED, "not-supported", 422, "Not supported", \
      "The request uses a feature that this version does not have.") \
    X(SINGULAR_MASS_MATRIX, "singular-mass-matrix", 422, "Singular mass matrix", \
      "The mass matrix is singular at a joint: the joint moves neither mass nor inertia, so its acceleration is not determined.") \
    X(LOOP_OPEN, "loop-open", 422, "Loop left open", \
      "No positions of the passive joints close the model's loops: the actuated joints, or a guess, contradict the loops. " \
      "`detail` gives the remaining error.") \
    X(LOOP_CROSSING, "loop-crossing", 422, "Singular position on the way", \
      "A state of a model with loops is reached along a path: the straight line in the actuated coordinates from the model's " \
      "`reference`, or the path that the contract defines for guesses, platforms and motions. It passes a position in which the " \
      "passive joints are not determined, at `fraction` of its length, so the state is out of reach in this assembly. " \
      "Give a `guess` of the passive coordinates, which selects an assembly.") \
    X(LOOP_SINGULAR, "loop-singular", 422, "Singular loop", \
      "The loops close, but the motion of the actuated joints does not determine that of the passive joints, or the actuated " \
      "joints cannot move independently: the mechanism is in a singular position, or needs other or fewer actuated joints.") \
    X(NOT_FOR_LOOPS, "not-for-loops", 422, "Not for models with loops", \
      "The operation, or one of its fields or outputs, is for models without loops: this model has loops.") \
    X(SINGULAR_JACOBIAN, "singular-jacobian", 422, "Singular Jacobian", \
      "At this state the frame cannot move along all of the requested axes, so its inertia along them is infinite, or it cannot " \
      "have the given velocity or acceleration. Choose fewer `axes`, or give `damping`.") \
    X(OUT_OF_REACH, "out-of-reach", 422, "Pose not reached", \
      "The search found no coordinates within the limits at which the frame has the given position and orientation. `detail` " \
      "gives the distance and the angle that remain. Give a start `q` that is nearer, or more `starts`.") \
    X(CONTRADICTORY_CONTACTS, "contradictory-contacts", 422, "Contradictory contacts", \
      "The held frames cannot all keep their velocities, whatever the accelerations: two of them are on one rotating body, or " \
      "the robot moves at the limit of its reach. Hold fewer frames or axes, give compatible velocities, or give " \
      "`contact_damping`, which leaves a residual acceleration.") \
    X(HELD_FRAME_ACCELERATES, "held-frame-accelerates", 422, "Held frame accelerates", \
      "The given accelerations do not hold a frame of `held`: J qdd + J' qd is not zero along one of its axes. `detail` names the " \
      "frame, the axis and the residual. Give the qdd of `forward-dynamics` with the same `held`, or project yours.") \
    X(INFEASIBLE_CONTACTS, "infeasible-contacts", 422, "Infeasible contacts", \
      "No wrenches on the held frames bear the given motion within the limits of their contacts. `detail` names the frames and the " \
      "limits, or the coordinate at which an effort remains. Give another qdd, hold more axes or frames, or relax a limit.") \
    X(NO_TIMING, "no-timing", 422, "No timing within the limits", \
      "No timing moves the robot from rest to rest along the path within the limits, or nothing limits its speed. `detail` names the " \
      "place on the path and the limits. Relax these limits, list others in `kinds`, or give another path.") \
    X(NO_FREE_BASE, "no-free-base", 422, "No free base", \
      "The model has neither a floating base nor a chain of three prismatic and three revolute joints that moves all of it; or " \
      "at this state the axes of these joints do not allow motion in all directions. " \
      "The ground reaction is defined as the effort of such a base.") \
    X(NO_ZERO_MOMENT_POINT, "no-zero-moment-point", 422, "No zero-moment point", \
      "In this motion the ground does not press against the robot along the plane's normal: the robot flies, or would have to " \
      "be pulled down.") \
    X(INTEGRATION_FAILED, "integration-failed", 422, "Simulation failed", \
      "The motion diverged, or the steps became too short for the tolerance. " \
      "`detail` gives the time and a remedy.") \
    X(RANK_DEFICIENT, "rank-deficient", 422, "Data do not determine the parameters", \
      "There are too few rows, or in their motion some of the parameters, or combinations of them, have no effect. " \
      "`detail` names them. Give more rows in which these joints move further, faster and in both directions; estimate less; or say with " \
      "`prior` how far these parameters may be from the model's.") \
    /* problems with the state of the server */ \
    X(INTERNAL_ERROR, "internal-error", 500, "Internal error", \
      "A defect of the server; the log has it with the request's id. Please report it.") \
    X(MODEL_DAMAGED, "model-damaged", 500, "Model damaged", \
      "The record of this model in the store, or its bundled file, is damaged or cannot be read; `detail` has the reason, for the operator of the server. It is left alone. The model is served again when the record has been repaired and the server started again, or at once when a PUT replaces or a DELETE removes it; both without If-Match, If-None-Match and Model-Revision, since the revision is not known.") \
    X(METHOD_UNKNOWN, "method-unknown", 501, "Unknown method", \
      "No resource of this server supports this method.") \
    X(VERSION_NOT_SUPPORTED, "version-not-supported", 505, "Version not supported", \
      "The request's version of HTTP is neither 1.1 nor 1.0. A proxy in front of the server translates HTTP/2.") \
    X(NOT_READY, "not-ready", 503, "Not ready", \
      "The server is still loading its models, or a fault that the detail names keeps it from serving. Try again after Retry-After seconds.") \
    X(DRAINING, "draining", 503, "Draining", \
      "The server is shutting down and accepts no new requests.") \
    X(QUEUE_FULL, "queue-full", 503, "Queue full", \
      "Too much work is waiting. Try again after Retry-After seconds.") \
    X(CLIENT_QUEUE_FULL, "client-queue-full", 503, "Client's share of the queue full", \
      "Too much work of this client is waiting, while other clients wait, too. Send fewer requests at a time, and try again after Retry-After seconds.") \
    X(MEMORY_FULL, "memory-full", 503, "Memory budget full", \
      "Requests in flight use all of the memory budget. Try again after Retry-After seconds, or with a smaller batch.") \
    X(CLIENT_MEMORY_FULL, "client-memory-full", 503, "Client's share of the memory full", \
      "Requests of this client use its share of the memory, which shrinks when other clients need some, too. Send fewer or smaller requests at a time, and try again after Retry-After seconds.") \
    X(DEADLINE_PASSED, "deadline-passed", 504, "Deadline passed", \
      "The request was not finished within its Request-Timeout (or the server's cap), or a row that fails alone has used up its share of that time. Ask for less, or allow more time.") \
    X(CHANGE_PENDING, "change-pending", 503, "Change has not arrived", \
      "This server has not received the change of Model-Change from the store within the time of the request. Try again after Retry-After seconds.") \
    X(STORE_FAILED, "store-failed", 503, "Store failed", \
      "The change could not be written to the store and was not made. `detail` has the cause, for the operator of the server.") \
    X(AUDIT_FULL, "audit-full", 503, "Audit log full", \
      "The audit log took no line within the time of the request, so the change was not made. Try again; the operator of the server finds the reason in /readyz and the log.") \
    X(INSUFFICIENT_STORAGE, "insufficient-storage", 507, "No memory for the model", \
      "All models together would need more memory than the server allows for them. Delete a model, or put a smaller one. A model of the store for which there is no memory is not served.") \
    X(STORE_FULL, "store-full", 507, "Store full", \
      "The limit of models is reached (limits.models in GET /v1), or the store's disk is full. Delete a model, or free disk space.")
/* clang-format on */

typedef enum api_code {
    API_NO_PROBLEM,
#define X(CODE, code, status, title, text) API_##CODE,
    API_PROBLEMS(X)
#undef X
        API_PROBLEM_COUNT
} api_code;
