# The image of GeoTTS: the service, its built data and the command line. Debian 12 has the Python 3.11 of the lock files.
#
#   docker build -t geotts .                              # the embedded engine, and any endpoint; shown only: needs a container runtime
#   docker build -t geotts:cuda --build-arg ENGINE=cuda . # vLLM too, with its CUDA libraries; shown only: needs a container runtime
#
# It runs as user 10001 with a read-only root. It writes to /tmp (Ray's session and sockets), /var/lib/geotts (caches, run
# store) and /dev/shm (Ray's object store). Start it with
# --read-only --tmpfs /tmp --shm-size 2g -v geotts:/var/lib/geotts.
# The image has wget, bash and Ray's command line because KubeRay's probes and start commands use them.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
ARG ENGINE=cpu
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv
WORKDIR /src
COPY image/${ENGINE}.lock /src/image/
RUN python3 -m venv /opt/geotts/venv \
 && /opt/geotts/venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r image/${ENGINE}.lock
COPY . /src/
RUN /opt/geotts/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation ./geotts_client . \
 && /opt/geotts/venv/bin/pip uninstall --yes --quiet pip
RUN GEOTTS_DATA_DIR=/opt/geotts/data /opt/geotts/venv/bin/geotts data build

FROM ${BASE}
ENV DEBIAN_FRONTEND=noninteractive
COPY scripts/system-packages /opt/geotts/bin/
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash ca-certificates python3 wget \
 && /opt/geotts/bin/system-packages --strict \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --home-dir /var/lib/geotts --create-home --shell /usr/sbin/nologin geotts
COPY --from=build /opt/geotts /opt/geotts
ENV PATH=/opt/geotts/venv/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/var/lib/geotts \
    GEOTTS_DATA_DIR=/opt/geotts/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /var/lib/geotts
VOLUME ["/var/lib/geotts"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s CMD ["wget", "-q", "-T", "4", "-O", "/dev/null", "http://127.0.0.1:8000/healthz"]
ENTRYPOINT ["geotts"]
CMD ["serve", "--host", "0.0.0.0", "--set", "gateway.access.mode=keys"]
