# SPDX-License-Identifier: Apache-2.0
"""The files of a run, as the program's own (tools/kit/output.h): a file appears under its name when
it is complete, and nothing is overwritten that was not meant."""
import contextlib
import errno
import os
import pathlib
import sys
import tempfile

AS_IT_WAS = "surrogateescape"  # bytes of a page that are no UTF-8
NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)  # file systems without hard links


def check(path, force):
    """Ends the program where a file is in the way. --force overwrites a file, and nothing else."""
    if os.path.exists(path) and not os.path.isfile(path):
        sys.exit(f"gradnic figures: {path}: is not an ordinary file")
    if os.path.lexists(path) and not force:
        sys.exit(f"gradnic figures: {path}: exists; --force overwrites it")


def _new_mode():
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _take_list(handle, target):
    """The access control list of the file that is replaced. False: it cannot be kept."""
    name = "system.posix_acl_access"
    try:
        os.setxattr(handle, name, os.getxattr(target, name))
    except OSError as wrong:
        with contextlib.suppress(OSError):
            os.removexattr(handle, name)  # its folder's
        return wrong.errno in (errno.ENODATA, errno.EOPNOTSUPP)
    return True


def _take_over(handle, target):
    """Owner, group and rights of the file that is replaced, as far as we may. A group that it
    cannot keep loses its rights: ours is another one."""
    old = os.stat(target)
    mode = old.st_mode & 0o7777
    try:
        os.fchown(handle, old.st_uid, old.st_gid)
    except OSError:
        try:
            os.fchown(handle, -1, old.st_gid)
            mode &= 0o777
        except OSError:
            mode &= 0o707
    os.fchmod(handle, mode if _take_list(handle, target) else mode & 0o7707)


def _take_name(temporary, target, replace):
    """Without `replace`, a file that came in the meantime stays."""
    if replace:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target, follow_symlinks=False)
    except OSError as wrong:
        if wrong.errno not in NO_LINKS or os.path.lexists(target):
            raise
        os.rename(temporary, target)


def write(path, text, replace):
    """Writes the whole file, or leaves what was there. An error names the file."""
    target = pathlib.Path(os.path.realpath(path)) if replace else pathlib.Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.gradnic-")
        with open(handle, "w", encoding="utf-8", errors=AS_IT_WAS) as file:
            if target.exists():
                _take_over(handle, target)
            else:
                os.fchmod(handle, _new_mode())
            file.write(text)
        _take_name(temporary, target, replace)
    except OSError as wrong:
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong
    finally:
        if temporary:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
