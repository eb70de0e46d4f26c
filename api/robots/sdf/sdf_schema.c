/* sdf_schema.c - list every element and attribute of SDF 1.12, of Drake's extensions and of earlier versions with its
 * class: held, expanded, irrelevant to the dynamics or not held; and report those of a file. Names are those of the
 * schema in the folder sdf/ of libsdformat (http://sdformat.org/spec). */
#include "api/robots/xml/xml_unused.h"
#include "sdf_reader.h"

#define POSE  " relative_to rotation_format degrees "
#define MODEL " name canonical_link placement_frame "
#define IRRELEVANT(in, names, attributes)                                                                              \
    {                                                                                                                  \
        in, names, API_XML_DROPPED, attributes, NULL, NULL                                                             \
    }

static const api_xml_known known[] = {
    /* the file and the world */
    {" sdf world model ", " model ", API_XML_READ, MODEL, " namespace ", NULL},
    {" sdf ", " world ", API_XML_ONCE, " name ", NULL, NULL},
    {" world ", " gravity ", API_XML_ONCE, " ", NULL, NULL},
    {" world ", " include ", API_XML_NOT_HELD, NULL, NULL, "there is no such file here"},
    {" world ", " wind ", API_XML_NOT_HELD, NULL, NULL, "its forces"},
    {" world ", " population ", API_XML_NOT_HELD, NULL, NULL, "its models"},
    {" world ", " joint ", API_XML_READ, " name type ", NULL, NULL},
    {" world ", " plugin ", API_XML_DROPPED, NULL, NULL, "programs of a simulator"},
    {" world ", " frame ", API_XML_READ, " name attached_to ", NULL, NULL},
    {" world ", " state ", API_XML_DROPPED, NULL, NULL, "the state of a simulation"},
    IRRELEVANT(" sdf world ", " actor ", " name "),
    IRRELEVANT(" sdf world ", " light ", " name type "),
    IRRELEVANT(" world ", " physics ", " name default type "),
    IRRELEVANT(" world ", " atmosphere ", " type "),
    IRRELEVANT(" world ", " gui ", " fullscreen "),
    IRRELEVANT(" world ", " road ", " name "),
    IRRELEVANT(" world ", " audio magnetic_field scene spherical_coordinates ", " "),

    /* models and links */
    {" model ", " static ", API_XML_ONCE, " ", NULL, NULL},
    {" model ", " link ", API_XML_READ, " name ", NULL, NULL},
    {" model ", " joint ", API_XML_READ, " name type ", NULL, NULL},
    {" model ", " frame ", API_XML_READ, " name attached_to ", NULL, NULL},
    {" model ", " include ", API_XML_ELSEWHERE, NULL, NULL, NULL},
    {" model ", " plugin ", API_XML_NOT_HELD, NULL, NULL, "what it does to the robot"},
    {" model link ", " enable_wind ", API_XML_NOT_HELD, NULL, " false 0 ", "the forces of wind"},
    IRRELEVANT(" model ", " self_collide allow_auto_disable ", " "),
    IRRELEVANT(" model ", " gripper ", " name "),
    {" model ", " model_state ", API_XML_DROPPED, NULL, NULL, "the state of a simulation"},
    {" model link joint frame ", " pose ", API_XML_ONCE, POSE, NULL, NULL},
    {" inertial ", " pose ", API_XML_ONCE, POSE, NULL, NULL},
    {" link ", " inertial ", API_XML_ONCE, " auto ", NULL, NULL},
    {" inertial ", " mass ", API_XML_ONCE, " ", NULL, NULL},
    {" inertial ", " inertia ", API_XML_ONCE, " ", NULL, NULL},
    {" inertia ", " ixx ixy ixz iyy iyz izz ", API_XML_READ, " ", NULL, NULL},
    {" inertial ", " density ", API_XML_ONCE, " ", NULL, NULL},
    {" inertial ", " auto_inertia_params ", API_XML_DROPPED, NULL, NULL, NULL},
    {" inertial ", " fluid_added_mass ", API_XML_NOT_HELD, NULL, NULL, "the inertia of a fluid"},
    {" fluid_added_mass ", " xx xy xz xp xq xr yy yz yp yq yr zz zp zq zr pp pq pr qq qr rr ", API_XML_NOT_HELD, NULL,
     NULL, NULL},
    {" link ", " gravity ", API_XML_ONCE, " ", NULL, NULL},
    {" link ", " kinematic ", API_XML_ONCE, " ", NULL, NULL},
    {" link ", " velocity_decay ", API_XML_NOT_HELD, NULL, NULL, "damping of the motion in the world"},
    {" velocity_decay ", " linear angular ", API_XML_NOT_HELD, NULL, NULL, NULL},
    IRRELEVANT(" link ", " must_be_base_link self_collide audio_sink audio_source ", " "),
    IRRELEVANT(" link ", " visual projector battery ", " name "),
    IRRELEVANT(" link joint ", " sensor ", " name type "),
    IRRELEVANT(" link ", " light particle_emitter ", " name type "),

    /* joints */
    {" joint ", " parent ", API_XML_ONCE, " ", NULL, NULL},
    {" joint ", " child ", API_XML_ONCE, " ", NULL, NULL},
    {" joint ", " axis ", API_XML_ONCE, " ", NULL, NULL},
    {" joint ", " axis2 ", API_XML_ONCE, " ", NULL, NULL},
    {" joint ", " thread_pitch screw_thread_pitch gearbox_ratio gearbox_reference_body ", API_XML_READ, " ", NULL,
     NULL},
    {" axis axis2 ", " xyz ", API_XML_ONCE, " expressed_in ", NULL, NULL},
    {" axis axis2 ", " limit ", API_XML_ONCE, " ", NULL, NULL},
    {" axis axis2 ", " dynamics ", API_XML_ONCE, " ", NULL, NULL},
    {" axis/limit axis2/limit ", " lower upper effort velocity ", API_XML_READ, " ", NULL, NULL},
    IRRELEVANT(" axis/limit axis2/limit ", " stiffness dissipation ", " "),
    {" dynamics ", " damping friction spring_reference spring_stiffness ", API_XML_READ, " ", NULL, NULL},
    {" axis axis2 ", " mimic ", API_XML_ONCE, " joint axis ", NULL, NULL},
    {" mimic ", " multiplier offset reference ", API_XML_READ, " ", NULL, NULL},
    IRRELEVANT(" joint ", " physics ", " "),
    {" physics/ode ", " max_force velocity ", API_XML_NOT_HELD, NULL, " 0 0.0 0. ", "a motor of the joint"},
    IRRELEVANT(" ode/limit ode/suspension ", " cfm erp ", " "),

    /* Drake */
    {" joint axis axis2 ", " drake:rotor_inertia drake:gear_ratio ", API_XML_READ, " ", NULL, NULL},
    {" joint ", " drake:mimic ", API_XML_ONCE, " joint multiplier offset ", NULL, NULL},
    {" joint ", " drake:controller_gains ", API_XML_NOT_HELD, NULL, NULL, "the torques of a controller"},
    {" axis/limit axis2/limit ", " drake:acceleration drake:jerk ", API_XML_NOT_HELD, NULL, NULL,
     "a limit that only planners use"},
    {" model ",
     " drake:joint drake:ball_constraint drake:linear_bushing_rpy drake:linear_spring_damper drake:tendon_constraint ",
     API_XML_NOT_HELD, NULL, NULL, "its forces"},
    {" link ", " drake:deformable_properties ", API_XML_NOT_HELD, NULL, NULL, "a body that bends"},
    IRRELEVANT(" model world ", " drake:collision_filter_group ", NULL),
    IRRELEVANT(" collision visual ",
               " drake:proximity_properties drake:perception_properties drake:illustration_properties "
               "drake:accepting_renderer drake:visual ",
               NULL),
    IRRELEVANT(" geometry ", " drake:capsule drake:ellipsoid ", NULL),

    /* shapes, sensors, simulators, states */
    IRRELEVANT(" actor ", " plugin link joint ", NULL),
    IRRELEVANT(" actor ", " pose ", POSE),
    IRRELEVANT(" actor ", " skin script ", " "),
    IRRELEVANT(" actor ", " animation ", " name "),
    IRRELEVANT(" physics ",
               " max_step_size real_time_factor real_time_update_rate max_contacts dart simbody bullet ode "
               "provide_feedback ",
               " "),
    IRRELEVANT(" state ", " sim_time wall_time real_time iterations insertions deletions ", " "),
    IRRELEVANT(" state model_state ", " model_state light_state joint_state link_state ", " name "),
    IRRELEVANT(" model_state ", " scale ", " "),
    IRRELEVANT(" deletions ", " name ", " "),
    IRRELEVANT(" population ", " model_count distribution ", " "),
    IRRELEVANT(" audio ", " device ", " "),
    IRRELEVANT(" joint_state ", " angle ", " axis "),
    IRRELEVANT(" joint_state ", " axis_state axis2_state ", " "),
    IRRELEVANT(" axis_state axis2_state ", " position velocity acceleration ", " degrees "),
    IRRELEVANT(" axis_state axis2_state ", " effort ", " "),
    IRRELEVANT(" link_state ", " angular_velocity angular_acceleration ", " degrees "),
    IRRELEVANT(" link_state ", " linear_velocity velocity linear_acceleration acceleration torque force wrench ", " "),
    IRRELEVANT(" link_state ", " collision_state ", " name "),
    IRRELEVANT(" link_state camera light sensor collision visual projector audio_source particle_emitter "
               "light_state ",
               " pose ", POSE),
    IRRELEVANT(" atmosphere ", " temperature pressure temperature_gradient ", " "),
    IRRELEVANT(" gui sensor visual projector ", " plugin ", NULL),
    IRRELEVANT(" gui sensor ", " camera ", " name "),
    IRRELEVANT(" camera ",
               " view_controller projection_type track_visual triggered camera_info_topic trigger_topic "
               "horizontal_fov image clip depth_camera segmentation_type box_type noise distortion lens "
               "visibility_mask optical_frame_id ",
               " "),
    IRRELEVANT(" camera ", " save ", " enabled "),
    IRRELEVANT(" track_visual ", " name min_dist max_dist static use_model_frame xyz inherit_yaw ", " "),
    IRRELEVANT(" dart ", " solver collision_detector bone_attachment stiffness damping flesh_mass_fraction ", " "),
    IRRELEVANT(" solver ",
               " solver_type type min_step_size iters sor island_threads precon_iters "
               "thread_position_correction use_dynamic_moi_rescaling friction_model ",
               " "),
    IRRELEVANT(" simbody ", " min_step_size accuracy max_transient_velocity contact must_be_loop_joint ", " "),
    IRRELEVANT(" contact ",
               " stiffness dissipation plastic_coef_restitution plastic_impact_velocity static_friction "
               "dynamic_friction viscous_friction override_impact_capture_velocity "
               "override_stiction_transition_velocity collision topic collide_without_contact "
               "collide_without_contact_bitmask collide_bitmask category_bitmask poissons_ratio elastic_modulus "
               "ode bullet ",
               " "),
    IRRELEVANT(" bullet ",
               " solver constraints friction friction2 fdir1 rolling_friction soft_cfm soft_erp kp kd "
               "split_impulse split_impulse_penetration_threshold ",
               " "),
    IRRELEVANT(" constraints ",
               " cfm erp contact_surface_layer split_impulse split_impulse_penetration_threshold "
               "contact_max_correcting_vel ",
               " "),
    IRRELEVANT(" ode ",
               " solver constraints cfm_damping implicit_spring_damper fudge_factor cfm erp bounce limit "
               "suspension slip mu mu2 fdir1 slip1 slip2 soft_cfm soft_erp kp kd max_vel min_depth ",
               " "),
    IRRELEVANT(" scene ", " ambient background sky shadows fog grid origin_visual ", " "),
    IRRELEVANT(" sky ", " time sunrise sunset clouds cubemap_uri ", " "),
    IRRELEVANT(" clouds ", " speed direction humidity mean_size ambient ", " "),
    IRRELEVANT(" fog ", " color type start end density ", " "),
    IRRELEVANT(" light ", " cast_shadows light_on visualize intensity diffuse specular attenuation direction spot ",
               " "),
    IRRELEVANT(" attenuation ", " range linear constant quadratic ", " "),
    IRRELEVANT(" spot ", " inner_angle outer_angle falloff ", " "),
    IRRELEVANT(" sensor ",
               " always_on update_rate visualize topic enable_metrics frame_id air_pressure air_speed altimeter "
               "contact force_torque gps imu lidar logical_camera magnetometer navsat ray rfidtag rfid sonar "
               "transceiver ",
               " "),
    IRRELEVANT(" air_pressure ", " reference_altitude pressure ", " "),
    IRRELEVANT(" pressure vertical_position vertical_velocity x y z horizontal vertical ", " noise ", " type "),
    IRRELEVANT(" noise ",
               " mean stddev bias_mean bias_stddev dynamic_bias_stddev dynamic_bias_correlation_time precision "
               "type ",
               " "),
    IRRELEVANT(" air_speed ", " pressure ", " "),
    IRRELEVANT(" altimeter ", " vertical_position vertical_velocity ", " "),
    IRRELEVANT(" image ", " width height format anti_aliasing uri scale threshold granularity ", " "),
    IRRELEVANT(" clip ", " near far ", " "),
    IRRELEVANT(" save ", " path ", " "),
    IRRELEVANT(" depth_camera ", " output clip ", " "),
    IRRELEVANT(" distortion ", " k1 k2 k3 p1 p2 center ", " "),
    IRRELEVANT(" lens ", " type scale_to_hfov custom_function cutoff_angle env_texture_size intrinsics projection ",
               " "),
    IRRELEVANT(" custom_function ", " c1 c2 c3 f fun ", " "),
    IRRELEVANT(" intrinsics ", " fx fy cx cy s ", " "),
    IRRELEVANT(" projection ", " p_fx p_fy p_cx p_cy tx ty ", " "),
    IRRELEVANT(" force_torque ", " frame measure_direction force torque ", " "),
    IRRELEVANT(" force torque angular_velocity linear_acceleration magnetometer ", " x y z ", " "),
    IRRELEVANT(" gps navsat ", " position_sensing velocity_sensing ", " "),
    IRRELEVANT(" position_sensing velocity_sensing scan ", " horizontal vertical ", " "),
    IRRELEVANT(" horizontal vertical ", " samples resolution min_angle max_angle ", " "),
    IRRELEVANT(" imu ", " orientation_reference_frame angular_velocity linear_acceleration enable_orientation ", " "),
    IRRELEVANT(" orientation_reference_frame ", " localization ", " "),
    IRRELEVANT(" orientation_reference_frame ", " custom_rpy grav_dir_x ", " parent_frame "),
    IRRELEVANT(" lidar ray ", " scan range noise visibility_mask ", " "),
    IRRELEVANT(" range ", " min max resolution ", " "),
    IRRELEVANT(" logical_camera ", " near far aspect_ratio horizontal_fov ", " "),
    IRRELEVANT(" sonar ", " geometry min max radius ", " "),
    IRRELEVANT(" transceiver ", " essid frequency min_frequency max_frequency gain power sensitivity ", " "),
    IRRELEVANT(" collision ", " laser_retro max_contacts density auto_inertia_params geometry surface ", " "),
    IRRELEVANT(" geometry ", " empty box capsule cone cylinder ellipsoid heightmap image plane polyline sphere ", " "),
    IRRELEVANT(" geometry ", " mesh ", " optimization "),
    IRRELEVANT(" box ", " size ", " "),
    IRRELEVANT(" capsule cone cylinder ", " radius length ", " "),
    IRRELEVANT(" ellipsoid ", " radii ", " "),
    IRRELEVANT(" heightmap ", " uri size pos texture blend use_terrain_paging sampling ", " "),
    IRRELEVANT(" texture ", " size diffuse normal ", " "),
    IRRELEVANT(" blend ", " min_height fade_dist ", " "),
    IRRELEVANT(" mesh ", " convex_decomposition uri submesh scale ", " "),
    IRRELEVANT(" convex_decomposition ", " max_convex_hulls voxel_resolution ", " "),
    IRRELEVANT(" submesh ", " name center ", " "),
    IRRELEVANT(" plane ", " normal size ", " "),
    IRRELEVANT(" polyline ", " point height ", " "),
    IRRELEVANT(" sphere ", " radius ", " "),
    IRRELEVANT(" surface ", " bounce friction contact soft_contact ", " "),
    IRRELEVANT(" bounce ", " restitution_coefficient threshold ", " "),
    IRRELEVANT(" friction ", " torsional ode bullet ", " "),
    IRRELEVANT(" torsional ", " coefficient use_patch_radius patch_radius surface_radius ode ", " "),
    IRRELEVANT(" soft_contact ", " dart ", " "),
    IRRELEVANT(" visual ", " cast_shadows laser_retro transparency visibility_flags meta material geometry ", " "),
    IRRELEVANT(" meta ", " layer ", " "),
    IRRELEVANT(" material ",
               " script render_order lighting ambient diffuse specular shininess emissive double_sided pbr ", " "),
    IRRELEVANT(" material ", " shader ", " type "),
    IRRELEVANT(" script ", " uri name loop delay_start auto_start ", " "),
    IRRELEVANT(" script ", " trajectory ", " id tension type "),
    IRRELEVANT(" shader ", " normal_map ", " "),
    IRRELEVANT(" pbr ", " metal specular ", " "),
    IRRELEVANT(" metal ",
               " albedo_map roughness_map roughness metalness_map metalness environment_map "
               "ambient_occlusion_map emissive_map ",
               " "),
    IRRELEVANT(" metal specular ", " normal_map ", " type "),
    IRRELEVANT(" metal specular ", " light_map ", " uv_set "),
    IRRELEVANT(" specular ",
               " albedo_map specular_map glossiness_map glossiness environment_map ambient_occlusion_map "
               "emissive_map ",
               " "),
    IRRELEVANT(" projector ", " texture fov near_clip far_clip visibility_flags ", " "),
    IRRELEVANT(" audio_source ", " uri pitch gain contact loop ", " "),
    IRRELEVANT(" battery ", " voltage ", " "),
    IRRELEVANT(" particle_emitter ",
               " emitting duration size particle_size lifetime rate min_velocity max_velocity scale_rate "
               "color_start color_end color_range_image topic particle_scatter_ratio material ",
               " "),
    IRRELEVANT(" gripper ", " grasp_check gripper_link palm_link ", " "),
    IRRELEVANT(" grasp_check ", " detach_steps attach_steps min_contact_count ", " "),
    IRRELEVANT(" skin ", " filename scale ", " "),
    IRRELEVANT(" animation ", " filename scale interpolate_x ", " "),
    IRRELEVANT(" trajectory ", " waypoint ", " "),
    IRRELEVANT(" waypoint ", " time pose ", " "),
    IRRELEVANT(" road ", " width point material ", " "),
    IRRELEVANT(" spherical_coordinates ",
               " surface_model world_frame_orientation latitude_deg longitude_deg elevation "
               "surface_axis_equatorial surface_axis_polar heading_deg ",
               " "),
    IRRELEVANT(" distribution ", " type rows cols step ", " "),
    /* the last row: it is left out where links take their inertia from their collisions */
    IRRELEVANT(" link ", " collision ", " name "),
};

