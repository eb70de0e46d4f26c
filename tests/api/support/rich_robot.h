/* rich_robot.h - defines the document of a robot with every parameter: inertia, friction that is not symmetric,
 * rotors. */
#pragma once

#define BODY                                                                                                           \
    "'inertial':{'mass':2,'com':[0.1,-0.2,0.3],'inertia':{'xx':0.5,'yy':0.6,'zz':0.7,'xy':0.01,'xz':-0.02,'yz':0.03}}"
#define JOINT(name, type, axis, more)                                                                                  \
    "'joint':{'name':'" name "','type':'" type "','axis':" axis                                                        \
    ",'origin':{'xyz':[0.1,0.2,0.3],'rpy':[0.3,-0.2,0.5]},'friction':{'viscous':0.3,'coulomb':{'positive':2,"          \
    "'negative':3}},'rotor_inertia':0.4" more "}"
#define LINK(name, parent, joint) "{'name':'" name "','parent':'" parent "'," joint "," BODY "}"
/* The text of a document with a merged link, a prismatic joint, and a joint that mimics with the opposite sign. */
#define ROBOT(base)                                                                                                    \
    "{'base':{'type':'" base "','link':'base'," BODY                                                                   \
    "},'links':[" LINK("a", "base", JOINT("ja", "revolute", "[1,2,3]", "")) "," LINK(                                  \
        "b", "a",                                                                                                      \
        JOINT("jb", "prismatic", "[0,1,1]",                                                                            \
              "")) ",{'name':'m','parent':'b','joint':{'name':'jm',"                                                   \
                   "'type':'fixed','origin':{'xyz':[0,0,1]}}," BODY                                                    \
                   "}," LINK("c", "a",                                                                                 \
                             JOINT("jc", "revolute", "[0,0,1]",                                                        \
                                   ",'mimic':{'joint':'ja','multiplier':-2,'offset':0.3}")) "]}"
