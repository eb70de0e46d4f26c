// sdformat.cc - prints as JSON how libsdformat reads an SDF file, for tests of the SDF reader: gravity of the world;
// poses of links, joints and frames in the outermost model; parents, children, damping, friction and springs of joints,
// and their axes in that model's axes; inertias in the axes of their links.
//
//     sdformat FILE...
//
// The output is a list with one entry for each file, null for a file that libsdformat refuses.
#include <cstdio>
#include <sdf/sdf.hh>
#include <string>

using ignition::math::Pose3d;

static void print_pose(const Pose3d &X)
{
    std::printf("[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]", X.X(), X.Y(), X.Z(), X.Rot().X(), X.Rot().Y(),
                X.Rot().Z(), X.Rot().W());
}

// Resolves a pose in `model` and carries it to the outermost model, in which `model` has the pose X.
static Pose3d resolve(const sdf::SemanticPose &semantic, const Pose3d &X)
{
    Pose3d pose;
    if (!semantic.Resolve(pose, "__model__").empty()) std::exit(2);
    return X * pose;
}

static bool first = true;
static void begin(const std::string &kind, const std::string &name)
{
    std::printf("%s{\"kind\":\"%s\",\"name\":\"%s\",\"pose\":", first ? "" : ",\n", kind.c_str(), name.c_str());
    first = false;
}

static void print_links(const sdf::Model &model, const std::string &prefix, const Pose3d &X)
{
    for (uint64_t i = 0; i < model.LinkCount(); i++) {
        const sdf::Link *link = model.LinkByIndex(i);
        const auto      &I    = link->Inertial();
        const auto       M    = I.Moi();
        begin("link", prefix + link->Name());
        print_pose(resolve(link->SemanticPose(), X));
        std::printf(",\"mass\":%.17g,\"com\":[%.17g,%.17g,%.17g],\"inertia\":[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]}",
                    I.MassMatrix().Mass(), I.Pose().X(), I.Pose().Y(), I.Pose().Z(), M(0, 0), M(0, 1), M(0, 2), M(1, 1),
                    M(1, 2), M(2, 2));
    }
}

// Writes the links that a joint connects, and damping, friction, stiffness and reference of its axes.
static void print_forces(const sdf::Joint &joint, const std::string &prefix)
{
    std::string parent, child;
    if (!joint.ResolveParentLink(parent).empty() || !joint.ResolveChildLink(child).empty()) std::exit(2);
    std::printf(",\"parent\":\"%s\",\"child\":\"%s\",\"dynamics\":[",
                (parent == "world" ? parent : prefix + parent).c_str(),
                (child == "world" ? child : prefix + child).c_str());
    for (unsigned k = 0; k < 2 && joint.Axis(k); k++) {
        const sdf::JointAxis &axis = *joint.Axis(k);
        std::printf("%s[%.17g,%.17g,%.17g,%.17g]", k ? "," : "", axis.Damping(), axis.Friction(),
                    axis.SpringStiffness(), axis.SpringReference());
    }
    std::printf("]");
}

static void print_joints(const sdf::Model &model, const std::string &prefix, const Pose3d &X)
{
    for (uint64_t i = 0; i < model.JointCount(); i++) {
        const sdf::Joint *joint = model.JointByIndex(i);
        begin("joint", prefix + joint->Name());
        print_pose(resolve(joint->SemanticPose(), X));
        std::printf(",\"type\":%d,\"axes\":[", static_cast<int>(joint->Type()));
        for (unsigned k = 0; k < 2 && joint->Axis(k); k++) {
            ignition::math::Vector3d axis;
            if (!joint->Axis(k)->ResolveXyz(axis, "__model__").empty()) std::exit(2);
            axis = X.Rot() * axis;
            std::printf("%s[%.17g,%.17g,%.17g]", k ? "," : "", axis.X(), axis.Y(), axis.Z());
        }
        std::printf("],\"thread_pitch\":%.17g", joint->ThreadPitch());
        print_forces(*joint, prefix);
        std::printf("}");
    }
}

static void print_model(const sdf::Model &model, const std::string &prefix, const Pose3d &X)
{
    print_links(model, prefix, X);
    print_joints(model, prefix, X);
    for (uint64_t i = 0; i < model.FrameCount(); i++) {
        const sdf::Frame *frame = model.FrameByIndex(i);
        std::string       body;
        begin("frame", prefix + frame->Name());
        print_pose(resolve(frame->SemanticPose(), X));
        if (!frame->ResolveAttachedToBody(body).empty()) std::exit(2);
        std::printf(",\"link\":\"%s\"}", (prefix + body).c_str());
    }
    for (uint64_t i = 0; i < model.ModelCount(); i++) {
        const sdf::Model *inner = model.ModelByIndex(i);
        print_model(*inner, prefix + inner->Name() + "::", resolve(inner->SemanticPose(), X));
    }
}

// Writes the gravity of the world, if the file has one.
static void print_world(const sdf::Root &root)
{
    if (root.WorldCount() == 0) return;
    const ignition::math::Vector3d g = root.WorldByIndex(0)->Gravity();
    std::printf("{\"kind\":\"world\",\"gravity\":[%.17g,%.17g,%.17g]}", g.X(), g.Y(), g.Z());
    first = false;
}

// Writes the pose of the model in the world.
static void print_place(const sdf::Model &model, bool in_world)
{
    Pose3d X = model.RawPose();
    if (in_world && !model.SemanticPose().Resolve(X, "world").empty()) std::exit(2);
    begin("model", model.Name());
    print_pose(X);
    std::printf("}");
}

// Returns the first model of the world that is not static, or the model of the file.
static const sdf::Model *find_model(const sdf::Root &root)
{
    if (root.WorldCount() == 0) return root.Model();
    for (uint64_t i = 0; i < root.WorldByIndex(0)->ModelCount(); i++)
        if (!root.WorldByIndex(0)->ModelByIndex(i)->Static()) return root.WorldByIndex(0)->ModelByIndex(i);
    return nullptr;
}

static bool print_file(const char *path)
{
    sdf::Root root;
    for (const auto &error : root.Load(path)) {
        std::fprintf(stderr, "%s\n", error.Message().c_str());
        return false;
    }
    const sdf::Model *model = find_model(root);
    if (!model) return false;
    first = true;
    std::printf("[");
    print_world(root);
    print_place(*model, root.WorldCount() > 0);
    print_model(*model, "", Pose3d::Zero);
    std::printf("]");
    return true;
}

int main(int argc, char *argv[])
{
    bool good = argc > 1;
    std::printf("[");
    for (int i = 1; i < argc; i++) {
        std::printf(i > 1 ? ",\n" : "");
        if (print_file(argv[i])) continue;
        std::printf("null");
        good = false;
    }
    std::printf("]\n");
    return good ? 0 : 1;
}
