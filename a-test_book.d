test_book.o: tests/dynamics/test_book.c tests/dynamics/book/book.h \
 tests/dynamics/book/spatial.h dynamics/model/model.h \
 dynamics/model/joint_types.h tests/dynamics/check.h \
 tests/dynamics/rows.h dynamics/frame_sensitivity.h dynamics/dynamics.h \
 dynamics/hessian.h dynamics/step.h dynamics/held_directions.h \
 dynamics/torque_series.h tests/dynamics/trial.h \
 tests/dynamics/random_tree.h tests/dynamics/reference.h tests/target.h
tests/dynamics/book/book.h:
tests/dynamics/book/spatial.h:
dynamics/model/model.h:
dynamics/model/joint_types.h:
tests/dynamics/check.h:
tests/dynamics/rows.h:
dynamics/frame_sensitivity.h:
dynamics/dynamics.h:
dynamics/hessian.h:
dynamics/step.h:
dynamics/held_directions.h:
dynamics/torque_series.h:
tests/dynamics/trial.h:
tests/dynamics/random_tree.h:
tests/dynamics/reference.h:
tests/target.h:
