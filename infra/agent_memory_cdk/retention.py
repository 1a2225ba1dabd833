"""Decide which resources are kept when the stack is deleted."""

from aws_cdk import RemovalPolicy

from .settings import Settings


def choose_removal_policy(settings: Settings) -> RemovalPolicy:
    """Return the policy of a resource that holds data.

    In a failed first deployment, resources have no data and are deleted, so that the deployment can
    be repeated.
    """
    if settings.retain:
        return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
    return RemovalPolicy.DESTROY
