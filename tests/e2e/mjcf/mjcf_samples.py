"""Builds a small model in MJCF for each element, and a legal value other than the default for each attribute.

`sample(path, attribute)` is the text of a model in which the element of that path has the attribute, `sample(path)` the
same text without it. Paths are those of the table in api/robots/mjcf_schema/mjcf_schema.c, as tuples that start with the
outermost section."""

ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
             "adhesion", "dcmotor", "plugin")
ORIENTATIONS = {"quat": "1 2 3 4", "axisangle": "1 2 3 40", "xyaxes": "1 2 0 -2 1 0", "zaxis": "1 2 3", "euler": "10 20 30"}
MESH = 'vertex="0 0 0 .4 0 0 0 .5 0 0 0 .6"'

# Attributes that an element needs in addition to the one that is tested.
NEEDED = {
    "mesh": {"name": "x", "vertex": "0 0 0 .4 0 0 0 .5 0 0 0 .6"}, "hfield": {"name": "x", "nrow": "2", "ncol": "2",
                                                                        "size": "1 1 1 .1"},
    "texture": {"name": "x", "type": "2d", "builtin": "flat", "width": "4", "height": "4"}, "material": {"name": "x"},
    "layer": {"texture": "tex", "role": "rgb"}, "skin": {"name": "x", "vertex": "0 0 0 1 0 0 0 1 0", "face": "0 1 2"}, "user": {"dim": "1"},
   
    "bone": {"body": "A", "bindpos": "0 0 0", "bindquat": "1 0 0 0", "vertid": "0 1 2", "vertweight": "1 1 1"},
    "pair": {"geom1": "g1", "geom2": "g2"}, "exclude": {"body1": "A", "body2": "B"},
    "numeric": {"name": "x", "data": "1"}, "text": {"name": "x", "data": "t"}, "tuple": {"name": "x"},
    "element": {"objtype": "body", "objname": "A"}, "key": {},
    "connect": {"body1": "A", "body2": "F", "anchor": "0 0 0"}, "weld": {"body1": "A", "body2": "F"},
    "spatial": {"name": "x"}, "fixed": {"name": "x"}, "camprojection": {"site": "s1", "camera": "cam"},
    "rangefinder": {"site": "s1"}, "insidesite": {"site": "s1", "objtype": "body", "objname": "A"},
    "distance": {"geom1": "g1", "geom2": "g2"}, "normal": {"geom1": "g1", "geom2": "g2"},
    "fromto": {"geom1": "g1", "geom2": "g2"}, "tactile": {"geom": "g1", "mesh": "tet"}, "inertial": {
        "pos": ".1 .2 .3", "mass": "2", "diaginertia": ".1 .2 .25"},
    "damper": {"joint": "j1", "ctrlrange": "0 1"}, "orientation": {"joint": "bj", "kp": "3"}, "adhesion": {"body": "A", "ctrlrange": "0 1"},
    "cylinder": {"joint": "j1"}, "dcmotor": {"joint": "j1", "motorconst": "2", "resistance": "3"},
    "site": {"name": "x"}, "geom": {"size": ".1 .15 .2", "mass": "1.5", "pos": ".2 .3 .1"},
}
SENSORS = {"joint": "jointpos jointvel jointactuatorfrc", "tendon": "tendonpos tendonvel tendonactuatorfrc",
           "site": "touch accelerometer velocimeter gyro force torque magnetometer", "body": "subtreecom subtreelinvel subtreeangmom",
           "actuator": "actuatorpos actuatorvel actuatorfrc"}
OBJECTS = {"joint": "j1", "tendon": "ten", "site": "s1", "body": "A", "actuator": "act", "camera": "cam", "geom": "g1"}
for kind, names in SENSORS.items():
    NEEDED.update({name: {kind: OBJECTS[kind]} for name in names.split()})
for name in "jointlimitpos jointlimitvel jointlimitfrc".split():
    NEEDED[name] = {"joint": "limited"}
for name in "tendonlimitpos tendonlimitvel tendonlimitfrc".split():
    NEEDED[name] = {"tendon": "ten"}
