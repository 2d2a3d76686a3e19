"""Django settings. Every value of the environment comes through `CREWLET`, read once."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from psycopg.conninfo import conninfo_to_dict

from crewlet import environment
from crewlet.ops.logs import logging_config

CREWLET: environment.Env = environment.read(os.environ)
BASE_DIR = environment.BASE_DIR

# -- Django ------------------------------------------------------------------------------------
# Empty without SECRET_KEY and without a key file: commands that sign nothing still run.
SECRET_KEY = CREWLET.secret_key
DEBUG = False
ALLOWED_HOSTS = list(CREWLET.allowed_hosts)
ROOT_URLCONF = "crewlet.urls"
ASGI_APPLICATION = "crewlet.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
APPEND_SLASH = False

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "django_celery_beat",
    "crewlet.kernel",
    "crewlet.ops",
    "crewlet.console",
    "crewlet.files",
    "crewlet.search",
    "orgs",
    "agents",
    "tracker",
    "integrations",
    # Last: it freezes the registries that the others fill.
    "crewlet.doors",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "crewlet.ops.policy.AdminContentPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "orgs.people.middleware.ActorMiddleware",
    "crewlet.console.middleware.PageErrors",
    "orgs.setup.middleware.FirstRun",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "crewlet.console.frame.frame",
            ],
            "builtins": [
                "crewlet.console.templatetags.ui",
                "django.templatetags.static",
            ],
        },
    },
]

# -- Database ----------------------------------------------------------------------------------


def _database(env: environment.Env) -> dict[str, Any]:
    """Returns DATABASES["default"] for `env`; unknown URL parameters go to libpq as they are."""
    parts = {k: str(v) for k, v in conninfo_to_dict(env.database_url).items() if v is not None}
    idle_ms = max(1, round(env.idle_transaction_seconds * 1000))
    options = f"-c idle_in_transaction_session_timeout={idle_ms}"
    given = parts.pop("options", "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", "crewlet"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        # Closing a connection hands it back to the pool: kernel.db.release() relies on both lines.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": {
            **parts,
            "options": f"{given} {options}".strip(),
            "application_name": parts.get("application_name", f"crewlet:{env.node_id}"),
            "pool": {"min_size": 0, "max_size": env.pool_size, "timeout": 10},
        },
    }


DATABASES = {"default": _database(CREWLET)}

# -- Cache, sessions, sign-in ------------------------------------------------------------------
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CREWLET.redis_url,
        "KEY_PREFIX": f"{CREWLET.redis_prefix}:cache",
    },
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
_HTTPS = urlsplit(CREWLET.public_url).scheme == "https"
CSRF_TRUSTED_ORIGINS = [CREWLET.public_url] if _HTTPS else []
CSRF_FAILURE_VIEW = "django.views.csrf.csrf_failure"
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SESSION_COOKIE_NAME = "crewlet_session"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"

# -- Content security policy -------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    },
}
# The admin's own front end evaluates attributes and writes styles; nothing else may.
ADMIN_CONTENT_SECURITY_POLICY = {
    **CONTENT_SECURITY_POLICY["DIRECTIVES"],
    "script-src": [SELF, UNSAFE_INLINE, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
}

# -- Static files ------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = CREWLET.data_dir / "static"
STATICFILES_DIRS = [folder for folder in [BASE_DIR / "static"] if folder.is_dir()]
STATICFILES_FINDERS = [
    "crewlet.console.staticfiles.JoinedCssFinder",
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "crewlet.console.staticfiles.HashedStaticFilesStorage"
            if CREWLET.manifest_static
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        ),
    },
}
MEDIA_ROOT = CREWLET.data_dir / "files"
# Without a manifest, files are served from the source folders as they are.
WHITENOISE_USE_FINDERS = not CREWLET.manifest_static
WHITENOISE_AUTOREFRESH = not CREWLET.manifest_static

# -- REST --------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["orgs.people.auth.CrewletAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "crewlet.doors.negotiation.JsonUnlessNamed",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "crewlet.doors.openapi.Schema",
    "EXCEPTION_HANDLER": "crewlet.doors.rest.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Crewlet",
    "DESCRIPTION": "The API of a company whose seats are held by AI agents and by people.",
    "VERSION": "1",
    # 3.0 has no null in a type list, which every optional pydantic field needs.
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "crewlet.doors.openapi.finished",
    ],
    # Sets of words that several shapes share under a field called `kind`.
    "ENUM_NAME_OVERRIDES": {
        "SeatKindEnum": ["agent", "human"],
        "SeriesBucketEnum": ["hour", "day"],
        "ActorKindEnum": ["person", "seat", "machine", "engine"],
        "CommentKindEnum": ["comment", "system"],
        "AuthorKindEnum": ["agent", "human", "operator", "system"],
        "ToolHintEnum": ["yes", "no", "unknown"],
    },
}

# -- Queue -------------------------------------------------------------------------------------
# The Celery app itself is configured in crewlet.kernel.queue.
DJANGO_CELERY_BEAT_TZ_AWARE = True

# -- Mail to people ----------------------------------------------------------------------------
# Without a mail server the host is empty, and nothing is ever handed to anybody.
EMAIL_HOST = CREWLET.mail.host if CREWLET.mail else ""
if CREWLET.mail:
    EMAIL_PORT = CREWLET.mail.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = CREWLET.mail.user, CREWLET.mail.password
    EMAIL_USE_TLS = CREWLET.mail.security == "tls"
    EMAIL_USE_SSL = CREWLET.mail.security == "ssl"
    DEFAULT_FROM_EMAIL = CREWLET.mail.sender
EMAIL_TIMEOUT = 10

# -- Logs --------------------------------------------------------------------------------------
LOGGING = logging_config(level=CREWLET.log_level, fmt=CREWLET.log_format)

# -- Admin -------------------------------------------------------------------------------------
UNFOLD = {"SITE_TITLE": "Crewlet", "SITE_HEADER": "Crewlet", "SHOW_HISTORY": False}
SILENCED_SYSTEM_CHECKS: list[str] = []