/* A row of the schema that only earlier versions of SDF have, and the last version that has it. */
typedef struct old_row {
    int           last; /* minor version */
    api_xml_known known;
} old_row;

/* Rows that later versions do not have, the latest first. */
static const old_row old[] = {
    {8, IRRELEVANT(" axis axis2 ", " initial_position ", " ")},
    {6, {" axis axis2 ", " use_parent_model_frame ", API_XML_ONCE, " ", NULL, NULL}},
    {6,
     {" model/pose link/pose joint/pose frame/pose inertial/pose ", " frame ", API_XML_ATTRIBUTE_READ, NULL, NULL,
      NULL}},
    {6, {" pose ", " frame ", API_XML_ATTRIBUTE_DROPPED, NULL, NULL, NULL}},
    {6, IRRELEVANT(" actor audio_source camera collision inertial joint light link population projector sensor visual ",
                   " frame ", NULL)},
    {6, IRRELEVANT(" actor ", " static ", " ")},
    {6, IRRELEVANT(" imu ", " topic ", " ")},
    {6, IRRELEVANT(" ode ", " provide_feedback ", " ")},
    {5, {" physics ", " gravity ", API_XML_ONCE, " ", NULL, NULL}},
    {5, IRRELEVANT(" physics ", " magnetic_field ", " ")},
    {5, IRRELEVANT(" imu ", " noise ", NULL)},
    {4, {" actor ", " static ", API_XML_ATTRIBUTE_DROPPED, NULL, NULL, NULL}},
    {3, IRRELEVANT(" bullet solver ", " dt ", " ")},
    {3, IRRELEVANT(" physics ", " update_rate ", " ")},
    {2, IRRELEVANT(" mesh ", " filename ", " ")},
};

