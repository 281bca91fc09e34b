"""The suite's folder: where its parts lie, and how they are loaded."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .record import record, replace
from .refusal import Refusal, close_match

if TYPE_CHECKING:
    from .case import Case
    from .settings import Settings
    from .suite import Suite


@record
class DatasetScan:
    """What one quick pass over the dataset found.

    `retired` rows are no cases of the suite any more and are not among the others;
    `kept` are the cases of a file that is small enough to hold, each with the content
    hash of its line.
    """

    cases: int
    placeholders: int
    selected: int
    retired: int = 0
    kept: list[tuple[Case, str]] | None = None


@record(kw_only=True)
class SuiteFolder:
    """The folder of a suite and the name of the package in it.

    Rows of the dataset that `retired.txt` names are no cases, unless `with_retired`:
    the spec has dropped them, and an expectation of yesterday must not gate today.
    """

    root: Path
    package: str
    with_retired: bool = False

    @property
    def dataset(self) -> Path:
        """The file of the cases."""
        return self.root / "dataset.jsonl"

    def retired(self) -> frozenset[str]:
        """Return the ids of the rows that the spec no longer has."""
        try:
            text = (self.root / RETIRED).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError) as error:
            raise Refusal(f"{RETIRED} can't be read: {error}") from error
        lines = (line.strip() for line in text.split("\n"))
        return frozenset(line for line in lines if line and line[0] != "#")

    def _left_out(self, path: Path | None) -> frozenset[str]:
        """The ids of the rows of a file that are no cases."""
        if self.with_retired or path not in (None, self.dataset):
            return frozenset()
        return self.retired()

    def of_run(self, record: Mapping[str, Any]) -> SuiteFolder:
        """Return the folder with the cases that a run, by its `run.json`, is about."""
        arguments = record.get("arguments")
        retired = isinstance(arguments, Mapping) and arguments.get("retired") is True
        return replace(self, with_retired=retired)

    @property
    def runs(self) -> Path:
        """Where runs are kept unless `--out` says otherwise."""
        return self.root / "runs"

    @property
    def package_folder(self) -> Path:
        """The folder of the suite's own Python."""
        return self.root / self.package

    def settings(self) -> Settings:
        """Return what `evals.toml` says. Raises Refusal with all its faults."""
        from .settings import FILE_NAME, read_settings

        return read_settings(self.root / FILE_NAME)

    def load_suite(self) -> Suite:
        """Return the suite that `suite.py` ties together.

        Raises Refusal that names the file and line where the suite's own code breaks,
        and each criterion whose threshold nothing could miss or meet.
        """
        from .criterion import limit_fault
        from .suite import Suite

        module = self.import_own(f"{self.package}.suite")
        suite = getattr(module, "SUITE", None)
        if not isinstance(suite, Suite):
            raise Refusal(f"{self.package}/suite.py: `SUITE` must be a Suite")
        faults = [
            f"{self.package}/suite.py: `{criterion.id}`: {wrong}"
            for criterion in suite.criteria
            if (wrong := limit_fault(criterion.passes)) is not None
        ]
        if faults:
            raise Refusal(*faults)
        return suite

    def import_own(self, name: str) -> Any:
        """Import a module of the suite or beside it. Raises Refusal where it breaks."""
        from importlib import import_module

        root = str(self.root)
        if root not in sys.path:
            sys.path.insert(0, root)
        try:
            return import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # `sys.exit(0)` in checks.py is no green run
            raise Refusal(f"{name} can't be imported: {blame(error)}") from error

    def versions(self) -> str:
        """Return one line: package, generator, runtime and Python."""
        from . import RUNTIME_VERSION

        generator = "an unknown generator"
        try:
            generator = str(self.import_own(self.package).GENERATOR)
        except (Refusal, AttributeError):
            pass
        python = ".".join(str(n) for n in sys.version_info[:3])
        return (
            f"{self.package} ({generator}, runtime {RUNTIME_VERSION}, "
            f"Python {python})"
        )

    def latest_run(self) -> Path:
        """Return the run that started last. Raises Refusal where there is none.

        Runs of one second are in the order of their names, as `run_order` has it.
        """
        found: list[tuple[tuple[str, str, int], str, Path]] = []
        if self.runs.is_dir():
            for folder in self.runs.iterdir():
                record = read_run_record(folder)
                if record is not None:
                    found.append((run_order(folder, record), folder.name, folder))
        if not found:
            raise Refusal("there is no run yet in runs/: start one with `run`")
        return max(found)[2]

    def run_folder(self, name: str | None) -> Path:
        """Return the folder of a run: an id, a path, or nothing for the latest."""
        if not name:
            return self.latest_run()
        for folder in (self.runs / name, Path(name)):
            if read_run_record(folder) is not None:
                return folder
            if (folder / "run.json").is_file():
                raise Refusal(
                    f"{folder / 'run.json'} can't be read: the run can't be gone on "
                    "with or shown; restore the file, or start a new run"
                )
        known = sorted(f.name for f in self.runs.glob("*") if f.is_dir())
        raise Refusal(
            f"no run {name!r}: neither a folder with a run.json nor a run in "
            f"runs/{close_match(name, known)}"
        )

    def scan_dataset(
        self, keep: Callable[[dict[str, Any]], bool], *, path: Path | None = None
    ) -> DatasetScan:
        """Check every row before anything is called, and count.

        `keep` says of a row whether its case is selected; `path` is another file of
        cases. Raises Refusal with every row that can't be read and
        every id that stands twice.
        """
        left_out = self._left_out(path)
        path = path or self.dataset
        if not path.is_file():
            raise Refusal(self._why_missing(path))
        scan, suspicious = _scan(path, keep, left_out)
        if suspicious:
            from .case import check_dataset

            problems = check_dataset(path) or [f"{path.name}: holds what is not JSON"]
            raise Refusal(*problems)
        return scan

    def _why_missing(self, path: Path) -> str:
        if path == self.dataset and self.root.name in (
            "site-packages",
            "dist-packages",
        ):
            return (
                f"{self.package} is installed without its cases: a suite runs from its "
                f"folder, where dataset.jsonl lies beside {self.package}/ "
                "(`python FOLDER run`, or `python -m` in that folder)"
            )
        return f"{path.name} is missing in {path.parent}: generate the suite again"

    def rows(
        self, path: Path | None = None, scan: DatasetScan | None = None
    ) -> Iterator[tuple[Case, str]]:
        """Yield each case with the content hash of its line.

        Cases that a scan has kept are not read again, and are let go one by one.
        """
        if scan is not None and scan.kept is not None:
            scan.kept.reverse()
            while scan.kept:
                yield scan.kept.pop()
            return
        from .canonical import content_key
        from .case import case_from_row
        from .row_json import row_data

        left_out = self._left_out(path)
        path = path or self.dataset
        number = 0
        with path.open("rb") as lines:
            for line in lines:
                number += 1
                if number == 1:
                    line = line.removeprefix(_BOM)
                if not line.strip():
                    continue
                try:
                    text = line.decode().strip()
                    case = case_from_row(row_data(text))
                    if case.id not in left_out:
                        yield case, content_key(text)
                except (ValueError, RecursionError) as error:
                    from .strict_json import why_unreadable

                    said = why_unreadable(error)
                    raise Refusal(f"{path.name}:{number}: {said}") from error

    def cases(self, path: Path | None = None) -> Iterator[Case]:
        """Yield the cases of the dataset, or of another file, one at a time."""
        for case, _ in self.rows(path):
            yield case


