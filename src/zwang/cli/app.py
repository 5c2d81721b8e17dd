"""Commands of ``zwang``: parse, call the function a script would call, print.

Everything beyond the parser loads inside the commands, so that ``zwang --help`` answers at once.
Exit codes: 0 success, 1 failure, 2 wrong use of the command line, 130 stopped by Ctrl-C.
"""

# No annotations as text here: Typer would evaluate those of all commands whenever one is called.

import atexit
import gc
import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from zwang.cli.output import printing

__all__ = ["app", "main"]

app = typer.Typer(
    name="zwang",
    help="Motion and forces of constrained mechanical systems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # loading rich takes as long as everything else that help needs
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: New objects after which a command looks for unreachable ones. Modules that load make 85,000, all
#: of which stay; to look after each 700, Python's default, takes a tenth of a short command.
NEW_OBJECTS = 200_000

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL.toml", help="Model file.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
RunOrStudy = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, or of a study, as PLAN.zarr.")
]
StoredModel = Annotated[
    Path | None, typer.Option("--model", help="Its model, unless the folder has it.")
]
RunOrModel = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, or MODEL.toml to run first.")
]
Anything = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="Folder of a run or study, or MODEL.toml to run first."),
]
Degrees = Annotated[bool, typer.Option("--degrees", help="Angles in degrees.")]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Constant or parameter in place of the file's."
    ),
]
Case = Annotated[
    str | None, typer.Option("--case", metavar="NAME", help="Case of the file, [case.NAME].")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def _version(*, wanted: bool) -> None:
    if wanted:
        from zwang import __version__

        typer.echo(f"zwang {__version__}")
        raise typer.Exit


def _seconds(text: str) -> float:
    """A time of an option: a number of seconds, or one with a unit."""
    from zwang.model_files.arithmetic import ExpressionError
    from zwang.model_files.units import quantity

    try:
        return float(text)
    except ValueError:
        pass
    try:
        return quantity(text, "s")
    except ExpressionError as error:
        raise typer.BadParameter(f"expected {error.expected}, found {error.found}") from None


def _examples(incomplete: str) -> list[str]:
    """For the shell's completion."""
    from zwang.model_files.examples import example_names

    return [name for name in example_names() if name.startswith(incomplete)]


@app.callback()
def _common(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda wanted: _version(wanted=wanted),
            help="Version.",
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Motion and forces of constrained mechanical systems."""


@app.command()
def run(
    model: ModelFile,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder of the run; a new one.")
    ] = None,
    *,
    until: Annotated[
        float | None,
        typer.Option(parser=_seconds, metavar="TIME", help="End, in seconds or as '8 min'."),
    ] = None,
    tolerance: Annotated[float | None, typer.Option(help="Local error of a step.")] = None,
    values: Values = None,
    case: Case = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Compute and keep forces and energies, too.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a model and keep the run in a folder."""
    from zwang.cli.run import simulate

    with printing(as_json=as_json) as out:
        simulate(
            out,
            model,
            output,
            until=until,
            tolerance=tolerance,
            values=values or [],
            case=case,
            forces=forces,
            resume=resume,
        )


@app.command()
def check(
    model: ModelFile, *, values: Values = None, case: Case = None, as_json: AsJson = False
) -> None:
    """Read a model, assemble its initial state, and list what it consists of."""
    from zwang.cli.inspect import check as look

    with printing(as_json=as_json) as out:
        look(out, model, values or [], case)


@app.command()
def explain(
    model: ModelFile, *, values: Values = None, case: Case = None, as_json: AsJson = False
) -> None:
    """Degrees of freedom, redundant and contradictory constraints, and determinacy of reactions."""
    from zwang.cli.inspect import explain as look
    from zwang.cli.run import read_given

    with printing(as_json=as_json) as out:
        look(out, read_given(model, values or [], case))


@app.command()
def verify(
    folder: RunFolder,
    model: StoredModel = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check that a stored run is what was written, and a motion of its model."""
    from zwang.cli.inspect import verify as look

    with printing(as_json=as_json) as out:
        look(out, folder, model)


@app.command()
def plot(
    folder: RunOrStudy,
    channels: Annotated[
        list[str] | None,
        typer.Argument(metavar="CHANNEL…", help="As pin.angle; outputs of a study."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Picture: .png, .svg or .pdf.")
    ] = None,
    model: StoredModel = None,
    *,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", help="Channel in place of time; of a study what varies, L,speed."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", help="Of a study: map, scatter, line, envelope, histogram or parallel."
        ),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option("--compare", help="Another run in the same panels; several are allowed."),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", help="Name of each run, RUN first.")
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="For a column of a journal, 86 mm wide.")
    ] = False,
    degrees: Degrees = False,
    as_json: AsJson = False,
) -> None:
    """Draw channels of a run over time, or outputs of a study (needs the extra 'plot')."""
    from zwang.cli.export import plot as draw

    with printing(as_json=as_json) as out:
        draw(
            out,
            folder,
            channels or [],
            output,
            model,
            compare=compare or [],
            labels=label or [],
            against=against,
            kind=kind,
            degrees=degrees,
            paper=paper,
        )


@app.command()
def export(
    folder: RunOrStudy,
    channels: Annotated[
        list[str] | None, typer.Argument(metavar="CHANNEL…", help="All if none is given.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--csv", "-o", help="Table: .csv, .mat or .xlsx.")
    ] = None,
    model: StoredModel = None,
    *,
    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            parser=_seconds,
            metavar="TIME",
            help="Between lines, in seconds or as '5 ms'.",
        ),
    ] = None,
    units: Annotated[bool, typer.Option("--units", help="Units after the names.")] = False,
    degrees: Degrees = False,
    listed: Annotated[bool, typer.Option("--list", help="List the channels instead.")] = False,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Print least, greatest, mean and RMS values instead."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write channels of a run, or the results of a study, as a table."""
    from zwang.cli.export import export as write

    with printing(as_json=as_json) as out:
        write(
            out,
            folder,
            channels or [],
            output,
            model,
            every=every,
            units=units,
            degrees=degrees,
            listed=listed,
            summary=summary,
        )


@app.command()
def report(
    source: Anything,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="HTML file; named after the run.")
    ] = None,
    model: StoredModel = None,
    *,
    values: Values = None,
    case: Case = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is no report.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file of a run, animated and summed up, or with the charts of a study."""
    from zwang.cli.report import report as write

    with printing(as_json=as_json) as out:
        write(out, source, output, model, force=force, values=values or [], case=case)


@app.command()
def view(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…",
            help="Folders of runs, or a MODEL.toml to run; others go over the first.",
        ),
    ],
    model: Annotated[
        Path | None, typer.Option("--model", help="Their model, unless the folders have it.")
    ] = None,
    *,
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The next free one if it is taken.")] = 8080,
    plot: Annotated[
        list[str] | None, typer.Option("--plot", help="Channel to plot, as pin.force.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Go on simulating while looking, with sliders.")
    ] = False,
    slider: Annotated[
        list[str] | None,
        typer.Option("--slider", help="Parameter to change while looking, as L=0.5:2."),
    ] = None,
    follow: Annotated[
        str | None, typer.Option("--follow", help="Body that the camera goes along with.")
    ] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Other runs beside the first, not over it.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write one file that needs no server, and end."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is no page.")] = False,
    modes: Annotated[
        bool, typer.Option("--modes", help="Write the modes of a MODEL.toml, with amplitudes.")
    ] = False,
    equilibrium: Annotated[
        bool, typer.Option("--equilibrium", help="Write where a MODEL.toml rests, with forces.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show runs in three dimensions: a page until Ctrl-C (extra 'view'), or one HTML file."""
    from zwang.cli.view import view as show

    with printing(as_json=as_json) as out:
        show(
            out,
            sources,
            model,
            host=host,
            port=port,
            plot=plot or [],
            live=live,
            sliders=slider or [],
            follow=follow,
            browser=browser,
            html=html,
            force=force,
            beside=beside,
            still="modes" if modes else "equilibrium" if equilibrium else "",
        )


@app.command()
def video(
    source: RunOrModel,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File: .mp4, .gif or .webp.")
    ] = None,
    model: StoredModel = None,
    *,
    fps: Annotated[int, typer.Option("--fps", help="Pictures a second.")] = 30,
    speed: Annotated[float, typer.Option("--speed", help="Seconds of motion in one.")] = 1.0,
    size: Annotated[str, typer.Option("--size", help="Width and height in pixels.")] = "1280x720",
    trace: Annotated[
        list[str] | None, typer.Option("--trace", help="Body that leaves a trace.")
    ] = None,
    forces: Annotated[bool, typer.Option(help="Draw reactions and applied forces.")] = True,
    as_json: AsJson = False,
) -> None:
    """Write a video of a run (needs the extra 'plot')."""
    from zwang.cli.video import video as write

    with printing(as_json=as_json) as out:
        write(
            out,
            source,
            output,
            model,
            fps=fps,
            speed=speed,
            size=size,
            trace=trace or [],
            forces=forces,
        )


@app.command()
def derive(
    model: ModelFile,
    *,
    terms: Annotated[bool, typer.Option("--terms", help="M, Q, A, b, C alone.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="In coordinates of the bodies, not of the joints.")
    ] = False,
    letters: Annotated[
        str | None,
        typer.Option(
            "--letters",
            metavar="NAMES",
            help="Dimensions that stay letters, as L1,L2, or 'all'; they are numbers otherwise.",
        ),
    ] = None,
    use_constraints: Annotated[
        bool,
        typer.Option("--use-constraints", help="Shorten by the constraints, where they hold."),
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", help="Time after which to give up [s].")
    ] = 60.0,
    values: Values = None,
    case: Case = None,
    as_json: AsJson = False,
) -> None:
    """Equations of motion in closed form (needs the extra 'symbolic').

    A parameter with a value of --set is that number in the formulas.
    """
    from zwang.cli.inspect import derive as look

    with printing(as_json=as_json) as out:
        look(
            out,
            model,
            values or [],
            case,
            letters=letters,
            terms=terms,
            use_constraints=use_constraints,
            latex=latex,
            bodies=bodies,
            seconds=seconds,
        )


@app.command()
def kinematics(
    model: ModelFile,
    *,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="File for all values of the outputs.")
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", help="Quantity, as slider.position.x; several are allowed."),
    ] = None,
    values: Values = None,
    case: Case = None,
    as_json: AsJson = False,
) -> None:
    """Positions, velocities and dead points of a driven mechanism, as [kinematics] says."""
    from zwang.cli.motion import kinematics as look
    from zwang.cli.run import read_given

    with printing(as_json=as_json) as out:
        look(out, read_given(model, values or [], case), csv, output or [])


