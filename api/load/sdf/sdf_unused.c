/* sdf_unused.c - list what SDF files contain, for the report of what the reader does not use. */
#include "api/load/xml/xml_unused.h"
#include "sdf_reader.h"

static const api_xml_known known[] = {
    {" sdf ", " model ", API_XML_READ, " name canonical_link placement_frame ", NULL, NULL},
    {" sdf ", " world ", API_XML_ONCE, " name ", NULL, NULL},
    {" sdf ", " actor light ", API_XML_DROPPED, NULL, NULL, NULL},
    {" world ", " model ", API_XML_READ, " name canonical_link placement_frame ", NULL, NULL},
    {" world ", " gravity ", API_XML_ONCE, "  ", NULL, NULL},
    {" world ", " include ", API_XML_NOT_HELD, NULL, NULL, "other files are not read"},
    {" world ", " wind ", API_XML_NOT_HELD, NULL, NULL, "its forces"},
    {" world ", " joint frame road population ", API_XML_NOT_HELD, NULL, NULL, NULL},
    {" world ", " light actor physics scene gui plugin state audio atmosphere magnetic_field spherical_coordinates ",
     API_XML_DROPPED, NULL, NULL, NULL},
    {" model ", " model ", API_XML_READ, " name canonical_link placement_frame ", NULL, NULL},
    {" model ", " link ", API_XML_READ, " name ", NULL, NULL},
    {" model ", " joint ", API_XML_READ, " name type ", NULL, NULL},
    {" model ", " frame ", API_XML_READ, " name attached_to ", NULL, NULL},
    {" model ", " static ", API_XML_ONCE, "  ", NULL, NULL},
    {" model ", " self_collide allow_auto_disable enable_wind gripper ", API_XML_DROPPED, NULL, NULL, NULL},
    {" model ", " plugin ", API_XML_NOT_HELD, NULL, NULL, "what it does to the robot"},
    {" model link joint frame inertial ", " pose ", API_XML_ONCE, " relative_to frame rotation_format degrees ", NULL,
     NULL},
    {" link ", " inertial ", API_XML_ONCE, " auto ", NULL, NULL},
    {" link ", " gravity kinematic ", API_XML_ONCE, "  ", NULL, NULL},
    {" link ", " must_be_base_link ", API_XML_DROPPED, NULL, NULL, NULL},
    {" link ", " velocity_decay ", API_XML_NOT_HELD, NULL, NULL, "damping of the motion in the world"},
    {" link ",
     " collision visual sensor projector audio_sink audio_source battery light enable_wind self_collide "
     "particle_emitter ",
     API_XML_DROPPED, NULL, NULL, NULL},
    {" inertial ", " mass ", API_XML_ONCE, "  ", NULL, NULL},
    {" inertial ", " inertia ", API_XML_ONCE, "  ", NULL, NULL},
    {" inertial ", " fluid_added_mass ", API_XML_NOT_HELD, NULL, NULL, NULL},
    {" inertial ", " density auto_inertia_params ", API_XML_DROPPED, NULL, NULL, NULL},
    {" inertia ", " ixx ixy ixz iyy iyz izz ", API_XML_READ, "  ", NULL, NULL},
    {" joint ", " parent ", API_XML_ONCE, "  ", NULL, NULL},
    {" joint ", " child ", API_XML_ONCE, "  ", NULL, NULL},
    {" joint ", " axis ", API_XML_ONCE, "  ", NULL, NULL},
    {" joint ", " axis2 ", API_XML_ONCE, "  ", NULL, NULL},
    {" joint ", " thread_pitch screw_thread_pitch gearbox_ratio gearbox_reference_body ", API_XML_READ, "  ", NULL,
     NULL},
    {" joint ", " physics sensor ", API_XML_DROPPED, NULL, NULL, NULL},
    {" axis axis2 ", " xyz ", API_XML_ONCE, " expressed_in ", NULL, NULL},
    {" axis axis2 ", " use_parent_model_frame ", API_XML_ONCE, "  ", NULL, NULL},
    {" axis axis2 ", " initial_position ", API_XML_DROPPED, NULL, NULL, NULL},
    {" axis ", " mimic ", API_XML_ONCE, " joint axis ", NULL, NULL},
    {" axis2 ", " mimic ", API_XML_NOT_HELD, NULL, NULL, NULL},
    {" mimic ", " multiplier offset reference ", API_XML_READ, "  ", NULL, NULL},
    {" axis axis2 ", " limit ", API_XML_ONCE, "  ", NULL, NULL},
    {" axis axis2 ", " dynamics ", API_XML_ONCE, "  ", NULL, NULL},
    {" limit ", " lower upper effort velocity ", API_XML_READ, "  ", NULL, NULL},
    {" limit ", " stiffness dissipation ", API_XML_DROPPED, NULL, NULL, NULL},
    {" dynamics ", " damping friction spring_reference spring_stiffness ", API_XML_READ, "  ", NULL, NULL},
};

static const api_xml_vocabulary vocabulary = {
    .root = {"", " sdf ", API_XML_READ, " version ", NULL, NULL}, .n = sizeof known / sizeof *known, .known = known};

bool api_sdf_report_unused(api_sdf *sdf)
{
    return api_xml_report_unused(&sdf->xml, &vocabulary);
}
