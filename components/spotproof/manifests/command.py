"""A program in a container of a gang: its words as they were written, its signals, and an end that cannot be mistaken.

Kubernetes takes a pod that leaves with 0 for a rank that is done. If it had been evicted, it is never started again,
and the others wait for it for ever, without an event (seen on 1.36.3). So what a program returns after SIGTERM must
not be 0, whoever wrote the program.
"""

import re
from collections.abc import Sequence
from typing import Final

SCRIPT: Final = """\
# Exit 0 after SIGTERM would count this rank as done, and the others would wait for it: it becomes 143.
_term= _early= _gone= _last=
_pass() { _told=1; [ "$!" ] && kill -s "$1" "$!" 2>/dev/null; }
trap '_term=1; _pass TERM || _early=1' TERM
for _each in HUP INT QUIT USR1 USR2; do trap "_pass $_each" "$_each"; done
exec 3<&0
exec "$@" <&3 3<&- &
[ -z "$_early" ] || { kill -s KILL "$!"; exit 143; }
while _told=; wait "$!" 2>/dev/null; _end=$?
  case $_gone$_end in bash/127|bash/-1) ;; *) _code=$_end; esac
  [ "$_told" ] || { [ "$_end" -gt 128 ] && [ "$_gone$_end" != "$_last" ]; }; do
  _last=$_gone$_end
  kill -0 "$!" 2>/dev/null || _gone=${BASH_VERSION:+bash}/
done
[ "$_code$_term" != 01 ] || _code=143
exit "$_code"
"""
"""Runs its words as a program, passes signals on, and returns what it returns: but for 0 after SIGTERM.

For dash, busybox and bash alike, and without `$$` and `$(`, which the kubelet would read. A program in the background
would have no input, so it gets the shell's (3). `exec` in the background is a program by its path, never a builtin of
its name. A SIGTERM that comes before it is begun ends it there (`_early`; busybox would take a `kill` of nobody for one
of everybody). `wait` ends with every signal that is passed on (`_told`) and is asked again. In bash it ends also with a
signal that was passed on before it began: so a code above 128 is asked for again until `kill` no longer finds the
program (`_gone`) and `wait` has said it twice since (`_last`). By then bash may have forgotten it (127, or -1 with
5.2); dash and busybox never do, and a 127 of theirs is the program's. Until the end `wait` also collects what the
program leaves behind. The program stays in the shell's process group and does not hear twice, since signals come to
process 1 alone.

Four limits. A child that has been forked and has not become the program yet may swallow a signal: then SIGKILL ends it
with 137 as its grace is over. So may bash 5.2 a signal that comes just as its `wait` begins: it passes it on with the
next one (3 of 12,000 behind another signal, on a machine with three times the work it can do). A signal in the very
instant in which the program ends may cost bash 5.2 the code, and any bash a 127: then it is that of a signal which was
passed on, 143 for SIGTERM, and never 0. SIGINT and SIGQUIT reach only a program that handles them, since POSIX has a
shell ignore them for what it starts in the background.
"""

# What a shell gives a meaning of its own; without any of it a command is one program with its words.
COMPOUND: Final = re.compile(r"[;&|<>()`\n{}]")
PROGRAM: Final = re.compile(r"[A-Za-z0-9_./~$-]+")


def left_alone(line: str) -> str:
    """A line of which the kubelet changes nothing: it reads `$(NAME)` and `$$` in every command, before any shell."""
    return re.sub(r"\$(?=[$(])", "$$", line)


def words(command: str | Sequence[str]) -> list[str]:
    """The words a container runs for a command.

    A line is read by a shell, and by nobody before it. Where it is one program, the shell gives way to it (`exec`): a
    shell that stays does not pass SIGTERM on, and the trainer would learn nothing of the eviction. Of a list Kubernetes
    itself fills in `$(NAME)`, as no shell does.
    """
    if not isinstance(command, str):
        return list(command)
    line = left_alone(command.strip())
    first = line.split(maxsplit=1)[0]
    is_program = not COMPOUND.search(line) and PROGRAM.fullmatch(first) is not None
    return ["/bin/sh", "-c", f"exec {line}" if is_program else line]


def command_line(command: str | Sequence[str]) -> list[str]:
    """A command as a rank of a gang runs it: below SCRIPT, with a policy or without, since any gang would hang.

    The words of a list arrive as they are, and the image needs `/bin/sh` for either form. Ray needs none of it: its
    entrypoint is a program on the head, which stays on-demand; an evicted worker is made again by KubeRay whatever
    `ray start` returned, and what becomes of the job is the head's to say.
    """
    return ["/bin/sh", "-c", SCRIPT, "sh", *words(command)]
