framing.o: server/framing/framing.c server/framing/framing.h \
 api/problem.h server/framing/head_lines.h
server/framing/framing.h:
api/problem.h:
server/framing/head_lines.h:
