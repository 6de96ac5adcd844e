"""Between this service and a program that speaks MCP: it passes on a limited number of bytes, then ends the program.

Run as a file, with the limit and the command. It imports nothing of the project, so that it starts at once.
"""

import os
import subprocess
import sys


def main() -> int:
    """Start the program on this process's own standard input, and pass its output on.

    Returns:
        The exit code of the program; 75 if it said too much.
    """
    limit, command = int(sys.argv[1]), sys.argv[2:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        try:
            while chunk := os.read(child.stdout.fileno(), 65536):
                limit -= len(chunk)
                if limit < 0:
                    return 75
                os.write(1, chunk)
            return child.wait()
        finally:
            child.kill()


if __name__ == "__main__":
    sys.exit(main())
