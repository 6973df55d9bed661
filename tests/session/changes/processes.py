"""Changes of what other processes and other languages read."""

from tests.session.changes.change import Change, Program, edited

_DATA = {"ROW/data.txt": "one\n"}
_CHANGED = {"ROW/data.txt": "two\n"}
_OPENS = "ROW/data.txt"
_STARTS = "starts a program"

PROCESSES = (
    Change(
        "child_opens",
        "import subprocess\nsubprocess.run(['cat', TOP + '/ROW/data.txt'])",
        _DATA,
        _CHANGED,
        _STARTS,
    ),
    Change(
        "child_looks",
        "import subprocess\nsubprocess.run(['test', '-e', TOP + '/ROW/new'])",
        {},
        {"ROW/new": ""},
        _STARTS,
    ),
    Change(
        "child_lists",
        "import subprocess\nsubprocess.run(['ls', TOP + '/ROW'])",
        _DATA,
        {"ROW/new": ""},
        _STARTS,
    ),
    Change("shell", "os.system('cat ' + TOP + '/ROW/data.txt')", _DATA, _CHANGED, _STARTS),
    Change(
        "posix_spawn",
        "pid = os.posix_spawn('/bin/cat', ['cat', TOP + '/ROW/data.txt'], {})\nos.waitpid(pid, 0)",
        _DATA,
        _CHANGED,
        _STARTS,
    ),
    Change(
        "spawn",
        "import multiprocessing as m\nimport ROW\np = m.get_context('spawn').Process("
        "target=ROW.f)\np.start()\np.join()",
        {"ROW.py": "def f(): return 1\n"},
        {"ROW.py": "def f(): return 2\n"},
        _STARTS,
    ),
    Change(
        "own_program",
        "import subprocess\nsubprocess.run([TOP + '/ROW.sh'])",
        {"ROW.sh": Program("#!/bin/sh\nexit 0\n")},
        {"ROW.sh": Program("#!/bin/sh\nexit 0 \n")},
        _STARTS,
    ),
    Change(
        "python_child",
        "import subprocess\nsubprocess.run([sys.executable, '-c', 'import ROW'])",
        {"ROW.py": "A = 1\n"},
        {"ROW.py": "A = 2\n"},
        _STARTS,
    ),
    Change("library", "import ctypes\nctypes.CDLL(None).puts(b'')", _DATA, _CHANGED, ""),
    Change(
        "by_c",
        "import reading\nreading.read((TOP + '/ROW/data.txt').encode())",
        _DATA,
        _CHANGED,
        _OPENS,
    ),
    Change(
        "by_c_first",
        "open(TOP + '/ROW/data.txt').close()\nimport reading\n"
        "reading.read((TOP + '/ROW/data.txt').encode())",
        _DATA,
        _CHANGED,
        _OPENS,
    ),
    # Read through C after a benchmark that reads it by itself.
    Change(
        "by_c_too",
        "import reading\nreading.read((TOP + '/r_by_c/data.txt').encode())",
        {},
        {},
        "r_by_c/data.txt",
    ),
    edited(
        "by_c_idle",
        "import reading\nreading.read((TOP + '/ROW.py').encode())",
        "def f(): pass\n",
        "def f(): 1\n",
        "ROW.py",
    ),
)
SOURCE = """\
#include <Python.h>
#include <stdio.h>

static PyObject *reading(PyObject *self, PyObject *path) {
    FILE *file = fopen(PyBytes_AsString(path), "r");
    if (file) fclose(file);
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"read", reading, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "reading", "", -1, methods};
PyMODINIT_FUNC PyInit_reading(void) { return PyModule_Create(&module); }
"""
