"""Bodies as models."""

from functions.api.call import Call
from functions.platform.models import Model, validated_json


def parsed(call: Call, model: type[Model]) -> Model:
    """A request's body as a model.

    Raises:
        ValidationFailed: it doesn't fit; every field is named.
    """
    return validated_json(model, call.body)