static const api_xml_known weighed = {" link ", " collision ", API_XML_ELSEWHERE, " name ", NULL, NULL};

enum { OLD_ROWS = sizeof old / sizeof *old, MORE_ROWS = OLD_ROWS + 1 };

_Static_assert(sizeof known / sizeof *known + MORE_ROWS <= API_XML_ROWS, "a vocabulary has at most API_XML_ROWS rows");

bool api_sdf_report_unused(api_sdf *sdf)
{
    api_xml_known      more[MORE_ROWS];
    api_xml_vocabulary vocabulary = {.root  = {"", " sdf ", API_XML_READ, " version ", NULL, NULL},
                                     .n     = sizeof known / sizeof *known,
                                     .known = known,
                                     .more  = more};
    int                oldest     = sdf->minor;
    for (size_t i = 1; i < sdf->files->n; i++)
        if (sdf->files->minor[i] < oldest) oldest = sdf->files->minor[i];
    while (vocabulary.n_more < OLD_ROWS && oldest <= old[vocabulary.n_more].last) {
        more[vocabulary.n_more] = old[vocabulary.n_more].known;
        vocabulary.n_more++;
    }
    if (sdf->weighs_collisions) {
        vocabulary.n--;
        more[vocabulary.n_more++] = weighed;
    }
    return api_xml_report_unused(&sdf->xml, &vocabulary);
}
