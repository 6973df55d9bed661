"""The files of a tree: its benchmarks, and what can be imported from it."""

from benchgate.measure.sources.bench_files import (
    BenchFile,
    find_files,
    find_folders,
    find_programs,
    group_of,
    helpers_of,
    own_folders,
    search_of,
    topmost_folders,
)
from benchgate.measure.sources.bench_source import BenchSource, read_source
from benchgate.measure.sources.import_path import (
    hidden_by_tree,
    holds_python,
    import_path,
    installed_versions,
    is_installed,
    module_folders,
    moved,
    packages_in,
)
from benchgate.measure.sources.provided import (
    PROJECT_FILES,
    SOURCE_FOLDERS,
    ProvidedModules,
    modules_in,
    normalized,
    note_on_versions,
    provided_by,
    versions_of,
)

__all__ = [
    "PROJECT_FILES",
    "SOURCE_FOLDERS",
    "BenchFile",
    "BenchSource",
    "ProvidedModules",
    "find_files",
    "find_folders",
    "find_programs",
    "group_of",
    "helpers_of",
    "hidden_by_tree",
    "holds_python",
    "import_path",
    "installed_versions",
    "is_installed",
    "module_folders",
    "modules_in",
    "moved",
    "normalized",
    "note_on_versions",
    "own_folders",
    "packages_in",
    "provided_by",
    "read_source",
    "search_of",
    "topmost_folders",
    "versions_of",
]
