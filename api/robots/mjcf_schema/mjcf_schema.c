/* mjcf_schema.c - the table of MJCF 3.14; see mjcf_schema.h. tests/e2e/mjcf/test_mjcf_schema.py compares its names
 * with those that MuJoCo accepts, and shows for each class that MuJoCo's numbers agree with it. */
#include "mjcf_schema.h"
#include "mjcf_joint_types.h"

const char *const api_mjcf_joint_names[API_MJCF_JOINT_TYPES + 1] = {
    [API_MJCF_FREE] = "free", [API_MJCF_BALL] = "ball", [API_MJCF_SLIDE] = "slide", [API_MJCF_HINGE] = "hinge"};

#define HELD       [API_MJCF_HELD] =
#define EXPANDED   [API_MJCF_EXPANDED] =
#define SILENT     [API_MJCF_SILENT] =
#define IRRELEVANT [API_MJCF_IRRELEVANT] =
#define CONTACT    [API_MJCF_CONTACT] =
#define SOFTNESS   [API_MJCF_SOFTNESS] =
#define CONTROL    [API_MJCF_CONTROL] =
#define REPORTED   [API_MJCF_REPORTED] =
#define NOT_HELD   [API_MJCF_NOT_HELD] =
#define OLD        [API_MJCF_OLD] =

#define SERVO "torques are those at the joints; its armature, damping and range of force are held"

