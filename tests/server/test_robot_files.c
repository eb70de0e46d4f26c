/* test_robot_files.c - finds files by the names by which robot files refer to them; no name refers to a file outside
   those that were given. */
#include "api/robots/files.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define ENTRY(path, text)                                                                                              \
    {                                                                                                                  \
        path, text, sizeof text - 1                                                                                    \
    }

static const api_file_entry entries[] = {
    ENTRY("scene.xml", ""),
    ENTRY("panda/panda.xml", ""),
    ENTRY("panda/meshes/hand.stl", ""),
    ENTRY("ws/src/arm-ros/package.xml", "<package>\n<name> arm </name></package>"),
    ENTRY("ws/src/arm-ros/meshes/base.stl", ""),
    ENTRY("ws/src/arm/urdf/arm.urdf", ""),
    ENTRY("other/twin/model.config", ""),
    ENTRY("one/twin/model.config", ""),
    ENTRY("one/twin/model.sdf", ""),
    ENTRY("package.xml", "<name>root_package</name>"),
    ENTRY("cut/package.xml", "<name>cu"),
    ENTRY("cut/a.stl", ""),
};
static const api_files files = {entries, sizeof entries / sizeof *entries};

/* Asserts the path of the file that `name` in a file of `folder` names; NULL: there is none. */
static void finds(const char *folder, const char *name, const char *path)
{
    const api_file_entry *found = api_files_find(&files, folder, name);
    if (!path && found) fail_msg("%s is found as %s", name, found->path);
    if (path && (!found || strcmp(found->path, path) != 0)) fail_msg("%s is %s", name, found ? found->path : "missing");
}

static void relative_names(void **state)
{
    (void)state;
    finds("", "scene.xml", "scene.xml");
    finds("panda", "meshes/hand.stl", "panda/meshes/hand.stl");
    finds("panda", "./meshes//../meshes/hand.stl", "panda/meshes/hand.stl");
    finds("panda/meshes", "../../scene.xml", "scene.xml");
    finds("panda", "/scene.xml", "scene.xml");
    finds("panda", "file:///panda/panda.xml", "panda/panda.xml");
    finds("panda", "file://panda.xml", "panda/panda.xml");
    finds("panda", "hand.stl", NULL);
    finds("panda", "meshes", NULL);
    finds("", "", NULL);
    finds("", "..", NULL);
    assert_null(api_files_find(NULL, "", "scene.xml"));
}

/* A name above the root is not found, even where its end would be a file. */
static void names_stay_inside(void **state)
{
    char deep[4 * API_FILE_PATH];
    (void)state;
    finds("panda", "../../scene.xml", NULL);
    finds("", "../scene.xml", NULL);
    finds("", "/../scene.xml", NULL);
    finds("", "model://one/../../scene.xml", NULL);
    finds("", "http://scene.xml", NULL);
    memset(deep, 'a', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    finds("", deep, NULL);
    finds(deep + 3 * API_FILE_PATH, "b", NULL);
}

static void packages(void **state)
{
    (void)state;
    finds("x", "package://panda/meshes/hand.stl", "panda/meshes/hand.stl");
    finds("", "package://arm/meshes/base.stl", "ws/src/arm-ros/meshes/base.stl");
    finds("", "package://arm/urdf/../urdf/arm.urdf", "ws/src/arm/urdf/arm.urdf");
    finds("", "package://root_package/scene.xml", "scene.xml");
    finds("", "package://root/scene.xml", NULL);
    finds("", "package://anda/meshes/hand.stl", NULL);
    finds("", "package://panda/hand.stl", NULL);
    finds("", "package://cut/a.stl", "cut/a.stl");
    finds("", "package://cu/a.stl", NULL);
    finds("", "package:///scene.xml", NULL);
    finds("", "package://panda", NULL);
}

/* If two folders have the name of a package, the one nearer to the referring file counts, then the one with the shorter
   path. */
static void nearest_package(void **state)
{
    (void)state;
    finds("", "model://twin/model.config", "one/twin/model.config");
    finds("other", "model://twin/model.config", "other/twin/model.config");
    finds("other/x/y", "model://twin/model.config", "other/twin/model.config");
    finds("others", "model://twin/model.config", "one/twin/model.config");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_names),
        cmocka_unit_test(names_stay_inside),
        cmocka_unit_test(packages),
        cmocka_unit_test(nearest_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
