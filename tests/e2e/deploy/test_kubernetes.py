"""Tests kubernetes.yaml of deploy/: valid, within the restricted security standard, and consistent with the server and
the image."""
import os
import re
import unittest

import jsonschema
import tap
import yaml
from deploy import manifests, pod, read, run, settings
from harness import BINARY, ROOT, ServerCase


class Manifests(ServerCase):
    def test_parts_fit_together(self):
        service, deployment, budget, policy = (manifests()[kind] for kind in (
            "Service", "Deployment", "PodDisruptionBudget", "NetworkPolicy"))
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        container = pod()["containers"][0]
        for selector in (service["spec"]["selector"], deployment["spec"]["selector"]["matchLabels"],
                         budget["spec"]["selector"]["matchLabels"], policy["spec"]["podSelector"]["matchLabels"],
                         pod()["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]):
            self.assertEqual(selector, labels)
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, {v["name"] for v in pod()["volumes"]})
        self.assertIn(policy["spec"]["ingress"][0]["ports"][0]["port"], {port["name"] for port in container["ports"]})
        self.assertEqual(container["image"], pod()["initContainers"][0]["image"])
        self.assertEqual(container["env"][:2], pod()["initContainers"][0]["env"], "server and migration use one database")
        self.assertEqual([service["spec"]["ports"][0]["targetPort"], "health"], [port["name"] for port in container["ports"]])

    def test_they_fit_the_image(self):
        image, container = read("Containerfile"), pod()["containers"][0]
        user, group = re.search(r"^USER (\d+):(\d+)$", image, re.MULTILINE).groups()
        context = pod()["securityContext"]
        self.assertEqual((context["runAsUser"], context["runAsGroup"], context["fsGroup"]),
                         (int(user), int(group), int(group)))
        self.assertTrue(re.search("TORQUED_TOKENS=(\\S+)", image)[1].startswith(container["volumeMounts"][0]["mountPath"]))
        port = re.search(r"^EXPOSE (\d+)$", image, re.MULTILINE)[1]
        self.assertEqual(str(container["ports"][0]["containerPort"]), port)
        version = run(BINARY, "--version", check=True).stdout.split()[1]
        self.assertEqual(container["image"], f"torqued:{version}-postgresql")
        for source in re.findall(r"^COPY (?!--)(.*) \S+$", image, re.MULTILINE):
            for name in source.split():
                self.assertTrue(os.path.exists(os.path.join(ROOT, name)), name)

    def test_probes_answer(self):
        """Probes use the port of TORQUED_HEALTH_LISTEN, a variable that the image sets."""
        container = pod()["containers"][0]
        port = re.search(r"TORQUED_HEALTH_LISTEN=0.0.0.0:(\d+) ", read("Containerfile"))[1]
        self.assertIn({"name": "health", "containerPort": int(port)}, container["ports"])
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            asked = container[probe]["httpGet"]
            self.assertEqual(asked["port"], "health")
            self.assertNotIn("scheme", asked, "the address has no TLS")
            self.assertEqual(self.client.get(asked["path"]).status, 200)

    def test_the_autoscaler_reads_a_metric_of_the_server(self):
        scaler = manifests()["HorizontalPodAutoscaler"]["spec"]
        target = scaler["scaleTargetRef"]
        self.assertEqual(target["name"], manifests()[target["kind"]]["metadata"]["name"])
        metric = scaler["metrics"][0]["pods"]["metric"]["name"]
        self.assertIn(f"# TYPE {metric} gauge\n", self.client.get("/metrics").body.decode())
        preset = settings()
        # the container's limit is four cores; one of them runs the event loop
        workers = int(pod()["containers"][0]["resources"]["limits"]["cpu"]) - 1
        self.assertLess(int(scaler["metrics"][0]["pods"]["target"]["averageValue"]), workers * float(preset["TORQUED_QUEUE"]))
        self.assertNotIn("replicas", manifests()["Deployment"]["spec"], "the autoscaler sets them")


class Kubernetes(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(ROOT, "tests", "e2e", "deploy", "kubernetes.schema.yaml")) as file:
            self.schema = jsonschema.Draft202012Validator(yaml.safe_load(file))

    def test_the_manifests_are_valid(self):
        for document in yaml.safe_load_all(read("kubernetes.yaml")):
            self.schema.validate(document)

    def test_the_schema_finds_misspelt_fields(self):
        for path in (("spec", "template", "spec", "containers", 0, "readinessProbe", "httpGet"), ("spec", "strategy"), ("metadata",)):
            document = manifests()["Deployment"]
            place = document
            for step in path:
                place = place[step]
            place["pathe"] = "/"
            self.assertFalse(self.schema.is_valid(document), path)

    def test_pods_meet_the_restricted_standard(self):
        """Pods meet the Kubernetes Pod Security Standard "restricted"."""
        context = pod()["securityContext"]
        self.assertIs(context["runAsNonRoot"], True)
        self.assertGreater(context["runAsUser"], 0)
        self.assertEqual(context["seccompProfile"]["type"], "RuntimeDefault")
        for container in pod()["containers"] + pod()["initContainers"]:
            self.assertEqual(container["securityContext"], {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        self.assertLessEqual({kind for volume in pod()["volumes"] for kind in volume if kind != "name"}, {"secret"})

    def test_a_pod_serves_while_the_endpoints_change(self):
        given = {entry["name"]: entry.get("value") for entry in pod()["containers"][0]["env"]}
        delay, drain = int(given["TORQUED_DRAIN_DELAY"]), int(given["TORQUED_DRAIN"])
        self.assertGreater(pod()["terminationGracePeriodSeconds"], delay + drain)
        probe = pod()["containers"][0]["readinessProbe"]
        self.assertGreater(delay, probe["periodSeconds"] * probe["failureThreshold"])
        self.assertEqual(given["TORQUED_MEMORY"], settings()["TORQUED_MEMORY"])


if __name__ == "__main__":
    tap.main()
