/* urdf_schema.c - list every element and attribute of URDF 1.2 (the schema xsd/urdf.xsd of urdfdom 6.0) and of common
 * extensions with its class: held, expanded, irrelevant to the dynamics or not held; and report those of a file.
 *
 * Extensions: gazebo (its elements end up in SDF), Drake (prefix drake:), MuJoCo, Bullet (contact), ros2_control. */
#include "api/robots/xml/xml_unused.h"
#include "urdf_reader.h"

#define ORIGIN " xyz rpy quat_xyzw "

static const api_xml_known known[] = {
    /* links */
    {" robot ", " link ", API_XML_READ, " name ", " type ", NULL},
    {" link ", " inertial ", API_XML_ONCE, " ", NULL, NULL},
    {" inertial ", " origin ", API_XML_ONCE, ORIGIN, NULL, NULL},
    {" inertial ", " mass ", API_XML_ONCE, " value ", NULL, NULL},
    {" inertial ", " inertia ", API_XML_ONCE, " ixx ixy ixz iyy iyz izz ", NULL, NULL},

    /* shapes */
    {" link ", " visual ", API_XML_DROPPED, " name group ", NULL, NULL},
    {" visual collision ", " origin ", API_XML_DROPPED, ORIGIN, NULL, NULL},
    {" visual collision ", " geometry ", API_XML_DROPPED, " name ", NULL, NULL},
    {" visual collision ", " material ", API_XML_DROPPED, " name ", NULL, NULL},
    {" collision ", " verbose ", API_XML_DROPPED, " value ", NULL, NULL},
    {" geometry ", " box ", API_XML_DROPPED, " size ", NULL, NULL},
    {" geometry ", " cylinder capsule drake:capsule ", API_XML_DROPPED, " radius length ", NULL, NULL},
    {" geometry ", " sphere ", API_XML_DROPPED, " radius ", NULL, NULL},
    {" geometry ", " mesh ", API_XML_DROPPED, " filename scale ", NULL, NULL},
    {" geometry ", " drake:ellipsoid ", API_XML_DROPPED, NULL, NULL, NULL},
    {" visual collision ",
     " drake:proximity_properties drake:perception_properties drake:illustration_properties drake:accepting_renderer "
     "drake:visual ",
     API_XML_DROPPED, NULL, NULL, NULL},
    {" robot ", " material ", API_XML_DROPPED, " name ", NULL, NULL},
    {" material ", " color ", API_XML_DROPPED, " rgba ", NULL, NULL},
    {" material ", " texture ", API_XML_DROPPED, " filename ", NULL, NULL},
    {" link ", " contact self_collision_checking collision_checking self_filter ", API_XML_DROPPED, NULL, NULL, NULL},
    {" contact ", " inertia_scaling ", API_XML_NOT_HELD, NULL, NULL, "its factor of the inertia"},

    /* joints */
    {" transmission/joint ", " child ", API_XML_NOT_HELD, NULL, NULL, "the coupling of its joints"},
    {" robot ", " joint ", API_XML_READ, " name type ", NULL, NULL},
    {" joint ", " origin ", API_XML_ONCE, ORIGIN, NULL, NULL},
    {" joint ", " parent ", API_XML_ONCE, " link ", NULL, NULL},
    {" joint ", " child ", API_XML_ONCE, " link ", NULL, NULL},
    {" joint ", " axis ", API_XML_ONCE, " xyz ", NULL, NULL},
    {" joint ", " limit ", API_XML_ONCE, " lower upper velocity effort acceleration jerk ", NULL, NULL},
    {" limit ", " deceleration drake:acceleration drake:jerk ", API_XML_ATTRIBUTE_NOT_HELD, NULL, NULL,
     "a limit that only planners use"},
    {" joint ", " dynamics ", API_XML_ONCE, " damping friction ", NULL, NULL},
    {" dynamics ", " K D mu_coulomb mu_viscous ", API_XML_ATTRIBUTE_NOT_HELD, NULL, NULL, "springs and friction"},
    {" joint ", " joint_properties traits ", API_XML_NOT_HELD, NULL, " 0 0. 0.0 0.00 ", "springs and damping"},
    {" joint ", " controller_gains ", API_XML_NOT_HELD, NULL, NULL, "the torques of a controller"},
    {" joint ", " mimic ", API_XML_ONCE, " joint multiplier offset ", NULL, NULL},
    {" joint ", " calibration ", API_XML_DROPPED, " reference_position rising falling ", NULL, NULL},
    {" joint ", " safety_controller ", API_XML_DROPPED, " soft_lower_limit soft_upper_limit k_position k_velocity ",
     NULL, NULL},

    /* transmissions: urdf_transmission.c reports them */
    {" robot ", " transmission ", API_XML_READ, " name ", " type ", NULL},
    {" transmission ", " joint actuator ", API_XML_READ, " name ", " role ", NULL},
    {" transmission transmission/joint actuator ", " mechanicalReduction motorInertia ", API_XML_READ, " ", NULL, NULL},
    {" actuator ", " drake:gear_ratio drake:rotor_inertia ", API_XML_READ, " value ", NULL, NULL},
    {" actuator ", " drake:controller_gains ", API_XML_NOT_HELD, NULL, NULL, "the torques of a controller"},
    {" transmission transmission/joint actuator ",
     " type hardwareInterface role offset motorTorqueConstant robotNamespace api node ", API_XML_ELSEWHERE, NULL, NULL,
     NULL},
    {" transmission ", " leftActuator rightActuator flexJoint rollJoint ", API_XML_ELSEWHERE, NULL, NULL, NULL},
    {" transmission ", " gap_joint passive_joint simulated_actuated_joint use_simulated_gripper_joint ",
     API_XML_NOT_HELD, NULL, NULL, "the coupling of its joints"},
    {" transmission ", " compensator ", API_XML_NOT_HELD, NULL, NULL, "the dynamics of the belt"},

    /* sensors */
    {" robot ", " sensor ", API_XML_DROPPED, " name update_rate ", NULL, NULL},
    {" sensor ", " origin ", API_XML_DROPPED, ORIGIN, NULL, NULL},
    {" sensor ", " parent ", API_XML_DROPPED, " link ", NULL, NULL},
    {" sensor ", " camera ray ", API_XML_DROPPED, " ", NULL, NULL},
    {" camera ", " image ", API_XML_DROPPED, " width height format hfov near far ", NULL, NULL},
    {" ray ", " horizontal vertical ", API_XML_DROPPED, " samples resolution min_angle max_angle ", NULL, NULL},

    /* gazebo */
    {" robot ", " gazebo ", API_XML_DROPPED, " reference ", NULL, NULL},
    {" gazebo ", " turnGravityOff kinematic static implicitSpringDamper ", API_XML_NOT_HELD, NULL, " false 0 ",
     "a setting of Gazebo that changes the motion"},
    {" gazebo ", " gravity ", API_XML_NOT_HELD, NULL, " true 1 ", "a link without gravity"},
    {" gazebo ", " springStiffness springReference dampingFactor damping velocity_decay axis dynamics ",
     API_XML_NOT_HELD, NULL, NULL, "springs and damping"},
    {" gazebo ", " joint link model inertial pose mimic frame ", API_XML_NOT_HELD, NULL, NULL,
     "parts of the robot in SDF"},
    {" gazebo ", " plugin ", API_XML_DROPPED, NULL, NULL, "programs of a simulator"},
    {" plugin ", " mimicJoint ", API_XML_NOT_HELD, NULL, NULL, "a joint that a plugin moves with another"},
    {" gazebo ",
     " material mu mu1 mu2 fdir1 slip1 slip2 kp kd minDepth maxVel maxContacts selfCollide self_collide laserRetro "
     "sensor visual collision surface light projector provideFeedback provide_feedback stopCfm stopErp stopKp stopKd "
     "cfm erp fudgeFactor initialJointPosition disableFixedJointLumping preserveFixedJoint physics allow_auto_disable "
     "enable_wind must_be_base_link canonicalBody interface ",
     API_XML_DROPPED, NULL, NULL, NULL},

    /* others */
    {" robot ", " ros2_control drake:collision_filter_group ", API_XML_DROPPED, NULL, NULL, NULL},
    {" robot ", " frame ", API_XML_DROPPED, " name link xyz rpy ", NULL, NULL},
    {" robot ",
     " loop_joint force_element cable drake:joint drake:ball_constraint drake:linear_bushing_rpy "
     "drake:linear_spring_damper drake:tendon_constraint ",
     API_XML_NOT_HELD, NULL, NULL, "its forces"},
    {" robot ", " mujoco ", API_XML_DROPPED, " ", NULL, NULL},
    {" mujoco ", " compiler ", API_XML_DROPPED,
     " meshdir texturedir assetdir strippath discardvisual fusestatic convexhull usethread fitaabb angle eulerseq "
     "coordinate autolimits alignfree saveinertial exactmeshinertia ",
     NULL, NULL},
    {" compiler ", " settotalmass balanceinertia boundmass boundinertia inertiafromgeom inertiagrouprange ",
     API_XML_ATTRIBUTE_NOT_HELD, NULL, NULL, "it changes masses and inertias"},
    {" mujoco ", " size statistic visual asset ", API_XML_DROPPED, NULL, NULL, NULL},
    {" mujoco ",
     " option default equality actuator tendon contact worldbody keyframe sensor custom deformable extension ",
     API_XML_NOT_HELD, NULL, NULL, "a part of the model in MuJoCo"},

    /* the last row, which is left out where links have the inertia of their collisions */
    {" link ", " collision ", API_XML_DROPPED, " name group ", NULL, NULL},
};

static const api_xml_known weighed = {" link ", " collision ", API_XML_ELSEWHERE, " name group ", NULL, NULL};

_Static_assert(sizeof known / sizeof *known + 1 <= API_XML_ROWS, "a vocabulary has at most API_XML_ROWS rows");

bool api_urdf_report_unused(api_urdf *urdf)
{
    const bool               weighs     = urdf->options->inertia == API_URDF_COLLISION;
    const api_xml_vocabulary vocabulary = {.root   = {"", " robot ", API_XML_READ, " name version ", NULL, NULL},
                                           .n      = sizeof known / sizeof *known - weighs,
                                           .known  = known,
                                           .n_more = weighs,
                                           .more   = &weighed};
    return api_xml_report_unused(&urdf->xml, &vocabulary);
}