for name in "ballquat ballangvel".split():
    NEEDED[name] = {"joint": "bj"}
for name in "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc".split():
    NEEDED[name] = {"objtype": "body", "objname": "A"}
for name in ACTUATORS:
    NEEDED.setdefault(name, {"joint": "j1"})

# Legal values by attribute, or by element and attribute where these differ. A dict sets further attributes, a list gives several values to try.
# All other attributes are tried with the first two values in GENERIC that MuJoCo accepts.
VALUES = {
    **ORIENTATIONS, "user": "1", "group": "2", "class": "own", "childclass": "own", "pos": ".1 .2 .3", "mass": "3",
    "material": "mat", "density": "700", "armature": ".3", "damping": ".4", "stiffness": "5", "frictionloss": ".6",
    "friction": ".5 .01 .001", "fluidshape": "ellipsoid", "fluidcoef": ".1 .2 .3 .4 .5", "limited": "true", "range": "-20 30",
    "actuatorfrcrange": "-3 4", "actuatorgravcomp": "true", "ref": "20", "springref": {"springref": "30", "stiffness": "5"},
    "springdamper": ".2 .7", "gear": {"gear": "3", "armature": ".2"}, "ctrlrange": "-2 3",
    "ctrllimited": {"ctrlrange": "-2 3", "ctrllimited": "false"}, "forcerange": "-3 2",
    "forcelimited": {"forcerange": "-3 2", "forcelimited": "false"}, "delay": {"nsample": "3", "delay": ".01"},
    "actuatorfrclimited": {"actuatorfrcrange": "-3 4", "actuatorfrclimited": "false"}, "interp": {"nsample": "3", "interp": "linear"},
    "joint": "j1", "jointinparent": {"joint": None, "jointinparent": "j1"}, "tendon": {"joint": None, "tendon": "ten"},
    "site": {"joint": None, "site": "s2"}, "refsite": {"joint": None, "site": "s1", "refsite": "s3"},
    "body": "B", "cranksite": {"joint": None, "cranksite": "s1", "slidersite": "s3", "cranklength": "2"},
    "slidersite": {"joint": None, "cranksite": "s1", "slidersite": "s3", "cranklength": "2"},
    "cranklength": {"joint": None, "cranksite": "s1", "slidersite": "s3", "cranklength": "2"},
    "objname": "B", "objtype": "xbody", "reftype": {"reftype": "body", "refname": "F"},
    "refname": {"reftype": "body", "refname": "F"}, "integrator": "RK4", "cone": "elliptic", "jacobian": "dense", "solver": "CG",
    "camera": "cam", "texture": "tex", "geom1": "g2", "geom2": "g3", "mesh": "tet", "hfield": "hf", "actuator": "act",
    "joint1": "j2", "joint2": "j2", "body1": "B", "body2": "F", "model": "m", "conflict": "error", "angle": "radian",
    "coordinate": "local", "eulerseq": "XYZ", "target": "A", "gravcomp": ".5", "mocap": "true", "sleep": "never",
    "inertiafromgeom": ["true", "false"], "inertiagrouprange": "0 3", "boundmass": "2.5", "boundinertia": ".3",
    "settotalmass": "7", "gravity": "1 2 -8", "wind": {"wind": "1 2 3", "density": "100"}, "viscosity": "2",
    "actuatorgroupdisable": "0", "align": "true", "anchor": ".1 .2 .3", "polycoef": ".1 .5", "site1": "s1", "site2": "s3",
    "fromto": {"fromto": "0 0 0 .1 .2 .3", "type": "capsule"}, "hflip": "true", "gridlayout": {"gridsize": "1 1", "gridlayout": "."},
}
BY_ELEMENT = {
    ("option", "density"): "1.2", ("key", "qpos"): "0 0 0 0 0 0 0 0 0 0 0 0", ("inertial", "mass"): "3", ("inertial", "diaginertia"): ".3 .4 .5",
    ("inertial", "fullinertia"): {"diaginertia": None, "fullinertia": ".2 .3 .35 .01 .02 .03"},
    ("geom", "type"): ["box", "ellipsoid"], ("site", "fromto"): {"fromto": "0 0 0 .1 .2 .3", "type": "capsule"},
    ("geom", "group"): "4", ("geom", "mesh"): {"type": "mesh", "mesh": "tet", "mass": None},
    ("geom", "shellinertia"): "true", ("geom", "fitscale"): {"type": "box", "mesh": "tet", "fitscale": "2", "mass": None},
    ("geom", "hfield"): {"type": "hfield", "hfield": "hf"}, ("geom", "size"): ".2 .3 .4", ("geom", "density"): {
        "mass": None, "density": "700"},
    ("joint", "type"): ["slide", "ball"], ("joint", "axis"): "3 1 2", ("adhesion", "gain"): "2",
    ("freejoint", "name"): "f", ("general", "gaintype"): "affine", ("general", "biastype"): "affine",
    ("general", "dyntype"): "filter", ("general", "gainprm"): "3", ("general", "dynprm"): {"dyntype": "filter", "dynprm": ".3"},
    ("general", "actdim"): {"dyntype": "filter", "actdim": "1"}, ("general", "actearly"): {"dyntype": "filter", "actearly": "true"},
    ("general", "actrange"): {"dyntype": "filter", "actrange": "-1 1"},
    ("general", "actlimited"): {"dyntype": "filter", "actrange": "-1 1", "actlimited": "true"},
    ("general", "input"): {"gaintype": "pid", "biastype": "affine", "input": "vel"},
    ("general", "velrange"): {"gaintype": "pid", "biastype": "affine", "velrange": "-1 1"},
    ("general", "ffrange"): {"gaintype": "pid", "biastype": "affine", "input": "pos ff", "ffrange": "-1 1"},
    ("position", "inheritrange"): {"joint": "limited", "inheritrange": ".5"},
    ("intvelocity", "inheritrange"): {"joint": "limited", "inheritrange": ".5"},
    ("pid", "inheritrange"): {"joint": "limited", "inheritrange": ".5"}, ("pid", "input"): "vel", ("pid", "ki"): "2",
    ("pid", "imax"): {"ki": "2", "imax": ".5"}, ("pid", "slewmax"): ".5", ("pid", "posrange"): "-1 1",
    ("intvelocity", "actrange"): "-1 1", ("orientation", "input"): "quat", ("dcmotor", "input"): "pos",
    ("orientation", "forcerange"): "0 2", ("orientation", "forcelimited"): {"forcerange": "0 2", "forcelimited": "false"},
    ("orientation", "joint"): "bj2", ("orientation", "refsite"): {"joint": None, "site": "s1", "refsite": "s3"},
    ("orientation", "site"): {"joint": None, "site": "s1", "refsite": "s3"}, ("muscle", "range"): ".7 1.1",
    ("adhesion", "ctrlrange"): "0 2", ("muscle", "tausmooth"): ".1", ("muscle", "timeconst"): ".02 .05", ("motor", "joint"): "j2",
    ("connect", "site1"): {"body1": None, "body2": None, "anchor": None, "site1": "s1", "site2": "s3"},
    ("connect", "site2"): {"body1": None, "body2": None, "anchor": None, "site1": "s2", "site2": "s3"},
    ("weld", "site1"): {"body1": None, "body2": None, "site1": "s1", "site2": "s3"},
    ("weld", "site2"): {"body1": None, "body2": None, "site1": "s2", "site2": "s3"},
    ("weld", "relpose"): ".1 .2 .3 1 2 3 4", ("weld", "torquescale"): "0", ("body", "name"): "named",
}
BY_ELEMENT.update({
    ("flag", "gravity"): "disable", ("flag", "frictionloss"): "disable", ("flag", "sleep"): "enable", ("size", "memory"): "2M",
    **{("rgba", name): ".1 .2 .3 .4" for name in ("camera", "joint", "actuator")}, ("scale", "camera"): ".35",
    ("mesh", "maxhullvert"): "5", ("mesh", "inertia"): "exact", ("mesh", "texcoord"): "0 0 1 0 0 1 1 1",
    ("mesh", "vertex"): "0 0 0 .5 0 0 0 .5 0 0 0 .7", ("mesh", "face"): "0 2 1 0 1 3 0 3 2 1 2 3",
    ("mesh", "builtin"): {"vertex": None, "builtin": "sphere", "params": "1"},
    ("mesh", "params"): {"vertex": None, "builtin": "sphere", "params": "2"},
    ("geom", "fromto"): {"pos": None, "type": "capsule", "fromto": "0 0 0 .1 .2 .3"},
    ("site", "mesh"): {"type": "mesh", "mesh": "tet"}, ("site", "type"): "box",
    **{("camera", name): "10 20" for name in ("principalpixel", "focalpixel")},
    **{("camera", name): {"sensorsize": "1 1", "resolution": "10 10", "focal": "1 1", name: ".3 .4"} for name in ("principal", "focal")},
    **{("camera", name): {"sensorsize": "1 1", "resolution": "10 10", "focal": "1 1", name: "3 4"}
       for name in ("principalpixel", "focalpixel", "sensorsize")},
    ("camera", "mode"): "fixed", ("camera", "projection"): "orthographic", ("camera", "output"): "depth",
    ("light", "mode"): "track", ("light", "type"): "point", ("light", "range"): "2", ("joint", "limited"): {
        "range": "-20 30", "limited": "false"}, ("spatial", "limited"): {"range": "-1 1", "limited": "false"},
    ("fixed", "limited"): {"range": "-1 1", "limited": "false"}, ("texture", "builtin"): "checker", ("texture", "type"): "cube",
    ("texture", "colorspace"): "linear", ("bone", "vertid"): "0 2 1", ("bone", "vertweight"): ".5 .5 .5", ("joint", "joint1"): "j1",
    ("general", "velrange"): {"gaintype": "pid", "biastype": "affine", "gainprm": "0 4 1", "velrange": "-1 1"},
    ("general", "ffrange"): {"gaintype": "pid", "biastype": "affine", "gainprm": "0 4 1", "input": "pos ff", "ffrange": "-1 1"},
    ("general", "input"): {"gaintype": "pid", "biastype": "affine", "gainprm": "0 4 1", "input": "vel"},
    ("damper", "ctrlrange"): "0 2", ("damper", "ctrllimited"): {"ctrlrange": "0 2"},
    ("flag", "actuation"): "disable", ("flag", "invdiscrete"): "enable", ("dcmotor", "thermal"): "1 2 3 4 5 6", ("skin", "vertex"): "0 0 0 1 0 0 0 2 0", ("skin", "texcoord"): "0 0 1 0 0 1",
    ("skin", "face"): "0 2 1", ("adhesion", "class"): "plain", **{(name, "cutoff"): None for name in (
        "ballquat", "framequat", "framexaxis", "frameyaxis", "framezaxis")},
    ("dcmotor", "controller"): {"input": "pos", "controller": "3 0 1"}, ("rangefinder", "camera"): {"site": None, "camera": "cam"},
    ("rangefinder", "data"): "dist", ("contact", "data"): "dist", ("contact", "subtree1"): "A", ("contact", "subtree2"): "A",
    ("contact", "reduce"): "netforce", ("contact", "num"): "2",
    **{(name, "joint"): "bj2" for name in ("ballquat", "ballangvel")},
    **{(name, "joint"): "limited2" for name in ("jointlimitpos", "jointlimitvel", "jointlimitfrc")},
    **{(name, "geom1"): "g3" for name in ("distance", "normal", "fromto")},
    **{(name, body): {geom: None, body: "F"} for name in ("distance", "normal", "fromto")
       for body, geom in (("body1", "geom1"), ("body2", "geom2"))}, ("tactile", "geom"): "g2",
    ("joint", "coef"): "3", ("user", "objtype"): {"objtype": "body", "objname": "A"}, ("user", "dim"): "2",
    ("user", "objname"): {"objtype": "body", "objname": "A"}, ("user", "needstage"): "vel", ("user", "datatype"): "positive",
    ("tendon", "tendon1"): "ten2", ("tendon", "tendon2"): "ten2",
})
# Elements that are tested inside a class of <default>, where they apply to the whole model.
IN_DEFAULT = {
    ("joint", "limited"): "false", ("joint", "range"): {"limited": "false", "range": "-20 30"}, ("geom", "fromto"): None,
    ("geom", "hfield"): None, ("site", "fromto"): None, ("site", "mesh"): None, ("general", "actdim"): "0",
    ("general", "ffrange"): None, ("general", "velrange"): None, ("general", "actlimited"): "false", ("general", "actrange"): None,
    ("general", "input"): None, ("intvelocity", "actrange"): None, ("orientation", "input"): None, ("pid", "input"): None,
    **{(name, "inheritrange"): None for name in ("position", "intvelocity", "pid")},
    **{(name, "cranklength"): "2" for name in ACTUATORS}, ("dcmotor", "input"): None, ("dcmotor", "controller"): None,
    ("default", "class"): None, ("dcmotor", "lugre"): None, ("dcmotor", "inductance"): None, ("dcmotor", "thermal"): None,
}
# Attributes that are not tried: no value is legal without other files, or the value has no effect without another model.
UNTRIED = {"file": "names a file", "content_type": "is about a file", "fileright": "names a file", "fileleft": "names a file",
           "fileup": "names a file", "filedown": "names a file", "filefront": "names a file", "fileback": "names a file",
           "plugin": "needs a plugin that the program has loaded", "instance": "needs a plugin that the program has loaded",
           "act": "needs activations", "mpos": "needs mocap bodies", "mquat": "needs mocap bodies"}
