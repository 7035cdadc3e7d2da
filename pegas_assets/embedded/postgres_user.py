"""The system user that runs the embedded PostgreSQL, and whether it can reach what it needs.

PostgreSQL refuses to run as root. Started by root it runs as the user `pgserver`, which must be able to pass every
folder on the way to its data and to its programs. No folder is opened for it: one that is closed is named instead.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pegas_assets.errors import EngineUnavailable, PegasError

SYSTEM_USER = "pgserver"


@dataclass(frozen=True)
class ServerUser:
    """Who the server runs as. `switch` tells that we are root and have to become that user."""

    uid: int
    gid: int
    switch: bool

    @property
    def name(self) -> str:
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return str(self.uid)


def server_user(data: Path) -> ServerUser:
    """Who runs the server of a data folder: its owner, or `pgserver` where root makes a new one.

    Raises:
        PegasError: `home_not_reachable`, where the data is another user's and we are not root.
    """
    try:
        owner = (data / "PG_VERSION").stat()
    except FileNotFoundError:
        owner = None
    except PermissionError:
        owner = data.stat()
    if os.geteuid() != 0:
        user = ServerUser(os.geteuid(), os.getegid(), switch=False)
        if owner is not None and owner.st_uid != user.uid:
            belongs = ServerUser(owner.st_uid, owner.st_gid, switch=True).name
            raise PegasError(
                f"The database in {data} belongs to the user {belongs}, and this is {user.name}.",
                hint="Run as root, or as that user, or set PEGAS_HOME to a folder of your own.",
                code="home_not_reachable",
                component="postgres",
            )
        return user
    if owner is not None and owner.st_uid != 0:
        return ServerUser(owner.st_uid, owner.st_gid, switch=True)
    entry = _ensure_system_user()
    return ServerUser(entry.pw_uid, entry.pw_gid, switch=True)


def require_reachable(user: ServerUser, data: Path, programs: Path) -> None:
    """Check that the user can pass every folder above its data and its programs; changes no permission.

    Raises:
        PegasError: `home_not_reachable`, naming the folder and the way out.
    """
    if not user.switch:
        return
    if (closed := _first_closed(user, data.parents)) is not None:
        raise PegasError(
            f"PostgreSQL runs as the user {user.name} when started by root, and that user cannot pass {closed} "
            f"on the way to {data}.",
            hint="Set PEGAS_HOME to a folder outside private homes, for example /var/lib/pegas, or run as another "
            "user than root.",
            code="home_not_reachable",
            item=str(closed),
            component="postgres",
        )
    if (closed := _first_closed(user, (programs, *programs.parents))) is not None:
        raise PegasError(
            f"PostgreSQL runs as the user {user.name} when started by root, and that user cannot pass {closed} "
            f"on the way to its programs in {programs}.",
            hint="Install into an environment outside private homes, for example /opt/pegas, or run as another user "
            "than root.",
            code="home_not_reachable",
            item=str(closed),
            component="postgres",
        )


def _first_closed(user: ServerUser, folders: Iterable[Path]) -> Path | None:
    """The outermost folder that the user may not pass."""
    for folder in reversed([*folders]):
        found = folder.stat()
        if found.st_uid == user.uid:
            passable = found.st_mode & stat.S_IXUSR
        elif found.st_gid == user.gid:
            passable = found.st_mode & stat.S_IXGRP
        else:
            passable = found.st_mode & stat.S_IXOTH
        if not passable:
            return folder
    return None


def _ensure_system_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        pass
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    told = "there is no useradd"
    if useradd is not None:
        made = subprocess.run(
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )
        told = made.stderr.strip()
    try:
        # Another home's starter may have made it at the same moment: then ours failed and all is well.
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        raise EngineUnavailable(
            f"The user {SYSTEM_USER}, as which PostgreSQL runs when started by root, cannot be made: {told}.",
            hint=f"Make a system user {SYSTEM_USER}, or run as another user than root.",
            component="postgres",
            retryable=False,
        ) from None
