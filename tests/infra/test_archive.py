"""Pages of the origins that may call the API reach the bucket's signed addresses, too."""

from tests.infra.conftest import Synthesize
from tests.infra.template import Template

_ORIGINS = "https://app.example.com, https://ops.example.com"


def test_pages_upload_and_follow_redirects(dev: Template, synthesize: Synthesize) -> None:
    bucket = synthesize(cors_origins=_ORIGINS).named("S3::Bucket", "ArchiveBucket")
    put, get = bucket["CorsConfiguration"]["CorsRules"]
    assert put["AllowedMethods"] == ["PUT"]
    assert put["AllowedOrigins"] == ["https://app.example.com", "https://ops.example.com"]
    assert put["AllowedHeaders"] == get["AllowedHeaders"] == ["*"]
    assert (get["AllowedMethods"], get["AllowedOrigins"]) == (["GET"], ["*"])
    assert "CorsConfiguration" not in dev.named("S3::Bucket", "ArchiveBucket")