GENERIC = ["0.35", "1", "2", "true", "false", "enable", "disable", "0.1 0.2 0.3", "0.1 0.2 0.3 0.4", "0.2 0.35", "10 20",
           ".4 .5 .6 .7 .8", "none", "x"]

HEAD = """<default><default class="own"><joint armature=".7" damping=".3"/><geom density="900"/><site pos=".4 .1 0"/>
<motor gear="2" armature=".6"/><general gear="2" armature=".6"/><mesh scale="1 1 1"/></default><default class="plain"><motor group="1"/></default></default>"""
ASSETS = f"""<asset><texture name="tex" type="2d" builtin="flat" width="4" height="4"/><material name="mat"/><mesh name="tet" {MESH}/>
<hfield name="hf" nrow="2" ncol="2" size="1 1 1 .1"/></asset>"""
BODIES = """<body name="A" pos="0 0 1"><joint name="j1" axis="0 1 0"/><geom name="g1" type="box" size=".1 .2 .3" pos=".4 .1 .2"
mass="2"/><site name="s1" pos=".1 .2 .3"/><camera name="cam"/><body name="B" pos=".3 .1 .2"><joint name="j2" type="slide"
axis="1 2 2"/><geom name="g2" size=".1 .15 .2" mass="1" pos=".1 .05 .2"/><site name="s2" pos=".2 0 .1"/></body></body>
<body name="F" pos="3 0 0"><joint name="bj" type="ball"/><geom name="g3" size=".1 .15 .2" pos=".1 .2 .3" mass="1"/><site name="s3"/></body>
<body name="G" pos="6 0 0"><joint name="bj2" type="ball"/><geom size=".1 .15 .2" pos=".1 .2 .3" mass="1"/></body>
<body name="H" pos="9 0 0"><joint name="limited" type="hinge" range="-40 50"/><joint name="limited2" type="hinge" range="-40 50"
axis="0 1 0"/><geom size=".1 .15 .2" pos=".1 .2 .3" mass="1"/></body>"""
TENDON = """<tendon><fixed name="ten" range="-1 1"><joint joint="j1" coef="2"/></fixed><fixed name="ten2" range="-1 1"><joint
joint="j2" coef="2"/></fixed></tendon>"""
ACTUATOR = '<actuator><motor name="act" joint="j2" group="0" ctrlrange="-5 5"/></actuator>'
# The body that surrounds an element, with the siblings that the element needs.
IN_BODY = '<body name="X" pos="1 2 3"><joint name="x1" axis="1 1 0"/>{}<geom name="gx" size=".1 .15 .2" mass="1" pos=".3 .2 .1"/></body>'
CONTENT = {"tuple": '<element objtype="body" objname="A"/>', "fixed": '<joint joint="j1" coef="1"/>',
           "spatial": '<site site="s1"/><site site="s3"/>', "skin": """<bone body="A"
bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/>""", "frame": '<inertial pos=".1 .2 .3" mass="2" diaginertia=".1 .2 .25"/>'}