def run_order(run: Path, record: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return what runs are ordered by: start, then name, a number at its end as one.

    Runs that start in one second are numbered. One whose `run.json` (`record`) has no
    start comes before all others.
    """
    started = record.get("started")
    if not isinstance(started, str) or _STARTED.fullmatch(started) is None:
        started = ""
    numbered = _NUMBERED.fullmatch(run.name)
    if numbered is None:
        return started, run.name, 0
    return started, numbered[1], int(numbered[2])


_STARTED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NUMBERED: Final = re.compile(r"(.*)-(\d{1,9})", re.ASCII | re.DOTALL)


def read_run_record(folder: Path) -> Mapping[str, Any] | None:
    """Return the `run.json` of a run's folder, or None where it is no such folder."""
    path = folder / "run.json"
    try:
        # A pipe or a device in its place would keep its reader for ever.
        record = json.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def blame(error: BaseException) -> str:
    """Return `FILE:LINE: what` for the innermost line of the user's own code.

    Frames of the runtime and of libraries are passed over: who mends an agent does
    not mend what it calls.
    """
    what = f"{type(error).__name__}: {said_by(error)}"
    if isinstance(error, SyntaxError) and error.filename:
        name = Path(error.filename).name
        return f"{name}:{error.lineno}: {type(error).__name__}: {error.msg}"
    here = ("<", str(Path(__file__).parent))
    libraries = (*here, str(Path(json.__file__).parents[1]))
    own = other = ""
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        place = f"{Path(name).name}:{trace.tb_lineno}: "
        if not name.startswith(libraries) and "-packages" not in name:
            own = place
        elif not name.startswith(here) and "importlib" not in name:
            other = place
        trace = trace.tb_next
    return (own or other) + what


def said_by(error: BaseException) -> str:
    """Return an exception's own text, also of one whose `__str__` raises."""
    try:
        return str.__str__(str(error))
    except BaseException:
        return "(its text can't be read: its `__str__` raises)"


def with_thresholds(suite: Suite, settings: Settings) -> Suite:
    """Return the suite with the thresholds of `evals.toml` in place of its own.

    Raises Refusal for a criterion that the suite does not have.
    """
    if not settings.thresholds:
        return suite
    known = [criterion.id for criterion in suite.criteria]
    faults = [
        f"evals.toml: `thresholds.{name}`: no such criterion{close_match(name, known)}"
        for name in settings.thresholds
        if name not in known
    ]
    if faults:
        raise Refusal(*faults)
    return replace(
        suite,
        criteria=[
            (
                replace(criterion, passes=settings.thresholds[criterion.id])
                if criterion.id in settings.thresholds
                else criterion
            )
            for criterion in suite.criteria
        ],
    )


RETIRED: Final = "retired.txt"
_SMALL: Final = 4 << 20
_ID_FIRST: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]+)"')
_BOM: Final = b"\xef\xbb\xbf"


