/* mjcf_unused.c - list what MJCF files contain, for the report of what the reader does not use. */
#include "api/load/xml/xml_unused.h"
#include "mjcf_reader.h"

#define ORIENTATION "quat axisangle euler xyaxes zaxis"
#define JOINT                                                                                                          \
    " name class type pos axis limited range stiffness damping frictionloss armature ref springref springdamper "      \
    "group user actuatorfrcrange actuatorfrclimited "
#define GEOM                                                                                                           \
    " name class type size pos " ORIENTATION " fromto mass density group user rgba material mesh hfield shellinertia "
#define SITE " name class pos " ORIENTATION " fromto type size rgba material group user "
#define MOTOR                                                                                                          \
    " name class joint jointinparent tendon site body slidersite cranksite gear ctrllimited ctrlrange forcelimited "   \
    "forcerange group user "

#define BODIES " worldbody body frame "

static const api_xml_known known[] = {
    {" mujoco ", " compiler ", API_XML_READ,
     " angle coordinate eulerseq autolimits inertiafromgeom inertiagrouprange boundmass boundinertia balanceinertia "
     "settotalmass ",
     " strippath fitaabb meshdir texturedir assetdir discardvisual convexhull usethread fusestatic exactmeshinertia "
     "alignfree saveinertial ",
     NULL},
    {" compiler ", " lengthrange ", API_XML_DROPPED, NULL, NULL, NULL},
    {" mujoco ", " option ", API_XML_READ, " gravity density viscosity wind ",
     " timestep apirate impratio magnetic o_margin o_solref o_solimp o_friction integrator collision cone jacobian "
     "solver iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance mpr_iterations "
     "mpr_tolerance ccd_iterations ccd_tolerance sdf_iterations sdf_initpoints actuatorgroupdisable ",
     NULL},
    {" option ", " flag ", API_XML_READ, " gravity passive spring damper frictionloss limit equality ",
     " constraint contact clampctrl warmstart filterparent actuation refsafe sensor midphase nativeccd eulerdamp "
     "autoreset override energy fwdinv invdiscrete sensornoise multiccd island ",
     NULL},
    {" mujoco ", " size visual statistic asset custom keyframe sensor contact ", API_XML_DROPPED, NULL, NULL, NULL},
    {" mujoco ", " tendon ", API_XML_NOT_HELD, NULL, NULL, "tendons with their springs, limits and couplings"},
    {" mujoco ", " deformable skin ", API_XML_NOT_HELD, NULL, NULL, "bodies that bend"},
    {" mujoco ", " extension ", API_XML_NOT_HELD, NULL, NULL, "plugins with their forces"},
    {" mujoco ", " default ", API_XML_READ, " class ", NULL, NULL},
    {" default ", " default ", API_XML_READ, " class ", NULL, NULL},
    {" default ", " equality ", API_XML_READ, " class active ", " solref solimp ", NULL},
    {" default ",
     " motor general position velocity intvelocity damper cylinder muscle adhesion mesh material light camera pair "
     "tendon ",
     API_XML_ELSEWHERE, NULL, NULL, NULL},
    {" mujoco ", " worldbody ", API_XML_READ, " name childclass ", NULL, NULL},
    {BODIES, " body ", API_XML_READ, " name pos " ORIENTATION " childclass mocap gravcomp user ", " sleep ", NULL},
    {BODIES, " frame ", API_XML_READ, " name pos " ORIENTATION " childclass ", NULL, NULL},
    {BODIES, " inertial ", API_XML_ONCE, " pos " ORIENTATION " mass diaginertia fullinertia ", NULL, NULL},
    {BODIES " default ", " joint ", API_XML_READ, JOINT,
     " solreflimit solimplimit solreffriction solimpfriction margin actuatorgravcomp align ", NULL},
    {BODIES, " freejoint ", API_XML_READ, " name group ", " align ", NULL},
    {BODIES " default ", " geom ", API_XML_READ, GEOM,
     " contype conaffinity condim priority friction solmix solref solimp margin gap fitscale fluidshape fluidcoef ",
     NULL},
    {BODIES " default ", " site ", API_XML_READ, SITE, NULL, NULL},
    {BODIES, " light camera ", API_XML_DROPPED, NULL, NULL, NULL},
    {" body geom ", " plugin ", API_XML_NOT_HELD, NULL, NULL, "its forces"},
    {" mujoco ", " equality ", API_XML_READ, " ", NULL, NULL},
    {" equality ", " connect weld ", API_XML_READ, " name class active body1 body2 site1 site2 anchor relpose ",
     " solref solimp torquescale ", NULL},
    {" equality ", " joint ", API_XML_READ, " name class active joint1 joint2 polycoef ", " solref solimp ", NULL},
    {" equality ", " tendon flex flexvert flexstrain distance ", API_XML_NOT_HELD, NULL, NULL, NULL},
    {" mujoco ", " actuator ", API_XML_READ, " ", NULL, NULL},
    {" actuator ", " motor ", API_XML_READ, MOTOR, " lengthrange cranklength refsite ", NULL},
    {" actuator ", " general position velocity intvelocity damper cylinder muscle adhesion plugin ", API_XML_NOT_HELD,
     NULL, NULL, "torques are those at the joints"},
};

static const api_xml_vocabulary vocabulary = {
    .root = {"", " mujoco ", API_XML_READ, " model ", NULL, NULL}, .n = sizeof known / sizeof *known, .known = known};

bool api_mjcf_report_unused(api_mjcf *m)
{
    return api_xml_report_unused(&m->xml, &vocabulary);
}
