"""A real SMTP server of this machine: it keeps what it is handed, or refuses it."""

from __future__ import annotations

import email
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.support.processes import free_port


class MailServer:
    """What arrived, and what it answers: a line beginning with another number refuses."""

    def __init__(self) -> None:
        self.port = free_port()
        self.answer = "250 OK"
        self.arrived: list[Message] = []
        self.recipients: list[str] = []

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        """Takes a message, as the protocol of aiosmtpd has it."""
        if self.answer.startswith("250"):
            assert isinstance(envelope.content, bytes)
            self.arrived.append(email.message_from_bytes(envelope.content))
            self.recipients += envelope.rcpt_tos
        return self.answer


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Runs a server until the block ends."""
    server = MailServer()
    controller = Controller(server, hostname="127.0.0.1", port=server.port)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()
