"""
Keeps one LibreOffice running and lets it convert, one document after the other.

Reads one line of JSON a task on stdin and answers each with one line on stdout; the first line says how to start. It
knows no time limits: whoever started it kills it together with the suite. Paths are relative to its working folder.
"""

import json
import os
import shutil
import sys

import uno  # noqa: F401  Makes the names of the suite importable.
from com.sun.star.lang import DisposedException
from document import Refused, close, load, prepare, store
from suite import Suite, SuiteDied
from warm_up import warm_up

# Characters of an error of the suite that are passed on, for the operator.
DETAIL_MAX = 300


def say(answer):
    """Answers with one line."""
    sys.stdout.write(json.dumps(answer) + '\n')
    sys.stdout.flush()


def convert(suite, task):
    """Converts one document and says what came of it. Raises SuiteDied."""
    folder = os.path.join(os.getcwd(), task['folder'])
    document = None
    try:
        document = load(suite, os.path.join(folder, task['source']), task)
        pages = prepare(document, task)
        store(document, os.path.join(folder, task['result']), task, pages)
        return {'kind': 'converted', 'memory_bytes': suite.memory_bytes()}
    except Refused as refused:
        return failed(suite, refused.cause, refused.detail)
    except SuiteDied:
        raise
    except Exception as error:  # The suite throws whatever it likes.
        suite.raise_if_dead(wait=isinstance(error, DisposedException))
        return failed(suite, 'not_stored', f'{type(error).__name__} {error}')
    finally:
        close(document)


def forget(order):
    """Removes the files of a job; the folder itself is not ours."""
    shutil.rmtree(os.path.join(os.getcwd(), order['folder']), ignore_errors=True)
    return {'kind': 'forgotten'}


def failed(suite, cause, detail):
    """The answer for a document that cannot be converted."""
    return {'kind': 'failed', 'cause': cause, 'memory_peak_bytes': suite.memory_peak_bytes(), 'detail': detail[:DETAIL_MAX]}


def main():
    """Starts the suite, then works until stdin ends or the suite dies."""
    start = json.loads(sys.stdin.readline())
    try:
        suite = Suite(start['soffice'], start['profile'], start['temp'], start['pipe'])
        missing = [name for name in start['filters'] if not suite.knows_filter(name)]
        if start['warm_up']:
            warm_up(suite, start['temp'])
        say({'kind': 'ready', 'version': suite.version(), 'missing_filters': missing})
        for line in sys.stdin:
            order = json.loads(line)
            say(convert(suite, order) if order['kind'] == 'convert' else forget(order))
    except SuiteDied as death:
        say({'kind': 'died', 'returncode': death.returncode})
        sys.stdout.flush()
        # The threads of a broken connection would keep an ordinary end waiting.
        os._exit(1)


main()
