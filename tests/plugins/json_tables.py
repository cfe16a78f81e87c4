"""Models as JSON: the states of every variable, and the logarithms of every table with the names of its variables."""

import json

from mrfit import Domain, FactorNetwork, Factors
from mrfit.core.errors import InputError
from mrfit.formats import ModelFormat


def read(content, name):
    try:
        document = json.loads(content)
        domain = Domain.from_states(document["states"])
        tables = [([domain.index(v) for v in table["of"]], table["log"]) for table in document["tables"]]
        return FactorNetwork(domain, Factors.from_tables(domain.shape, tables))
    except InputError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{name} is no model in JSON tables: {type(error).__name__}: {error}") from error


def write(network, *, names=True):
    plain = network.with_hidden_named()  # features of very many variables as tables
    domain, factors = plain.domain, plain.tables
    tables = [
        {"of": [domain.names[i] for i in scope], "log": table.tolist()}
        for scope, table in zip(factors.scopes, factors.tables, strict=True)
    ]
    states = {variable.name: list(variable.states) for variable in domain}
    return json.dumps({"states": states, "tables": tables}).encode()


JSON = ModelFormat("json", ".json", "named tables of logarithms", read, write)
