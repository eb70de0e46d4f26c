"""The store in PostgreSQL from outside: what holds for a folder holds here, too."""
import tap
from store_suite import StoreSuite
from stores import DatabaseCase


class Database(StoreSuite, DatabaseCase):
    pass


if __name__ == "__main__":
    tap.main()
