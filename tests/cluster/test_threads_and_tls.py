"""A dask worker with several threads gives the rows of one thread; TLS keeps out who has no certificate."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from compare import threads as stress_threads

from tflm_sim.cli import main
from tflm_sim.samples import SAMPLES, sample_path

CERTIFICATE = str(Path(__file__).parent / "self_signed.pem")


@pytest.mark.nightly
def test_a_worker_with_four_threads_gives_the_rows_of_one_thread() -> None:
    paths = [str(sample_path(name)) for name in SAMPLES] * 60
    assert stress_threads.on_dask(paths, 4) == 0


def test_a_cluster_with_tls_takes_who_has_a_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import dask
    from distributed import LocalCluster, Security

    files = {"tls_ca_file": CERTIFICATE, "tls_scheduler_cert": CERTIFICATE, "tls_scheduler_key": CERTIFICATE}
    files |= {"tls_worker_cert": CERTIFICATE, "tls_worker_key": CERTIFICATE}
    files |= {"tls_client_cert": CERTIFICATE, "tls_client_key": CERTIFICATE}
    ours = {f"distributed.comm.tls.{name}": CERTIFICATE for name in ("ca-file", "client.cert", "client.key")}
    security = Security(require_encryption=True, **files)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    sweep = ["sweep", "sample:sine", "-o", str(tmp_path / "rows.csv")]
    with LocalCluster(**options, security=security, protocol="tls") as cluster, dask.config.set(ours):
        disabled = logging.root.manager.disable, logging.getLogger("distributed").disabled
        assert main([*sweep, "--scheduler", cluster.scheduler_address]) == 0
        assert (logging.root.manager.disable, logging.getLogger("distributed").disabled) == disabled
        assert "1 ok" in capsys.readouterr().out


def test_tls_without_certificates_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "sample:sine", "-o", str(tmp_path / "rows.csv"), "--scheduler", "tls://127.0.0.1:9"]) == 2
    assert "--scheduler tls://127.0.0.1:9: " in capsys.readouterr().err