def element(name, attributes, content=""):
    text = "".join(f' {key}="{value}"' for key, value in attributes.items() if value is not None)
    return f"<{name}{text}>{content}</{name}>"


def candidates(path, attribute):
    """Returns dicts of attributes that each give `attribute` a legal value; none if there is no legal value."""
    name = path[-1]
    value = BY_ELEMENT.get((name, attribute), VALUES.get(attribute, GENERIC))
    if path[0] == "default":
        value = IN_DEFAULT.get((name, attribute), value)
    if value is None or attribute in UNTRIED:
        return
    for choice in value if isinstance(value, list) else [value]:
        yield choice if isinstance(choice, dict) else {attribute: choice}


def around(path, inner):
    """Returns the text of the model with `inner` as the text of the innermost element."""
    section = path[0]
    if section in ("body", "frame"):
        if path in (("body",), ("frame",)):
            world = BODIES + inner
        elif path[1] == "joint":
            world = BODIES + IN_BODY.format("").replace('<joint name="x1" axis="1 1 0"/>', inner)
        elif path[1] == "freejoint":
            world = BODIES + IN_BODY.format("").replace('<joint name="x1" axis="1 1 0"/>', inner)
        else:
            world = BODIES + IN_BODY.format(wrap(path[1:-1], inner))
        return model(world=world)
    if section == "mujoco":
        return model().replace("<mujoco>", inner[:-len("</mujoco>")])
    return model(extra=wrap(path[:-1], inner))


