"""Finds benchmarks of JMH that Maven or Gradle builds."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.project.needs import Build
from benchgate.project.suites import Suite, command_table, in_folder

if TYPE_CHECKING:
    from benchgate.project.tree import ProjectTree

_XML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_JMH_OF_MAVEN = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_JAR = re.compile(r"<(?:uberjar\.name|uberjarName)>\s*([\w.-]+)\s*<")
_SHADED = re.compile(r"maven-(?:shade|assembly)-plugin")
_JMH_OF_GRADLE = re.compile(r"""["']me\.champeau\.(?:gradle\.)?jmh["']""")
_OPTIONS = "-f 1 -wi 3 -i 10 -w 100ms -r 100ms -rf json -rff {output}"
_COMMENT = (
    "The benchmarks of JMH, each in one fork. Short iterations leave time for more rounds; if the "
    "code needs longer to warm up, use a longer `-w`."
)
_REASON = "the benchmarks are compiled"


def find_java_suites(tree: ProjectTree) -> list[Suite]:
    """Find the modules of Maven and Gradle that have benchmarks of JMH."""
    suites = []
    for path in tree.named("pom.xml"):
        text = _XML_COMMENT.sub("", tree.read(path))
        managed = re.sub(
            r"<dependencyManagement>.*?</dependencyManagement>", "", text, flags=re.DOTALL
        )
        if _JMH_OF_MAVEN.search(managed):
            suites.append(_of_maven(tree, path.parent, text))
    suites += [
        _of_gradle(tree, path.parent)
        for path in tree.named("build.gradle", "build.gradle.kts")
        if _JMH_OF_GRADLE.search(tree.read(path))
    ]
    return suites


def _of_maven(tree: ProjectTree, folder: PurePosixPath, text: str) -> Suite:
    named = _JAR.search(text)
    jar = f"{named[1] if named else 'benchmarks'}.jar"
    maven = "./mvnw" if tree.has(PurePosixPath("mvnw")) else "mvn"
    is_module = str(folder) != "." and tree.has(PurePosixPath("pom.xml"))
    module = f" -pl {folder} -am" if is_module else ""
    alone = f" -f {folder}/pom.xml" if str(folder) != "." and not is_module else ""
    edit: tuple[str, ...] = ()
    if not _SHADED.search(text):
        edit = (f"{folder / 'pom.xml'} does not say how its jar is built: name the jar.",)
    return Suite(
        f"benchmarks of JMH{in_folder(folder)} (pom.xml)",
        command_table(f"java -jar target/{jar} {_OPTIONS}", folder),
        _COMMENT,
        folder,
        Build((f"{maven} -q -DskipTests{module}{alone} package",), {}, _REASON, (_tool(maven),)),
        to_edit=edit,
    )


def _of_gradle(tree: ProjectTree, folder: PurePosixPath) -> Suite:
    gradle = "./gradlew" if tree.has(PurePosixPath("gradlew")) else "gradle"
    task = ":".join(["", *folder.parts, "jmhJar"])
    return Suite(
        f"benchmarks of JMH{in_folder(folder)} (Gradle)",
        command_table(f"java -jar build/libs/*-jmh.jar {_OPTIONS}", folder) | {"shell": True},
        _COMMENT,
        folder,
        Build((f"{gradle} --quiet {task}",), {}, _REASON, (_tool(gradle),)),
    )


def _tool(command: str) -> str:
    return "java" if command.startswith("./") else command
