"""Finds the benchmarks of JMH."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.project.build_steps import COMPILED, BuildSteps, Suite, command_table
from benchgate.project.tree import ProjectTree, in_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


_XML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_XML_MANAGED = re.compile(r"<dependencyManagement>.*?</dependencyManagement>", re.DOTALL)
_JMH_OF_MAVEN = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_JAR = re.compile(r"<(?:uberjar\.name|uberjarName)>\s*([\w.-]+)\s*<")
_SHADED = re.compile(r"maven-(?:shade|assembly)-plugin")
_JMH_OF_GRADLE = re.compile(r"""["']me\.champeau\.(?:gradle\.)?jmh["']""")


def java_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The modules of Maven and Gradle that have benchmarks of JMH."""
    for path in tree.named("pom.xml"):
        text = _XML_COMMENT.sub("", tree.read(path))
        if not _JMH_OF_MAVEN.search(_XML_MANAGED.sub("", text)):
            continue
        folder, named = path.parent, _JAR.search(text)
        jar = f"target/{named[1] if named else 'benchmarks'}.jar"
        module = ""
        if str(folder) != ".":
            is_inner = tree.has(PurePosixPath("pom.xml"))
            module = f" -pl {folder} -am" if is_inner else f" -f {folder}/pom.xml"
        build = f"-q -DskipTests{module} package"
        edit = (f"{path} does not say how its jar is built: name the jar.",)
        suite = _jmh(tree, folder, "pom.xml", jar, program="mvn", arguments=build)
        yield replace(suite, to_edit=() if _SHADED.search(text) else edit)
    for path in tree.named("build.gradle", "build.gradle.kts"):
        if _JMH_OF_GRADLE.search(tree.read(path)):
            task = ":".join(["", *path.parent.parts, "jmhJar"])
            jar = "build/libs/*-jmh.jar"
            suite = _jmh(
                tree, path.parent, "Gradle", jar, program="gradle", arguments=f"--quiet {task}"
            )
            yield replace(suite, table={**suite.table, "shell": True})


def _jmh(
    tree: ProjectTree, folder: PurePosixPath, what: str, jar: str, *, program: str, arguments: str
) -> Suite:
    """A module whose jar a program builds, or its wrapper in the project."""
    wrapper = f"{program}w"
    has_wrapper = tree.has(PurePosixPath(wrapper))
    options = "-f 1 -wi 3 -i 10 -w 100ms -r 100ms -rf json -rff {output}"
    command = f"{f'./{wrapper}' if has_wrapper else program} {arguments}"
    return Suite(
        f"benchmarks of JMH{in_folder(folder)} ({what})",
        command_table(f"java -jar {jar} {options}", folder),
        "The benchmarks of JMH, each in one fork. Short iterations leave time for more rounds; if "
        "the code needs longer to warm up, use a longer `-w`.",
        folder,
        BuildSteps((command,), {}, COMPILED, ("java" if has_wrapper else program,)),
    )
