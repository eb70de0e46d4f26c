"""Tests the store in PostgreSQL through HTTP and the command line, by the same tests as the store in a folder."""
import tap
from samples import pendulum
from store_suite import StoreSuite
from stores import DatabaseCase


class Database(StoreSuite, DatabaseCase):
    """A trigger raises the errors of a full or failing disk of the database."""

    def refuse(self, state):
        self.database.sql("CREATE OR REPLACE FUNCTION torqued.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' "
                          f"USING ERRCODE = '{state}'; END $$; DROP TRIGGER IF EXISTS refuse ON torqued.models; "
                          "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON torqued.models FOR EACH ROW EXECUTE FUNCTION torqued.refuse()")

    def test_refused_changes(self):
        """While the database refuses writes, PUT and DELETE fail with a problem, evaluation goes on, and refused
        changes do not reappear."""
        self.start()
        self.put("mine", pendulum(2), 201)
        before = self.client.get("/v1/models/mine").body
        for state, status, code in (("53100", 507, "store-full"), ("58030", 503, "store-failed")):
            self.refuse(state)
            for answer in (self.client.put("/v1/models/mine", pendulum(3)), self.client.put("/v1/models/new", pendulum(3)),
                           self.client.delete("/v1/models/ur5")):
                self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer)
                self.assertEqual("Retry-After" in answer.headers, status == 503)
            self.assertEqual(self.client.get("/v1/models/mine").body, before)
            self.assertEqual(self.client.post("/v1/models/ur5/mass-matrix", {"q": [0] * 6}).status, 200)
        self.database.sql("DROP TRIGGER refuse ON torqued.models")
        self.restart()
        self.assertEqual((self.client.get("/v1/models/mine").body, self.client.get("/v1/models/new").status), (before, 404))
        self.put("mine", pendulum(3), 200)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.stop()


if __name__ == "__main__":
    tap.main()
