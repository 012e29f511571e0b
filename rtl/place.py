# SPDX-License-Identifier: Apache-2.0
"""Folders that are made aside and then put in place, and how they differ from what is there."""
import errno
import fnmatch
import os
import shutil
import stat

# what benches and Python leave behind, and nobody misses
LEFT = ("sim_build", "__pycache__", "*.pyc", "results.xml", "*.fst", "*.vvp", "iverilog_dump.v")

SHOWN = 12  # names of files in a message


def is_left(name):
    return any(fnmatch.fnmatch(name, pattern) for pattern in LEFT)


def contents(folder):
    """Each file's bytes, or where a link leads, by its name in the folder."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not is_left(name)]
        for name in folders + [name for name in files if not is_left(name)]:
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = os.readlink(path)
            elif name in files:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


def changed(new, there):
    """Names of what `there` has otherwise than `new`, or lacks."""
    wanted, found = contents(new), contents(there)
    return sorted(name for name in wanted if found.get(name) != wanted[name])


def added(new, there):
    """Names of what only `there` has."""
    return sorted(contents(there).keys() - contents(new).keys())


def shown(there, names, why):
    more = [f"  and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return [f"  {there / name}: {why}" for name in names[:SHOWN]] + more


def losses(new, there, before):
    """What of a folder is lost when all of `new` takes its place, in lines. `before`: what the
    install before has made. Nobody misses that."""
    other = changed(new, there) if there.exists() else []
    if not other:  # it stays
        return []
    edited = set(changed(before, there))
    return (shown(there, [name for name in other if name in edited], "replaced")
            + shown(there, added(new, there), "removed, as no install makes it"))


def refuse(there):
    """Anything but a folder, or nothing, would be replaced by a folder: a link, too."""
    if os.path.islink(there):
        raise OSError(f"{there} is a symbolic link, to {os.readlink(there)}, and is left alone")
    if os.path.exists(there) and not os.path.isdir(there):
        raise OSError(f"{there} is no folder, and is left alone")


def reason(error):
    """An OSError in words, with the paths."""
    paths = [str(path) for path in (error.filename, error.filename2) if path is not None]
    return f"{' -> '.join(paths)}: {error.strerror}" if paths else str(error)


def put(new, there, aside):
    """`new` becomes `there`. What is there goes to the folder `aside`, which the caller deletes."""
    was = there.exists()
    if was:
        os.rename(there, aside)
    try:
        os.rename(new, there)
    except OSError:
        if was:
            os.rename(aside, there)
        raise


def put_files(new, there):
    """The same file by file: whatever else is there stays."""
    there.mkdir(exist_ok=True)
    for file in sorted(new.iterdir()):
        os.replace(file, there / file.name)


def copy(folder, to, without):
    """A copy of a folder but for what was left behind, and the folders named."""
    def left_out(place, names):
        return [name for name in names if is_left(name) or (os.path.samefile(place, folder) and name in without)]
    shutil.copytree(folder, to, symlinks=True, ignore=left_out)
    for path, _, files in os.walk(to):  # of a checkout that is read-only, too
        for each in [path, *(os.path.join(path, name) for name in files)]:
            if not os.path.islink(each):
                os.chmod(each, os.stat(each).st_mode | stat.S_IWUSR | stat.S_IXUSR * os.path.isdir(each))


def remove(folder):
    """Removes a folder, also one whose folders are read-only."""
    for path, _, _ in os.walk(folder):
        os.chmod(path, os.stat(path).st_mode | stat.S_IRWXU)
    shutil.rmtree(folder)


def check_places(folders):
    """Raises where something could not be put in place, or be removed, before anything is."""
    for folder in folders:
        for place in [folder.parent] + [folder] * folder.exists():
            if place.exists() and not os.access(place, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
