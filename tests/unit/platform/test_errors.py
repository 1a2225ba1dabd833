"""Every error class has its code in the catalog, and every code has its own meaning."""

from collections.abc import Iterator

from functions.platform.errors import ERROR_CODES, OPENWOP_ERROR_CODES, ServiceError


def _list_classes(parent: type[ServiceError]) -> Iterator[type[ServiceError]]:
    for child in parent.__subclasses__():
        yield child
        yield from _list_classes(child)


def test_the_codes_of_classes_are_those_of_the_catalog() -> None:
    codes = {each.code for each in _list_classes(ServiceError) if "code" in vars(each)}
    assert codes == ERROR_CODES.keys() | OPENWOP_ERROR_CODES.keys()


def test_statuses_are_those_of_errors() -> None:
    catalog = ERROR_CODES | OPENWOP_ERROR_CODES
    assert all(400 <= error.status < 600 for error in catalog.values())


def test_titles_descriptions_and_remedies_are_unique() -> None:
    catalog = [*ERROR_CODES.values(), *OPENWOP_ERROR_CODES.values()]
    assert len({error.description for error in catalog}) == len(catalog)
    assert all(error.title and error.remedy for error in catalog)