def _scan(
    path: Path, keep: Callable[[dict[str, Any]], bool], left_out: Collection[str]
) -> tuple[DatasetScan, bool]:
    """Count the rows that are not left out, check all, and say whether the slow, exact check has to look.

    Each id sets one bit of a map that is sparse for the file's size, so the memory
    stays flat for a million rows; two ids on one bit only ask for a second look. Of a
    file that is small enough to hold, the ids are held too.
    """
    from zlib import crc32

    from .canonical import content_key
    from .case import case_from_row, is_well_formed
    from .row_json import row_data

    kept: list[tuple[Case, str]] | None = []
    if path.stat().st_size > _SMALL:
        kept = None
    bits = bytearray(max(path.stat().st_size >> 6, 1 << 13))
    span = len(bits) * 8
    twice: set[bytes] = set()
    ids: set[str] = set()
    cases = placeholders = selected = retired = 0
    suspicious = False
    with path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                text = (line if cases else line.removeprefix(_BOM)).decode()
                text = text.strip()
                row = row_data(text)
                cases += 1
                name = row["id"]
                if kept is not None:
                    case = case_from_row(row)
                elif not is_well_formed(row):
                    suspicious = True
                    continue
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                suspicious = True
                continue
            if kept is not None:
                suspicious = suspicious or name in ids
                ids.add(name)
            else:
                data = name.encode("utf-8", "surrogatepass")
                place = crc32(data) % span
                mask = 1 << (place & 7)
                if bits[place >> 3] & mask:
                    twice.add(data)
                bits[place >> 3] |= mask
            if name in left_out:
                retired += 1
                continue
            if kept is not None:
                kept.append((case, content_key(text)))
            if row.get("placeholder") is True:
                placeholders += 1
            if keep(row):
                selected += 1
    scan = DatasetScan(
        cases=cases - retired,
        placeholders=placeholders,
        selected=selected,
        retired=retired,
        kept=kept,
    )
    return scan, suspicious or (bool(twice) and _really_twice(path, twice))


def _really_twice(path: Path, twice: set[bytes]) -> bool:
    met: set[bytes] = set()
    with path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            found = _ID_FIRST.match(line.removeprefix(_BOM))
            if found is not None:
                name = found[1]
            else:
                row = json.loads(line.removeprefix(_BOM))
                name = row["id"].encode("utf-8", "surrogatepass")
            if name in twice:
                if name in met:
                    return True
                met.add(name)
    return False