/* clang-format off */
static const api_mjcf_known known[] = {
    /* compiler */
    {" mujoco ", " compiler ", API_MJCF_EXPANDED, NULL,
     {HELD " alignfree angle autolimits balanceinertia boundinertia boundmass coordinate eulerseq fusestatic "
           "conflict fitaabb inertiafromgeom inertiagrouprange meshdir settotalmass strippath ",
      EXPANDED " assetdir ", IRRELEVANT " discardvisual saveinertial texturedir usethread ",
      OLD " convexhull exactmeshinertia "}},
    {" compiler ", " lengthrange ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit "}},

    /* option */
    {" mujoco ", " option ", API_MJCF_EXPANDED, NULL,
     {HELD " gravity ",
      IRRELEVANT " integrator iterations jacobian ls_iterations ls_tolerance magnetic sleep_tolerance solver "
                 "timestep tolerance ",
      CONTACT " ccd_iterations ccd_tolerance cone impratio noslip_iterations noslip_tolerance o_friction o_margin "
              "o_solimp o_solref sdf_initpoints sdf_iterations ",
      REPORTED " actuatorgroupdisable density viscosity wind ",
      OLD " apirate collision mpr_iterations mpr_tolerance "}},
    {" option ", " flag ", API_MJCF_EXPANDED, NULL,
     {HELD " clampctrl constraint damper equality frictionloss gravity limit spring ",
      IRRELEVANT " autoreset diagexact energy eulerdamp fwdinv island sensor sleep warmstart ",
      CONTACT " contact filterparent midphase multiccd nativeccd override ", SOFTNESS " refsafe ",
      REPORTED " actuation invdiscrete ", OLD " passive "}},

    /* size */
    {" mujoco ", " size ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt "
                 "nuser_sensor nuser_site nuser_tendon nuserdata "}},

    /* statistic */
    {" mujoco ", " statistic ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " center extent meaninertia meanmass meansize "}},

    /* visual */
    {" mujoco ", " visual ", API_MJCF_IRRELEVANT, NULL, {NULL}},
    {" visual ", " global ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight offwidth "
                 "orthographic realtime "}},
    {" visual ", " quality ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " numquads numslices numstacks offsamples shadowsize "}},
    {" visual ", " headlight ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " active ambient diffuse specular "}},
    {" visual ", " map ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot "
                 "torque zfar znear "}},
    {" visual ", " scale ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth forcewidth "
                 "framelength framewidth frustum jointlength jointwidth light selectpoint slidercrank "}},
    {" visual ", " rgba ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint contactforce "
                 "contactfriction contactgap contactpoint contacttorque crankbroken fog force frustum haze inertia "
                 "joint light rangefinder selectpoint slidercrank "}},

    /* default */
    {" mujoco default ", " default ", API_MJCF_EXPANDED, NULL,
     {EXPANDED " class "}},
    {" default ", " mesh ", API_MJCF_EXPANDED, NULL,
     {HELD " inertia scale ", REPORTED " maxhullvert "}},
    {" default ", " material ", API_MJCF_SILENT, NULL,
     {IRRELEVANT " emission metallic reflectance rgba roughness shininess specular texrepeat texture texuniform "}},
    {" default ", " joint ", API_MJCF_EXPANDED, NULL,
     {HELD " actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis damping frictionloss limited pos "
           "range ref springdamper springref stiffness type ", SILENT " group user ",
      SOFTNESS " margin solimpfriction solimplimit solreffriction solreflimit "}},
    {" default ", " geom ", API_MJCF_EXPANDED, NULL,
     {HELD " axisangle density euler fitscale fromto group hfield mass mesh pos quat shellinertia size type xyaxes zaxis ",
      SILENT " material rgba user ",
      CONTACT " adhesion conaffinity condim contype friction gap margin priority solimp solmix solref surfacevel ",
      REPORTED " fluidcoef fluidshape "}},
    {" default ", " site ", API_MJCF_EXPANDED, NULL,
     {HELD " axisangle euler fromto pos quat xyaxes zaxis ", SILENT " group material mesh rgba size type user "}},
    {" default ", " camera ", API_MJCF_SILENT, NULL,
     {SILENT " user ",
      IRRELEVANT " axisangle euler focal focalpixel fovy ipd mode output pos principal principalpixel projection "
                 "quat resolution sensorsize xyaxes zaxis "}},
    {" default ", " light ", API_MJCF_SILENT, NULL,
     {IRRELEVANT " active ambient attenuation bulbradius castshadow cutoff diffuse dir directional exponent "
                 "intensity mode pos range softness specular type "}},
    {" default ", " pair ", API_MJCF_SILENT, NULL,
     {CONTACT " adhesion condim friction gap margin solimp solref solreffriction "}},
    {" default ", " equality ", API_MJCF_EXPANDED, NULL,
     {HELD " active ", SOFTNESS " solimp solref "}},
    {" default ", " tendon ", API_MJCF_EXPANDED, NULL,
     {HELD " damping frictionloss springlength stiffness ", SILENT " group material rgba user width ",
      SOFTNESS " margin solimpfriction solimplimit solreffriction solreflimit ",
      REPORTED " limited range "}},
    {" default ", " general ", API_MJCF_EXPANDED, NULL,
     {HELD " armature biastype ctrllimited ctrlrange damping dyntype forcelimited forcerange gainprm gaintype gear ",
      SILENT " group user ",
      CONTROL " actdim actearly actlimited actrange biasprm delay dynprm ffrange input interp nsample velrange ",
      REPORTED " cranklength "}},
    {" default ", " motor ", API_MJCF_EXPANDED, NULL,
     {HELD " armature ctrllimited ctrlrange damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " delay interp nsample ", REPORTED " cranklength "}},
    {" default ", " position ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " ctrllimited ctrlrange dampratio delay inheritrange interp kp kv nsample timeconst ",
      REPORTED " cranklength "}},
    {" default ", " velocity ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " ctrllimited ctrlrange delay interp kv nsample ", REPORTED " cranklength "}},
    {" default ", " intvelocity ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " actlimited actrange ctrllimited ctrlrange dampratio delay inheritrange interp kp kv nsample ",
      REPORTED " cranklength "}},
    {" default ", " orientation ", API_MJCF_EXPANDED, NULL,
     {HELD " forcelimited forcerange ", SILENT " group user ",
      CONTROL " ctrlrange dampratio delay input interp kp kv nsample "}},
    {" default ", " pid ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " ctrllimited ctrlrange dampratio delay ffrange imax inheritrange input interp ki kp kv nsample "
              "posrange slewmax velrange ",
      REPORTED " cranklength "}},
    {" default ", " damper ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " ctrlrange delay interp kv nsample ", REPORTED " cranklength "}},
    {" default ", " cylinder ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " area bias ctrllimited ctrlrange delay diameter interp nsample timeconst ", REPORTED " cranklength "}},
    {" default ", " muscle ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping forcelimited forcerange gear ", SILENT " group user ",
      CONTROL " ctrllimited ctrlrange delay force fpmax fvmax interp lmax lmin nsample range scale timeconst vmax ",
      REPORTED " cranklength "}},
    {" default ", " adhesion ", API_MJCF_EXPANDED, NULL,
     {HELD " forcelimited forcerange ", SILENT " group user ", CONTROL " ctrlrange delay gain interp nsample "}},
    {" default ", " dcmotor ", API_MJCF_EXPANDED, NULL,
     {HELD " armature damping gear ", SILENT " group user ",
      CONTROL " cogging controller ctrllimited ctrlrange delay inductance input interp lugre motorconst nominal "
              "nsample resistance saturation thermal ",
      REPORTED " cranklength "}},
    {" material ", " layer ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " role texture "}},

    /* extension */
    {" mujoco ", " extension ", API_MJCF_NOT_HELD, "plugins with their forces", {NULL}},
    {" extension ", " plugin ", API_MJCF_NOT_HELD, "plugins with their forces",
     {NOT_HELD " plugin "}},
    {" extension/plugin ", " instance ", API_MJCF_NOT_HELD, "plugins with their forces",
     {SILENT " name "}},
    {" instance mesh/plugin geom/plugin worldbody/plugin body/plugin frame/plugin replicate/plugin composite/plugin "
     "flexcomp/plugin actuator/plugin sensor/plugin ",
     " config ", API_MJCF_NOT_HELD, "its forces",
     {NOT_HELD " key value "}},

    /* asset */
    {" mujoco ", " asset ", API_MJCF_EXPANDED, NULL, {NULL}},
    {" asset ", " mesh ", API_MJCF_HELD, NULL,
     {HELD " builtin content_type face file inertia name params refpos refquat scale vertex ", EXPANDED " class ",
      SILENT " material normal smoothnormal texcoord ", REPORTED " maxhullvert "}},
    {" asset/mesh ", " plugin ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " instance plugin "}},
    {" asset ", " hfield ", API_MJCF_HELD, NULL,
     {HELD " file name size ", SILENT " content_type elevation ncol nrow "}},
    {" asset ", " skin ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " face file group inflate material name rgba texcoord vertex "}},
    {" asset ", " texture ", API_MJCF_SILENT, NULL,
     {IRRELEVANT " builtin colorspace content_type file fileback filedown filefront fileleft fileright fileup "
                 "gridlayout gridsize height hflip mark markrgb name nchannel random rgb1 rgb2 type vflip width "}},
    {" asset ", " material ", API_MJCF_SILENT, NULL,
     {IRRELEVANT " class emission metallic name reflectance rgba roughness shininess specular texrepeat texture "
                 "texuniform "}},
    {" asset ", " model ", API_MJCF_EXPANDED, NULL,
     {EXPANDED " file name ", IRRELEVANT " content_type "}},
    {" skin ", " bone ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " bindpos bindquat body vertid vertweight "}},

    /* worldbody */
    {" worldbody body frame replicate ", " body ", API_MJCF_HELD, NULL,
     {HELD " axisangle euler gravcomp mocap name pos quat xyaxes zaxis ", EXPANDED " childclass ", SILENT " user ",
      IRRELEVANT " simple sleep "}},
    {" worldbody body frame replicate ", " inertial ", API_MJCF_HELD, NULL,
     {HELD " axisangle diaginertia euler fullinertia mass pos quat xyaxes zaxis "}},
    {" worldbody body frame replicate ", " joint ", API_MJCF_HELD, NULL,
     {HELD " actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis damping frictionloss limited name "
           "pos range ref springdamper springref stiffness type ", EXPANDED " class ", SILENT " group user ",
      SOFTNESS " margin solimpfriction solimplimit solreffriction solreflimit "}},
    {" worldbody body frame replicate ", " freejoint ", API_MJCF_HELD, NULL,
     {HELD " align name ", SILENT " group "}},
    {" worldbody body frame replicate ", " geom ", API_MJCF_HELD, NULL,
     {HELD " axisangle density euler fitscale fromto group hfield mass mesh pos quat shellinertia size type xyaxes zaxis ", EXPANDED " class ",
      SILENT " material name rgba user ",
      CONTACT " adhesion conaffinity condim contype friction gap margin priority solimp solmix solref surfacevel ",
      REPORTED " fluidcoef fluidshape "}},
    {" body/geom frame/geom worldbody/geom replicate/geom worldbody body frame replicate ", " plugin ",
     API_MJCF_NOT_HELD, "its forces",
     {NOT_HELD " instance plugin "}},
    {" worldbody body frame replicate ", " attach ", API_MJCF_EXPANDED, NULL,
     {EXPANDED " body frame model prefix "}},
    {" worldbody body frame replicate ", " site ", API_MJCF_HELD, NULL,
     {HELD " axisangle euler fromto name pos quat xyaxes zaxis ", EXPANDED " class ",
      SILENT " group material mesh rgba size type user "}},
    {" worldbody body frame replicate ", " camera ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ",
      IRRELEVANT " axisangle class euler focal focalpixel fovy ipd mode name output pos principal principalpixel "
                 "projection quat resolution sensorsize target xyaxes zaxis "}},
    {" worldbody body frame replicate ", " light ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " active ambient attenuation bulbradius castshadow class cutoff diffuse dir directional exponent "
                 "intensity mode name pos range softness specular target texture type "}},
    {" worldbody body frame replicate ", " composite ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " count curve initial offset prefix quat size type vertex "}},
    {" composite ", " joint ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " armature axis damping frictionloss group kind limited margin range solimpfix solimpfriction "
               "solimplimit solreffix solreffriction solreflimit stiffness type "}},
    {" composite ", " skin ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " group inflate material rgba subgrid texcoord "}},
    {" composite ", " geom ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " adhesion conaffinity condim contype density friction gap group margin mass material priority rgba "
               "size solimp solmix solref surfacevel type "}},
    {" composite ", " site ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " group material mesh rgba size "}},
    {" composite flexcomp ", " plugin ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " instance plugin "}},
    {" worldbody body frame replicate ", " flexcomp ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " axisangle cellcount count dim dof element euler file flatskin group inertiabox mass material name "
               "origin point pos quat radius rgba rigid scale spacing texcoord type xyaxes zaxis "}},
    {" flexcomp ", " edge ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " damping equality solimp solref stiffness "}},
    {" flexcomp ", " elasticity ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " damping elastic2d poisson thickness young "}},
    {" flexcomp ", " contact ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " activelayers conaffinity condim contype friction gap internal margin passive priority selfcollide "
               "solimp solmix solref "}},
    {" flexcomp ", " pin ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " grid gridrange id range "}},
    {" mujoco ", " worldbody ", API_MJCF_EXPANDED, NULL,
     {OLD " childclass name "}},
    {" worldbody body frame replicate ", " frame ", API_MJCF_EXPANDED, NULL,
     {EXPANDED " childclass pos quat axisangle xyaxes zaxis euler ", SILENT " name "}},
    {" worldbody body frame replicate ", " replicate ", API_MJCF_REPORTED, NULL,
     {NOT_HELD " count offset euler sep childclass "}},

    /* deformable */
    {" mujoco ", " deformable ", API_MJCF_NOT_HELD, "bodies that bend", {NULL}},
    {" deformable ", " flex ", API_MJCF_NOT_HELD, "bodies that bend",
     {SILENT " elemtexcoord flatskin group material name rgba texcoord ",
      NOT_HELD " body cellcount dim dof element node nodecoord radius vertex "}},
    {" deformable/flex ", " contact ", API_MJCF_NOT_HELD, "bodies that bend",
     {NOT_HELD " activelayers conaffinity condim contype friction gap internal margin passive priority selfcollide "
               "solimp solmix solref "}},
    {" deformable/flex ", " edge ", API_MJCF_NOT_HELD, "bodies that bend",
     {NOT_HELD " damping stiffness "}},
    {" deformable/flex ", " elasticity ", API_MJCF_NOT_HELD, "bodies that bend",
     {NOT_HELD " damping elastic2d poisson thickness young "}},
    {" deformable ", " skin ", API_MJCF_NOT_HELD, "bodies that bend",
     {SILENT " face file group inflate material name rgba texcoord vertex "}},

    /* contact */
    {" mujoco ", " contact ", API_MJCF_CONTACT, NULL, {NULL}},
    {" mujoco/contact ", " pair ", API_MJCF_CONTACT, NULL,
     {CONTACT " adhesion class condim friction gap geom1 geom2 margin name solimp solref solreffriction "}},
    {" mujoco/contact ", " exclude ", API_MJCF_CONTACT, NULL,
     {CONTACT " body1 body2 name "}},

    /* tendon */
    {" mujoco ", " tendon ", API_MJCF_EXPANDED, NULL, {NULL}},
    {" mujoco/tendon ", " spatial ", API_MJCF_REPORTED, NULL,
     {SILENT " group material name rgba user width ", EXPANDED " class ",
      CONTROL " actuatorfrclimited actuatorfrcrange ", SOFTNESS " margin solimpfriction solimplimit solreffriction "
      "solreflimit ", REPORTED " armature damping frictionloss limited range springlength stiffness "}},
    {" spatial ", " site ", API_MJCF_REPORTED, NULL, {REPORTED " site "}},
    {" spatial ", " geom ", API_MJCF_REPORTED, NULL, {REPORTED " geom sidesite "}},
    {" spatial ", " pulley ", API_MJCF_REPORTED, NULL, {REPORTED " divisor "}},
    {" mujoco/tendon ", " fixed ", API_MJCF_HELD, NULL,
     {HELD " armature damping frictionloss springlength stiffness ", SILENT " group name user ", EXPANDED " class ",
      CONTROL " actuatorfrclimited actuatorfrcrange ", SOFTNESS " margin solimpfriction solimplimit solreffriction "
      "solreflimit ", REPORTED " limited range "}},
    {" fixed ", " joint ", API_MJCF_HELD, NULL, {HELD " coef joint "}},

    /* equality */
    {" mujoco ", " equality ", API_MJCF_EXPANDED, NULL, {NULL}},
    {" mujoco/equality ", " connect ", API_MJCF_HELD, NULL,
     {HELD " active anchor body1 body2 name site1 site2 ", EXPANDED " class ", SOFTNESS " solimp solref "}},
    {" mujoco/equality ", " weld ", API_MJCF_HELD, NULL,
     {HELD " active anchor body1 body2 name relpose site1 site2 ", EXPANDED " class ", SOFTNESS " solimp solref ",
      REPORTED " torquescale "}},
    {" mujoco/equality ", " joint ", API_MJCF_HELD, NULL,
     {HELD " active joint1 joint2 name polycoef ", EXPANDED " class ", SOFTNESS " solimp solref "}},
    {" mujoco/equality ", " tendon ", API_MJCF_REPORTED, NULL,
     {SILENT " name ", EXPANDED " class ", SOFTNESS " solimp solref ", REPORTED " active polycoef tendon1 tendon2 "}},
    {" mujoco/equality ", " flex flexvert ", API_MJCF_NOT_HELD, NULL,
     {SILENT " class name ", NOT_HELD " active flex solimp solref "}},
    {" mujoco/equality ", " flexstrain ", API_MJCF_NOT_HELD, NULL,
     {SILENT " class name ", NOT_HELD " active cell flex solimp solref "}},

    /* actuator */
    {" mujoco ", " actuator ", API_MJCF_EXPANDED, NULL, {NULL}},
    {" actuator ", " general ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature biastype ctrllimited ctrlrange damping dyntype forcelimited forcerange gainprm gaintype gear "
           "joint jointinparent ", EXPANDED " class ", SILENT " group name user ",
      CONTROL " actdim actearly actlimited actrange biasprm delay dynprm ffrange input interp lengthrange nsample "
              "velrange ",
      REPORTED " body cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " motor ", API_MJCF_HELD, NULL,
     {HELD " armature ctrllimited ctrlrange damping forcelimited forcerange gear joint jointinparent ",
      EXPANDED " class ", SILENT " group name user ", CONTROL " delay interp lengthrange nsample ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " position ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ",
      CONTROL " ctrllimited ctrlrange dampratio delay inheritrange interp kp kv lengthrange nsample timeconst ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " velocity ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ", CONTROL " ctrllimited ctrlrange delay interp kv lengthrange nsample ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " intvelocity ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ",
      CONTROL " actlimited actrange ctrllimited ctrlrange dampratio delay inheritrange interp kp kv lengthrange "
              "nsample ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " orientation ", API_MJCF_NOT_HELD, SERVO,
     {HELD " forcelimited forcerange joint ", EXPANDED " class ", SILENT " group name user ",
      CONTROL " ctrlrange dampratio delay input interp kp kv nsample ", REPORTED " refsite site "}},
    {" actuator ", " pid ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ",
      CONTROL " ctrllimited ctrlrange dampratio delay ffrange imax inheritrange input interp ki kp kv lengthrange "
              "nsample posrange slewmax velrange ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " damper ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ", CONTROL " ctrlrange delay interp kv lengthrange nsample ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " cylinder ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ",
      CONTROL " area bias ctrllimited ctrlrange delay diameter interp lengthrange nsample timeconst ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " muscle ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ",
      CONTROL " ctrllimited ctrlrange delay force fpmax fvmax interp lengthrange lmax lmin nsample range scale "
              "tausmooth timeconst vmax ",
      REPORTED " cranklength cranksite slidersite tendon "}},
    {" actuator ", " adhesion ", API_MJCF_NOT_HELD, SERVO,
     {HELD " forcelimited forcerange ", EXPANDED " class ", SILENT " group name user ",
      CONTROL " ctrlrange delay gain interp nsample ", REPORTED " body "}},
    {" actuator ", " dcmotor ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping gear joint jointinparent ", EXPANDED " class ", SILENT " group name user ",
      CONTROL " cogging controller ctrllimited ctrlrange delay inductance input interp lengthrange lugre motorconst "
              "nominal nsample resistance saturation thermal ",
      REPORTED " cranklength cranksite refsite site slidersite tendon "}},
    {" actuator ", " plugin ", API_MJCF_NOT_HELD, SERVO,
     {HELD " armature damping forcelimited forcerange gear joint jointinparent ", EXPANDED " class ",
      SILENT " group name user ",
      CONTROL " actdim actearly actlimited actrange ctrllimited ctrlrange delay dynprm dyntype instance interp "
              "lengthrange nsample plugin ",
      REPORTED " cranklength cranksite site slidersite tendon "}},

    /* sensor */
    {" mujoco ", " sensor ", API_MJCF_IRRELEVANT, NULL, {NULL}},
    {" sensor ",
     " touch accelerometer velocimeter gyro force torque magnetometer ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay interp interval name noise nsample site "}},
    {" sensor ", " camprojection ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " camera cutoff delay interp interval name noise nsample site "}},
    {" sensor ", " rangefinder ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " camera cutoff data delay interp interval name noise nsample site "}},
    {" sensor ",
     " jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc ",
     API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay interp interval joint name noise nsample "}},
    {" sensor ",
     " tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay interp interval name noise nsample tendon "}},
    {" sensor ", " actuatorpos actuatorvel actuatorfrc ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " actuator cutoff delay interp interval name noise nsample "}},
    {" sensor ",
     " framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ",
      IRRELEVANT " cutoff delay interp interval name noise nsample objname objtype refname reftype "}},
    {" sensor ", " framelinacc frameangacc ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay interp interval name noise nsample objname objtype "}},
    {" sensor ", " subtreecom subtreelinvel subtreeangmom ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " body cutoff delay interp interval name noise nsample "}},
    {" sensor ", " insidesite ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay interp interval name noise nsample objname objtype site "}},
    {" sensor ", " distance normal fromto ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " body1 body2 cutoff delay geom1 geom2 interp interval name noise nsample "}},
    {" sensor ", " contact ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ",
      IRRELEVANT " body1 body2 cutoff data delay geom1 geom2 interp interval name noise nsample num reduce site "
                 "subtree1 subtree2 "}},
    {" sensor ", " e_potential e_kinetic clock ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay interp interval name noise nsample "}},
    {" sensor ", " tactile ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff delay geom interp interval mesh name nsample "}},
    {" sensor ", " user ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff datatype dim name needstage noise objname objtype "}},
    {" sensor ", " plugin ", API_MJCF_IRRELEVANT, NULL,
     {SILENT " user ", IRRELEVANT " cutoff instance name objname objtype plugin refname reftype "}},

    /* custom */
    {" mujoco ", " custom ", API_MJCF_IRRELEVANT, NULL, {NULL}},
    {" custom ", " numeric ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " data name size "}},
    {" custom ", " text ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " data name "}},
    {" custom ", " tuple ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " name "}},
    {" tuple ", " element ", API_MJCF_IRRELEVANT, NULL,
     {IRRELEVANT " objname objtype prm "}},

    /* keyframe */
    {" mujoco ", " keyframe ", API_MJCF_EXPANDED, NULL, {NULL}},
    {" keyframe ", " key ", API_MJCF_HELD, NULL,
     {EXPANDED " name qpos ", IRRELEVANT " act ctrl mpos mquat qvel time "}},
};
/* clang-format on */

const api_mjcf_known *api_mjcf_schema(size_t *n)
{
    *n = sizeof known / sizeof *known;
    return known;
}

const char *api_mjcf_use_name(api_mjcf_use use)
{
    static const char *const names[API_MJCF_USES] = {
        [API_MJCF_HELD] = "held",          [API_MJCF_EXPANDED] = "expanded",
        [API_MJCF_SILENT] = "irrelevant",  [API_MJCF_IRRELEVANT] = "irrelevant",
        [API_MJCF_CONTACT] = "irrelevant", [API_MJCF_SOFTNESS] = "irrelevant",
        [API_MJCF_CONTROL] = "irrelevant", [API_MJCF_REPORTED] = "not held",
        [API_MJCF_NOT_HELD] = "not held",  [API_MJCF_OLD] = "of earlier versions",
    };
    return names[use];
}
