"""What follows from the contract.

Made by api/clients/python/generate.py from api/openapi.yaml: change that, then `make reference`.
"""
