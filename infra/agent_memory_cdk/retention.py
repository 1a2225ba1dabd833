"""Decide what outlives the stack."""

from aws_cdk import RemovalPolicy

from .settings import Settings


def choose_removal_policy(settings: Settings) -> RemovalPolicy:
    """Return the policy of a resource that holds data.

    A resource of a first deployment that fails holds none, and is deleted with it, so that the
    deployment can be repeated.
    """
    if settings.retain:
        return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
    return RemovalPolicy.DESTROY
