"""Changes of what is in the tree, which benchmarks open, list or look for."""

from tests.session.changes.change import Change, Link, Program

_NEW = {"ROW/new.txt": "x"}
_OLD = {"ROW/old.txt": "x"}


def _file(name: str, body: str, why: str = "ROW/data.txt, changed") -> Change:
    """A benchmark that reads a text."""
    return Change(name, body, {"ROW/data.txt": "one\n"}, {"ROW/data.txt": "two\n"}, why)


def _looks(name: str, body: str, why: str = "ROW/new.txt, which only the head has") -> Change:
    """A benchmark that may see that there is a new file."""
    return Change(name, body, _OLD, _NEW, why)


READS = (
    _looks("stat", "try:\n    os.stat(TOP + '/ROW/new.txt')\nexcept OSError:\n    pass"),
    _looks("lstat", "os.path.lexists(TOP + '/ROW/new.txt')"),
    _looks("exists", "os.path.exists(TOP + '/ROW/new.txt')"),
    _looks("isdir", "os.path.isdir(TOP + '/ROW/new.txt')"),
    _looks("isfile", "os.path.isfile(TOP + '/ROW/new.txt')"),
    _looks("access", "os.access(TOP + '/ROW/new.txt', os.R_OK)"),
    _looks("path_exists", "(Path(TOP) / 'ROW' / 'new.txt').exists()"),
    _looks("path_is_file", "(Path(TOP) / 'ROW' / 'new.txt').is_file()"),
    _looks("bytes_path", "os.path.exists(os.fsencode(TOP + '/ROW/new.txt'))"),
    _looks("tried_open", "try:\n    open(TOP + '/ROW/new.txt').close()\nexcept OSError:\n    pass"),
    _looks(
        "makedirs",
        "try:\n    os.mkdir(TOP + '/ROW/new.txt')\n    os.rmdir(TOP + '/ROW/new.txt')"
        "\nexcept OSError:\n    pass",
    ),
    _looks("listdir", "os.listdir(TOP + '/ROW')", "lists ROW"),
    _looks("scandir", "list(os.scandir(TOP + '/ROW'))", "lists ROW"),
    _looks("walk", "list(os.walk(TOP + '/ROW'))", "lists ROW"),
    _looks("iterdir", "list((Path(TOP) / 'ROW').iterdir())", "lists ROW"),
    _looks("glob", "import glob\nglob.glob(TOP + '/ROW/*.txt')", "lists ROW"),
    _looks("path_glob", "list((Path(TOP) / 'ROW').glob('*.txt'))", "lists ROW"),
    _looks("rglob_above", "list((Path(TOP) / 'ROW').rglob('*.txt'))", "lists ROW"),
    _looks(
        "list_here",
        "here = os.getcwd()\nos.chdir(TOP + '/ROW')\nos.listdir()\nos.chdir(here)",
        "lists ROW",
    ),
    _looks(
        "list_descriptor",
        "one = os.open(TOP + '/ROW', os.O_RDONLY)\nos.listdir(one)\nos.close(one)",
        "lists ROW",
    ),
    _looks(
        "chdir",
        "here = os.getcwd()\nos.chdir(TOP + '/ROW')\nos.path.exists('new.txt')\nos.chdir(here)",
    ),
    _looks(
        "stat_in_folder",
        "one = os.open(TOP + '/ROW', os.O_RDONLY)\n"
        "try:\n    os.stat('new.txt', dir_fd=one)\nexcept OSError:\n    pass\nos.close(one)",
    ),
    _looks(
        "access_in_folder",
        "one = os.open(TOP + '/ROW', os.O_RDONLY)\n"
        "os.access('new.txt', os.R_OK, dir_fd=one)\nos.close(one)",
    ),
    _looks(
        "open_in_folder",
        "one = os.open(TOP + '/ROW', os.O_RDONLY)\n"
        "try:\n    os.close(os.open('new.txt', os.O_RDONLY, dir_fd=one))\n"
        "except OSError:\n    pass\nos.close(one)",
        "ROW/new.txt",
    ),
    Change(
        "new_folder",
        "os.path.isdir(TOP + '/ROW_more')",
        {},
        {"ROW_more/a.txt": "x"},
        "ROW_more, which only the head has",
    ),
    Change(
        "list_new_folder",
        "try:\n    os.listdir(TOP + '/ROW_more')\nexcept OSError:\n    pass",
        {},
        {"ROW_more/a.txt": "x"},
        "ROW_more",
    ),
    Change(
        "removed_file",
        "os.path.exists(TOP + '/ROW/old.txt')",
        _OLD,
        {"ROW/old.txt": None},
        "ROW/old.txt, which only the base has",
    ),
    _file("read", "open(TOP + '/ROW/data.txt').read()"),
    _file("read_text", "(Path(TOP) / 'ROW/data.txt').read_text()"),
    _file(
        "os_open",
        "one = os.open(TOP + '/ROW/data.txt', os.O_RDONLY)\nos.read(one, 9)\nos.close(one)",
    ),
    _file(
        "open_dir_fd",
        "one = os.open(TOP + '/ROW', os.O_RDONLY)\n"
        "two = os.open('data.txt', os.O_RDONLY, dir_fd=one)\nos.close(one)\nos.close(two)",
        "ROW/data.txt",
    ),
    _file(
        "relative",
        "here = os.getcwd()\nos.chdir(TOP)\nopen('ROW/data.txt').close()\nos.chdir(here)",
    ),
    _file(
        "mapped",
        "import mmap\nwith open(TOP + '/ROW/data.txt') as file:\n"
        "    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ).close()",
    ),
    _file(
        "copied",
        "import shutil, tempfile\nwith tempfile.TemporaryDirectory() as to:\n"
        "    shutil.copy(TOP + '/ROW/data.txt', to)",
    ),
    _file(
        "json_file",
        "import json\ntry:\n    json.load(open(TOP + '/ROW/data.txt'))\n"
        "except ValueError:\n    pass",
    ),
    _file("evaluated", "exec(open(TOP + '/ROW/data.txt').read(), {'one': 1, 'two': 2})"),
    _file("linecache_text", "import linecache\nlinecache.getline(TOP + '/ROW/data.txt', 1)"),
    _file(
        "ini",
        "import configparser\ntry:\n"
        "    configparser.ConfigParser().read(TOP + '/ROW/data.txt')\nexcept Exception:\n    pass",
    ),
    _file(
        "resources",
        "import importlib.resources\nimportlib.resources.files('ROW').joinpath("
        "'data.txt').read_text()",
    ),
    Change(
        "pkg_data",
        "import pkgutil\npkgutil.get_data('ROW', 'data.txt')",
        {"ROW/__init__.py": "", "ROW/data.txt": "a"},
        {"ROW/data.txt": "b"},
        "ROW/data.txt",
    ),
    _file("sizes", "[one.stat().st_size for one in os.scandir(TOP + '/ROW')]", "ROW"),
    Change(
        "getsize",
        "os.path.getsize(TOP + '/ROW/data.txt')",
        {"ROW/data.txt": "one"},
        {"ROW/data.txt": "three"},
        "ROW/data.txt, changed",
    ),
    Change(
        "getsize_code",
        "os.path.getsize(TOP + '/ROW.py')",
        {"ROW.py": "def a():\n    return 1\n"},
        {"ROW.py": "def a():\n    return 100\n"},
        "ROW.py, changed",
    ),
    Change(
        "read_code",
        "open(TOP + '/ROW.py').read()",
        {"ROW.py": "A = 1\n"},
        {"ROW.py": "A = 1  # more\n"},
        "opens ROW.py",
    ),
    Change(
        "link_target",
        "open(TOP + '/ROW/link').read()",
        {"ROW/a": "a", "ROW/b": "b", "ROW/link": Link("a")},
        {"ROW/link": Link("b")},
        "ROW/link",
    ),
    Change(
        "readlink",
        "os.readlink(TOP + '/ROW/link')",
        {"ROW/a": "a", "ROW/link": Link("a")},
        {"ROW/link": Link("./a")},
        "ROW/link",
    ),
    Change(
        "link_to_folder",
        "open(TOP + '/ROW/link/x').read()",
        {"ROW/a/x": "a", "ROW/b/x": "b", "ROW/link": Link("a")},
        {"ROW/link": Link("b")},
        "ROW/",
    ),
    Change(
        "through_link",
        "open(TOP + '/ROW/link/x').read()",
        {"ROW/a/x": "a", "ROW/link": Link("a")},
        {"ROW/a/x": "b"},
        "ROW/a/x, changed",
    ),
    Change(
        "becomes_folder",
        "os.path.isdir(TOP + '/ROW/x')",
        {"ROW/x": "a"},
        {"ROW/x": None, "ROW/x/y": "b"},
        "ROW/x",
    ),
    Change(
        "kinds",
        "[one.is_dir() for one in os.scandir(TOP + '/ROW')]",
        {"ROW/x": "a"},
        {"ROW/x": None, "ROW/x/y": "b"},
        "ROW",
    ),
    Change(
        "executable",
        "os.access(TOP + '/ROW/x', os.X_OK)",
        {"ROW/x": "a"},
        {"ROW/x": Program("a")},
        "ROW/x",
    ),
    Change(
        "sqlite",
        "import sqlite3\none = sqlite3.connect(TOP + '/ROW/x.db')\ntry:\n"
        "    one.execute('select 1 from a')\nexcept sqlite3.Error:\n    pass\none.close()",
        {"ROW/x.db": b"\0" * 9},
        {"ROW/x.db": b"\1" * 9},
        "ROW/x.db",
    ),
    Change(
        "pickled",
        "import pickle\npickle.load(open(TOP + '/ROW/x', 'rb'))",
        {"ROW/x": b"I1\n."},
        {"ROW/x": b"I2\n."},
        "ROW/x",
    ),
    Change(
        "toml",
        "import tomllib\ntomllib.load(open(TOP + '/ROW/x.toml', 'rb'))",
        {"ROW/x.toml": "a = 1"},
        {"ROW/x.toml": "a = 2"},
        "ROW/x.toml",
    ),
    Change(
        "messages",
        "import gettext\ngettext.find('x', TOP + '/ROW', ['de'])",
        {},
        {"ROW/de/LC_MESSAGES/x.mo": "x"},
        "ROW/de",
    ),
    Change(
        "of_bytes",
        "open(os.fsencode(TOP) + b'/ROW/\\xff').read()",
        {"ROW/\udcff": "a"},
        {"ROW/\udcff": "b"},
        "changed",
    ),
    Change(
        "own_text",
        "from ROW import TEXT",
        {
            "ROW/__init__.py": "from pathlib import Path\n"
            "TEXT = Path(__file__).with_name('x.txt').read_text()\n",
            "ROW/x.txt": "a",
        },
        {"ROW/x.txt": "b"},
        "ROW/x.txt",
    ),
    Change(
        "translated",
        "import gettext\ngettext.translation('ROW', TOP + '/ROW', ['de'], fallback=True)",
        {"ROW/de/LC_MESSAGES/ROW.mo": b"\xde\x12\x04\x95" + bytes(24)},
        {"ROW/de/LC_MESSAGES/ROW.mo": b"\xde\x12\x04\x95" + bytes(25)},
        "ROW/de/LC_MESSAGES/ROW.mo, changed",
    ),
)
