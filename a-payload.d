payload.o: api/requests/fields/payload.c api/requests/fields/fields.h \
 api/codec/names.h api/requests/fields/query.h api/service/http/call.h \
 api/api.h api/problem.h api/base/memory/budget.h \
 api/base/memory/buffer.h api/base/memory/scratch.h \
 api/robots/model/registry.h api/robots/model/model.h dynamics/dynamics.h \
 dynamics/model/model.h dynamics/model/joint_types.h \
 dynamics/loops/mechanism.h dynamics/loops/loops.h \
 api/robots/document/drive_limits.h api/base/memory/arena.h \
 api/codec/json.h api/codec/emit.h api/codec/negotiate.h \
 api/robots/model/preconditions.h api/robots/formats.h \
 api/robots/document/document.h api/robots/document/document_entry.h \
 dynamics/math/geometry.h api/robots/document/inertia.h \
 api/requests/cost/cost_feedback.h api/requests/cost/calibration.h \
 api/service/http/route.h api/base/work/deadline.h \
 dynamics/memory/memory.h api/base/memory/pool.h api/codec/nodes/node.h \
 api/codec/pointer.h api/base/work/parallel.h
api/requests/fields/fields.h:
api/codec/names.h:
api/requests/fields/query.h:
api/service/http/call.h:
api/api.h:
api/problem.h:
api/base/memory/budget.h:
api/base/memory/buffer.h:
api/base/memory/scratch.h:
api/robots/model/registry.h:
api/robots/model/model.h:
dynamics/dynamics.h:
dynamics/model/model.h:
dynamics/model/joint_types.h:
dynamics/loops/mechanism.h:
dynamics/loops/loops.h:
api/robots/document/drive_limits.h:
api/base/memory/arena.h:
api/codec/json.h:
api/codec/emit.h:
api/codec/negotiate.h:
api/robots/model/preconditions.h:
api/robots/formats.h:
api/robots/document/document.h:
api/robots/document/document_entry.h:
dynamics/math/geometry.h:
api/robots/document/inertia.h:
api/requests/cost/cost_feedback.h:
api/requests/cost/calibration.h:
api/service/http/route.h:
api/base/work/deadline.h:
dynamics/memory/memory.h:
api/base/memory/pool.h:
api/codec/nodes/node.h:
api/codec/pointer.h:
api/base/work/parallel.h:
