# One image for every process; compose.yaml says which command each of them runs.
FROM python:3.11-slim-bookworm

RUN useradd --system --uid 10001 --create-home --home-dir /srv/crewlet crewlet
WORKDIR /srv/crewlet/app
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    CREWLET_DATA_DIR=/srv/crewlet/var \
    CREWLET_MANIFEST_STATIC=1 \
    CREWLET_LOG_FORMAT=json

COPY requirements.txt ./
RUN pip install --no-cache-dir --requirement requirements.txt

COPY manage.py LICENSE ./
COPY crewlet crewlet
COPY orgs orgs
COPY agents agents
COPY tracker tracker
COPY integrations integrations
COPY templates templates
COPY static static
# Static files lie under hashed names in the image. The key serves this one command.
RUN mkdir -p /srv/crewlet/var/files \
    && SECRET_KEY=unused-while-building python manage.py collectstatic --noinput --verbosity 0 \
    && chown -R crewlet:crewlet /srv/crewlet/var

USER 10001
VOLUME /srv/crewlet/var/files
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["python", "-m", "uvicorn", "crewlet.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--timeout-graceful-shutdown", "5", "--ws", "websockets-sansio"]