def wrap(path, inner):
    for i in reversed(range(len(path))):
        needed = {} if path[0] == "default" else NEEDED.get(path[i], {})
        ends = ('<site site="s2"/>', '<site site="s3"/>') if path[i] == "spatial" else ("", "")
        inner = element(path[i], needed, inner.join(ends))
    return inner


def model(world=BODIES, extra=""):
    return f"<mujoco>{HEAD}{ASSETS}{extra}<worldbody>{world}</worldbody>{TENDON}{ACTUATOR}</mujoco>"


def sample(path, attributes=None):
    name = path[-1]
    needed = {} if path[0] == "default" and name != "dcmotor" else dict(NEEDED.get(name, {}))
    content = CONTENT.get(name, "")
    if path[0] == "default":
        needed.pop("joint", None)
    if path == ("body",) and attributes and "mocap" in attributes:
        return around(path, element(name, attributes))
    if path == ("body",):
        needed, content = {"name": "X"}, '<joint axis="1 1 0"/><geom size=".1 .15 .2" mass="1" pos=".3 .2 .1"/>'
    if path == ("frame",):
        content = IN_BODY.format("")
    if path == ("body", "joint"):
        needed = {"name": "x1", "axis": "1 1 0"}
    if path[:1] == ("tendon",) and len(path) == 3 or path[0] == "default" and name == "tendon":
        needed = {"joint": {"joint": "j1", "coef": "1"}, "site": {"site": "s1"}, "geom": {"geom": "g1"},
                  "pulley": {"divisor": "2"}}.get(name, {})
    if path == ("equality", "tendon"):
        needed = {"tendon1": "ten"}
    if path == ("equality", "joint"):
        needed = {"joint1": "j1", "joint2": "j2"}
    text = around(path, element(name, {**needed, **(attributes or {})}, content))
    return text.replace(' type="ball"', "") if path == ("default", "joint") else text