@app.command()
def inverse(
    model: ModelFile,
    motion: Annotated[
        Path,
        typer.Argument(metavar="MOTION.csv", help="Times and quantities, names in line 1."),
    ],
    *,
    actuator: Annotated[
        list[str] | None,
        typer.Option("--actuator", help="Coordinate, as pin.angle; several are allowed."),
    ] = None,
    rule: Annotated[
        str | None, typer.Option("--rule", help="least norm, weights or smallest maximum.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="File for efforts, speeds and powers.")
    ] = None,
    values: Values = None,
    case: Case = None,
    as_json: AsJson = False,
) -> None:
    """Efforts of actuators that a motion needs, as [inverse_dynamics] says."""
    from zwang.cli.motion import inverse as look
    from zwang.cli.run import read_given

    with printing(as_json=as_json) as out:
        look(out, read_given(model, values or [], case), motion, actuator or None, rule, csv)


@app.command()
def servo(
    model: ModelFile,
    *,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="File for efforts and outputs at all times.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="File for a figure of efforts and outputs.")
    ] = None,
    values: Values = None,
    case: Case = None,
    as_json: AsJson = False,
) -> None:
    """Whether and how actuators follow a program, as [servo] says."""
    from zwang.cli.motion import servo as look
    from zwang.cli.run import read_given

    with printing(as_json=as_json) as out:
        look(out, read_given(model, values or [], case), csv, plot)


