"""What a call raises goes to another process and back, and loses nothing."""

import copy
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest
from cases import each_case
from clients import BASE_URL, each_client_class

from adclient import AdClientError, errors

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
CLASSES = [cls for cls in CLASSES if issubclass(cls, AdClientError)]


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def raises(error: Exception) -> None:
    raise error


@each_case("cls", *CLASSES)
def test_error_survives_pickle_and_copy(cls, pool) -> None:
    error = cls("it happened", operation="beta.x", details={"a": [1]}, retry_after=2.5, cursor="c")
    error.add_note("a note")
    with pytest.raises(AdClientError) as caught:
        pool.submit(raises, error).result()
    for twin in (caught.value, copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is cls
        assert (str(twin), repr(twin), twin.args) == (str(error), repr(error), error.args)
        assert twin.outcome_unknown is error.outcome_unknown
        assert {name: getattr(twin, name) for name in vars(error)} == vars(error)
        assert twin.__notes__ == ["a note"]


@each_case("made", pickle.dumps, copy.copy, copy.deepcopy)
@each_client_class
def test_client_and_what_holds_its_credentials_refuse_pickle_and_copy(client_class, made) -> None:
    client = client_class(BASE_URL, token="sk-canary")
    with pytest.raises(TypeError, match="client"):
        made(client)
    for holder in (client.alpha, client.alpha.update_campaign_budget):
        with pytest.raises(TypeError, match="credentials cannot be pickled"):
            pickle.dumps(holder)