@app.command()
def equilibrium(
    model: ModelFile, *, values: Values = None, case: Case = None, as_json: AsJson = False
) -> None:
    """Where a model rests, how stably, and what its joints carry there."""
    from zwang.cli.rest import equilibrium as look
    from zwang.cli.run import read_given

    with printing(as_json=as_json) as out:
        look(out, read_given(model, values or [], case))


@app.command()
def linearize(
    model: ModelFile,
    *,
    bode: Annotated[
        Path | None, typer.Option("--bode", help="File for a Bode plot of inputs and outputs.")
    ] = None,
    values: Values = None,
    case: Case = None,
    as_json: AsJson = False,
) -> None:
    """Frequencies, damping and state space of small motions about rest or a steady motion."""
    from zwang.cli.rest import linearize as look
    from zwang.cli.run import read_given

    with printing(as_json=as_json) as out:
        look(out, read_given(model, values or [], case), bode)


@app.command()
def sweep(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="Plan of the study.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Dataset; PLAN.zarr by default.")
    ] = None,
    *,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", help="'processes', or the address of a Dask scheduler."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", help="Threads or processes; one a processor.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Compute what is missing; begins where nothing is.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many, how long, how large.")
    ] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="File for a table of the results: .csv or .xlsx.")
    ] = None,
    units: Annotated[bool, typer.Option("--units", help="Units after the names in it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run all that a plan asks for, on this machine or a cluster, into one dataset."""
    from zwang.cli.sweep import sweep as run_all

    with printing(as_json=as_json) as out:
        run_all(
            out,
            plan,
            output,
            scheduler=scheduler,
            workers=workers,
            resume=resume,
            dry_run=dry_run,
            csv=csv,
            units=units,
        )


@app.command()
def examples(
    name: Annotated[
        str | None,
        typer.Argument(help="Example to write as NAME.toml.", autocompletion=_examples),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the example models, or write one to the present folder."""
    from zwang.cli.files import examples as list_or_write

    with printing(as_json=as_json) as out:
        list_or_write(out, name)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Writes NAME.toml.")],
    *,
    system: Annotated[
        bool, typer.Option("--system", help="A system of functions, not bodies.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented model to start from."""
    from zwang.cli.files import new as write

    with printing(as_json=as_json) as out:
        write(out, name, system=system)


@app.command()
def info(*, as_json: AsJson = False) -> None:
    """Versions, processor and folders."""
    from zwang.cli.inspect import info as look

    with printing(as_json=as_json) as out:
        look(out)


def main() -> None:
    """Entry point of the command ``zwang``."""
    gc.set_threshold(NEW_OBJECTS)
    # A process that ends looks for unreachable objects again and again: a seventh of a short one.
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # A console of few characters shows ? for the others, and the command goes on.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()


if __name__ == "__main__":
    main()
